// Who may hold a connection over TCP, in simulated time.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/server/remote_listener.hpp"

namespace shapley::daemon {
namespace {

using namespace std::chrono_literals;
using Number = RemotePlaces::Number;

class Places : public testing::Test {
 protected:
  // The number of the new connection; 0: it is refused.
  Number come(const std::string& address) {
    const auto place = places.come(address, now);
    gave_way = place ? place->gives_way : std::nullopt;
    return place ? place->number : 0;
  }
  // A user connects from an address of their own and identifies. 0: refused.
  Number user(uid_t uid) { return admit(come("h" + std::to_string(++hosts)), uid, false); }
  Number root() { return admit(come("h" + std::to_string(++hosts)), 0, true); }
  Number admit(Number number, uid_t uid, bool is_administrator) {
    const auto admitted = places.admit(number, uid, is_administrator, now);
    gave_way = admitted ? *admitted : std::nullopt;
    return admitted ? number : 0;
  }
  void all_are_silent() {
    for (Number number = 1; number <= 1000; ++number) places.end_answer(number, now);
  }

  RemotePlaces::Limits limits;
  RemotePlaces places{limits};
  RemotePlaces::Clock::time_point now{1000h};
  std::optional<Number> gave_way;
  int hosts = 0;
};

TEST_F(Places, UsersTakeTheirsAndLeaveTheRestToRoot) {
  for (std::size_t i = 0; i < limits.users; ++i) EXPECT_NE(user(1000 + static_cast<uid_t>(i)), 0U) << i;
  EXPECT_EQ(user(2000), 0U) << "all are being answered";
  for (std::size_t i = limits.users; i < limits.known; ++i) EXPECT_NE(root(), 0U) << i;
  EXPECT_EQ(root(), 0U);
  places.leave(1);
  EXPECT_NE(root(), 0U) << "what users leave free";
  EXPECT_EQ(user(2000), 0U);
}

TEST_F(Places, AUserHasFewAndGivesTheirOwnSilentOneAway) {
  std::vector<Number> own;
  for (std::size_t i = 0; i < limits.of_a_user; ++i) own.push_back(user(1000));
  EXPECT_EQ(user(1000), 0U);
  all_are_silent();
  now += limits.silence - 1ms;
  EXPECT_EQ(user(1000), 0U) << "not silent for long enough";
  now += 1ms;
  places.begin_answer(own.front());
  EXPECT_NE(user(1000), 0U);
  EXPECT_EQ(gave_way, own[1]) << "the first one is being answered";
  EXPECT_NE(user(1001), 0U);
  EXPECT_EQ(gave_way, std::nullopt);
}

TEST_F(Places, OfUsersTheOneSilentLongestGivesWayAndNoRoot) {
  const Number administrator = root();
  std::vector<Number> users;
  for (std::size_t i = 0; i < limits.users; ++i) {
    users.push_back(user(1000 + static_cast<uid_t>(i)));
    places.end_answer(users.back(), now);
    now += 1ms;
  }
  places.end_answer(administrator, now - 1h);
  now += limits.silence;
  EXPECT_NE(user(2000), 0U);
  EXPECT_EQ(gave_way, users.front());
}

TEST_F(Places, StrangersOfOneAddressKeepNoOtherUserOut) {
  std::vector<Number> strangers;
  for (std::size_t i = 0; i < limits.strangers_of_an_address; ++i) strangers.push_back(come("flood"));
  EXPECT_EQ(come("flood"), 0U);
  EXPECT_NE(come("other"), 0U);
  now += limits.strangers_silence;
  EXPECT_NE(come("flood"), 0U);
  EXPECT_EQ(gave_way, strangers.front());
}

TEST_F(Places, StrangersOfManyAddressesGiveWayAndLeaveTheOtherControllers) {
  limits.kept_addresses = {"peer"};
  places = RemotePlaces(limits);
  std::vector<Number> strangers;
  for (std::size_t i = 0; i < limits.strangers; ++i) strangers.push_back(come("h" + std::to_string(i)));
  EXPECT_EQ(come("late"), 0U);
  for (std::size_t i = 0; i < limits.kept; ++i) EXPECT_NE(come("peer"), 0U);
  EXPECT_EQ(come("peer"), 0U);
  now += limits.strangers_silence;
  EXPECT_NE(come("peer"), 0U);
  EXPECT_EQ(gave_way, strangers.front());
}

TEST_F(Places, WhoGaveWayIsNotAdmittedAgain) {
  const Number first = come("flood");
  for (std::size_t i = 1; i < limits.strangers_of_an_address; ++i) come("flood");
  now += limits.strangers_silence;
  come("flood");
  ASSERT_EQ(gave_way, first);
  EXPECT_EQ(admit(first, 1000, false), 0U);
  places.begin_answer(first);
  places.end_answer(first, now);
  EXPECT_EQ(places.taken(), limits.strangers_of_an_address);
}

TEST_F(Places, AnAddressConnectsAtItsRate) {
  const auto connects = [&](const std::string& address) {
    int times = 0;
    while (const Number number = come(address)) {
      places.leave(number);
      ++times;
    }
    return times;
  };
  EXPECT_EQ(connects("fast"), limits.burst);
  EXPECT_EQ(connects("other"), limits.burst) << "each has its own";
  now += 1s;
  EXPECT_EQ(connects("fast"), limits.a_second);
  now += 1h;
  EXPECT_EQ(connects("fast"), limits.burst);
}

// A flood from made-up addresses takes no more memory than this.
TEST_F(Places, OnlySoManyAddressesAreRemembered) {
  for (std::size_t i = 0; i < limits.addresses; ++i) places.leave(come("a" + std::to_string(i)));
  EXPECT_EQ(come("one more"), 0U);
  now += 1s;
  EXPECT_NE(come("one more"), 0U);
}

}  // namespace
}  // namespace shapley::daemon
