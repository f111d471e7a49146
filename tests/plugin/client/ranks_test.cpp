// Ranks: when the plugin acts, which rank a job gets, and when it steps aside.
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plugin/client/ranks/rank_table.hpp"
#include "support.hpp"

namespace shapley::client::testing {
namespace {

class RanksTest : public ClientTest {
 protected:
  void send_ranks(std::vector<std::string> organizations) {
    daemon.send(protocol::Ranks{.generation = ++generation_, .organizations = std::move(organizations)});
  }
  // Consumes wake-ups until ranks are announced.
  [[nodiscard]] bool ranks_announced() {
    return eventually([&] { return shapley_client_wait(client, 100) == SHAPLEY_WAKE_RANKS; });
  }
  [[nodiscard]] shapley_order_t order() { return shapley_client_order(client); }
  [[nodiscard]] std::uint32_t rank_of_account(const std::string& account) {
    const shapley_job_traits_t traits{.account = account.c_str()};
    return shapley_client_rank(client, &traits);
  }
  void connect_with_ranks(protocol::Welcome answer, std::vector<std::string> organizations) {
    daemon.listen();
    start();
    daemon.welcome(std::move(answer));
    daemon.send(rules_);
    send_ranks(std::move(organizations));
    ASSERT_TRUE(eventually([&] { return order().ranks > 0; }));
  }

  protocol::Rules rules_{{{.organization = "red", .kind = RuleKind::account, .name = "physics"},
                          {.organization = "blue", .kind = RuleKind::account, .name = "biology"}}};

 private:
  std::uint64_t generation_ = 0;
};

// In millionths, by name.
TEST(RankTableTest, TakesTheFiguresOfEachOrganization) {
  protocol::Ranks ranks{.organizations = {"red", "blue"}, .leads = {5, 0}, .lacking = {-3, 2}, .returning = {8, -1}};
  const auto of = [&](std::size_t i) { return RankTable({}, ranks).contenders().at(i); };
  EXPECT_EQ(of(0).rank, 1U) << "blue";
  EXPECT_EQ(of(0).lead, 0);
  EXPECT_EQ(of(0).lacking, 2 * k_micro);
  EXPECT_EQ(of(0).returning, 0) << "no shapleyd sends a negative one";
  EXPECT_EQ(of(1).rank, 0U) << "red";
  EXPECT_EQ(of(1).lead, 5 * k_micro);
  EXPECT_EQ(of(1).lacking, -3 * k_micro);
  EXPECT_EQ(of(1).returning, 8 * k_micro);
  ranks.returning[0] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(of(1).returning, (std::int64_t{1} << 40U) * k_micro);
  ranks.returning = {8};
  EXPECT_EQ(of(1).returning, 0) << "not one for each";
  ranks.returning.clear();
  EXPECT_EQ(of(1).returning, 0) << "no node is away";
  EXPECT_EQ(of(1).lacking, -3 * k_micro);
}

// S' and R' of 128 bits, of each by name; the lead is of no account then.
TEST(RankTableTest, TakesKeysThatBrake) {
  const Int128 balance = -(Int128{1} << 90) - 7;
  const Int128 work = Int128{1} << 66;
  protocol::Ranks ranks{.organizations = {"red", "blue"},
                        .leads = {5, 0},
                        .lacking = {0, 0},
                        .braking = {{protocol::wide(balance), protocol::wide(work), 8 * k_micro}, {}},
                        .residual = 7201};
  const auto of = [&](std::size_t i) { return RankTable({}, ranks).contenders().at(i); };
  EXPECT_EQ(of(1).lead, 0) << "red";
  EXPECT_EQ(of(1).key, (game::FallingKey{balance, work, 8 * k_micro, 7201, 7201 * 7201 / 2}));
  EXPECT_EQ(of(1).key_at(k_micro), game::key_after(of(1).key, k_micro));
  EXPECT_LT(of(0).key_at(-game::k_most_started * k_micro), of(1).key_at(game::k_most_started * k_micro))
      << "blue goes last";
  // No shapleyd sends these; their products stay below 2^127.
  ranks.braking[0] = {protocol::wide(-(Int128{1} << 126)), protocol::wide(-(Int128{1} << 126)), 1};
  ranks.residual = std::numeric_limits<std::int64_t>::max();
  EXPECT_LT(of(1).key_at(game::k_most_started * k_micro), 0);
  EXPECT_LT(of(1).key_at(std::numeric_limits<std::int64_t>::max()), 0);
  ranks.braking.pop_back();
  EXPECT_EQ(of(1).key, game::FallingKey{}) << "not one for each";
  EXPECT_EQ(of(1).lead, 5 * k_micro);
}

TEST(RankTableTest, KeysThatBrakeAreNews) {
  RankBoard board;
  protocol::Ranks ranks{.organizations = {"red"}, .leads = {0}, .lacking = {2}};
  EXPECT_TRUE(board.set_ranks(ranks));
  ranks.braking = {{{}, {}, k_micro}};
  EXPECT_TRUE(board.set_ranks(ranks));
  EXPECT_FALSE(board.set_ranks(ranks));
  ranks.braking[0].work = protocol::wide(-1);
  EXPECT_TRUE(board.set_ranks(ranks));
  ranks.residual = 1;
  EXPECT_TRUE(board.set_ranks(ranks));
}

TEST(RankTableTest, WhatReturnsIsNews) {
  RankBoard board;
  protocol::Ranks ranks{.organizations = {"red"}, .leads = {0}, .lacking = {2}};
  EXPECT_TRUE(board.set_ranks(ranks));
  EXPECT_FALSE(board.set_ranks(ranks));
  ranks.returning = {4};
  EXPECT_TRUE(board.set_ranks(ranks));
  EXPECT_FALSE(board.set_ranks(ranks));
  EXPECT_EQ(board.ranking().contenders.at(0).returning, 4 * k_micro);
}

TEST_F(RanksTest, NothingActsBeforeBothRanksAndRulesAreKnown) {
  daemon.listen();
  start();
  EXPECT_FALSE(order().act);
  EXPECT_EQ(rank_of_account("physics"), 0U);
  daemon.welcome();
  send_ranks({"blue", "red"});
  ASSERT_TRUE(eventually([&] { return order().ranks == 2; }));
  EXPECT_FALSE(order().act) << "without rules every job would count as a guest's";
  const std::uint64_t before = order().generation;
  daemon.send(rules_);
  ASSERT_TRUE(eventually([&] { return order().act; }));
  EXPECT_NE(order().generation, before);
  EXPECT_TRUE(order().strict);
  EXPECT_EQ(order().weight, 1000U);
  EXPECT_EQ(rank_of_account("biology"), 0U);
  EXPECT_EQ(rank_of_account("physics"), 1U);
}

TEST_F(RanksTest, ObserveIsKeptApartFromNotKnowing) {
  daemon.listen();
  start();
  EXPECT_FALSE(order().observe) << "no daemon has sent anything yet";
  // All else as it is before any word: the only news is that it was said.
  daemon.welcome({.act = false, .strict = false, .weight = 0, .stale_after_s = 300});
  ASSERT_TRUE(ranks_announced());
  EXPECT_TRUE(order().observe);
  EXPECT_FALSE(order().act);
  protocol::Welcome acting = FakeDaemon::default_welcome();
  daemon.send(acting);
  ASSERT_TRUE(eventually([&] { return !order().observe; }));
}

TEST_F(RanksTest, NewRanksWakeTheScanningThreadAndChangeTheGeneration) {
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  ASSERT_TRUE(ranks_announced());
  const std::uint64_t before = order().generation;
  send_ranks({"blue", "red"});
  ASSERT_TRUE(ranks_announced());
  ASSERT_TRUE(eventually([&] { return rank_of_account("biology") == 0; }));
  EXPECT_GT(order().generation, before);
}

TEST_F(RanksTest, TheSameRanksAgainChangeNothing) {
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  const std::uint64_t before = order().generation;
  send_ranks({"red", "blue"});
  daemon.send(rules_);
  scan();
  (void)daemon.take_snapshot();
  ASSERT_TRUE(eventually([&] { return counters().acknowledged > 0; })) << "so the ranks before it were handled";
  EXPECT_EQ(order().generation, before);
}

TEST_F(RanksTest, EveryKindOfRuleFindsItsJobs) {
  rules_ = {{{.organization = "by_account", .kind = RuleKind::account, .name = "acc"},
             {.organization = "by_partition", .kind = RuleKind::partition, .name = "part"},
             {.organization = "by_qos", .kind = RuleKind::qos, .name = "qos"},
             {.organization = "by_user", .kind = RuleKind::user, .id = 7},
             {.organization = "by_group", .kind = RuleKind::group, .id = 8},
             {.organization = "unranked", .kind = RuleKind::account, .name = "newcomer"}}};
  connect_with_ranks(FakeDaemon::default_welcome(),
                     {"by_group", "by_user", "by_qos", "guests", "by_partition", "by_account"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  const char* const ancestors[] = {"sub", "acc"};
  const auto rank = [&](shapley_job_traits_t traits) { return shapley_client_rank(client, &traits); };
  EXPECT_EQ(rank({.account = "acc"}), 5U);
  EXPECT_EQ(rank({.account = "leaf", .account_ancestors = ancestors, .account_ancestors_count = 2}), 5U);
  EXPECT_EQ(rank({.account = "x", .partition = "part"}), 4U);
  EXPECT_EQ(rank({.account = "acc", .partition = "part"}), 5U) << "the first rule that matches wins";
  EXPECT_EQ(rank({.qos = "qos"}), 2U);
  EXPECT_EQ(rank({.user_id = 7}), 1U);
  EXPECT_EQ(rank({.group_id = 8}), 0U);
  EXPECT_EQ(rank({.account = "unknown"}), 3U) << "guests have a rank of their own";
  EXPECT_EQ(rank({.account = "newcomer"}), 5U) << "an organization without a rank comes last";
}

TEST_F(RanksTest, AListOfPartitionsRanksWithTheWorstOfTheirOrganizations) {
  rules_ = {{{.organization = "early", .kind = RuleKind::partition, .name = "early"},
             {.organization = "by_account", .kind = RuleKind::account, .name = "acc"},
             {.organization = "pa", .kind = RuleKind::partition, .name = "a"},
             {.organization = "pb", .kind = RuleKind::partition, .name = "b"}}};
  connect_with_ranks(FakeDaemon::default_welcome(), {"pa", "guests", "by_account", "pb", "early"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  const auto rank = [&](shapley_job_traits_t traits) { return shapley_client_rank(client, &traits); };
  EXPECT_EQ(rank({.partition = "a"}), 0U);
  EXPECT_EQ(rank({.partition = "a,b"}), 3U);
  EXPECT_EQ(rank({.partition = "b,a"}), 3U);
  EXPECT_EQ(rank({.partition = ",a,,a,"}), 0U);
  EXPECT_EQ(rank({.partition = "a,unknown"}), 1U);
  EXPECT_EQ(rank({.partition = ","}), 1U);
  EXPECT_EQ(rank({.account = "acc", .partition = "b,a"}), 2U) << "a rule before those of the partitions decides";
  EXPECT_EQ(rank({.account = "acc", .partition = "early"}), 4U);
  EXPECT_EQ(rank({.account = "acc", .partition = "early,a"}), 4U) << "a longer list is of no use";
  const std::uint64_t before = order().generation;
  send_ranks({"pb", "guests", "by_account", "pa", "early"});
  ASSERT_TRUE(eventually([&] { return order().generation != before; }));
  EXPECT_EQ(rank({.partition = "b"}), 0U);
  EXPECT_EQ(rank({.partition = "a,b"}), 3U);
  EXPECT_EQ(rank({.partition = "b,a"}), 3U);
}

TEST_F(RanksTest, GuestsWithoutARankComeLast) {
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  EXPECT_EQ(rank_of_account("physics"), 0U);
  EXPECT_EQ(rank_of_account("chemistry"), 1U);
}

TEST_F(RanksTest, RankingAllocatesNothing) {
  rules_.rules.push_back({.organization = "green", .kind = RuleKind::account, .name = std::string(100, 'g')});
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue", "green"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  const std::string long_name(100, 'g');
  const char* const ancestors[] = {"an account whose name is longer than any string keeps inside itself",
                                   long_name.c_str()};
  const shapley_job_traits_t traits{.account = "another account with a name that would have to be allocated",
                                    .account_ancestors = ancestors,
                                    .account_ancestors_count = 2,
                                    .partition = "a list of partitions that is longer than any,string keeps inside"};
  const std::uint64_t before = allocations_of_this_thread();
  const std::uint32_t rank = shapley_client_rank(client, &traits);
  const shapley_order_t current = order();
  EXPECT_EQ(allocations_of_this_thread(), before);
  EXPECT_EQ(rank, 2U);
  EXPECT_EQ(current.ranks, 3U);
}

TEST_F(RanksTest, ObserveModeLeavesPrioritiesAlone) {
  auto answer = FakeDaemon::default_welcome();
  answer.act = false;
  connect_with_ranks(answer, {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return rank_of_account("biology") == 1; }));
  EXPECT_FALSE(order().act);
  // A reloaded configuration says so by another Welcome.
  daemon.send(FakeDaemon::default_welcome());
  ASSERT_TRUE(eventually([&] { return order().act; }));
}

TEST_F(RanksTest, RanksHoldWhileTheDaemonIsAwayForAShortTime) {
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  const std::uint64_t before = order().generation;
  daemon.die();
  ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  EXPECT_TRUE(order().act);
  EXPECT_EQ(order().generation, before);
  EXPECT_EQ(rank_of_account("biology"), 1U);
}

TEST_F(RanksTest, StaleRanksStepAsideOnceAndComeBackByThemselves) {
  auto answer = FakeDaemon::default_welcome();
  answer.stale_after_s = 0;
  connect_with_ranks(answer, {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  ASSERT_TRUE(ranks_announced());
  const std::uint64_t before = order().generation;
  daemon.die();
  // A first wake-up may still be about the ranks' arrival.
  ASSERT_TRUE(eventually([&] { return ranks_announced() && !order().act; }));
  EXPECT_NE(order().generation, before);
  EXPECT_TRUE(eventually([] { return log_lines::count("ranks: older than") == 1; }));
  daemon.listen();
  daemon.welcome(answer);
  EXPECT_FALSE(order().act) << "the old ranks stay aside until the daemon sends its own";
  send_ranks({"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  EXPECT_EQ(log_lines::count("ranks: older than"), 1);
}

// Ranks change under the eyes of readers; the thread sanitizer watches, and every answer is one of the two orders.
TEST_F(RanksTest, ReadersSeeOneOrderOrTheOther) {
  connect_with_ranks(FakeDaemon::default_welcome(), {"red", "blue"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> wrong = 0;
  std::thread reader([&] {
    while (!done) {
      if (rank_of_account("physics") > 1 || order().ranks != 2) ++wrong;
      shapley_client_hint(client);
    }
  });
  for (int i = 0; i < 200; ++i)
    send_ranks(i % 2 == 0 ? std::vector<std::string>{"blue", "red"} : std::vector<std::string>{"red", "blue"});
  send_ranks({"blue", "red"});
  scan();
  EXPECT_TRUE(eventually([&] { return rank_of_account("biology") == 0; }));
  done = true;
  const Deadline deadline("the reader");
  reader.join();
  EXPECT_EQ(wrong, 0U);
}

class WakeUpSignalTest : public ClientTest {};

TEST_F(WakeUpSignalTest, StopWakesTheSleeperAndStaysSet) {
  start();
  std::atomic<int> woken_by = -1;
  std::thread sleeper([&] { woken_by = shapley_client_wait(client, 3'600'000); });
  shapley_client_stop(client);
  const Deadline deadline("the sleeper's wait of an hour");
  sleeper.join();
  EXPECT_EQ(woken_by, SHAPLEY_WAKE_STOP);
  EXPECT_EQ(shapley_client_wait(client, 3'600'000), SHAPLEY_WAKE_STOP);
}

TEST_F(WakeUpSignalTest, HintsAreRememberedUntilTheyAreTaken) {
  start();
  shapley_client_hint(client);
  shapley_client_hint(client);
  EXPECT_EQ(shapley_client_wait(client, 3'600'000), SHAPLEY_WAKE_HINT);
  EXPECT_EQ(shapley_client_wait(client, 1), SHAPLEY_WAKE_TICK) << "two hints are one";
}

// Levels: the order among one organization's jobs, as shapleyd sends it and priority_p_set looks it up.

using protocol::JobLevel;

class LevelsTest : public ClientTest {
 protected:
  [[nodiscard]] shapley_order_t order() { return shapley_client_order(client); }
  [[nodiscard]] std::uint32_t level(std::uint32_t job_id) { return shapley_client_level(client, job_id); }
  void send_levels(std::vector<JobLevel> table) {
    daemon.send(protocol::Levels{.generation = ++generation_, .computed_at = 0, .jobs = std::move(table)});
  }
  void send_ranks(std::vector<std::string> organizations) {
    daemon.send(
        protocol::Ranks{.generation = ++generation_, .computed_at = 0, .organizations = std::move(organizations)});
  }
  // Everything sent before was handled; REQUIRES that none of it changes the order.
  void settle() {
    const std::uint64_t before = order().generation;
    send_ranks({"settled" + std::to_string(generation_)});
    ASSERT_TRUE(eventually([&] { return order().generation != before; }));
  }
  [[nodiscard]] bool announced() {
    return eventually([&] { return shapley_client_wait(client, 100) == SHAPLEY_WAKE_RANKS; });
  }
  void connect(protocol::Welcome answer = FakeDaemon::default_welcome()) {
    daemon.listen();
    if (client == nullptr) start();
    daemon.welcome(std::move(answer));
    daemon.send(protocol::Rules{});
  }

 private:
  std::uint64_t generation_ = 0;
};

TEST_F(LevelsTest, WithoutLevelsThereAreNone) {
  connect();
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  EXPECT_FALSE(order().levels);
  EXPECT_EQ(level(7), 0U);
  // An empty table says the same.
  const std::uint64_t before = order().generation;
  send_levels({});
  settle();
  EXPECT_EQ(order().generation, before + 1) << "by the ranks alone";
  EXPECT_FALSE(order().levels);
}

TEST_F(LevelsTest, NewLevelsWakeTheScanningThread) {
  connect();
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  ASSERT_TRUE(announced());
  const std::uint64_t before = order().generation;
  send_levels({{7, 1}, {9, 15}});
  ASSERT_TRUE(announced());
  EXPECT_GT(order().generation, before);
  EXPECT_TRUE(order().levels);
  EXPECT_EQ(level(7), 1U);
  EXPECT_EQ(level(8), 0U);
  EXPECT_EQ(level(9), 15U);
  EXPECT_EQ(level(0), 0U);
}

TEST_F(LevelsTest, EachTableReplacesTheOneBefore) {
  connect();
  send_levels({{7, 1}, {9, 2}});
  send_levels({{9, 3}});
  ASSERT_TRUE(eventually([&] { return level(9) == 3; }));
  EXPECT_EQ(level(7), 0U);
  send_levels({});
  ASSERT_TRUE(eventually([&] { return level(9) == 0; }));
  EXPECT_TRUE(order().levels) << "the steps between ranks stay as wide, or every job would be rewritten";
}

TEST_F(LevelsTest, TheSameLevelsAgainChangeNothing) {
  connect();
  send_levels({{7, 1}, {9, 2}});
  ASSERT_TRUE(eventually([&] { return level(9) == 2; }));
  const std::uint64_t before = order().generation;
  send_levels({{7, 1}, {9, 2}});
  settle();
  EXPECT_EQ(order().generation, before + 1) << "by the ranks alone";
}

TEST_F(LevelsTest, ADaemonThatComesBackWithoutLevelsGivesNone) {
  connect();
  send_levels({{7, 4}});
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act && level(7) == 4; }));
  daemon.die();
  ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  EXPECT_EQ(level(7), 4U) << "levels hold as long as ranks";
  connect();
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return level(7) == 0; }));
}

TEST_F(LevelsTest, ADaemonThatComesBackWithTheSameLevelsChangesNothing) {
  connect();
  send_levels({{7, 4}});
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act && level(7) == 4; }));
  const std::uint64_t before = order().generation;
  daemon.die();
  ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  connect();
  send_levels({{7, 4}});
  send_ranks({"guests"});
  settle();
  EXPECT_EQ(order().generation, before + 1) << "by the last ranks alone";
  EXPECT_EQ(level(7), 4U);
}

TEST_F(LevelsTest, StaleRanksTakeTheLevelsAside) {
  auto answer = FakeDaemon::default_welcome();
  answer.stale_after_s = 0;
  connect(answer);
  send_levels({{7, 4}});
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  daemon.die();
  ASSERT_TRUE(eventually([&] { return !order().act; }));
  connect(answer);
  send_levels({{7, 4}});
  send_ranks({"guests"});
  ASSERT_TRUE(eventually([&] { return order().act; }));
  EXPECT_EQ(level(7), 4U);
}

TEST_F(LevelsTest, LookingUpAllocatesNothing) {
  connect();
  send_levels({{7, 1}, {9, 2}});
  ASSERT_TRUE(eventually([&] { return level(9) == 2; }));
  const std::uint64_t before = allocations_of_this_thread();
  const std::uint32_t found = level(9) + level(8);
  EXPECT_EQ(allocations_of_this_thread(), before);
  EXPECT_EQ(found, 2U);
}

TEST_F(LevelsTest, ATableThatBreaksTheRulesEndsTheConnectionAndChangesNothing) {
  connect();
  send_levels({{7, 4}});
  ASSERT_TRUE(eventually([&] { return level(7) == 4; }));
  send_levels({{9, 1}, {8, 1}});
  ASSERT_TRUE(eventually([&] { return !counters().connected; }));
  EXPECT_EQ(log_lines::count("job ids do not ascend: 8 after 9"), 1);
  EXPECT_EQ(level(7), 4U);
  EXPECT_EQ(level(9), 0U);
}

TEST(LevelTable, RefusesWhatNoDaemonSends) {
  const auto refused = [](const std::vector<JobLevel>& jobs) {
    const auto table = LevelTable::of(jobs);
    return !table && table.error().code == Errc::protocol;
  };
  EXPECT_TRUE(refused({{0, 1}}));
  EXPECT_TRUE(refused({{7, 0}}));
  EXPECT_TRUE(refused({{7, protocol::k_max_level + 1}}));
  EXPECT_TRUE(refused({{7, 1}, {7, 1}}));
  EXPECT_TRUE(refused({{7, 1}, {6, 1}}));
  std::vector<JobLevel> many;
  for (std::uint32_t id = 1; id <= protocol::k_max_level_jobs; ++id) many.push_back({id, 1});
  EXPECT_FALSE(refused(many));
  many.push_back({4'000'000'000U, 1});
  EXPECT_TRUE(refused(many));
}

RC_GTEST_PROP(LevelTable, FindsWhatAMapFinds, ()) {
  const auto id = rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(1, 50), rc::gen::nonZero<std::uint32_t>());
  const auto known = *rc::gen::container<std::map<std::uint32_t, std::uint32_t>>(
      id, rc::gen::inRange<std::uint32_t>(1, protocol::k_max_level + 1));
  std::vector<JobLevel> jobs;
  for (const auto& [job_id, level] : known) jobs.push_back({job_id, level});
  const auto table = LevelTable::of(jobs);
  RC_ASSERT(table.has_value());
  RC_ASSERT(table->size() == known.size());
  for (const auto& [job_id, level] : known) RC_ASSERT(table->level_of(job_id) == level);
  for (std::uint32_t other = 0; other < 60; ++other)
    RC_ASSERT(table->level_of(other) == (known.contains(other) ? known.at(other) : 0U));
}

}  // namespace
}  // namespace shapley::client::testing
