// The books of a past instant, from the events that concern it or earlier times, with everything known today: events
// that were recorded late count, and a run that was retracted later does not. So the past reads the same whenever it is
// asked for.
//
// Every event up to the instant is read and applied in the order of time; those of archives too, as far as they are
// needed. The books remember what is open, and what later events reach back to; of earlier runs they remember nothing
// else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct PastQuestion {
  Instant at;
  std::filesystem::path archives;  // the directory of the ledger's archives
  QueryBudget budget = {};         // at most `rows` events are read; Errc::limit beyond it, or if ended
  std::size_t next_starts = 0;     // number of the first runs that begin after `at` to return
  ReplayPace pace = {};
};

struct BooksThen {
  accounting::State state;                             // its now() is `at` at the latest
  std::vector<accounting::SegmentOpened> next_starts;  // by begin, then job
};

// Called with the books after all events of an instant. Up to `next`, the instant of the next event or, after the last
// one, of the question, they change only by themselves. The callee may move them up to `next`, and no farther.
using OnInstant = std::function<void(accounting::State& books, Instant next)>;

// Errc::not_found names an archive that is needed and missing; Errc::invalid_argument names the begin of the books if
// it is after question.at.
[[nodiscard]] Expected<BooksThen> books_then(const Ledger& ledger, const PastQuestion& question,
                                             const OnInstant& on_instant = {});

}  // namespace shapley::ledger
