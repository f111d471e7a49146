// Turns of readers, in simulated time.
#include "daemon/turns.hpp"

#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using std::chrono::milliseconds;
using Clock = Turns::Clock;

const Turns::MayServe k_anybody = [](std::uint32_t) { return true; };

// Turns are about whose query it is; the session behind it is only a name.
Session* name_of_session(std::uintptr_t number) {
  return reinterpret_cast<Session*>(number * 64);
}

Turns::Waiting query(std::uint32_t uid, std::uint64_t id = 0) {
  return {name_of_session(uid), uid, protocol::Query{id, "{}"}};
}

// Time that each user got when all of them always have the next query ready, each query of `user` taking cost[user].
struct Shares {
  std::map<std::uint32_t, milliseconds> used;
  milliseconds all{0};
};
Shares serve(const std::map<std::uint32_t, milliseconds>& costs, milliseconds until) {
  Turns turns;
  Clock::time_point now{};
  Shares shares;
  for (const auto& [uid, cost] : costs) turns.add(query(uid));
  while (now < Clock::time_point{} + until) {
    const auto at = turns.next_at(k_anybody);
    if (!at) break;
    now = std::max(now, *at);
    const auto taken = turns.next(now, k_anybody);
    EXPECT_TRUE(taken.has_value());
    if (!taken) break;
    const milliseconds cost = costs.at(taken->uid);
    turns.done(taken->uid, now, now + cost);
    now += cost;
    shares.used[taken->uid] += cost;
    shares.all += cost;
    turns.add(query(taken->uid));
  }
  return shares;
}

TEST(Turns, OneUserGetsAQuarterOfTheTimeAtMost) {
  const auto shares = serve({{1, milliseconds(100)}}, milliseconds(100'000));
  EXPECT_LE(shares.all, milliseconds(25'000) + milliseconds(100));
}

TEST(Turns, ManyUsersGetHalfOfTheTimeAtMost) {
  std::map<std::uint32_t, milliseconds> costs;
  for (std::uint32_t uid = 1; uid <= 50; ++uid) costs[uid] = milliseconds(100);
  const auto shares = serve(costs, milliseconds(100'000));
  EXPECT_LE(shares.all, milliseconds(50'000) + milliseconds(100));
}

TEST(Turns, CheapQuestionsAreNotKeptWaitingByThoseOfAnotherUser) {
  const auto shares = serve({{1, milliseconds(1000)}, {2, milliseconds(1)}}, milliseconds(100'000));
  // Between two questions of the first one, 4 s apart, the second one rests 3 ms after each of its own; it loses only
  // the second that the other's takes, and the rest after it.
  EXPECT_GE(shares.used.at(2), milliseconds(12'000));
  EXPECT_LE(shares.used.at(1), milliseconds(26'000));
}

TEST(Turns, AUserThatMayNotIsPassedOver) {
  Turns turns;
  turns.add(query(1));
  turns.add(query(2));
  const auto not_the_first = [](std::uint32_t uid) { return uid != 1; };
  EXPECT_EQ(turns.next({}, not_the_first)->uid, 2U);
  EXPECT_FALSE(turns.next({}, not_the_first).has_value());
  EXPECT_FALSE(turns.next_at(not_the_first).has_value());
  EXPECT_EQ(turns.next({}, k_anybody)->uid, 1U);
}

TEST(Turns, FirstComeFirstServed) {
  Turns turns;
  for (std::uint64_t id = 1; id <= 3; ++id) turns.add(query(static_cast<std::uint32_t>(id), id));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(turns.next({}, k_anybody)->query.id, id);
}

TEST(Turns, WhoHasGoneIsForgotten) {
  Turns turns;
  turns.add(query(1));
  turns.add(query(2));
  turns.forget(*name_of_session(1));
  EXPECT_EQ(turns.next({}, k_anybody)->uid, 2U);
  EXPECT_FALSE(turns.next({}, k_anybody).has_value());
}

}  // namespace
}  // namespace shapley::daemon
