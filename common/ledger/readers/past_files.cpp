#include "ledger/readers/past_files.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/calendar.hpp"

namespace shapley::ledger {

namespace {

// k_end_of_time: they have not begun.
Instant begin_of(const accounting::State& books) {
  if (!books.closed_periods().empty()) return books.closed_periods().front().begin;
  return books.period_begin() == k_beginning_of_time ? k_end_of_time : books.period_begin();
}

}  // namespace

Expected<Instant> last_recorded(const Ledger& ledger) {
  std::optional<Instant> last;
  SHAPLEY_TRY(ledger.for_each_event(ledger.last_sequence() - 1, [&](const StoredEvent& stored) {
    last = stored.received;
    return Expected<void>{};
  }));
  if (!last) return fail(Errc::not_found, "the ledger is empty: nothing was recorded yet");
  return *last;
}

Expected<PastFiles> PastFiles::open(const Ledger& ledger, const std::filesystem::path& archives, Instant since,
                                    Instant until) {
  PastFiles past;
  past.files_.push_back(&ledger);
  std::optional<ArchiveLink> link;
  while (true) {
    SHAPLEY_TRY_ASSIGN(link, archive_before(*past.files_.front(), link));
    if (!link || link->until <= since) return past;
    auto opened = open_archive(*past.files_.front(), *link, archives);
    if (!opened && opened.error().code == Errc::not_found) {
      SHAPLEY_TRY_ASSIGN(const Recovered opening, past.files_.front()->opening());
      if (const Instant begin = begin_of(opening.state); begin > until) return before_the_books(until, begin);
      return fail(Errc::not_found, "the books of " + format_instant(since) + " need the archive " + described(*link) +
                                       ", which is not in " + archives.native() +
                                       "; --archives DIRECTORY says where it is");
    }
    if (!opened) return tl::unexpected<Error>(std::move(opened).error());
    past.archives_.push_back(*std::move(opened));
    past.files_.insert(past.files_.begin(), &past.archives_.back().ledger());
  }
}

Expected<Instant> begin_of_books(const accounting::State& opening, Instant first, Instant asked) {
  const Instant begin = std::min(begin_of(opening), first);
  if (begin <= asked) return begin;
  return before_the_books(asked, begin);
}

tl::unexpected<Error> before_the_books(Instant asked, Instant begin) {
  return fail(Errc::invalid_argument, begin == k_end_of_time
                                          ? "the books have not begun: no run, node or organization is recorded"
                                          : "the books begin at " + format_instant(begin) + "; there is nothing of " +
                                                format_instant(asked) + " or before");
}

const accounting::SegmentKey* segment_of(const accounting::Event& event) {
  if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) return &opened->key;
  if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) return &closed->key;
  if (const auto* retracted = std::get_if<accounting::SegmentRetracted>(&event)) return &retracted->key;
  return nullptr;
}

Expected<void> apply_told(accounting::State& state, const accounting::Event& event) {
  const auto applied = state.apply(event);
  if (!applied || *applied != accounting::Applied::needs_replay) return {};
  return fail(Errc::corrupt, "the books refuse " + accounting::event_key(event) + " in the order of time");
}

Expected<void> apply_adjustments(accounting::State& state, std::vector<accounting::AdjustmentMade> adjustments) {
  const std::vector<accounting::AdjustmentMade> known = state.adjustments();
  for (accounting::AdjustmentMade& adjustment : adjustments) {
    const auto is_it = [&](const auto& other) { return other.number == adjustment.number; };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    adjustment.at = Instant{0};  // the present of the books is not to move for it
    SHAPLEY_TRY(apply_told(state, adjustment));
  }
  return {};
}

Expected<void> retract_known(accounting::State& state, const std::set<accounting::SegmentKey>& retracted, Instant at) {
  for (const accounting::SegmentKey& key : retracted) {
    // Known before the file begins, and retracted in it.
    if (state.find_segment(key) == nullptr) continue;
    SHAPLEY_TRY(apply_told(state, accounting::SegmentRetracted{key, std::min(at, state.now())}));
  }
  return {};
}

}  // namespace shapley::ledger
