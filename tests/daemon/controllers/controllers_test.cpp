// Two services that ask each other: one writes, the other follows, and what happens when they change places.
#include "daemon/controllers/controllers.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/daemon/controllers/two_hosts.hpp"

namespace shapley::daemon {
namespace {

TEST_F(ControllersTest, nobody_writes_until_one_is_promoted) {
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(a.head().sequence, 0);
  a.feed({run_of(1)});
  EXPECT_EQ(a.head().sequence, 0);
  promote(a);
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(a.report()["epoch"], 1);
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(a.rows("SELECT seq, key, payload FROM events WHERE kind = 'controller_promoted'"),
            std::vector<std::string>{R"(1|controller_promoted/1|{"asked_by":"uid 0","at":1700000102,"epoch":1,)"
                                     R"("followed_to":0,"host":"ctl1"})"});
}

TEST_F(ControllersTest, a_standby_holds_what_the_other_one_writes) {
  promote(a);
  a.feed(runs_of(1, 20));
  meet();
  expect_same();
  EXPECT_EQ(b.runs().size(), 20U);
  EXPECT_EQ(*a->books().ledger().identity(), *b->books().ledger().identity());
  EXPECT_EQ(b.report()["state"], "follows");
  EXPECT_EQ(b.report()["behind"], 0);
  EXPECT_EQ(b.report()["peer_host"], "ctl1");
  // It says what it knows of, and takes nothing from a plugin.
  b.feed({run_of(30)});
  EXPECT_EQ(b.runs().size(), 20U);
  EXPECT_FALSE(b->is_active());
  EXPECT_NE(b.controllers().refusal().find("standby"), std::string::npos);
}

TEST_F(ControllersTest, only_the_one_that_writes_states_the_mean_residual_run_time) {
  promote(a);
  a.feed(runs_of(1, 20));
  now += 200;
  std::vector<protocol::JobRecord> over;
  for (std::uint32_t id = 1; id <= 20; ++id) over.push_back(ended({.id = id, .cpus = 1, .start = k_begin + id}, now));
  a.feed(over);
  for (int rounds = 0; rounds < 4 || more(); ++rounds) {
    poll(a, b);
    poll(b, a);
  }
  const auto statements = [](Host& host) {
    return host.rows("SELECT json_extract(payload, '$.runs') FROM events WHERE kind = 'residual_measured'");
  };
  ASSERT_EQ(b.rows("SELECT COUNT(*) FROM segments WHERE kind = 'run' AND end IS NOT NULL"),
            std::vector<std::string>{"20"});
  b->tick(Instant{now});
  EXPECT_TRUE(statements(b).empty());
  meet();
  EXPECT_EQ(statements(a), std::vector<std::string>{"20"});
  meet();
  EXPECT_EQ(statements(b), std::vector<std::string>{"20"});
  expect_same();
}

TEST_F(ControllersTest, a_promotion_takes_over_everything_while_the_other_one_answers) {
  promote(a);
  a.feed(runs_of(1, 5));
  b.controllers().want_promotion("uid 64030", Instant{now});
  EXPECT_EQ(b.role(), "standby");
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.report()["epoch"], 2);
  EXPECT_EQ(b.runs().size(), 5U);
  b.feed(runs_of(1, 9));
  meet();
  expect_same();
  // And back.
  promote(a);
  a.feed(runs_of(1, 12));
  meet();
  EXPECT_EQ(a.report()["epoch"], 3);
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(b.runs().size(), 12U);
  expect_same();
}

TEST_F(ControllersTest, what_a_plugin_said_last_is_booked_before_writing_ends) {
  promote(a);
  a->begin_session(feeder_hello(7), Instant{now});
  protocol::Observations o;
  o.sequence = 1;
  o.observed_at = now;
  o.jobs = {run_of(1)};
  o.nodes = {node_record("n1")};
  a->receive(std::move(o), Instant{now});
  const auto refused = nlohmann::json::parse(a.ask(R"({"request":"demote"})"));
  EXPECT_EQ(refused["error"]["code"], "conflict");
  EXPECT_EQ(a.role(), "active");
  const auto demoted = nlohmann::json::parse(a.ask(R"({"request":"demote","force":true})"));
  EXPECT_EQ(demoted["role"], "standby");
  EXPECT_EQ(a.runs().size(), 1U);
  meet();
  expect_same();
  // Slurm takes its word back.
  EXPECT_EQ(nlohmann::json::parse(a.ask(R"({"request":"promote","by":"uid 7"})"))["state"], "is being promoted");
  meet();
  EXPECT_EQ(nlohmann::json::parse(a.ask(R"({"request":"promote","by":"uid 7"})"))["state"], "writes");
}

TEST_F(ControllersTest, a_dead_one_is_waited_for_some_seconds) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  b.controllers().want_promotion("uid 0", Instant{now});
  meet();
  EXPECT_EQ(b.role(), "standby");
  now += 3;
  meet();
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 3U);
}

TEST_F(ControllersTest, a_promotion_is_not_forgotten_by_a_daemon_that_dies) {
  promote(a);
  a.feed(runs_of(1, 3));
  meet();
  b.controllers().want_promotion("uid 0", Instant{now});
  b.kill();
  b.start();
  EXPECT_EQ(b.report()["state"], "is being promoted");
  meet();
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(a.role(), "standby");
  // Once is enough.
  promote(a);
  b.kill();
  b.start();
  meet();
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(a.role(), "active");
}

TEST_F(ControllersTest, another_ledger_is_not_followed) {
  is_cut = true;
  a.controllers().want_promotion("uid 0", Instant{now});
  b.controllers().want_promotion("uid 0", Instant{now});
  now += 3;
  meet();
  ASSERT_TRUE(b.controllers().demote(Instant{now}));
  a.feed(runs_of(1, 3));
  is_cut = false;
  const auto before = b.head();
  meet();
  EXPECT_EQ(b.head(), before);
  EXPECT_NE(b.report()["fault"].dump().find("has another ledger"), std::string::npos);
  EXPECT_NE(a.report()["fault"].dump().find("has another ledger"), std::string::npos);
}

TEST_F(ControllersTest, what_comes_is_checked) {
  promote(a);
  a.feed(runs_of(1, 3));
  const auto before = b.head();
  const auto spoil = [&](const std::string& from, const std::string& to) {
    b.controllers().poll([&](const std::string& request, const Controllers::Done& done) {
      std::string text = a.ask(request);
      const auto at = text.find(from);
      ASSERT_NE(at, std::string::npos);
      done(text.replace(at, from.size(), to), Instant{now});
    });
    EXPECT_EQ(b.head(), before);
    EXPECT_FALSE(b.report()["fault"].is_null());
  };
  spoil("phys", "chem");
  spoil("\"sequence\":", "\"sequence\":1");
  spoil("\"hash\":\"", "\"hash\":\"0");
  spoil("}", "");
  meet();
  expect_same();
  EXPECT_TRUE(b.report()["fault"].is_null());
}

TEST_F(ControllersTest, a_question_that_is_none_is_refused) {
  promote(a);
  for (const std::string& members :
       {R"("sequence":-1,"hash":")" + std::string(64, '0') + R"(","rows":1)",
        R"("sequence":0,"hash":")" + std::string(64, '0') + R"(","rows":2001)",
        R"("sequence":0,"hash":")" + std::string(63, '0') + R"(","rows":1)", std::string(R"("sequence":0,"rows":1)")}) {
    const auto reply = nlohmann::json::parse(a.ask(R"({"request":"follow",)" + members + "}"));
    EXPECT_EQ(reply["error"]["code"], "invalid_argument") << members;
  }
}

// What a hundred takeovers leave, some planned, some after a death with events that were not replicated: the same books
// as without any.
TEST_F(ControllersTest, a_hundred_takeovers) {
  promote(a);
  std::array<Host*, 2> hosts{&a, &b};
  int partings = 0;
  for (std::uint32_t takeover = 1; takeover <= 100; ++takeover) {
    Host& from = *hosts[(takeover + 1) % 2];
    Host& to = *hosts[takeover % 2];
    from.feed(runs_of(1, takeover));
    const bool dies = takeover % 3 == 0;
    const std::uint32_t last = takeover % 6 == 0 ? takeover + 1 : takeover;
    if (last > takeover) from.feed(runs_of(1, last));
    if (takeover % 2 == 0) meet();
    if (dies) from.kill();
    to.controllers().want_promotion("uid 0", Instant{now});
    now += 3;
    meet();
    ASSERT_EQ(to.role(), "active") << takeover;
    to.feed(runs_of(1, last));
    if (!dies) continue;
    from.start();
    meet();
    if (from.controllers().parting()) {
      from.begin_anew();
      ++partings;
    }
    meet();
    ASSERT_EQ(from.role(), "standby") << takeover;
    ASSERT_EQ(from.head(), to.head()) << takeover;
  }
  meet();
  expect_same();
  EXPECT_EQ(a.runs().size(), 100U);
  EXPECT_EQ(a.report()["epoch"], 101);
  EXPECT_EQ(partings, 17);  // every sixth death came before the last run was replicated
}

}  // namespace
}  // namespace shapley::daemon
