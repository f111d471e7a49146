// Properties of the books over random scenarios: each holds for every set of events.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/state.hpp"
#include "naive_books.hpp"
#include "scenario.hpp"

namespace shapley::accounting {
namespace {

using scenario::Scenario;

constexpr Instant k_scenario_end = scenario::Shape{}.end();

std::map<std::string, std::string> text_of(const std::map<std::string, naive::Row>& rows) {
  std::map<std::string, std::string> text;
  for (const auto& [name, row] : rows) {
    for (const Int128 value : {row.psi, row.got, Int128{row.charged}, Int128{row.owned}, Int128{row.used},
                               Int128{row.waiting}, Int128{row.lent}, Int128{row.borrowed}}) {
      text[name] += to_string(value) + ' ';
    }
    for (const std::string_view estimator : naive::estimators()) {
      const Credit& credit = row.credits.at(std::string(estimator));
      text[name] +=
          std::string(estimator) + ' ' + to_string(credit.phi.value) + ' ' + to_string(credit.given.value) + ' ';
    }
  }
  return text;
}

void expect_conservation(const std::vector<Standing>& standings) {
  Utility psi;
  CpuTime got;
  for (const Standing& s : standings) {
    psi += s.psi;
    got += s.got;
  }
  for (const EstimatorId e : estimator_ids()) {
    Utility phi;
    CpuTime given;
    for (const Standing& s : standings) {
      phi += s.phi(e);
      given += s.given(e);
    }
    RC_ASSERT(phi == psi);
    RC_ASSERT(given == got);
  }
}

// Everything that can be asked of the books, by name.
std::vector<std::map<std::string, std::string>> everything(
    State& state, Instant t, std::span<const std::string_view> estimators = estimator_names()) {
  std::vector<std::map<std::string, std::string>> all{
      scenario::rows_as_text(state, state.advance(t).standings(), estimators)};
  for (const ClosedPeriod& period : state.closed_periods()) {
    all.push_back(scenario::rows_as_text(state, period.standings, estimators));
    all.back()["bounds"] = std::to_string(period.begin.value) + ' ' + std::to_string(period.end.value);
  }
  all.emplace_back();
  const std::vector<Instant> starts = state.last_starts();
  for (std::size_t i = 0; i < starts.size(); ++i)
    all.back()[state.organizations()[i]] = std::to_string(starts[i].value);
  return all;
}

RC_GTEST_PROP(State, BalancesAtEveryInstant, ()) {
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  State state;
  for (const Event& event : events) {
    scenario::apply_all(state, {event});
    expect_conservation(state.standings());
  }
  for (Instant t = state.now(); t < k_scenario_end; t = t + Duration{1})
    expect_conservation(state.advance(t).standings());
  for (const ClosedPeriod& period : state.closed_periods()) expect_conservation(period.standings);
}

RC_GTEST_PROP(State, AgreesWithTheSecondBySecondWitness, ()) {
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  State state;
  scenario::apply_all(state, events);
  const auto now = scenario::rows_as_text(state, state.advance(k_scenario_end).standings(), naive::estimators());
  const auto& closed = state.closed_periods();
  RC_TAG(closed.empty() ? "one period" : "two periods");
  const Instant begin = closed.empty() ? scenario::k_begin : scenario::k_month_end;
  RC_ASSERT(now ==
            text_of(naive::books(events, {scenario::k_begin, begin, k_scenario_end, k_scenario_end, k_scenario_end})));
  RC_ASSERT(closed.size() <= 1U);
  for (const ClosedPeriod& period : closed) {
    RC_ASSERT(period.end == scenario::k_month_end);
    const auto expected = naive::books(
        events, {scenario::k_begin, scenario::k_begin, period.end, Instant{period.end.value - 1}, k_scenario_end});
    RC_ASSERT(scenario::rows_as_text(state, period.standings, naive::estimators()) == text_of(expected));
  }
}

bool now_and_then(const scenario::Shape& shape) {
  return *rc::gen::inRange(0, shape.asked_every) == 0;
}

void expect_order_independence(const scenario::Shape& shape) {
  const Scenario scenario = *scenario::arbitrary(shape);
  State first;
  scenario::apply_all(first, scenario.events);
  State second;
  auto again = scenario.events;
  again.insert(again.end(), scenario.events.begin(), scenario.events.end());
  for (const Event& event : scenario::shuffled(again)) {
    scenario::apply_all(second, {event});
    // Asking in between makes the rates be evaluated and undone, and virtual schedules made again.
    if (now_and_then(shape)) expect_conservation(second.standings());
  }
  RC_ASSERT(everything(first, shape.end()) == everything(second, shape.end()));
}

RC_GTEST_PROP(State, DoesNotDependOnOrderOrRepetition, ()) {
  expect_order_independence({});
}
RC_GTEST_PROP(State, DoesNotDependOnOrderOverManyPeriods, ()) {
  expect_order_independence(scenario::k_years);
}
RC_GTEST_PROP(State, DoesNotDependOnOrderAmongManyOrganizations, ()) {
  expect_order_independence(scenario::k_crowd);
}

void expect_same_after_reload(const scenario::Shape& shape) {
  const auto events = scenario::shuffled((*scenario::arbitrary(shape)).events);
  const auto cut = *rc::gen::inRange<std::size_t>(0, events.size() + 1);
  const auto middle = events.begin() + static_cast<std::ptrdiff_t>(cut);
  State original;
  scenario::apply_all(original, {events.begin(), middle});
  auto loaded = State::load(original.save());
  if (!loaded) RC_FAIL(loaded.error().what);
  RC_ASSERT(loaded->save() == original.save());
  RC_ASSERT(everything(original, original.now()) == everything(*loaded, original.now()));
  scenario::apply_all(original, {middle, events.end()});
  scenario::apply_all(*loaded, {middle, events.end()});
  RC_ASSERT(everything(original, shape.end()) == everything(*loaded, shape.end()));
  RC_ASSERT(loaded->save() == original.save());
}

RC_GTEST_PROP(State, BehavesTheSameAfterSaveAndLoad, ()) {
  expect_same_after_reload({});
}
RC_GTEST_PROP(State, BehavesTheSameAfterSaveAndLoadOverManyPeriods, ()) {
  expect_same_after_reload(scenario::k_years);
}
RC_GTEST_PROP(State, BehavesTheSameAfterSaveAndLoadInACrowd, ()) {
  expect_same_after_reload(scenario::k_crowd);
}

// One that forgets (and is saved and loaded on the way) against one that never does. Events come in the order of their
// time except for delays up to about the horizon; what the forgetting one calls too old, the other one does not get.
void expect_forgetting_changes_nothing(const scenario::Shape& shape) {
  const StateOptions options{.memory_horizon = Duration{10 * shape.step.value},
                             .most_finished = *rc::gen::element<std::size_t>(1, 2, 5, 150'000),
                             .shortest_memory_horizon = Duration{3 * shape.step.value}};
  std::vector<std::pair<std::int64_t, Event>> arrivals;
  for (const Event& event : (*scenario::arbitrary(shape)).events) {
    arrivals.emplace_back(time_of(event).value + *rc::gen::inRange<std::int64_t>(0, 12) * shape.step.value, event);
  }
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  State forgetful(options);
  State remembering;
  int replays = 0;
  for (const auto& [arrival, event] : arrivals) {
    forgetful.advance({arrival});
    forgetful.compact();
    const auto applied = forgetful.apply(event);
    RC_ASSERT(applied.has_value());
    if (*applied == Applied::needs_replay) {
      ++replays;
      RC_ASSERT(forgetful.memory_horizon() > k_beginning_of_time);
      continue;
    }
    scenario::apply_all(remembering, {event});
    if (!now_and_then(shape)) continue;
    if (*rc::gen::inRange(0, 4) == 0) {
      auto loaded = State::load(forgetful.save(), options);
      if (!loaded) RC_FAIL(loaded.error().what);
      forgetful = std::move(*loaded);
    }
    const Instant t = std::max(forgetful.now(), remembering.now());
    RC_ASSERT(everything(forgetful, t) == everything(remembering, t));
  }
  RC_TAG(replays > 0 ? "something was too old" : "nothing was too old");
  const Instant end = std::max(forgetful.now(), shape.end());
  forgetful.advance(end);
  forgetful.compact();
  RC_ASSERT(everything(forgetful, end) == everything(remembering, end));
}

RC_GTEST_PROP(State, IsNotChangedByForgetting, ()) {
  expect_forgetting_changes_nothing({});
}
RC_GTEST_PROP(State, IsNotChangedByForgettingOverManyPeriods, ()) {
  expect_forgetting_changes_nothing(scenario::k_years);
}
RC_GTEST_PROP(State, IsNotChangedByForgettingInACrowd, ()) {
  expect_forgetting_changes_nothing(scenario::k_crowd);
}

// One that forgot, and then gave its figures up, remembers of what came afterwards all that one does that never forgot.
RC_GTEST_PROP(State, RemembersWhatComesAfterItGaveItsFiguresUp, ()) {
  const std::vector<Event> events = scenario::shuffled((*scenario::arbitrary()).events);
  const auto known = *rc::gen::inRange<std::size_t>(0, events.size() + 1);
  State remembering;
  State forgetful({.memory_horizon = Duration{2}, .most_finished = 1, .shortest_memory_horizon = Duration{1}});
  std::set<SegmentKey> known_before;
  std::set<SegmentKey> met_since;
  const auto key_of = [](const Event& event) -> std::optional<SegmentKey> {
    return std::visit(
        [](const auto& fact) -> std::optional<SegmentKey> {
          if constexpr (requires { fact.key.anchor; }) {
            return fact.key;
          } else {
            return std::nullopt;
          }
        },
        event);
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i == known) {
      forgetful.advance(k_scenario_end);
      forgetful.compact();
      forgetful.keep_memory_only(k_scenario_end);
    }
    scenario::apply_all(remembering, {events[i]});
    const auto applied = forgetful.apply(events[i]);
    RC_ASSERT(applied.has_value());
    RC_ASSERT(*applied != Applied::needs_replay);
    const std::optional<SegmentKey> key = key_of(events[i]);
    if (key && i < known) known_before.insert(*key);
    if (key && i >= known) met_since.insert(*key);
  }
  if (known >= events.size()) return;
  int compared = 0;
  for (const SegmentKey& key : met_since) {
    if (known_before.contains(key)) continue;
    ++compared;
    const LiveSegment* expected = remembering.find_segment(key);
    const LiveSegment* found = forgetful.find_segment(key);
    RC_ASSERT((expected == nullptr) == (found == nullptr));
    if (expected == nullptr) continue;
    RC_ASSERT(found->opened == expected->opened);
    RC_ASSERT(found->end == expected->end);
  }
  RC_TAG(compared > 0 ? "segments to compare" : "none");
  RC_ASSERT(forgetful.nodes() == remembering.nodes());
  for (const std::string& node : remembering.nodes()) {
    const CapacityChanged* expected = remembering.last_capacity(node);
    const CapacityChanged* found = forgetful.last_capacity(node);
    RC_ASSERT((expected == nullptr) == (found == nullptr));
    if (expected != nullptr) RC_ASSERT(*found == *expected);
  }
}

// Every finished run becomes two: one after the other, or side by side with whole processors.
std::vector<Event> cut_up(const std::vector<Event>& events) {
  std::map<SegmentKey, Instant> ends;
  std::set<SegmentKey> retracted;
  for (const Event& event : events) {
    if (const auto* closed = std::get_if<SegmentClosed>(&event)) ends[closed->key] = closed->end;
    if (const auto* r = std::get_if<SegmentRetracted>(&event)) retracted.insert(r->key);
  }
  std::vector<Event> result;
  for (const Event& event : events) {
    const auto* opened = std::get_if<SegmentOpened>(&event);
    const bool cuttable = opened != nullptr && opened->key.kind == SegmentKind::run && ends.contains(opened->key) &&
                          !retracted.contains(opened->key);
    if (!cuttable) {
      result.push_back(event);
      continue;
    }
    const Instant end = ends.at(opened->key);
    SegmentOpened first = *opened;
    SegmentOpened second = *opened;
    second.key.job.value += 1000;
    if (*rc::gen::arbitrary<bool>()) {
      second.begin.value = *rc::gen::inRange(opened->begin.value, end.value + 1);
      result.push_back(SegmentClosed{second.key, end, CloseReason::ended, ""});
      ends[first.key] = second.begin;
    } else {
      first.processors = second.processors = {};
      for (std::size_t i = 0; i < first.nodes.size(); ++i) {
        first.nodes[i].processors = {first.nodes[i].processors.value / k_micro / 2 * k_micro};
        second.nodes[i].processors -= first.nodes[i].processors;
        first.processors += first.nodes[i].processors;
        second.processors += second.nodes[i].processors;
      }
      std::erase_if(first.nodes, [](const NodeShare& share) { return share.processors.value == 0; });
      result.push_back(SegmentClosed{second.key, end, CloseReason::ended, ""});
    }
    result.push_back(first);
    result.push_back(second);
  }
  for (Event& event : result) {
    if (auto* closed = std::get_if<SegmentClosed>(&event)) {
      if (closed->key.job.value < 1000) closed->end = ends.at(closed->key);
    }
  }
  return result;
}

RC_GTEST_PROP(State, IgnoresHowJobsAreCut, ()) {
  // Parts of a shared node are rounded for each job: a job in two parts may get a millionth of a processor more or
  // less. A part that holds some of what was charged holds all of what was allocated.
  const auto events = (*scenario::arbitrary({.sharing = false, .counting = false})).events;
  const auto pieces = cut_up(events);
  State whole;
  scenario::apply_all(whole, scenario::shuffled(events));
  State cut;
  scenario::apply_all(cut, scenario::shuffled(pieces));
  // In virtual schedules the parts of a job are requests of their own, the second one is released when it began.
  std::vector<std::string_view> estimators = estimator_names();
  std::erase(estimators, "hindsight");
  RC_ASSERT(everything(whole, k_scenario_end, estimators) == everything(cut, k_scenario_end, estimators));
}

}  // namespace
}  // namespace shapley::accounting
