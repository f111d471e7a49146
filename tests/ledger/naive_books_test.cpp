// The auditor's own sums, checked against sums that go second by second and unit part by unit part.
#include "ledger/audit/naive_books.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/calendar.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;

// SR13 Eq. 3 spelt out: a unit part executed in second i is worth t - i.
Int128 unit_by_unit(std::int64_t begin, std::int64_t end, std::int64_t processors, std::int64_t t) {
  Int128 sum = 0;
  for (std::int64_t i = begin; i < end && i < t; ++i) sum += Int128{processors} * (t - i);
  return sum;
}

Facts facts_of(const std::vector<accounting::Event>& events) {
  Facts facts;
  for (const auto& event : events) facts.add(event);
  return facts;
}

RC_GTEST_PROP(NaiveBooks, a_run_is_worth_its_unit_parts, ()) {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, 200);
  const auto end = begin + *rc::gen::inRange<std::int64_t>(0, 200);
  const auto t = *rc::gen::inRange<std::int64_t>(0, 500);
  const auto run = opened(1, begin, "a", *rc::gen::inRange<std::int64_t>(1, 9));
  const auto facts = facts_of({run, closed(run, end)});
  const auto rows = NaiveBooks(facts).at({t});
  const Int128 worth = unit_by_unit(begin, end, run.processors.value, t);
  RC_ASSERT(rows.at("a").psi.value == worth);
  RC_ASSERT(rows.at("commons").direct.phi.value == worth);
}

// The worked example of the paper's text: one processor from 0 to 3, seen at 13: 13 + 12 + 11.
TEST(NaiveBooks, agree_with_a_sum_by_hand) {
  const auto run = opened(1, 0, "a", 1);
  const auto facts = facts_of({run, closed(run, 3)});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.at({13}).at("a").psi.value, 36 * k_micro);
  EXPECT_EQ(books.at({13}).at("a").got.value, 3 * k_micro);
  EXPECT_EQ(books.at({2}).at("a").psi.value, 3 * k_micro);
  EXPECT_EQ(books.at({0}).at("a").psi.value, 0);
}

TEST(NaiveBooks, a_node_that_changes_hands_splits_the_run) {
  const auto run = opened(1, 100, "a", 2);
  const auto facts =
      facts_of({accounting::OwnershipStated{
                    "n1", {50}, {{k_beginning_of_time, {{"b", 1'000'000}}}, {{110}, {{"c", 1'000'000}}}}},
                run, closed(run, 130)});
  const auto rows = NaiveBooks(facts).at({200});
  EXPECT_EQ(rows.at("b").direct.phi.value, unit_by_unit(100, 110, 2 * k_micro, 200));
  EXPECT_EQ(rows.at("c").direct.phi.value, unit_by_unit(110, 130, 2 * k_micro, 200));
  EXPECT_EQ(rows.at("b").direct.given.value, 20 * k_micro);
}

// 1 micro-processor in thirds: the largest remainder takes it; of equal remainders, the first.
TEST(NaiveBooks, fractions_are_divided_by_largest_remainder) {
  auto run = opened(1, 100, "a", 1);
  run.processors = run.nodes[0].processors = {1'000'001};
  const auto facts =
      facts_of({accounting::OwnershipStated{"n1", {0}, {{{0}, {{"x", 250'000}, {"y", 500'000}, {"z", 250'000}}}}}, run,
                closed(run, 101)});
  const auto rows = NaiveBooks(facts).at({101});
  EXPECT_EQ(rows.at("x").direct.given.value, 250'000);
  EXPECT_EQ(rows.at("y").direct.given.value, 500'001);
  EXPECT_EQ(rows.at("z").direct.given.value, 250'000);

  const auto even =
      facts_of({accounting::OwnershipStated{"n1", {0}, {{{0}, {{"x", 500'000}}}}}, run, closed(run, 101)});
  EXPECT_EQ(NaiveBooks(even).at({101}).at("x").direct.given.value, 500'001);
  EXPECT_EQ(NaiveBooks(even).at({101}).at("commons").direct.given.value, 500'000);
}

TEST(NaiveBooks, know_only_what_was_true_by_then) {
  const auto run = opened(1, 100, "a", 1);
  const auto facts = facts_of({run, accounting::SegmentRetracted{run.key, {150}}});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.at({149}).at("a").psi.value, unit_by_unit(100, 149, k_micro, 149));
  EXPECT_EQ(books.at({150}).at("a").psi.value, 0);
}

TEST(NaiveBooks, waits_count_for_nothing) {
  const auto facts = facts_of(
      {accounting::SegmentOpened{{accounting::SegmentKind::wait, {1}, {100}, 0}, "a", {100}, {5 * k_micro}, {}}});
  EXPECT_EQ(NaiveBooks(facts).at({200}).at("a").psi.value, 0);
}

TEST(NaiveBooks, a_period_begins_at_its_boundary) {
  const Instant november = *parse_instant("2026-11-01");
  const Instant december = *parse_instant("2026-12-01");
  const auto run = opened(1, november.value - 100, "a", 1);
  const auto facts = facts_of({accounting::PeriodDeclared{{november.value - 500}, Period::monthly},
                               accounting::PeriodDeclared{{december.value + 500}, Period::none}, run});
  const NaiveBooks books(facts);
  EXPECT_EQ(books.period_begin_at({november.value - 1}), k_beginning_of_time);
  EXPECT_EQ(books.period_begin_at(november), november);
  EXPECT_EQ(books.period_begin_at({december.value - 1}), november);
  EXPECT_EQ(books.period_begin_at({december.value + 100'000'000}), december);
  EXPECT_EQ(books.at(november + Duration{50}).at("a").psi.value,
            unit_by_unit(november.value, november.value + 50, k_micro, november.value + 50));
  EXPECT_EQ(books.of_period({k_beginning_of_time, november, december}).at("a").psi.value,
            unit_by_unit(november.value - 100, november.value, k_micro, november.value));
}

}  // namespace
}  // namespace shapley::ledger
