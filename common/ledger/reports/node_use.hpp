// What nodes were worth while they were there or away, their GPUs, and how long runs had waited: what a view of
// utilization has besides what was held (stretches.hpp).
//
// A node that is known offers all that it is worth, or nothing while Slurm has it as down, drained or failing, or no
// longer has it. The ledger does not record which of these it is, nor reservations. What runs hold of a node that
// drains is still offered.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_books.hpp"

namespace shapley::ledger {

// Sizes of runs by CPUs: up to so many.
inline constexpr std::array<std::uint64_t, 4> k_run_sizes{1, 8, 64, 512};
// "1", "2-8", ..., "513-". REQUIRES: size <= k_run_sizes.size()
[[nodiscard]] std::string run_size_text(std::size_t size);

// An owner's GPUs. Millionths of a GPU times seconds.
struct GpuTimes {
  Int128 configured = 0;  // of its nodes, also while they are away
  Int128 own = 0;         // that runs of its own jobs had
  Int128 lent = 0;        // that others' had
  Int128 borrowed = 0;    // that its jobs had of others' nodes
};

struct WaitKey {
  OrgId organization;  // of the job
  std::string partition;
  std::size_t size = 0;  // run_size_text
  friend auto operator<=>(const WaitKey&, const WaitKey&) = default;
};
// The waits of the runs that began, from when Slurm could have started them. Runs that went on after a suspension or a
// change of size did not wait.
struct Waits {
  std::vector<std::int64_t> seconds = {};  // in no particular order
  std::int64_t not_known = 0;              // runs of which it is not recorded when they could have started
};

struct NodeUse {
  // By OrgId, as long as there are organizations.
  std::vector<CpuTime> whole;  // what its nodes were worth, in the unit of psi, times how long: offered or not
  // Whether a node of it was away whose worth is not recorded.
  std::vector<bool> whole_not_known;
  std::vector<GpuTimes> gpus;
  std::vector<bool> gpus_not_known;  // whether a run on a node of it, or of its jobs, does not say what it had
  std::map<WaitKey, Waits> waits;

  // Adds what happened in [from, until). REQUIRES: the books are at `until` and have not forgotten what was since
  // `from`. Errors as of PastBooks.
  [[nodiscard]] Expected<void> collect(PastBooks& books, Instant from, Instant until);
};

}  // namespace shapley::ledger
