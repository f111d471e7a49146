// The runs of one job as they are booked, those that go on too. Retracted segments count for nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct BookedRun {
  Instant start;
  std::optional<Instant> end;  // nullopt: it goes on
  bool end_seen = false;       // false: it ends where it was seen last, or goes on
  std::uint64_t cpus = 0;      // the most that it held at once
};

// Ascending by start. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job);

}  // namespace shapley::ledger
