// Runs whose end was not seen: they end, for the books, where they were seen last. Slurm's accounting may know more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct UnseenEnd {
  accounting::SegmentOpened last;  // its last segment
  Instant end;                     // of that
  Duration held;                   // seconds of all its segments
  std::uint32_t next_ordinal = 0;
};

// nullopt: the ledger does not have this run, or it is open, or its end was seen. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::optional<UnseenEnd>> unseen_end(const Ledger& ledger, JobId job, Instant start);

// A run as Slurm's accounting has it.
struct RecordedEnd {
  Instant end;
  Duration suspended;
  std::string job_state;  // Slurm's word
};

// What makes such a run end as it is recorded: its last segment goes on, or is taken back as of `now` and stated anew.
// Empty: it ends so already. Suspensions that were not seen are taken to be its last seconds.
[[nodiscard]] std::vector<accounting::Event> end_as_recorded(const UnseenEnd& known, const RecordedEnd& recorded,
                                                             Instant now);

}  // namespace shapley::ledger
