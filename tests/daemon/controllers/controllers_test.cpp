// Two services that ask each other, without sockets: one writes, the other follows, and what happens when they change
// places, part, and meet again.
#include "daemon/controllers/controllers.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/controllers/superseded.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/store/query.hpp"
#include "tests/daemon/records.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

constexpr std::int64_t k_begin = 1'700'000'000;

// One host: a service with its ledger, and the plugin that feeds it.
class Host {
 public:
  Host(std::string name, const std::int64_t& now) : name_(std::move(name)), now_(now) {
    site_.configuration.peer = "/run/other.sock";
  }

  void start() {
    Service::Options options;
    options.host = name_;
    auto started = Service::start(site_, std::move(options), Instant{now_});
    ASSERT_TRUE(started.has_value()) << started.error().what;
    service_ = std::move(*started);
  }
  // It dies without any farewell.
  void kill() { service_.reset(); }
  [[nodiscard]] bool is_up() const { return service_ != nullptr; }
  Service& operator*() { return *service_; }
  Service* operator->() { return service_.get(); }
  Controllers& controllers() { return *service_->controllers(); }
  [[nodiscard]] nlohmann::json report() { return controllers().report(Instant{now_}); }
  [[nodiscard]] std::string role() { return report()["role"]; }

  // As the other controller or Slurm's program is answered.
  std::string ask(const std::string& request) {
    Answer answered = answer(*service_, request, Instant{now_}, Asker::administrator);
    if (const auto* text = std::get_if<std::string>(&answered)) return *text;
    ReadingThread::Connection reader(site_.configuration.ledger);
    return std::get<ReadingThread::Question>(answered)(reader, {});
  }

  // A new plugin tells of all jobs.
  void feed(const std::vector<protocol::JobRecord>& jobs) {
    service_->begin_session(feeder_hello(++instance_), Instant{now_});
    service_->receive(protocol::SnapshotBegin{1, now_}, Instant{now_});
    protocol::Observations o;
    o.sequence = 2;
    o.observed_at = now_;
    o.jobs = jobs;
    o.nodes = {node_record("n1"), node_record("n2")};
    service_->receive(std::move(o), Instant{now_});
    service_->receive(protocol::SnapshotEnd{3, now_}, Instant{now_});
    service_->process(Instant{now_});
    EXPECT_EQ(service_->acknowledged(instance_), service_->is_active() ? 3U : 0U);
  }

  [[nodiscard]] ledger::Position head() { return *ledger::head_of(service_->books().ledger()); }
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) {
    std::vector<std::string> lines;
    const auto result = ledger::query(service_->books().ledger(), sql);
    if (!result) throw std::runtime_error(result.error().what);
    for (const auto& row : *result) {
      std::string line;
      for (const std::string& column : row) line += (line.empty() ? "" : "|") + column;
      lines.push_back(line);
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> runs() {
    return rows("SELECT job, begin - " + std::to_string(k_begin) + " FROM segments WHERE kind = 'run' ORDER BY job");
  }
  // Of its events and of its books.
  [[nodiscard]] bool is_sound() { return ledger::audit(service_->books().ledger())->clean(); }
  // As `status` tells it, but for what is this daemon's own.
  [[nodiscard]] std::string standings() {
    nlohmann::json status = nlohmann::json::parse(ask(R"({"request":"status"})"));
    return status["organizations"].dump();
  }

  // What the application does when the ledgers parted.
  void begin_anew() {
    const auto parting = controllers().parting();
    ASSERT_TRUE(parting);
    kill();
    const auto aside = set_ledger_aside(site_.configuration.ledger, *parting, Instant{now_});
    ASSERT_TRUE(aside) << aside.error().what;
    start();
  }

 private:
  std::string name_;
  const std::int64_t& now_;
  TempDirectory directory_;
  Site site_ = site_in(directory_);
  std::unique_ptr<Service> service_;
  std::uint64_t instance_ = 0;
};

class ControllersTest : public testing::Test {
 protected:
  void SetUp() override {
    a.start();
    b.start();
  }

  void poll(Host& from, Host& to) {
    if (!from.is_up()) return;
    from.controllers().poll([&](const std::string& request, const Controllers::Done& done) {
      if (is_cut || !to.is_up()) {
        done(fail(Errc::unavailable, "does not answer"), Instant{now});
      } else {
        done(to.ask(request), Instant{now});
      }
    });
  }
  // Both ask until neither has more to ask; a second passes.
  void meet() {
    ++now;
    for (int rounds = 0; rounds < 4 || more(); ++rounds) {
      ASSERT_LT(rounds, 1000);
      poll(a, b);
      poll(b, a);
    }
    for (Host* host : {&a, &b}) {
      if (host->is_up()) (*host)->tick(Instant{now});
    }
  }
  [[nodiscard]] bool more() {
    return (a.is_up() && a.controllers().has_more()) || (b.is_up() && b.controllers().has_more());
  }
  void promote(Host& host) {
    host.controllers().want_promotion("uid 0", Instant{now});
    meet();
  }
  void expect_same() {
    EXPECT_EQ(a.head(), b.head());
    EXPECT_EQ(a.runs(), b.runs());
    EXPECT_EQ(a.standings(), b.standings());
    EXPECT_TRUE(a.is_sound());
    EXPECT_TRUE(b.is_sound());
  }
  static protocol::JobRecord run_of(std::uint32_t id) { return running({.id = id, .cpus = 1, .start = k_begin + id}); }
  static std::vector<protocol::JobRecord> runs_of(std::uint32_t first, std::uint32_t last) {
    std::vector<protocol::JobRecord> records;
    for (std::uint32_t id = first; id <= last; ++id) records.push_back(run_of(id));
    return records;
  }

  std::int64_t now = k_begin + 100;
  bool is_cut = false;  // the connection between the two
  Host a{"ctl1", now};
  Host b{"ctl2", now};
};

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
