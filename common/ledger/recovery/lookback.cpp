#include "ledger/recovery/lookback.hpp"

#include <algorithm>
#include <string>

namespace shapley::ledger {

namespace {

constexpr std::int64_t k_sequences_in_a_step = 10'000;
constexpr std::int64_t k_seconds_in_a_step = 3600;

// What an event row reaches back to: a retraction as far as its segment did, others as above. Events after ?2 have no
// say, so that what is forgotten, and when, follows from the events up to it alone.
std::string reach() {
  return "CASE WHEN e.kind < 6 THEN " + reach_of_segment("e") +
         " ELSE MIN(e.at, e.anchor, COALESCE("
         "(SELECT " +
         reach_of_segment("o") +
         " FROM main.segment_events s JOIN main.event_rows o ON o.seq = s.opened WHERE s.job = e.job AND "
         "s.anchor = e.anchor AND s.kind = e.kind - 6 AND s.ordinal = e.ordinal AND o.seq <= ?2), e.at)) END";
}

}  // namespace

std::string reach_of_segment(const std::string& row) {
  const std::string at = row + ".at";
  return "MIN(" + at + ", COALESCE(MAX(" + row + ".released, " + at + " - 21600), " + at + "))";
}

void Lookback::add(std::int64_t place, std::int64_t width, Instant reach, Instant at) {
  if (steps_.empty() || steps_.back().last / width != place / width) {
    steps_.push_back({.last = place, .earliest = reach, .latest = at});
    return;
  }
  Step& step = steps_.back();
  step.last = place;
  step.earliest = std::min(step.earliest, reach);
  step.latest = std::max(step.latest, at);
}

void Lookback::sum_up() {
  for (std::size_t i = 1; i < steps_.size(); ++i) steps_[i].latest = std::max(steps_[i].latest, steps_[i - 1].latest);
  for (std::size_t i = steps_.size(); i-- > 1;) {
    steps_[i - 1].earliest = std::min(steps_[i - 1].earliest, steps_[i].earliest);
  }
}

// Before step i, the books would remember what came since the first step that was not over at steps_[i].earliest.
void Lookback::bound(std::int64_t after, const ReplayPace& pace) {
  const Duration usual = accounting::StateOptions{}.horizon;
  std::size_t first = 0;
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    while (first < i && steps_[first].latest < steps_[i].earliest) ++first;
    const std::int64_t behind = steps_[i - 1].last - (first == 0 ? after : steps_[first - 1].last);
    if (behind > pace.most_events_reached_back) {
      steps_[i].earliest = std::max(steps_[i].earliest, steps_[i - 1].latest - usual);
    }
  }
}

Expected<Lookback> Lookback::by_sequence(const Database& database, std::int64_t after, std::int64_t upto,
                                         const ReplayPace& pace) {
  // The books accept the description of a job however old it is.
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare("SELECT e.seq, e.at, " + reach() +
                       " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND e.kind <> 1 ORDER BY e.seq"));
  select.bind(1, after).bind(2, upto);
  Lookback lookback;
  const std::int64_t width = std::min(k_sequences_in_a_step, pace.events_between_compactions);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    lookback.add(select.integer(0), width, {select.integer(2)}, {select.integer(1)});
  }
  lookback.sum_up();
  lookback.bound(after, pace);
  return lookback;
}

Expected<Lookback> Lookback::by_time(const Database& database, std::int64_t after, std::int64_t upto) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT e.at, " + reach() +
                                                        " FROM main.event_rows e WHERE e.seq > ?1 AND e.seq <= ?2 AND "
                                                        "(e.kind >= 6 OR e.released < e.at) ORDER BY e.at"));
  select.bind(1, after).bind(2, upto);
  Lookback lookback;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    lookback.add(select.integer(0), k_seconds_in_a_step, {select.integer(1)}, {select.integer(0)});
  }
  lookback.sum_up();
  return lookback;
}

Instant Lookback::from(std::int64_t place) const {
  const auto step =
      std::lower_bound(steps_.begin(), steps_.end(), place, [](const Step& s, std::int64_t p) { return s.last < p; });
  return step == steps_.end() ? k_end_of_time : step->earliest;
}

bool Forgetting::before(std::int64_t next, accounting::State& books, Instant keep) {
  if (--due_ > 0) return false;
  now(next, books, keep);
  return true;
}

void forget_in_steps(accounting::State& books, Instant keep) {
  constexpr std::int64_t k_shortest_s = 4 * 3600;
  constexpr std::int64_t k_most_steps = 64;
  if (const Instant until = std::min(keep, books.now()); books.horizon() != k_beginning_of_time) {
    const Duration step{std::max(k_shortest_s, (until - books.horizon()).value / k_most_steps)};
    for (Instant before = k_beginning_of_time; books.horizon() != before && books.horizon() < until - step;) {
      before = books.horizon();
      books.compact(before + step);
    }
  }
  books.compact(keep);
}

void Forgetting::now(std::int64_t next, accounting::State& books, Instant keep) {
  forget_in_steps(books, std::min(lookback_.from(next), keep));
  due_ = std::max(every_, static_cast<std::int64_t>(books.remembered_jobs()));
}

}  // namespace shapley::ledger
