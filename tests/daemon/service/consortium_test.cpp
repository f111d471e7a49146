// Two clusters of one consortium, each with its own shapleyd without sockets: what one states, the other ranks by.
#include "daemon/consortium/consortium.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "daemon/consortium/consortium_loop.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

// A cluster, which asks the other one.
struct Cluster {
  explicit Cluster(std::string called) : name(std::move(called)), site(site_in(directory)) {
    const auto made = ledger::make_key_files(directory / "key");
    EXPECT_TRUE(made.has_value());
    site.signing_key = std::make_shared<const ledger::SigningKey>(ledger::SigningKey::read(directory / "key").value());
    site.configuration.consortium.name = "uni";
  }

  void know(const Cluster& other, Duration stale_after = Duration{3600}) {
    config::OtherClusterConfig known;
    known.name = other.name;
    known.standing = (other.directory / "standing").string();
    known.stale_after = stale_after;
    site.configuration.consortium.clusters.push_back(known);
    site.consortium_keys.push_back(
        std::make_shared<const ledger::PublicKey>(ledger::PublicKey::read(other.directory / "key.pub").value()));
  }

  void start(std::int64_t now) {
    open(now);
    connect(now);
  }
  void open(std::int64_t now) {
    service.reset();
    auto started = Service::start(site, {}, Instant{now});
    ASSERT_TRUE(started.has_value()) << started.error().what;
    service = std::move(*started);
  }
  void connect(std::int64_t now) {
    protocol::Hello hello = feeder_hello(++instance);
    hello.cluster = name;
    ASSERT_TRUE(service->cluster().admit(hello, false, Instant{now}).has_value());
    service->begin_session(hello, Instant{now});
  }

  void see(std::vector<protocol::JobUpdate> jobs, std::int64_t now) {
    std::uint64_t sequence = service->acknowledged(instance);
    service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.nodes = {node_record("n1"), node_record("n2")};
    service->receive(std::move(o), Instant{now});
    service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
    service->process(Instant{now});
    service->tick(Instant{now});
  }

  [[nodiscard]] Expected<std::string> states(std::int64_t now) const {
    auto statement = service->consortium().statement(service->cluster().name(), site.signing_key.get(), Instant{now});
    if (!statement) return tl::unexpected(statement.error());
    return statement->text();
  }
  void hear(const Cluster& other, const Expected<std::string>& text, std::int64_t now) {
    service->receive_standing(other.name, text, Instant{now});
  }
  [[nodiscard]] std::vector<std::string> order() const { return service->ranks().organizations; }
  [[nodiscard]] std::size_t recorded() const {
    return rows_of(service->books().ledger(), "SELECT seq FROM events WHERE kind = 'standing_received'").size();
  }
  [[nodiscard]] const Consortium::Cluster& other() const { return service->consortium().clusters().front(); }

  std::string name;
  TempDirectory directory;
  Site site;
  std::unique_ptr<Service> service;
  std::uint64_t instance = 0;
};

class ConsortiumOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    north.know(south);
    south.know(north);
    for (Cluster* cluster : {&north, &south}) cluster->start(now);
    // On its own north would serve chemistry first: physics runs on its node.
    north.see({running({.id = 1, .account = "phys", .node = "n2", .start = now})}, now);
    // In the south chemistry runs on twice as much of physics' node.
    south.see({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = now})}, now);
    now += 100;
    for (Cluster* cluster : {&north, &south}) cluster->service->tick(Instant{now});
  }

  std::int64_t now = k_begin;
  Cluster north{"north"};
  Cluster south{"south"};
};

TEST_F(ConsortiumOfTwo, RanksFollowWhatTheOtherClusterStates) {
  EXPECT_EQ(north.order(), (std::vector<std::string>{"chemistry", "physics", "guests"}));
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.order(), (std::vector<std::string>{"physics", "chemistry", "guests"}));
  EXPECT_EQ(north.recorded(), 1U);
  // After a restart, by what is in the ledger.
  north.start(now + 1);
  EXPECT_EQ(north.order(), (std::vector<std::string>{"physics", "chemistry", "guests"}));
}

TEST_F(ConsortiumOfTwo, AStatementThatChangesNothingIsRecordedOnceAnHour) {
  north.site.configuration.consortium.clusters.front().stale_after = Duration{7200};
  ASSERT_TRUE(north.service->reload(north.site, Instant{now}).has_value());
  north.hear(south, south.states(now), now);
  for (int minute = 1; minute <= 59; ++minute) {
    now += 60;
    south.service->tick(Instant{now});
    north.hear(south, south.states(now), now);
  }
  EXPECT_EQ(north.recorded(), 1U) << "nothing started or ended";
  EXPECT_EQ(north.other().offered->figures.time, Instant{now});
  now += 60;
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.recorded(), 2U);
}

// A statement that is ten minutes old when it is recorded would be too old for the last ten minutes of the hour.
TEST_F(ConsortiumOfTwo, TheRecordedStatementIsNotTooOldWhileNewerOnesCome) {
  constexpr std::size_t k_minutes_late = 10;
  std::vector<std::string> sent;
  for (int minute = 0; minute <= 180; ++minute) {
    now += 60;
    south.service->tick(Instant{now});
    sent.push_back(south.states(now).value());
    if (sent.size() <= k_minutes_late) continue;
    north.hear(south, sent[sent.size() - 1 - k_minutes_late], now);
    EXPECT_GT(north.service->books().state().shares_elsewhere().front().stale_at, Instant{now}) << minute;
  }
  EXPECT_LE(north.recorded(), 5U);
}

TEST_F(ConsortiumOfTwo, WhatDoesNotCountIsRefusedByName) {
  const std::string first = south.states(now).value();
  now += 60;
  const std::string text = south.states(now).value();
  north.hear(south, text, now);
  const auto order = north.order();
  ASSERT_EQ(north.recorded(), 1U);
  const auto refused = [&](const std::string& statement, const std::string& why) {
    north.hear(south, statement, now);
    EXPECT_NE(north.other().fault.find(why), std::string::npos) << north.other().fault;
    EXPECT_EQ(north.order(), order);
    EXPECT_EQ(north.recorded(), 1U);
    EXPECT_TRUE(north.other().is_refused);
  };
  std::string forged = text;
  forged.replace(forged.find("\"used\":8000000"), 14, "\"used\":9000000");
  refused(forged, "the signature is not of this text");
  refused(first, "older than the last one");
  refused(north.states(now).value(), "the signature is not of this text");
  refused("{}", "this is no standing statement");
  refused(std::string(2'000'000, ' '), "at most");
  EXPECT_EQ(north.other().refused, 5U);
  // An answer that does not come changes nothing either, and is no refusal.
  north.hear(south, fail(Errc::unavailable, "no route"), now);
  EXPECT_EQ(north.other().fault, "no route");
  EXPECT_FALSE(north.other().is_refused);
  EXPECT_EQ(north.other().refused, 5U);
  north.hear(south, text, now);
  EXPECT_EQ(north.other().fault, "");
}

TEST_F(ConsortiumOfTwo, StatusSaysWhatIsWrongWithTheOtherCluster) {
  const auto other = [&] {
    const ParsedRequest request = parse_request(R"({"request":"status"})");
    return json::parse(
        std::get<std::string>(answer(*north.service, request, Instant{now}, Asker::anybody, 1000)))["clusters"][0];
  };
  EXPECT_FALSE(other().contains("ahead_s")) << "none came";
  north.hear(south, south.states(now), now);
  EXPECT_EQ(other()["ahead_s"], 0);
  EXPECT_EQ(other()["refused"], 0);
  EXPECT_FALSE(other().contains("fault"));
  // A minute ahead is taken, more is not.
  north.hear(south, south.states(now + 60), now);
  EXPECT_EQ(other()["ahead_s"], 60);
  EXPECT_FALSE(other().contains("is_refused"));
  north.hear(south, south.states(now + 61), now);
  EXPECT_EQ(other()["ahead_s"], 61);
  EXPECT_EQ(other()["refused"], 1);
  EXPECT_EQ(other()["is_refused"], true);
  EXPECT_NE(other()["fault"].get<std::string>().find("the clocks are apart"), std::string::npos);
  now += 61;
  north.hear(south, south.states(now), now);
  EXPECT_EQ(other()["ahead_s"], 0);
  EXPECT_FALSE(other().contains("is_refused"));
}

TEST_F(ConsortiumOfTwo, WithoutNewsTheSumStandsStillAndIsWholeAgainAtOnce) {
  north.hear(south, south.states(now), now);
  const auto frozen_at = [&](std::int64_t t) {
    auto& state = north.service->books().state();
    state.advance(Instant{t});
    return state.shares_elsewhere().front().organizations;
  };
  const auto still = frozen_at(now + 3600);
  EXPECT_EQ(frozen_at(now + 20'000), still);
  now += 20'001;
  south.service->tick(Instant{now});
  north.hear(south, south.states(now), now);
  EXPECT_NE(frozen_at(now), still);
}

TEST_F(ConsortiumOfTwo, AClusterThatLeavesCountsNoMoreAndTheLedgerSaysSince) {
  north.hear(south, south.states(now), now);
  Site alone = north.site;
  alone.configuration.consortium = {};
  alone.consortium_keys.clear();
  ASSERT_TRUE(north.service->reload(alone, Instant{now + 10}).has_value());
  EXPECT_EQ(north.order(), (std::vector<std::string>{"chemistry", "physics", "guests"}));
  EXPECT_EQ(rows_of(north.service->books().ledger(),
                    "SELECT at - " + std::to_string(k_begin) + " FROM events WHERE kind = 'consortium_declared'"),
            (std::vector<std::string>{"0", "110"}));
  EXPECT_EQ(north.states(now + 10).error().code, Errc::not_found);
}

TEST_F(ConsortiumOfTwo, TheRequestAnswersWithTheStatement) {
  Answer answered =
      answer(*south.service, parse_request(R"({"request":"standing"})"), Instant{now}, Asker::anybody, 1000);
  north.hear(south, std::get<std::string>(answered), now);
  EXPECT_EQ(north.other().fault, "");
  EXPECT_EQ(north.recorded(), 1U);
}

// Before that, this cluster has no name.
TEST_F(ConsortiumOfTwo, StatementsAreJudgedFromTheFirstSlurmctldOn) {
  Cluster west{"west"};
  west.know(south);
  west.open(now);
  west.hear(south, south.states(now), now);
  EXPECT_EQ(west.other().fault, "");
  EXPECT_EQ(west.other().refused, 0U);
  west.connect(now);
  west.hear(south, south.states(now), now);
  EXPECT_EQ(west.other().fault, "its consortium has no cluster 'west'");
  EXPECT_EQ(west.other().refused, 1U);
}

TEST_F(ConsortiumOfTwo, AFileBringsItToo) {
  const std::string place = north.site.configuration.consortium.clusters.front().standing;
  EXPECT_EQ(fetch_standing(place, {}, -1).error().code, Errc::not_found);
  // What another user may put there instead: neither is waited for.
  ASSERT_EQ(::mkfifo(place.c_str(), 0644), 0);
  EXPECT_EQ(fetch_standing(place, {}, -1).error().code, Errc::io);
  std::filesystem::remove(place);
  std::filesystem::create_symlink("/dev/zero", place);
  EXPECT_EQ(fetch_standing(place, {}, -1).error().code, Errc::io);
  std::filesystem::remove(place);
  std::ofstream(place) << south.states(now).value();
  north.hear(south, fetch_standing(place, {}, -1), now);
  EXPECT_EQ(north.recorded(), 1U);
}

TEST_F(ConsortiumOfTwo, EachClusterIsAskedOnceInEvery) {
  Consortium& consortium = north.service->consortium();
  ASSERT_NE(consortium.next_to_ask(Instant{now}), nullptr);
  EXPECT_EQ(consortium.next_to_ask(Instant{now}), nullptr);
  EXPECT_EQ(consortium.next_to_ask(Instant{now + 59}), nullptr);
  EXPECT_NE(consortium.next_to_ask(Instant{now + 60}), nullptr);
}

}  // namespace
}  // namespace shapley::daemon
