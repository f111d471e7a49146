// Two services that part and meet again: which one's ledger is continued, and what becomes of the other one's.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
  EXPECT_FALSE(a.controllers().parting());
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
  // Runs 4 to 6 are on one host only, and Slurm's records tell b of 4 and 5.
  a.feed(runs_of(1, 6));
  const std::int64_t written = a.head().sequence;
  a.kill();
  primary(b);
  const std::int64_t common = b.head().sequence - 1;
  b.feed({run_of(1), run_of(2), run_of(3), run_of(4), run_of(5), run_of(7)});
  a.start();
  meet();
  ASSERT_TRUE(a.controllers().parting());
  EXPECT_EQ(a.controllers().parting()->common, common);
  EXPECT_EQ(a.controllers().parting()->own, written - common);
  a.begin_anew();
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
  a.begin_anew();
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
  a.begin_anew();
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
  EXPECT_FALSE(a.controllers().parting());
  EXPECT_FALSE(b.controllers().parting());
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
  ASSERT_TRUE(a.controllers().parting());
  EXPECT_FALSE(b.controllers().parting());
  a.begin_anew();
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
  ASSERT_TRUE(a.controllers().parting());
  a.begin_anew();
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
  EXPECT_FALSE(b.controllers().parting());
}

}  // namespace
}  // namespace shapley::daemon
