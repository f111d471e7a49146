// Levels: the order among one organization's jobs, as shapleyd sends it and priority_p_set looks it up.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plugin/client/ranks/level_table.hpp"
#include "support.hpp"

namespace shapley::client::testing {
namespace {

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
