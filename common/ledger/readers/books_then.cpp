#include "ledger/readers/books_then.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "accounting/events/begin.hpp"
#include "ledger/readers/past_files.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::SegmentKey;
using accounting::SegmentOpened;
using accounting::State;

using Files = std::vector<const Ledger*>;

struct ToldUntil {
  std::vector<Event> events;             // that speak of the instant or of earlier times, in the order of time
  Instant begins_later = k_end_of_time;  // the first event after the instant that begins books
  std::vector<SegmentOpened> later_starts;
  std::vector<accounting::AdjustmentMade> adjustments;
  std::set<SegmentKey> retracted;  // none of these is among the others
};

class Reading {
 public:
  explicit Reading(const PastQuestion& question) : question_(question) {}

  Expected<ToldUntil> read(const Files& files) {
    for (const Ledger* file : files) {
      SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(LedgerAccess::impl(*file).database));
      SHAPLEY_TRY(file->for_each_event(begin.sequence, [&](const StoredEvent& stored) { return take(stored.event); }));
    }
    const auto is_retracted = [&](const SegmentKey* key) { return key != nullptr && told_.retracted.contains(*key); };
    std::erase_if(told_.events, [&](const Event& event) { return is_retracted(segment_of(event)); });
    std::erase_if(told_.later_starts, [&](const SegmentOpened& run) { return is_retracted(&run.key); });
    std::stable_sort(told_.events.begin(), told_.events.end(),
                     [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
    std::ranges::sort(told_.later_starts, [](const SegmentOpened& a, const SegmentOpened& b) {
      return std::pair(a.begin, a.key.job) < std::pair(b.begin, b.key.job);
    });
    if (told_.later_starts.size() > question_.next_starts) told_.later_starts.resize(question_.next_starts);
    return std::move(told_);
  }

 private:
  Expected<void> take(const Event& event) {
    ++read_;
    if (question_.budget.rows > 0 && read_ > question_.budget.rows) {
      return fail(Errc::limit, "the past is read from more than " + std::to_string(question_.budget.rows) +
                                   " events, which the daemon does for nobody; read the ledger or a copy of it "
                                   "(shapleyctl backup) with --ledger FILE");
    }
    if (question_.budget.is_ended()) return fail(Errc::limit, "nobody waits for the answer any more");
    if (const auto* retraction = std::get_if<accounting::SegmentRetracted>(&event)) {
      told_.retracted.insert(retraction->key);
    } else if (const auto* adjustment = std::get_if<accounting::AdjustmentMade>(&event)) {
      told_.adjustments.push_back(*adjustment);
    } else if (accounting::time_of(event) <= question_.at) {
      told_.events.push_back(event);
    } else {
      told_.begins_later = std::min(told_.begins_later, accounting::begin_by(event));
      const auto* opened = std::get_if<SegmentOpened>(&event);
      const bool starts = opened != nullptr && opened->key.kind == accounting::SegmentKind::run;
      if (starts && opened->begin == opened->key.anchor) keep_start(*opened);
    }
    return {};
  }

  // Of the latest starts twice as many as are wanted are forgotten at a time.
  void keep_start(const SegmentOpened& run) {
    if (question_.next_starts == 0) return;
    told_.later_starts.push_back(run);
    constexpr std::size_t k_kept = 10'000;
    const std::size_t most = question_.next_starts + k_kept;
    if (told_.later_starts.size() <= 2 * most) return;
    std::ranges::nth_element(told_.later_starts, told_.later_starts.begin() + static_cast<std::ptrdiff_t>(most), {},
                             &SegmentOpened::begin);
    told_.later_starts.resize(most);
  }

  const PastQuestion& question_;
  std::size_t read_ = 0;
  ToldUntil told_;
};

// Estimators that may fall behind cost too much for whoever asks about ranks that were not made by them.
void leave_out_costly_ones(State& state, const std::vector<Event>& told) {
  std::set<std::string, std::less<>> ranking{state.ranking_rule().contribution};
  for (const Event& event : told) {
    if (const auto* rule = std::get_if<accounting::RankingDeclared>(&event)) ranking.insert(rule->contribution);
  }
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    const bool may_fall_behind = !accounting::estimators()[estimator.value].stand_in.empty();
    if (may_fall_behind && !ranking.contains(accounting::name_of(estimator))) state.leave_out(estimator);
  }
}

Expected<BooksThen> books_of(const Files& files, const PastQuestion& question, const OnInstant& on_instant) {
  SHAPLEY_TRY_ASSIGN(ToldUntil told, Reading(question).read(files));
  SHAPLEY_TRY_ASSIGN(Recovered opening, files.front()->opening());
  State& state = opening.state;
  leave_out_costly_ones(state, told.events);
  Instant first = told.begins_later;
  for (const Event& event : told.events) first = std::min(first, accounting::begin_by(event));
  SHAPLEY_TRY(begin_of_books(state, first, question.at));
  SHAPLEY_TRY(apply_adjustments(state, std::move(told.adjustments)));
  SHAPLEY_TRY(retract_known(state, told.retracted, question.at));
  for (std::size_t i = 0; i < told.events.size(); ++i) {
    if (question.budget.is_ended()) return fail(Errc::limit, "nobody waits for the answer any more");
    SHAPLEY_TRY(apply_told(state, told.events[i]));
    if (!on_instant) continue;
    const bool is_last = i + 1 == told.events.size();
    const Instant next = is_last ? question.at : accounting::time_of(told.events[i + 1]);
    if (next > accounting::time_of(told.events[i])) on_instant(state, next);
  }
  return BooksThen{std::move(state), std::move(told.later_starts)};
}

}  // namespace

Expected<BooksThen> books_then(const Ledger& ledger, const PastQuestion& question, const OnInstant& on_instant) {
  SHAPLEY_TRY_ASSIGN(const PastFiles past, PastFiles::open(ledger, question.archives, question.at, question.at));
  return books_of(past.files(), question, on_instant);
}

}  // namespace shapley::ledger
