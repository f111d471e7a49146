// Who joins, by hindsight: no phi changes in the second in which an organization joins that asks for nothing yet,
// who has left has no part in what comes later, and the example of docs/concepts.md, by hand.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

EstimatorId hindsight() {
  return parse_estimator("hindsight").value();
}

class Newcomer : public StateTest {
 protected:
  // A and B own a processor each. a runs on A's from 0 to 10; b asks for two processors at 0 and gets them at 10, for
  // five seconds. Alone, and in the virtual schedule of both, b's two copies run on one processor one after the other.
  void lose_five_seconds(std::int64_t from, std::uint32_t first_job) {
    const SegmentOpened a = run(first_job, "A", from, {{"n1", cores(1)}});
    apply(a);
    apply(closed(a, from + 10));
    const SegmentOpened waits = wait(first_job + 1, "B", from, 2);
    apply(waits);
    apply(closed(waits, from + 10));
    SegmentOpened b = run(first_job + 1, "B", from + 10, {{"n1", cores(1)}, {"n2", cores(1)}});
    b.released = at(from);
    b.key.anchor = at(from);
    apply(b);
    apply(closed(b, from + 15));
  }
  void begin() {
    apply(owned("n1", 0, {{"A", 1'000'000}}));
    apply(owned("n2", 0, {{"B", 1'000'000}}));
    apply(capacity("n1", 0, 1));
    apply(capacity("n2", 0, 1));
    lose_five_seconds(0, 1);
  }
  void join() {
    apply(owned("n3", 20, {{"D", 1'000'000}}));
    apply(capacity("n3", 20, 2));
  }
  // B runs on all four processors from 20 to 30.
  void use_all() {
    const SegmentOpened c = run(3, "B", 20, {{"n1", cores(1)}, {"n2", cores(1)}, {"n3", cores(2)}});
    apply(c);
    apply(closed(c, 30));
  }
  double standing(std::string_view name, std::int64_t t) {
    const Standing is = row(name, t);
    return units({is.phi(hindsight()).value - is.psi.value});
  }
};

TEST_F(Newcomer, TheExampleOfTheConceptsPage) {
  begin();
  EXPECT_EQ(units(row("A", 20).psi), 155);
  EXPECT_EQ(units(row("B", 20).psi), 80);
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  join();
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  EXPECT_EQ(standing("D", 20), 0);
  use_all();
  EXPECT_EQ(units(row("A", 30).psi), 255);
  EXPECT_EQ(units(row("B", 30).psi), 400);
  EXPECT_EQ(units(row("A", 30).phi(hindsight())), 245);
  EXPECT_EQ(units(row("B", 30).phi(hindsight())), 355);
  EXPECT_EQ(units(row("D", 30).phi(hindsight())), 55);
}

TEST_F(Newcomer, AMemberThatLeftHasNoPartInWhatComesLater) {
  begin();
  join();
  use_all();
  apply(capacity("n3", 30, 0));
  // By now every coalition has run all that it had. 6 phi = v(B,D) - v(B) + 2 (v(A,B,D) - v(A,B)) = 500 + 2 * 200, and
  // the work that D made possible others have done meanwhile without it.
  EXPECT_EQ(units(row("D", 100).phi(hindsight())), 150);
  EXPECT_EQ(row("D", 100).given(hindsight()), CpuTime{});
  lose_five_seconds(100, 11);
  EXPECT_EQ(units(row("D", 150).phi(hindsight())), 150);
  EXPECT_EQ(row("D", 150).given(hindsight()), CpuTime{});
}

TEST_F(Newcomer, AGuestSharesNothingOfWhatWasBeforeItsFirstJob) {
  begin();
  apply(run(21, "guests", 20, {{"n1", cores(1)}}));
  EXPECT_EQ(standing("A", 20), -37.5);
  EXPECT_EQ(standing("B", 20), 37.5);
  EXPECT_EQ(standing("guests", 20), 0);
}

// The rows but for those of `left_out`.
std::map<std::string, std::string> rows_without(State& state, Instant t, const std::string& left_out) {
  const std::string_view only[] = {"hindsight"};
  std::map<std::string, std::string> rows = scenario::rows_as_text(state, state.standings(t), only);
  rows.erase(left_out);
  return rows;
}

// A joiner of either kind, after all that happens in a scenario: with a node on which nothing runs, or a job that
// starts.
void expect_that_joining_changes_nothing(const scenario::Shape& shape) {
  std::vector<Event> events = (*scenario::arbitrary(shape)).events;
  events.emplace_back(OrganizationsDeclared{shape.end(), {"zoology"}});
  State without;
  scenario::apply_all(without, scenario::shuffled(events));
  Instant t = shape.end();
  for (const Event& event : events) t = std::max(t, time_of(event));
  if (*rc::gen::arbitrary<bool>()) {
    events.emplace_back(owned("zoo", 0, {{"zoology", 1'000'000}}));
    events.emplace_back(CapacityChanged{"zoo", t, 0, cores(8)});
  } else {
    SegmentOpened job = wait(4711, "zoology", 0, 8);
    job.key.anchor = job.begin = t;
    events.emplace_back(job);
  }
  State with;
  for (const Event& event : scenario::shuffled(events)) {
    scenario::apply_all(with, {event});
    if (*rc::gen::inRange(0, 10) == 0) (void)with.standings(with.now());
  }
  const auto expected = rows_without(without, t, "zoology");
  const auto found = rows_without(with, t, "zoology");
  RC_ASSERT(found == expected);
  const Standing joined = with.standings(t)[with.find_organization("zoology").value().value];
  RC_ASSERT(joined.phi(hindsight()) == Utility{});
  RC_ASSERT(joined.given(hindsight()) == CpuTime{});
}

RC_GTEST_PROP(Joining, ChangesNobodysContributionInItsSecond, ()) {
  expect_that_joining_changes_nothing({});
}
RC_GTEST_PROP(Joining, ChangesNobodysContributionInItsSecondOverManyPeriods, ()) {
  expect_that_joining_changes_nothing(scenario::k_years);
}

}  // namespace
}  // namespace shapley::accounting
