// Two services that part and meet again: which one's ledger is continued, and what becomes of the other one's.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/controllers/controllers.hpp"
#include "ledger/audit/audit.hpp"
#include "tests/daemon/controllers/two_hosts.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

class PartedLedgers : public ControllersTest {
 protected:
  // `left` writes runs 1 to 3, which both have, and then dies or is cut off with runs that the other one lacks.
  void part(Host& left, Host& right) {
    primary(left);
    left.feed(runs_of(1, 3));
    meet();
    is_cut = true;
    left.feed(runs_of(1, 6));
    left.disconnect();
    primary(right);
  }
};

TEST_F(PartedLedgers, one_that_comes_back_with_nothing_of_its_own_follows) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  primary(b);
  b.feed(runs_of(1, 4));
  a.start();
  meet();
  EXPECT_FALSE(a.controllers().has_parted());
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  expect_same();
  // Nor does it write when the other one is gone again.
  b.kill();
  meet(std::chrono::hours(1));
  EXPECT_EQ(a.role(), "standby");
}

TEST_F(PartedLedgers, one_without_a_feeder_sets_its_ledger_aside_and_follows) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  // Runs 4 to 6 are on one host only, and b finds 4 and 5 in Slurm's records.
  a.feed(runs_of(1, 6));
  const std::int64_t written = a.head().sequence;
  a.kill();
  primary(b);
  const std::int64_t common = b.head().sequence - 1;
  b.feed({run_of(1), run_of(2), run_of(3), run_of(4), run_of(5), run_of(7)});
  a.start();
  meet();
  ASSERT_TRUE(a.controllers().has_parted());
  a.begin_again();
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 6U);
  expect_same();
  // Counted: the description and the run of job 6 are in no present ledger.
  ASSERT_TRUE(test::eventually([&] {
    meet();
    return a.report()["set_aside"][0]["absent"] == 2;
  })) << a.report().dump();
  const nlohmann::json aside = a.report()["set_aside"][0];
  EXPECT_EQ(aside["common"], common);
  EXPECT_EQ(aside["events"], written - common);
  EXPECT_EQ(aside["different"], 0);
  const auto kept = ledger::Ledger::open(aside["file"].get<std::string>(), ledger::OpenMode::read_only);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->last_sequence(), written);
  EXPECT_TRUE(ledger::audit(*kept)->clean());
}

TEST_F(PartedLedgers, what_was_set_aside_is_compared_by_one_that_writes_too) {
  part(a, b);
  is_cut = false;
  meet();
  a.begin_again();
  b.disconnect();
  for (int questions = 0; a.head() != b.head(); ++questions) {
    ASSERT_LT(questions, 9);
    poll(a, b);
  }
  primary(a);
  EXPECT_TRUE(test::eventually([&] {
    meet();
    return !a.report()["set_aside"][0]["absent"].is_null();
  })) << a.report();
}

// Slurm's own split brain.
TEST_F(PartedLedgers, of_two_that_are_fed_both_go_on_and_say_so) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  is_cut = true;
  primary(b);
  a.feed(runs_of(1, 4));
  b.feed(runs_of(1, 5));
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(b.role(), "active");
  is_cut = false;
  const auto before = a.head();
  for (int times = 0; times < 100; ++times) meet();
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(b.role(), "active");
  EXPECT_NE(a.report()["fault"].dump().find("both slurmctlds are primary"), std::string::npos);
  EXPECT_NE(b.report()["fault"].dump().find("both slurmctlds are primary"), std::string::npos);
  EXPECT_EQ(a.head(), before);
  // Until Slurm has decided.
  a.disconnect();
  EXPECT_EQ(a.report()["behind"], nullptr);
  meet();
  EXPECT_EQ(b.report()["fault"], nullptr);
  a.begin_again();
  meet();
  EXPECT_EQ(b.runs().size(), 5U);
  expect_same();
}

TEST_F(PartedLedgers, a_fed_one_that_hears_of_the_other_is_waited_for_before_a_second_begins) {
  primary(a);
  a.feed(runs_of(1, 3));
  b.connect();
  meet(std::chrono::seconds(10));
  EXPECT_EQ(b.role(), "standby");
  meet(std::chrono::seconds(5));
  EXPECT_EQ(b.role(), "active");
  meet();
  EXPECT_NE(b.report()["fault"], nullptr);
}

TEST_F(PartedLedgers, while_neither_is_fed_nothing_moves) {
  part(a, b);
  b.disconnect();
  is_cut = false;
  const auto before = b.head();
  meet();
  meet();
  EXPECT_FALSE(a.controllers().has_parted());
  EXPECT_FALSE(b.controllers().has_parted());
  EXPECT_NE(a.report()["fault"].dump().find("parted"), std::string::npos);
  EXPECT_NE(b.report()["fault"].dump().find("parted"), std::string::npos);
  EXPECT_EQ(b.head(), before);
}

// The feeder comes first to the host whose line ended with the death of its slurmctld.
TEST_F(PartedLedgers, what_a_dead_host_had_not_passed_on_is_not_continued) {
  part(a, b);
  b.feed(runs_of(1, 9));
  b.disconnect();
  is_cut = false;
  meet();
  a.connect();
  meet();
  ASSERT_TRUE(a.controllers().has_parted());
  EXPECT_FALSE(b.controllers().has_parted());
  a.begin_again();
  primary(a);
  EXPECT_EQ(a.runs().size(), 9U);
  meet();
  expect_same();
}

TEST_F(PartedLedgers, the_line_that_began_after_it_is) {
  part(a, b);
  b.feed(runs_of(1, 9));
  b.disconnect();
  is_cut = false;
  meet();
  b.connect();
  meet();
  EXPECT_EQ(b.role(), "active");
  meet();
  ASSERT_TRUE(a.controllers().has_parted());
  a.begin_again();
  meet();
  expect_same();
}

TEST_F(PartedLedgers, another_ledger_is_not_followed) {
  is_cut = true;
  for (Host* host : {&a, &b}) {
    host->ask(R"({"request":"begin"})");
    primary(*host);
  }
  b.disconnect();
  a.feed(runs_of(1, 3));
  is_cut = false;
  const auto before = b.head();
  meet();
  EXPECT_EQ(b.head(), before);
  EXPECT_NE(b.report()["fault"].dump().find("has another ledger"), std::string::npos);
  EXPECT_FALSE(b.controllers().has_parted());
}

// When messages of a feeder are acknowledged while another host follows.

using std::chrono::milliseconds;

constexpr milliseconds k_then{1'000'000};

TEST(Acknowledgements, without_a_follower_are_given_at_once_and_counted) {
  Acknowledgements some;
  some.note_durable(3, 10, k_then);
  EXPECT_EQ(some.released(k_then), 3U);
  EXPECT_EQ(some.alone(), 3U);
  EXPECT_FALSE(some.in_step(k_then));
}

TEST(Acknowledgements, wait_for_a_follower_that_has_everything) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  EXPECT_TRUE(some.in_step(k_then));
  some.note_durable(1, 12, k_then);
  some.note_durable(2, 14, k_then);
  EXPECT_EQ(some.released(k_then + milliseconds(900)), 0U);
  some.confirm(13, 14, k_then + milliseconds(900));
  EXPECT_EQ(some.released(k_then + milliseconds(900)), 1U);
  some.confirm(14, 14, k_then + milliseconds(950));
  EXPECT_EQ(some.released(k_then + milliseconds(950)), 2U);
  EXPECT_EQ(some.alone(), 0U);
  EXPECT_EQ(some.confirmed(), 14);
  // What made no event is nothing to wait for.
  some.note_durable(3, 14, k_then + milliseconds(960));
  EXPECT_EQ(some.released(k_then + milliseconds(960)), 3U);
}

TEST(Acknowledgements, wait_a_second_at_most_and_then_not_at_all_until_it_has_caught_up) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  some.note_durable(1, 12, k_then);
  EXPECT_EQ(some.released(k_then + milliseconds(999)), 0U);
  EXPECT_EQ(some.released(k_then + milliseconds(1000)), 1U);
  EXPECT_FALSE(some.in_step(k_then + milliseconds(1000)));
  some.note_durable(2, 14, k_then + milliseconds(1100));
  EXPECT_EQ(some.released(k_then + milliseconds(1100)), 2U);
  EXPECT_EQ(some.alone(), 2U);
}

TEST(Acknowledgements, wait_again_when_it_has_what_there_was_at_its_last_question) {
  Acknowledgements some;
  some.confirm(10, 20, k_then);
  EXPECT_FALSE(some.in_step(k_then));
  some.confirm(18, 25, k_then + milliseconds(100));
  EXPECT_FALSE(some.in_step(k_then + milliseconds(100)));
  some.confirm(25, 26, k_then + milliseconds(200));
  EXPECT_TRUE(some.in_step(k_then + milliseconds(200)));
}

TEST(Acknowledgements, do_not_wait_for_one_that_asks_no_more) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  EXPECT_TRUE(some.in_step(k_then + milliseconds(2999)));
  EXPECT_FALSE(some.in_step(k_then + milliseconds(3000)));
  some.note_durable(1, 12, k_then + milliseconds(3000));
  EXPECT_EQ(some.released(k_then + milliseconds(3000)), 1U);
  EXPECT_EQ(some.alone(), 1U);
}

TEST(Acknowledgements, begin_again_with_a_feeder) {
  Acknowledgements some;
  some.note_durable(9, 10, k_then);
  EXPECT_EQ(some.released(k_then), 9U);
  some.begin();
  EXPECT_EQ(some.released(k_then), 0U);
  some.confirm(10, 10, k_then);
  some.note_durable(1, 11, k_then);
  EXPECT_EQ(some.released(k_then), 0U);
}

}  // namespace
}  // namespace shapley::daemon
