// Where a ledger is cut into archives: after the events of each closed period but the last one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/recovery/lookback.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

// The name of an archive of `ledger` whose last period ends at `until`: LEDGER.YYYY-MM.db.xz, by the month in which it
// ends.
[[nodiscard]] std::string archive_name(const std::filesystem::path& ledger, Instant until);

struct Cuts {
  std::vector<Genesis> made;  // ascending; copies are not counted yet
  int uncut = 0;              // closed periods after these, but for the last one, that stay
};
// What the ledger would begin with if everything up to the end of each closed period but the last were archived. An
// archive has all events received before its end; where there are none, since the period was imported later, the events
// up to the first one that speaks of its end or of later. A period into which later events reach back by more than two
// weeks, or without any event, is archived together with the next one. REQUIRES: no process writes.
[[nodiscard]] Expected<Cuts> plan_cuts(const Database& database, const std::filesystem::path& ledger,
                                       const OnProgress& on_progress);

struct BooksAtCut {
  std::string text;
  Instant horizon;  // what was over before is forgotten
};
// The books after the events up to `sequence`, from those of `from`, the cut before (nullptr: those that the ledger
// begins with), as the next file begins with them: they remember back to `horizon`, or to their present if that is
// earlier. The same events give the same text, however often the books forget on the way.
[[nodiscard]] Expected<BooksAtCut> books_at_cut(const Database& database, const Genesis* from, std::int64_t sequence,
                                                Instant horizon, const ReplayPace& pace = {});

}  // namespace shapley::ledger
