// What runs hold of a node that they share: added up by groups as if each were asked, and no dearer for many runs.
#include "accounting/ownership/sharing.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/state_impl.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

struct Shared {
  std::vector<Claim> claims;
  std::vector<std::size_t> groups;
  std::vector<Worth> worths;
  Instant from;
};

// Small numbers, so that remainders and ties are common.
rc::Gen<Shared> arbitrary_shared() {
  return rc::gen::exec([] {
    Shared shared;
    const auto n = *rc::gen::inRange<std::size_t>(0, 30);
    for (std::size_t i = 0; i < n; ++i) {
      const auto begin = *rc::gen::inRange<std::int64_t>(0, 20);
      const auto length = *rc::gen::inRange<std::int64_t>(0, 12);
      shared.claims.push_back(
          {{begin}, length > 10 ? k_end_of_time : Instant{begin + length}, {*rc::gen::inRange(0, 5)}});
      shared.groups.push_back(*rc::gen::inRange<std::size_t>(0, 3));
    }
    std::int64_t at = -1;
    for (auto worths = *rc::gen::inRange(0, 4); worths > 0; --worths)
      shared.worths.push_back({{at += *rc::gen::inRange(1, 9)}, {*rc::gen::inRange(0, 25)}});
    shared.from = *rc::gen::element(k_beginning_of_time, Instant{5}, Instant{11});
    return shared;
  });
}

// What each of the groups holds, how much by how many: (group, second, processors each) -> claims.
using Held = std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::int64_t>;

void add(Held& held, std::size_t group, std::int64_t count, Instant begin, Instant end, ProcessorMillionths each) {
  constexpr std::int64_t k_last = 60;
  for (std::int64_t t = begin.value; t < std::min(end.value, k_last); ++t) held[{group, t, each.value}] += count;
}

RC_GTEST_PROP(Sharing, ClassesHoldWhatTheirClaimsHold, ()) {
  const Shared s = *arbitrary_shared();
  Held by_claim;
  for_each_held(s.claims, s.worths, s.from,
                [&](std::size_t claim, Instant begin, Instant end, ProcessorMillionths processors) {
                  add(by_claim, s.groups[claim], 1, begin, end, processors);
                });
  Held by_class;
  for_each_class_held(s.claims, s.groups, s.worths, s.from,
                      [&](std::size_t claim, std::int64_t count, Instant begin, Instant end, ProcessorMillionths each) {
                        add(by_class, s.groups[claim], count, begin, end, each);
                      });
  RC_ASSERT(by_class == by_claim);
}

// Counts the calls that it gets from the books.
class Listener final : public Estimator {
 public:
  explicit Listener(std::size_t& told) : told_(told) {}
  void set_organizations(const std::vector<OrgId>& /*by_name*/) override {}
  void fold_piece(int /*sign*/, const Piece& /*piece*/) override { ++told_; }
  void change_levels(Instant /*t*/, OrgId /*organization*/, const LevelChange& /*change*/) override { ++told_; }
  void close_period(const std::vector<Instant>& /*boundaries*/) override {}
  void set_boundaries(const std::vector<Instant>& /*boundaries*/) override {}
  void contributions(const Question& /*question*/, std::span<Credit> /*credits*/) override {}
  void save(TextWriter& /*out*/, const Remembered& /*books*/) override {}
  void load(TextReader& /*in*/, const Remembered& /*books*/) override {}

 private:
  std::size_t& told_;
};

void listen(State::Impl& books, std::size_t& told) {
  std::vector<std::unique_ptr<Estimator>> listening;
  listening.push_back(std::make_unique<Listener>(told));
  books.accounts.replace_estimators(std::move(listening));
}

CapacityChanged whole_node(std::int64_t count) {
  CapacityChanged node = capacity("n1", 0, count);
  node.whole = cores(count);
  return node;
}

// Runs of one processor each, of two organizations, that overlap on one node.
std::vector<Event> overlapping(std::uint32_t runs) {
  std::vector<Event> events;
  for (std::uint32_t job = 1; job <= runs; ++job)
    events.emplace_back(run(job, job % 3 == 0 ? "north" : "south", job, {{"n1", cores(1)}}));
  for (std::uint32_t job = 1; job <= runs; ++job)
    events.emplace_back(closed(std::get<SegmentOpened>(events[job - 1]), runs + job));
  return events;
}

void apply_all(State::Impl& books, const std::vector<Event>& events) {
  for (const Event& event : events) {
    ASSERT_EQ(books.validate(event), Applied::changed) << event_key(event);
    books.advance(time_of(event));
    books.fold(event);
  }
}

TEST(SharingEffort, RunsOnASharedNodeAreReportedOnceForAllOfThem) {
  constexpr std::uint32_t k_runs = 4'000;
  State::Impl books{StateOptions{}};
  std::size_t told = 0;
  listen(books, told);
  apply_all(books, {whole_node(128)});
  apply_all(books, overlapping(k_runs));
  (void)books.accounts.got();  // reading makes the entries that are owed
  // At each of 2 * k_runs instants, two organizations hold two amounts each: pieces, and levels before and after.
  EXPECT_LE(told, std::size_t{2} * k_runs * 2 * 2 * 3);
  EXPECT_GE(told, std::size_t{k_runs});
}

// Runs of a shared node are owed to the accounts until these are read, close a period or forget.
TEST(SharingEffort, WhateverReadsTheAccountsMakesTheEntriesThatAreOwed) {
  const std::vector<std::function<void(Accounts&)>> ways{
      [](Accounts& accounts) { (void)accounts.got(); },
      [](Accounts& accounts) { (void)accounts.levels(); },
      [](Accounts& accounts) { (void)accounts.standings(0, at(5), EstimatorSet::all()); },
      [](Accounts& accounts) { (void)accounts.worth(0, at(5), EstimatorSet::all(), at(0)); },
      [](Accounts& accounts) { (void)accounts.catch_up(at(5), 1); },
      [](Accounts& accounts) { (void)accounts.forgettable(at(5), 1); },
      [](Accounts& accounts) { accounts.forget_before(at(0)); },
      [](Accounts& accounts) { accounts.close_period(); },
  };
  for (std::size_t way = 0; way < ways.size(); ++way) {
    State::Impl books{StateOptions{}};
    std::size_t told = 0;
    listen(books, told);
    apply_all(books, {PeriodDeclared{at(0), Period::monthly}, whole_node(2)});
    apply_all(books, overlapping(4));
    const std::size_t before = told;
    ways[way](books.accounts);
    EXPECT_GT(told, before) << "way " << way;
  }
}

std::vector<Int128> figures(State& state) {
  std::vector<Int128> all;
  for (const Standing& row : state.advance(at(100)).standings(EstimatorSet::all())) {
    all.insert(all.end(), {row.psi.value, row.got.value, row.owned.value, row.used.value, row.waiting.value,
                           row.lent.value, row.borrowed.value});
    for (const EstimatorId e : estimator_ids()) all.insert(all.end(), {row.phi(e).value, row.given(e).value});
  }
  return all;
}

// Whenever the books are read, in whatever order facts come.
RC_GTEST_PROP(SharingEffort, AskingInBetweenChangesNothing, ()) {
  std::vector<Event> events = overlapping(*rc::gen::inRange<std::uint32_t>(2, 12));
  events.emplace_back(whole_node(*rc::gen::inRange(1, 6)));
  CapacityChanged later = whole_node(3);
  later.at = at(7);
  events.emplace_back(later);
  events.emplace_back(SegmentRetracted{std::get<SegmentOpened>(events[1]).key, at(30)});
  events.emplace_back(owned("n1", 5, {{"north", 500'000}, {"south", 500'000}}));
  std::mt19937 shuffle(*rc::gen::arbitrary<std::uint32_t>());
  std::shuffle(events.begin(), events.end(), shuffle);
  State lazy{StateOptions{}};
  State eager{StateOptions{}};
  for (const Event& event : events) {
    RC_ASSERT(lazy.apply(event).has_value());
    RC_ASSERT(eager.apply(event).has_value());
    (void)eager.standings(EstimatorSet::all());
    if (*rc::gen::weightedElement<bool>({{4, false}, {1, true}})) RC_ASSERT(lazy.save() == eager.save());
  }
  RC_ASSERT(figures(lazy) == figures(eager));
  RC_ASSERT(lazy.save() == eager.save());
}

}  // namespace
}  // namespace shapley::accounting
