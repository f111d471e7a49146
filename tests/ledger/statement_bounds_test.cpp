// What a statement cannot say by itself, and what two cannot say together.
#include "ledger/consortium/statement_bounds.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/types.hpp"

namespace shapley::ledger {
namespace {

using accounting::ClusterFigures;
using accounting::OrganizationElsewhere;

constexpr Instant k_begin{1'795'000'000};
constexpr Int128 k_core_hour = Int128{3600} * k_micro;

// Of 48 processors, ten minutes old: A gave on half of them for that time to B.
ClusterFigures ten_minutes_old() {
  ClusterFigures figures{.consortium = "uni",
                         .ledger = std::string(32, 'a'),
                         .event = 7,
                         .hash = std::string(64, 'b'),
                         .time = k_begin + Duration{600},
                         .contribution = "direct_contr",
                         .period = Period::none,
                         .period_begin = k_begin,
                         .weights = {},
                         .organizations = {}};
  figures.whole = {48 * k_micro};
  for (const std::int64_t sign : {1, -1}) {
    const std::int64_t processors = sign * 24 * k_micro;
    figures.organizations.push_back({sign > 0 ? "A" : "B",
                                     {.balance = {Int128{processors} * 600 * 601 / 2},
                                      .given_less_got = {Int128{processors} * 600},
                                      .rate_less_used = {processors}},
                                     {24 * k_micro},
                                     {sign > 0 ? 0 : 48 * k_micro},
                                     {0}});
  }
  return figures;
}

TEST(StatementBounds, WhatAClusterDidIsTaken) {
  EXPECT_EQ(impossible(ten_minutes_old()), "");
  ClusterFigures idle = ten_minutes_old();
  for (OrganizationElsewhere& row : idle.organizations) row = {row.organization, {}, {}, {}, {}};
  idle.whole = {};
  EXPECT_EQ(impossible(idle), "") << "of a new ledger, which knows no node yet";
  // All nodes are down: what they are worth stays.
  ClusterFigures down = ten_minutes_old();
  for (OrganizationElsewhere& row : down.organizations) row.owned = {};
  EXPECT_EQ(impossible(down), "");
  // Most nodes left during the period.
  ClusterFigures shrunk = ten_minutes_old();
  shrunk.whole = {5 * k_micro};
  for (OrganizationElsewhere& row : shrunk.organizations) row.owned = {};
  shrunk.organizations[1].used = {};
  for (OrganizationElsewhere& row : shrunk.organizations) row.figures.rate_less_used = {};
  EXPECT_EQ(impossible(shrunk), "");
}

TEST(StatementBounds, WhatNoClusterDidIsNot) {
  const auto with = [](const auto& change) {
    ClusterFigures figures = ten_minutes_old();
    change(figures);
    return impossible(figures);
  };
  // 278 thousand million processor-hours.
  EXPECT_EQ(
      with([](auto& f) { f.organizations[0].figures.given_less_got.value = 278'000'000'000 * k_core_hour; }),
      "A is owed 278,000,000,000 processor-hours, which no cluster of 48 processors whose books count for 10 min has "
      "done");
  EXPECT_NE(with([](auto& f) {
              f.organizations[1].figures.given_less_got.value = -1'000 * k_core_hour;
            }).find("B owes 1,000 processor-hours"),
            std::string::npos);
  EXPECT_NE(with([](auto& f) { f.organizations[0].figures.balance.value *= 1'000; }).find("A's standing"),
            std::string::npos);
  EXPECT_NE(with([](auto& f) { f.organizations[0].figures.rate_less_used = {200 * k_micro}; }).find("in a second"),
            std::string::npos);
  for (const char* name : {"guests", "commons"}) {
    EXPECT_NE(with([&](auto& f) { f.organizations[1].organization = name; }).find("no organization of the consortium"),
              std::string::npos);
  }
  EXPECT_EQ(with([](auto& f) { f.organizations[0].owned = {-1}; }), "A owns less than nothing there");
  EXPECT_EQ(with([](auto& f) { f.organizations[0].used = {-1}; }), "A uses less than nothing there");
  EXPECT_EQ(with([](auto& f) { f.organizations[0].waiting = {-1}; }), "A asks for less than nothing there");
}

// What was agreed on is no work of the cluster, and is said.
TEST(StatementBounds, WhatWasSettledIsWhatItSays) {
  ClusterFigures figures = ten_minutes_old();
  OrganizationElsewhere& row = figures.organizations[0];
  const CpuTime agreed{100'000 * k_core_hour};
  row.figures.given_less_got += agreed;
  row.figures.balance.value += agreed.value * 600;
  EXPECT_NE(impossible(figures), "");
  row.settled_given = agreed;
  EXPECT_EQ(impossible(figures), "");
  row.settled_given = {};
  row.settled_got = agreed;
  EXPECT_NE(impossible(figures), "") << "on the other side";
}

TEST(StatementBounds, AJumpIsNamed) {
  ClusterFigures last = ten_minutes_old();
  const auto jumped = [&](const auto& change) {
    ClusterFigures next = last;
    next.time = last.time + Duration{60};
    for (OrganizationElsewhere& row : next.organizations) {
      row.figures.balance.value += 60 * row.figures.given_less_got.value;
      row.figures.given_less_got.value += 60 * row.figures.rate_less_used.value;
    }
    change(next);
    return jump(next, last);
  };
  EXPECT_EQ(jumped([](auto& /*next*/) {}), "");
  const auto add = [](OrganizationElsewhere& row, std::int64_t hours) {
    row.figures.given_less_got.value += hours * k_core_hour;
  };
  EXPECT_EQ(jumped([&](auto& next) { add(next.organizations[0], 100); }),
            "A gave 100 processor-hours more in 1 min by its statements, more than the cluster can do");
  EXPECT_NE(jumped([&](auto& next) {
              add(next.organizations[0], 100);
              add(next.organizations[1], -200);
            }).find("B got 200 processor-hours more"),
            std::string::npos);
  EXPECT_NE(jumped([&](auto& next) {
              add(next.organizations[0], 200);
              add(next.organizations[1], -100);
            }).find("A gave 200 processor-hours more"),
            std::string::npos);
  EXPECT_EQ(jumped([&](auto& next) {
              add(next.organizations[0], 100);
              next.organizations[0].settled_given = {100 * k_core_hour};
            }),
            "A gave 100 processor-hours more in 1 min by its statements, more than the cluster can do; 100 "
            "processor-hours of "
            "that by agreed amounts");
  EXPECT_NE(jumped([](auto& next) { next.organizations[0].figures.balance.value *= 3; }), "");
  // By other books, or by figures that are restated, nothing is said.
  const auto jumped_with = [&](const auto& change) {
    return jumped([&](auto& next) {
      add(next.organizations[0], 100);
      change(next);
    });
  };
  EXPECT_EQ(jumped_with([](auto& next) { next.period_begin = next.time; }), "");
  EXPECT_EQ(jumped_with([](auto& next) { next.ledger = std::string(32, 'c'); }), "");
  EXPECT_EQ(jumped_with([](auto& next) { next.contribution = "other"; }), "");
  // Two hours of work within a minute are too much for 48 processors, and not for 96, which left or came meanwhile.
  const auto two_hours = [&](std::int64_t processors) {
    return jumped([&](auto& next) {
      add(next.organizations[0], 2);
      next.whole = {processors * k_micro};
    });
  };
  EXPECT_NE(two_hours(48), "");
  EXPECT_EQ(two_hours(96), "");
  last.whole = {96 * k_micro};
  EXPECT_EQ(two_hours(48), "");
  ClusterFigures before = last;
  before.contribution = "hindsight";
  ClusterFigures after = before;
  after.time = after.time + Duration{60};
  add(after.organizations[0], 100);
  EXPECT_EQ(jump(after, before), "");
}

}  // namespace
}  // namespace shapley::ledger
