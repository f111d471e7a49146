// Two services that ask each other: the one that is fed writes, the other one follows, and what happens when they
// change places.
#include "daemon/controllers/controllers.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/handlers.hpp"
#include "ledger/store/backup.hpp"
#include "tests/daemon/controllers/two_hosts.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> beginnings(Host& host) {
  return host.rows(
      "SELECT json_extract(payload, '$.host') || ' ' || json_extract(payload, '$.peer') FROM events "
      "WHERE kind = 'controller_began' ORDER BY seq");
}

TEST_F(ControllersTest, the_one_that_is_fed_writes) {
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(a.report()["state"], "waits for slurmctld");
  EXPECT_EQ(a.head().sequence, 0);
  primary(a);
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(a.report()["began_host"], "ctl1");
  EXPECT_EQ(a.rows("SELECT seq, key, payload FROM events WHERE kind = 'controller_began'"),
            std::vector<std::string>{R"(1|controller_began/0|{"after":0,"at":1700000102,"hash":")" +
                                     std::string(64, '0') + R"(","host":"ctl1","peer":"answered"})"});
}

TEST_F(ControllersTest, the_other_one_holds_what_it_writes) {
  primary(a);
  a.feed(runs_of(1, 20));
  meet();
  expect_same();
  EXPECT_EQ(b.runs().size(), 20U);
  EXPECT_EQ(*a->books().ledger().identity(), *b->books().ledger().identity());
  EXPECT_EQ(b.report()["state"], "follows");
  EXPECT_EQ(b.report()["behind"], 0);
  EXPECT_EQ(b.report()["peer_host"], "ctl1");
  EXPECT_EQ(b.report()["peer_events"], a.head().sequence);
}

// The statement of a ledger that follows is of an earlier event, as that of a copy that was restored would be.
TEST_F(ControllersTest, only_the_one_that_writes_states_its_standing_to_other_clusters) {
  primary(a);
  meet();
  const auto asked = [](Host& host) { return host.ask(R"({"request":"standing"})"); };
  EXPECT_NE(asked(a).find("this cluster is in no consortium"), std::string::npos) << asked(a);
  EXPECT_NE(asked(b).find("the other one of the two controllers states"), std::string::npos) << asked(b);
}

TEST_F(ControllersTest, only_the_one_that_writes_states_the_mean_residual_run_time) {
  primary(a);
  a.feed(runs_of(1, 20));
  clocks.pass(seconds(200));
  std::vector<protocol::JobUpdate> over;
  for (std::uint32_t id = 1; id <= 20; ++id) {
    over.push_back(ended({.id = id, .cpus = 1, .start = k_begin + id}, clocks.now));
  }
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
  b->tick(b.now());
  EXPECT_TRUE(statements(b).empty());
  meet();
  EXPECT_EQ(statements(a), std::vector<std::string>{"20"});
  meet();
  EXPECT_EQ(statements(b), std::vector<std::string>{"20"});
  expect_same();
}

TEST_F(ControllersTest, a_feeder_that_comes_is_held_until_everything_is_here) {
  primary(a);
  a.feed(runs_of(1, 5));
  a.disconnect();
  b.connect();
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(b.report()["feeder_held"], true);
  EXPECT_EQ(b.controllers().refusal(), "");
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 5U);
  b.feed(runs_of(1, 9));
  meet();
  expect_same();
  // And back.
  take_over(b, a);
  a.feed(runs_of(1, 12));
  meet();
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(b.runs().size(), 12U);
  expect_same();
  EXPECT_EQ(beginnings(b), (std::vector<std::string>{"ctl1 answered", "ctl2 answered", "ctl1 answered"}));
}

TEST_F(ControllersTest, it_is_held_while_the_other_ones_feeder_is_still_there) {
  primary(a);
  a.feed(runs_of(1, 3));
  b.connect();
  meet(seconds(14));
  EXPECT_EQ(b.role(), "standby");
  // What the old one says meanwhile is taken over, and acknowledged in step.
  const std::uint64_t last = a.feed(runs_of(1, 4));
  meet(milliseconds(500));
  EXPECT_EQ(a.acknowledged(), last);
  EXPECT_EQ(a.report()["acknowledged_alone"], 0);
  a.disconnect();
  meet(milliseconds(200));
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 4U);
  b.feed(runs_of(1, 4));
  meet();
  expect_same();
  EXPECT_TRUE(a.report()["set_aside"].empty());
}

// The answer was given before the other one wrote what it has now.
TEST_F(ControllersTest, what_was_asked_before_the_feeder_came_does_not_say_that_everything_is_here) {
  primary(a);
  a.feed(runs_of(1, 3));
  a.disconnect();
  meet();
  std::string answer;
  Controllers::Done done;
  b.controllers().poll([&](const std::string& request, const Controllers::Done& then) {
    answer = a.ask(request);
    done = then;
  });
  primary(a);
  a.feed(runs_of(1, 5));
  a.disconnect();
  b.connect();
  done(answer, b.now());
  EXPECT_EQ(b.role(), "standby");
  meet();
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 5U);
}

TEST_F(ControllersTest, what_a_plugin_said_last_is_booked_before_writing_ends) {
  primary(a);
  a->begin_session(feeder_hello(7), a.now());
  protocol::Observations o;
  o.sequence = 1;
  o.observed_at = clocks.now;
  o.jobs = {run_of(1)};
  o.nodes = {node_record("n1")};
  a->receive(std::move(o), a.now());
  a.disconnect();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(a.runs().size(), 1U);
  meet();
  expect_same();
}

TEST_F(ControllersTest, a_dead_one_is_waited_for_some_seconds) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  b.connect();
  meet(milliseconds(4900));
  EXPECT_EQ(b.role(), "standby");
  meet(milliseconds(100));
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 3U);
  EXPECT_EQ(beginnings(b), (std::vector<std::string>{"ctl1 answered", "ctl2 silent"}));
}

TEST_F(ControllersTest, a_restart_of_the_one_that_writes_changes_nothing) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  a.start();
  meet();
  EXPECT_EQ(a.role(), "standby");
  EXPECT_EQ(b.role(), "standby");
  primary(a);
  a.feed(runs_of(1, 4));
  meet();
  expect_same();
}

// A replayed order to lay down writing stopped both permanently.
TEST_F(ControllersTest, nothing_that_can_be_asked_changes_who_writes) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  for (const char* request : {R"({"request":"demote","force":true})", R"({"request":"promote","by":"uid 0"})"}) {
    EXPECT_EQ(nlohmann::json::parse(a.ask(request))["error"]["code"], "not_found");
    EXPECT_EQ(nlohmann::json::parse(b.ask(request))["error"]["code"], "not_found");
  }
  EXPECT_EQ(nlohmann::json::parse(a.ask(R"({"request":"begin"})"))["error"]["code"], "conflict");
  EXPECT_EQ(nlohmann::json::parse(b.ask(R"({"request":"begin"})"))["error"]["code"], "conflict");
  meet();
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(b.role(), "standby");
}

// An attacker listens on the dead one's address, and relays the questions back.
TEST_F(ControllersTest, an_answer_that_is_its_own_is_none) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  a.kill();
  const auto reflect = [](Host& host) {
    host.controllers().poll(
        [&](const std::string& request, const Controllers::Done& done) { done(host.ask(request), host.now()); });
  };
  clocks.pass(seconds(6));
  reflect(b);
  EXPECT_EQ(b.report()["peer_answers"], false);
  EXPECT_EQ(b.report()["heard_s"], 6);
  EXPECT_EQ(b.report()["behind"], nullptr);
  EXPECT_EQ(b.report()["peer_events"], b.head().sequence);
  // It begins nevertheless, and does not wait for itself with what it acknowledges.
  b.connect();
  clocks.pass(seconds(5));
  reflect(b);
  ASSERT_EQ(b.role(), "active");
  reflect(b);
  EXPECT_EQ(b.report()["in_step"], false);
  const std::uint64_t last = b.feed(runs_of(1, 4));
  EXPECT_EQ(b.acknowledged(), last);
  EXPECT_EQ(b.report()["acknowledged_alone"], last);
}

TEST_F(ControllersTest, what_was_heard_long_ago_says_nothing_of_now) {
  primary(a);
  meet();
  EXPECT_EQ(b.report()["behind"], 0);
  is_cut = true;
  poll(b, a);
  EXPECT_EQ(b.report()["peer_answers"], false) << "the last question was not answered";
  is_cut = false;
  poll(b, a);
  EXPECT_EQ(b.report()["behind"], 0);
  clocks.pass(seconds(5));
  EXPECT_EQ(b.report()["behind"], nullptr);
  EXPECT_EQ(b.report()["peer_answers"], false);
  EXPECT_EQ(b.report()["heard_s"], 5);
}

// One that had followed nothing began a ledger of its own, beside the one that there was.
TEST_F(ControllersTest, one_that_has_followed_nothing_waits_for_the_other_one) {
  is_cut = true;
  b.connect();
  meet(seconds(4));
  EXPECT_EQ(b.controllers().refusal(), "");
  meet(seconds(2));
  EXPECT_NE(b.controllers().refusal().find("shapleyctl begin"), std::string::npos);
  EXPECT_NE(b.report()["fault"].dump().find("shapleyctl begin"), std::string::npos);
  EXPECT_EQ(b.report()["state"], "waits for the other one");
  // It is refused, and comes again.
  b.disconnect();
  meet();
  EXPECT_NE(b.report()["fault"].dump().find("shapleyctl begin"), std::string::npos);
  b.connect();
  meet(seconds(3600));
  EXPECT_EQ(b.role(), "standby");
  EXPECT_EQ(b.head().sequence, 0);
  // An administrator knows that there is nothing else.
  EXPECT_EQ(nlohmann::json::parse(b.ask(R"({"request":"begin"})"))["allowed"], true);
  meet();
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.report()["fault"], nullptr);
}

TEST_F(ControllersTest, a_copy_that_is_not_whole_does_not_begin_either) {
  b.kill();
  ASSERT_EQ(nlohmann::json::parse(a.ask(R"({"request":"begin"})"))["allowed"], true);
  primary(a);
  begin_first_copy();
  ASSERT_LT(b.head().sequence, a.head().sequence);
  a.kill();
  b.kill();
  b.start();
  b.connect();
  meet(seconds(6));
  meet(seconds(6));
  EXPECT_EQ(b.role(), "standby");
  EXPECT_NE(b.controllers().refusal(), "");
  // The other one is back, and it can.
  a.start();
  b.connect();
  meet();
  EXPECT_EQ(b.role(), "active");
  EXPECT_EQ(b.runs().size(), 400U);
}

// The first copy had begun; then the other one comes back with an empty ledger. That it has nothing proves nothing, and
// a copy of what is here is incomplete, too.
TEST_F(ControllersTest, a_copy_is_whole_when_it_has_what_was_there_when_it_began) {
  b.kill();
  ASSERT_EQ(nlohmann::json::parse(a.ask(R"({"request":"begin"})"))["allowed"], true);
  primary(a);
  begin_first_copy();
  a.disconnect();
  a.kill();
  a.lose_ledger();
  a.start();
  meet();
  EXPECT_EQ(a.head(), b.head()) << "it takes what is there";
  for (Host* host : {&a, &b}) {
    host->connect();
    meet(seconds(6));
    EXPECT_EQ(host->role(), "standby");
    EXPECT_NE(host->controllers().refusal().find("shapleyctl begin"), std::string::npos);
    host->disconnect();
  }
  EXPECT_EQ(nlohmann::json::parse(b.ask(R"({"request":"begin"})"))["allowed"], true);
  b.connect();
  meet();
  EXPECT_EQ(b.role(), "active");
  meet();
  expect_same();
}

// The first copy had begun; then the other one comes back with an older copy of its ledger.
TEST_F(ControllersTest, a_copy_is_not_whole_because_the_other_one_has_no_more) {
  b.kill();
  ASSERT_EQ(nlohmann::json::parse(a.ask(R"({"request":"begin"})"))["allowed"], true);
  primary(a);
  a.feed(runs_of(1, 3));
  const TempDirectory copies;
  ledger::BackupResult result = must(ledger::back_up(a.ledger(), copies / "older.db", ledger::Overwrite::no));
  begin_first_copy();
  a.disconnect();
  a.kill();
  a.lose_ledger();
  must(ledger::restore(copies / "older.db", a.ledger(), a.now(), result));
  a.start();
  meet();
  EXPECT_EQ(a.head(), b.head()) << "it takes what is there";
  b.connect();
  meet(seconds(6));
  EXPECT_EQ(b.role(), "standby");
  EXPECT_NE(b.controllers().refusal().find("shapleyctl begin"), std::string::npos);
}

// Another process asks for the ledger, such as one with a copy of the configuration on a third host.
TEST_F(ControllersTest, only_the_configured_one_counts_as_following) {
  primary(a);
  meet();
  const std::uint64_t last = a.feed(runs_of(1, 3));
  is_cut = true;
  clocks.pass(seconds(10));
  EXPECT_EQ(a.acknowledged(), last);
  EXPECT_EQ(a.report()["in_step"], false);
  Controller third = must(b.controllers().self());
  third.instance = "third/1";
  FollowQuestion question{
      .position = a.head(), .began = third.began, .rows = k_most_rows, .ledger = {}, .instance = third.instance};
  question.ledger = must(a->books().ledger().identity());
  EXPECT_FALSE(a.ask(text_of(question)).empty());
  EXPECT_EQ(a.report()["in_step"], false);
  EXPECT_FALSE(a.controllers().is_followed());
  // Nor does the configured one with a ledger that parted, whose event of that number is another one.
  question.instance = must(b.controllers().self()).instance;
  question.position.hash.fill(0);
  EXPECT_FALSE(a.ask(text_of(question)).empty());
  EXPECT_EQ(a.report()["in_step"], false);
  question.position = a.head();
  EXPECT_FALSE(a.ask(text_of(question)).empty());
  EXPECT_EQ(a.report()["in_step"], true);
}

// The old one's thread was busy while Slurm changed its primary: it went on acknowledging what no other host had.
TEST_F(ControllersTest, what_was_acknowledged_in_step_is_on_both_hosts) {
  primary(a);
  const std::uint64_t first = a.feed(runs_of(1, 3));
  EXPECT_EQ(a.acknowledged(), 0U);
  meet();
  EXPECT_EQ(a.acknowledged(), first);
  EXPECT_EQ(a.report()["in_step"], true);
  // It answers no question from here on, and the plugin comes to the other host.
  is_cut = true;
  a.feed(runs_of(1, 6));
  clocks.pass(milliseconds(900));
  EXPECT_EQ(a.acknowledged(), first);
  const std::int64_t confirmed = a.report()["confirmed"];
  take_over(a, b);
  b.feed({run_of(1), run_of(2), run_of(3), run_of(4)});
  is_cut = false;
  meet();
  ASSERT_TRUE(a.controllers().has_parted());
  a.begin_again();
  ASSERT_TRUE(test::eventually([&] {
    meet();
    return !a.report()["set_aside"][0]["common"].is_null();
  })) << a.report();
  EXPECT_GE(a.report()["set_aside"][0]["common"], confirmed);
  EXPECT_EQ(b.runs().size(), 4U);
  expect_same();
}

TEST_F(ControllersTest, clocks_of_the_wall_decide_nothing) {
  b.ahead = std::int64_t{40} * 86400;
  b.kill();
  b.start();
  primary(a);
  const std::uint64_t last = a.feed(runs_of(1, 3));
  meet();
  EXPECT_EQ(a.acknowledged(), last);
  EXPECT_EQ(b.report()["heard_s"], 0);
  EXPECT_EQ(b.report()["behind"], 0);
  take_over(a, b);
  meet();
  EXPECT_EQ(a.head(), b.head());
  take_over(b, a);
  meet();
  EXPECT_EQ(a.role(), "active");
  EXPECT_EQ(a.head(), b.head());
  EXPECT_EQ(a.report()["fault"], nullptr);
  EXPECT_EQ(b.report()["fault"], nullptr);
}

TEST_F(ControllersTest, orders_are_taken_where_nothing_is_missing) {
  EXPECT_FALSE(takes_orders(*a));
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  EXPECT_TRUE(takes_orders(*a));
  EXPECT_FALSE(takes_orders(*b));
  const std::string rename = R"({"request":"rename_cluster","cluster":"newton","reason":"a test"})";
  for (const std::string& order :
       {rename, std::string(R"({"request":"adjust","reason":"a test","attribute":{"job":1,"into":"chemistry"}})"),
        std::string(R"({"request":"accept_line","cluster":"south","reason":"a test"})")})
    EXPECT_EQ(nlohmann::json::parse(b.ask(order))["error"]["code"], "conflict") << order;
  // slurmctld's plugin is refused on both hosts, because its cluster has another name.
  a.disconnect();
  meet();
  EXPECT_EQ(nlohmann::json::parse(a.ask(rename))["cluster"], "newton");
  meet();
  expect_same();
  a.kill();
  meet(seconds(6));
  EXPECT_FALSE(takes_orders(*b));
}

// What is written into it is lost when the process ends.
TEST_F(ControllersTest, nothing_is_copied_into_a_file_that_lost_its_name) {
  primary(a);
  a.feed(runs_of(1, 3));
  meet();
  const ledger::Position before = b.head();
  ASSERT_EQ(before, a.head());
  b.unlink_ledger();
  a.feed(runs_of(1, 5));
  meet();
  EXPECT_EQ(b.head(), before);
  EXPECT_NE(b.report()["fault"].dump().find("cannot follow"), std::string::npos) << b.report();
}

TEST_F(ControllersTest, what_comes_is_checked) {
  primary(a);
  a.feed(runs_of(1, 3));
  const auto before = b.head();
  const auto spoil = [&](const std::string& from, const std::string& to) {
    b.controllers().poll([&](const std::string& request, const Controllers::Done& done) {
      std::string text = a.ask(request);
      const auto at = text.find(from, text.find("\"rows\""));
      ASSERT_NE(at, std::string::npos);
      done(text.replace(at, from.size(), to), b.now());
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
  primary(a);
  const auto ask = [&](const nlohmann::json& change) {
    const nlohmann::json zero{{"sequence", 0}, {"hash", std::string(64, '0')}};
    nlohmann::json request{{"request", "follow"}, {"position", zero}, {"began", zero}, {"rows", 9}, {"ledger", "x"}};
    request["instance"] = "y";
    request.merge_patch(change);
    return nlohmann::json::parse(a.ask(request.dump()));
  };
  for (const char* change : {R"({"position":{"sequence":-1}})", R"({"rows":501})", R"({"rows":-1})", R"({"rows":"1"})",
                             R"({"position":{"hash":"00"}})", R"({"began":{"hash":"zz"}})", R"({"instance":null})",
                             R"({"position":null})", R"({"began":null})", R"({"position":{"hash":null}})"}) {
    EXPECT_EQ(ask(nlohmann::json::parse(change))["error"]["code"], "invalid_argument") << change;
  }
  // What is asked of another ledger gets no event of this one.
  const nlohmann::json reply = ask(nlohmann::json::object());
  EXPECT_EQ(reply["part"]["holds"], false);
  EXPECT_EQ(reply["holds_began"], false);
  EXPECT_TRUE(reply["part"]["rows"].empty());
}

// What a hundred takeovers leave, some planned, some after a death with events that the other one lacks: the same books
// as without any.
TEST_F(ControllersTest, a_hundred_takeovers) {
  primary(a);
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
    take_over(from, to);
    ASSERT_EQ(to.role(), "active") << takeover;
    to.feed(runs_of(1, last));
    if (!dies) continue;
    from.start();
    meet();
    if (from.controllers().has_parted()) {
      from.begin_again();
      ++partings;
    }
    meet();
    ASSERT_EQ(from.role(), "standby") << takeover;
    ASSERT_EQ(from.head(), to.head()) << takeover;
  }
  meet();
  expect_same();
  EXPECT_EQ(a.runs().size(), 100U);
  EXPECT_EQ(beginnings(a).size(), 101U);
  EXPECT_GT(partings, 0);
}

}  // namespace
}  // namespace shapley::daemon
