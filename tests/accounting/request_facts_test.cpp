// Which requests the virtual schedules hear of, by hand: when a run was released, and what of a wait has started.
#include "accounting/estimators/request_facts.hpp"

#include <string>

#include <gtest/gtest.h>

#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

constexpr std::int64_t k_day = 86'400;

SegmentFact waited(std::uint32_t job, std::int64_t anchor, std::int64_t begin, Instant end, std::int64_t amount) {
  return {{SegmentKind::wait, {job}, at(anchor), static_cast<std::uint32_t>(begin)}, {}, {amount}, at(begin), end};
}

SegmentFact began(std::uint32_t job, std::int64_t released, std::int64_t begin, std::uint32_t waited_as = 0) {
  SegmentFact fact{run_key(job, begin), {}, {1}, at(begin), k_end_of_time};
  fact.released = at(released);
  fact.waited_as = {waited_as};
  return fact;
}

// "1 since 100 began 120; 2 since 100" of the one group that there is, as far as `until` tells.
std::string wanted(const RequestFacts& facts, Instant until = k_end_of_time) {
  std::string text;
  for (const WantedRequest& request : facts.wanted(facts.groups().begin()->first, until)) {
    text += (text.empty() ? "" : "; ") + std::to_string(request.amount);
    text += " since " + std::to_string(request.release - k_start.value);
    if (request.begin != hindsight::k_never) text += " began " + std::to_string(request.begin - k_start.value);
  }
  return text;
}

TEST(RequestFacts, ARunThatWasSeenToWaitWasReleasedAsItSays) {
  RequestFacts facts;
  facts.fold(1, waited(7, 0, 0, at(3 * k_day), 1));
  facts.fold(1, began(7, 0, 3 * k_day));
  EXPECT_EQ(wanted(facts), "1 since 0 began " + std::to_string(3 * k_day));
}

TEST(RequestFacts, OneThatWasNotIsBelievedForSixHours) {
  RequestFacts facts;
  const SegmentFact begun = began(7, 0, 3 * k_day);
  facts.fold(1, begun);
  EXPECT_EQ(facts.release_of(begun), at(3 * k_day - 6 * 3600));
  // A wait that had ended by then is no witness, nor is one without length.
  facts.fold(1, waited(7, 0, 0, at(2 * k_day), 1));
  facts.fold(1, waited(7, 0, 3 * k_day, at(3 * k_day), 1));
  EXPECT_EQ(facts.release_of(begun), at(3 * k_day - 6 * 3600));
  EXPECT_EQ(facts.release_of(began(8, 3 * k_day - 60, 3 * k_day)), at(3 * k_day - 60));
}

TEST(RequestFacts, ATaskThatWaitsByItselfIsAPartOfWhatItsArrayWaitsFor) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 100, k_end_of_time, 3));
  SegmentFact split = waited(9, 100, 105, at(110), 1);
  split.waited_as = {7};
  facts.fold(1, split);
  EXPECT_EQ(facts.groups().size(), 1U);
  EXPECT_EQ(wanted(facts, at(108)), "4 since 100");
  facts.fold(1, began(9, 100, 110, 7));
  EXPECT_EQ(wanted(facts, at(112)), "1 since 100 began 110; 3 since 100");
}

TEST(RequestFacts, TasksOfAnArrayAreTheFirstPartsOfItsWait) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 100, at(110), 3));
  facts.fold(1, waited(7, 100, 110, at(120), 2));
  facts.fold(1, waited(7, 100, 120, k_end_of_time, 1));
  facts.fold(1, began(9, 100, 120, 7));
  facts.fold(1, began(8, 100, 110, 7));
  ASSERT_EQ(facts.groups().size(), 1U);
  EXPECT_EQ(wanted(facts), "1 since 100 began 110; 1 since 100 began 120; 1 since 100");
  EXPECT_EQ(wanted(facts, at(105)), "3 since 100") << "nobody knows yet who starts";
  EXPECT_EQ(wanted(facts, at(115)), "1 since 100 began 110; 2 since 100");
  EXPECT_EQ(wanted(facts, at(100)), "");
}

TEST(RequestFacts, WhatWaitedLaterStandsForAWaitThatTheBooksDoNotHave) {
  RequestFacts facts;
  facts.fold(1, waited(7, 100, 110, at(120), 2));
  facts.fold(1, began(7, 100, 120));
  EXPECT_EQ(wanted(facts, at(105)), "2 since 100");
  facts.fold(-1, waited(7, 100, 110, at(120), 2));
  EXPECT_EQ(wanted(facts, at(105)), "1 since 100") << "nothing waits that it could be a part of";
}

}  // namespace
}  // namespace shapley::accounting
