// The query scheduler, in simulated time.
#include "daemon/server/query_scheduler.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using std::chrono::milliseconds;
using Clock = QueryScheduler::Clock;

const QueryScheduler::MayServe k_anybody = [](const auto&) { return true; };

// It is about whose query it is; the session behind it is only a name.
Session* name_of_session(std::uintptr_t number) {
  return reinterpret_cast<Session*>(number * 64);
}

QueryScheduler::Waiting query(std::uint32_t uid, std::uint64_t id = 0) {
  return {name_of_session(uid), uid, false, protocol::Query{id, "{}"}};
}

QueryScheduler::Waiting administrators_query(std::uint64_t id = 0) {
  return {name_of_session(1000), 0, true, protocol::Query{id, "{}"}};
}

// Time that each user got when all of them always have the next query ready, each query of `user` taking cost[user].
struct Shares {
  std::map<std::uint32_t, milliseconds> used;
  milliseconds all{0};
};
Shares serve(const std::map<std::uint32_t, milliseconds>& costs, milliseconds until) {
  QueryScheduler scheduler;
  Clock::time_point now{};
  Shares shares;
  for (const auto& [uid, cost] : costs) scheduler.add(query(uid));
  while (now < Clock::time_point{} + until) {
    const auto at = scheduler.next_at(k_anybody);
    if (!at) break;
    now = std::max(now, *at);
    const auto taken = scheduler.next(now, k_anybody);
    EXPECT_TRUE(taken.has_value());
    if (!taken) break;
    const milliseconds cost = costs.at(taken->uid);
    scheduler.done(*taken, now, now + cost);
    now += cost;
    shares.used[taken->uid] += cost;
    shares.all += cost;
    scheduler.add(query(taken->uid));
  }
  return shares;
}

TEST(QueryScheduler, OneUserGetsAQuarterOfTheTimeAtMost) {
  const auto shares = serve({{1, milliseconds(100)}}, milliseconds(100'000));
  EXPECT_LE(shares.all, milliseconds(25'000) + milliseconds(100));
}

TEST(QueryScheduler, ManyUsersGetHalfOfTheTimeAtMost) {
  std::map<std::uint32_t, milliseconds> costs;
  for (std::uint32_t uid = 1; uid <= 50; ++uid) costs[uid] = milliseconds(100);
  const auto shares = serve(costs, milliseconds(100'000));
  EXPECT_LE(shares.all, milliseconds(50'000) + milliseconds(100));
}

TEST(QueryScheduler, CheapQuestionsAreNotKeptWaitingByThoseOfAnotherUser) {
  const auto shares = serve({{1, milliseconds(1000)}, {2, milliseconds(1)}}, milliseconds(100'000));
  // Between two questions of the first one, 4 s apart, the second one rests 3 ms after each of its own; it loses only
  // the second that the other's takes, and the rest after it.
  EXPECT_GE(shares.used.at(2), milliseconds(12'000));
  EXPECT_LE(shares.used.at(1), milliseconds(26'000));
}

TEST(QueryScheduler, AUserThatMayNotIsPassedOver) {
  QueryScheduler scheduler;
  scheduler.add(query(1));
  scheduler.add(query(2));
  const auto not_the_first = [](const auto& waiting) { return waiting.uid != 1; };
  EXPECT_EQ(scheduler.next({}, not_the_first)->uid, 2U);
  EXPECT_FALSE(scheduler.next({}, not_the_first).has_value());
  EXPECT_FALSE(scheduler.next_at(not_the_first).has_value());
  EXPECT_EQ(scheduler.next({}, k_anybody)->uid, 1U);
}

TEST(QueryScheduler, FirstComeFirstServed) {
  QueryScheduler scheduler;
  for (std::uint64_t id = 1; id <= 3; ++id) scheduler.add(query(static_cast<std::uint32_t>(id), id));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(scheduler.next({}, k_anybody)->query.id, id);
}

TEST(QueryScheduler, WhoHasGoneIsForgotten) {
  QueryScheduler scheduler;
  scheduler.add(query(1));
  scheduler.add(query(2));
  scheduler.add(query(1));
  EXPECT_EQ(scheduler.waiting(), 3U);
  EXPECT_EQ(scheduler.forget(*name_of_session(1)), 2U);
  EXPECT_EQ(scheduler.forget(*name_of_session(1)), 0U);
  EXPECT_EQ(scheduler.waiting(), 1U);
  EXPECT_EQ(scheduler.next({}, k_anybody)->uid, 2U);
  EXPECT_FALSE(scheduler.next({}, k_anybody).has_value());
}

TEST(QueryScheduler, AdministratorsGoFirstButUsersAreServedBetweenThem) {
  QueryScheduler scheduler;
  for (std::uint32_t uid = 1; uid <= 2; ++uid) scheduler.add(query(uid));
  for (std::uint64_t id = 1; id <= 4; ++id) scheduler.add(administrators_query(id));
  std::vector<bool> administrators;
  while (const auto taken = scheduler.next({}, k_anybody)) administrators.push_back(taken->administrator);
  EXPECT_EQ(administrators, (std::vector<bool>{true, false, true, false, true, true}));
}

TEST(QueryScheduler, AnAdministratorRestsWithEverybodyButNotForItself) {
  QueryScheduler scheduler;
  for (std::uint64_t id = 1; id <= 2; ++id) scheduler.add(administrators_query(id));
  const Clock::time_point ended{milliseconds(100)};
  scheduler.done(*scheduler.next({}, k_anybody), {}, ended);
  EXPECT_FALSE(scheduler.next(ended, k_anybody).has_value());
  EXPECT_EQ(scheduler.next_at(k_anybody), ended + milliseconds(100));
  EXPECT_TRUE(scheduler.next(ended + milliseconds(100), k_anybody).has_value());
}

}  // namespace
}  // namespace shapley::daemon
