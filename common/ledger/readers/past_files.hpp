// What readers of the past share: the ledger and those of its archives that a past instant needs, and how their events
// are applied in the order of time.
#pragma once

#include <deque>
#include <filesystem>
#include <set>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// When the ledger recorded something last. Errc::not_found: it is empty.
[[nodiscard]] Expected<Instant> last_recorded(const Ledger& ledger);

// The file whose books begin at an instant or before, and those after it, the ledger itself last.
class PastFiles {
 public:
  // For the time from `since` to `until`; `ledger` must outlive it. Errc::not_found names an archive that is needed and
  // is not in `archives`; Errc::corrupt one that is another file (open_archive). Errc::invalid_argument: such an
  // archive is missing, and the books begin after `until` (before_the_books).
  [[nodiscard]] static Expected<PastFiles> open(const Ledger& ledger, const std::filesystem::path& archives,
                                                Instant since, Instant until);
  [[nodiscard]] const std::vector<const Ledger*>& files() const { return files_; }

 private:
  std::deque<OpenedFile> archives_;  // the newest first; a deque moves without moving them
  std::vector<const Ledger*> files_;
};

// When the books begin: with what they are opened with, or at `first`, the first time by which a later event begins
// books (accounting::begin_by). Errc::invalid_argument: that is after `asked`.
[[nodiscard]] Expected<Instant> begin_of_books(const accounting::State& opening, Instant first, Instant asked);
// The error that says so.
[[nodiscard]] tl::unexpected<Error> before_the_books(Instant asked, Instant begin);

// Of which segment the event speaks; nullptr: of none.
[[nodiscard]] const accounting::SegmentKey* segment_of(const accounting::Event& event);

// What the books refuse (a contradiction) changed nothing when shapleyd met it, and changes nothing here.
// Errc::corrupt: the event is not in the order of time.
[[nodiscard]] Expected<void> apply_told(accounting::State& state, const accounting::Event& event);

// Who was renamed, or became a part of whom, is told before anything else: the past is told in today's names.
[[nodiscard]] Expected<void> apply_adjustments(accounting::State& state,
                                               std::vector<accounting::AdjustmentMade> adjustments);

// Takes back what the books know and the files retract, whenever that was, as of `at` at the latest.
[[nodiscard]] Expected<void> retract_known(accounting::State& state, const std::set<accounting::SegmentKey>& retracted,
                                           Instant at);

}  // namespace shapley::ledger
