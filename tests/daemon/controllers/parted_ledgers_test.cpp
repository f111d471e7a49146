// Two services that part and meet again: which one goes on writing, and what becomes of the other one's ledger.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ledger/audit/audit.hpp"
#include "tests/daemon/controllers/two_hosts.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

TEST_F(ControllersTest, one_that_comes_back_and_was_not_superseded_goes_on_writing) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  a.start();
  EXPECT_EQ(a.role(), "standby");
  meet();
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(a.report()["epoch"], 1);
  // Both were down, and one comes up: the one that wrote does so after a while, the other one does not.
  a.kill();
  b.kill();
  b.start();
  now += 3600;
  meet();
  EXPECT_EQ(b.role(), "standby");
  b.kill();
  a.start();
  meet();
  EXPECT_EQ(a.role(), "standby");
  now += 5;
  meet();
  EXPECT_EQ(a.role(), "active");
}

TEST_F(ControllersTest, one_that_was_superseded_and_has_nothing_of_its_own_follows) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  b.feed(runs_of(1, 4));
  a.start();
  meet();
  EXPECT_FALSE(a.controllers().parting());
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  expect_same();
  // Nor does it write when the other one is gone again.
  b.kill();
  now += 3600;
  meet();
  EXPECT_EQ(a.role(), "standby");
}

TEST_F(ControllersTest, one_that_was_superseded_sets_its_ledger_aside_and_follows) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  // Acknowledged, and not replicated: runs 4 to 6, of which Slurm's records tell b of 4 and 5 only.
  a.feed(runs_of(1, 6));
  const std::int64_t written = a.head().sequence;
  a.kill();
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  const std::int64_t common = b.head().sequence - 1;
  b.feed({run_of(1), run_of(2), run_of(3), run_of(4), run_of(5), run_of(7)});
  a.start();
  meet();
  ASSERT_TRUE(a.controllers().parting());
  EXPECT_EQ(a.controllers().parting()->common, common);
  EXPECT_EQ(a.controllers().parting()->own, written - common);
  EXPECT_EQ(a.role(), "standby");
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

TEST_F(ControllersTest, of_two_that_write_the_one_promoted_later_goes_on) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  is_cut = true;
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  a.feed(runs_of(1, 4));
  b.feed(runs_of(1, 5));
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(b.role(), "active");
  is_cut = false;
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  a.begin_anew();
  meet();
  EXPECT_EQ(b.runs().size(), 5U);
  expect_same();
}

TEST_F(ControllersTest, slurms_last_word_counts_more_than_the_number_of_promotions) {
  promote(a);
  meet();
  is_cut = true;
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  ASSERT_TRUE(b.controllers().demote(Instant{now}));
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  EXPECT_EQ(b.report()["epoch"], 3);
  now += 60;
  ASSERT_TRUE(a.controllers().demote(Instant{now}));
  a.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  EXPECT_EQ(a.report()["epoch"], 2);
  is_cut = false;
  meet();
  EXPECT_EQ(a.role(), "active");
  b.begin_anew();
  meet();
  EXPECT_EQ(b.role(), "standby");
  expect_same();
}

}  // namespace
}  // namespace shapley::daemon
