// An instance of the scheduling model: organizations with identical processors, jobs with releases and durations.
//
// The papers' jobs are sequential, parallel ones are given as copies [SR13 Sec. 7]. A job of q > 1 processors is rigid:
// it takes q processors at one instant, for its duration, and counts in every utility as q sequential jobs side by
// side. Jobs of one organization run in FIFO order of (release, position).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"

namespace shapley::scheduling {

struct Job {
  Instant release;    // >= 0
  Duration duration;  // >= 1
  std::uint32_t organization = 0;
  std::uint32_t processors = 1;  // >= 1
};

struct Instance {
  std::vector<std::uint32_t> processors;  // per organization
  std::vector<Job> jobs;                  // in input order
  Instant end;                            // decisions are made before it, the report is taken at it
  // m of the key (serving_terms.hpp) where it is known beforehand; 0: it is measured as runs end.
  Duration residual{};
  // Whether Policy::endowed will be called.
  bool owners_change = false;

  [[nodiscard]] std::size_t organizations() const { return processors.size(); }
  [[nodiscard]] std::uint64_t total_processors() const;
  [[nodiscard]] bool has_rigid_jobs() const;
};

// The owner of a processor when the policy does not assign one.
inline constexpr std::int32_t k_any_owner = -1;

// One job's place in a schedule. `owner` is the organization whose processor it took, if the policy assigns one and the
// job is sequential.
struct Start {
  std::uint32_t job = 0;  // index in Instance::jobs
  Instant start;
  std::int32_t owner = k_any_owner;
  friend bool operator==(const Start&, const Start&) = default;
};

// Errc::invalid_argument names the job or organization at fault, a rigid job wider than all processors among them;
// Errc::limit when psi could leave 63 bits, i.e. when processors * (end - first release)^2 / 2 >= 2^62.
[[nodiscard]] Expected<void> validate(const Instance& instance);

// Errc::limit when psi as the rule uses it could leave 63 bits: at a horizon after the end, with what runs. The third
// term of a key is at most processors * horizon^2 / 2, what they would do in that time, so the whole key is at most
// processors * ((end + horizon)^2 + end) / 2. REQUIRES: validate(instance).
[[nodiscard]] Expected<void> check_horizon(const Instance& instance, const game::ServingRule& rule);

}  // namespace shapley::scheduling
