// Properties of the books over random scenarios: each holds for every set of events.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fairness/state.hpp"
#include "naive_books.hpp"
#include "scenario.hpp"

namespace shapley::fairness {
namespace {

using scenario::Scenario;

constexpr Instant k_end{scenario::k_begin.value + scenario::k_length + 3};

std::map<std::string, std::string> text_of(const std::map<std::string, naive::Row>& rows) {
  std::map<std::string, std::string> text;
  for (const auto& [name, row] : rows) {
    for (const Int128 value :
         {row.psi, row.phi_direct, row.phi_rate, row.got, row.given_direct, row.given_rate, Int128{row.owned},
          Int128{row.used}, Int128{row.waiting}, Int128{row.lent}, Int128{row.borrowed}}) {
      text[name] += to_string(value) + ' ';
    }
  }
  return text;
}

void expect_conservation(const std::vector<Standing>& standings) {
  Int128 psi = 0;
  Int128 direct = 0;
  Int128 rate = 0;
  Int128 got = 0;
  Int128 given_direct = 0;
  Int128 given_rate = 0;
  for (const Standing& s : standings) {
    psi += s.psi.value;
    direct += s.phi_direct.value;
    rate += s.phi_rate.value;
    got += s.got.value;
    given_direct += s.given_direct.value;
    given_rate += s.given_rate.value;
  }
  RC_ASSERT(psi == direct);
  RC_ASSERT(psi == rate);
  RC_ASSERT(got == given_direct);
  RC_ASSERT(got == given_rate);
}

// Everything that can be asked of the books, by name.
std::vector<std::map<std::string, std::string>> everything(State& state, Instant t) {
  std::vector<std::map<std::string, std::string>> all{scenario::rows_as_text(state, state.standings(t))};
  for (const ClosedPeriod& period : state.closed_periods()) {
    all.push_back(scenario::rows_as_text(state, period.standings));
    all.back()["bounds"] = std::to_string(period.begin.value) + ' ' + std::to_string(period.end.value);
  }
  return all;
}

// A checkpoint but for the lines that only say where the evaluation of rates may resume.
std::string facts_of(const std::string& checkpoint) {
  std::string facts;
  bool in_landmark = false;
  for (std::size_t at = 0; at < checkpoint.size();) {
    const std::size_t end = checkpoint.find('\n', at) + 1;
    const std::string line = checkpoint.substr(at, end - at);
    in_landmark = line.starts_with("landmark") || (in_landmark && line.starts_with("rate "));
    if (!in_landmark && !line.starts_with("end ")) facts += line;
    at = end;
  }
  return facts;
}

RC_GTEST_PROP(State, BalancesAtEveryInstant, ()) {
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  State state;
  for (const Event& event : events) {
    scenario::apply_all(state, {event});
    expect_conservation(state.standings(state.now()));
  }
  for (Instant t = state.now(); t < k_end; t = t + Duration{1}) expect_conservation(state.standings(t));
  for (const ClosedPeriod& period : state.closed_periods()) expect_conservation(period.standings);
}

RC_GTEST_PROP(State, AgreesWithTheSecondBySecondWitness, ()) {
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  State state;
  scenario::apply_all(state, events);
  const auto now = scenario::rows_as_text(state, state.standings(k_end));
  const auto& closed = state.closed_periods();
  RC_TAG(closed.empty() ? "one period" : "two periods");
  const Instant begin = closed.empty() ? scenario::k_begin : scenario::k_month_end;
  RC_ASSERT(now == text_of(naive::books(events, begin, k_end, k_end)));
  RC_ASSERT(closed.size() <= 1U);
  for (const ClosedPeriod& period : closed) {
    RC_ASSERT(period.end == scenario::k_month_end);
    const auto expected = naive::books(events, scenario::k_begin, period.end, Instant{period.end.value - 1});
    RC_ASSERT(scenario::rows_as_text(state, period.standings) == text_of(expected));
  }
}

RC_GTEST_PROP(State, DoesNotDependOnOrderOrRepetition, ()) {
  const Scenario scenario = *scenario::arbitrary();
  State first;
  scenario::apply_all(first, scenario.events);
  State second;
  auto again = scenario.events;
  again.insert(again.end(), scenario.events.begin(), scenario.events.end());
  for (const Event& event : scenario::shuffled(again)) {
    scenario::apply_all(second, {event});
    // Asking in between makes the rates be evaluated and taken back.
    if (*rc::gen::inRange(0, 4) == 0) (void)second.standings(second.now());
  }
  RC_ASSERT(everything(first, k_end) == everything(second, k_end));
}

RC_GTEST_PROP(State, BehavesTheSameAfterSaveAndLoad, ()) {
  const auto events = scenario::shuffled((*scenario::arbitrary()).events);
  const auto cut = *rc::gen::inRange<std::size_t>(0, events.size() + 1);
  const auto middle = events.begin() + static_cast<std::ptrdiff_t>(cut);
  State original;
  scenario::apply_all(original, {events.begin(), middle});
  auto loaded = State::load(original.save());
  if (!loaded) RC_FAIL(loaded.error().what);
  RC_ASSERT(facts_of(loaded->save()) == facts_of(original.save()));
  RC_ASSERT(everything(original, original.now()) == everything(*loaded, original.now()));
  scenario::apply_all(original, {middle, events.end()});
  scenario::apply_all(*loaded, {middle, events.end()});
  RC_ASSERT(everything(original, k_end) == everything(*loaded, k_end));
  RC_ASSERT(facts_of(loaded->save()) == facts_of(original.save()));
}

}  // namespace
}  // namespace shapley::fairness
