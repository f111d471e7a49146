// The books of a past instant, from the events that concern it or earlier times, with all that is known today: what
// was recorded late counts, and a run that was retracted later does not. So the past reads the same whenever it is
// asked for.
//
// Every event up to the instant is read, and applied in the order of time; those of archives too, as far as they are
// needed. What is remembered follows what is open, and what later events reach back to: of what ran before the instant
// nothing else is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct PastQuestion {
  Instant at;
  std::filesystem::path archives;  // the directory of the ledger's archives
  QueryBudget budget = {};         // of events: `rows` at most are read. Beyond it, or ended: Errc::limit
  std::size_t next_starts = 0;     // so many of the first runs that begin after `at` are wanted
  ReplayPace pace = {};
};

struct BooksThen {
  accounting::State state;                             // its now() is `at` at the latest
  std::vector<accounting::SegmentOpened> next_starts;  // by begin, then job
};

// The books after all events of an instant, from when on they change by themselves only up to `next`, the instant of
// the next event or, after the last one, of the question. Books may be moved up to `next`, and no farther.
using OnInstant = std::function<void(accounting::State& books, Instant next)>;

// Errc::not_found names an archive that is needed and is not there; Errc::invalid_argument says when the books begin if
// that is after question.at.
[[nodiscard]] Expected<BooksThen> books_then(const Ledger& ledger, const PastQuestion& question,
                                             const OnInstant& on_instant = {});

}  // namespace shapley::ledger
