#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/mutex.hpp"
#include "daemon/requests/queries.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

TEST_F(ServiceTest, RanksBrakeAndAChangeOfThatIsAnEvent) {
  connect(1);
  // Physics runs on chemistry's node for 100 s, then chemistry on physics' for 50: chemistry is owed by now, and has
  // got and gets more than it gave.
  snapshot({running({.id = 1, .node = "n2", .start = now})});
  now += 100;
  see({ended({.id = 1, .node = "n2", .start = now - 100}, now),
       running({.id = 2, .account = "chem", .cpus = 8, .start = now})});
  now += 51;
  service->tick(Instant{now});
  EXPECT_EQ(service->ranks().organizations.front(),
            "physics");  // 400 got before, 408 since, and eight processors more than it gives for an hour

  Site changed = site;
  changed.configuration.rule = accounting::KeyRule::horizon;
  changed.configuration.organizations[1].guarantee = 0;
  ASSERT_TRUE(service->reload(changed, Instant{now}).has_value());
  service->tick(Instant{now});
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
  EXPECT_EQ(rows("SELECT json_extract(payload, '$.rule'), json_extract(payload, '$.exceptions') FROM events "
                 "WHERE kind = 'ranking_declared' ORDER BY seq"),
            (Lines{"braking|[]", R"([{"organization":"chemistry","parts_per_million":0}])"}));
  restart();
  service->tick(Instant{now});
  EXPECT_EQ(service->ranks().organizations.front(), "physics") << "the file's own rule again, as restart() reads it";
}

// Users of jobs are named in the ledger as this host calls them, each once, and again when the name changes.
TEST_F(ServiceTest, UsersAreNamedOnceAndWhenTheirNamesChange) {
  Mutex mutex;
  std::vector<std::vector<std::uint32_t>> asked;
  accounting::UserNames names{{1'000, "ada"}, {1'002, "eve"}};
  options.user_names = [&](const std::vector<std::uint32_t>& users, const std::atomic<bool>& /*ended*/) {
    const MutexLock lock(mutex);
    asked.push_back(users);
    accounting::UserNames known;
    for (const std::uint32_t user : users) {
      if (names.contains(user)) known[user] = names.at(user);
    }
    return FoundUsers{.names = known, .is_whole = true};
  };
  const auto named = [&](const Lines& lines) {
    return test::eventually([&] {
      service->tick(Instant{now});
      return rows(
                 "SELECT json_extract(payload, '$.user_id'), json_extract(payload, '$.name') FROM events WHERE kind = "
                 "'user_named' ORDER BY seq") == lines;
    });
  };
  const auto job_of = [&](std::uint32_t job, std::uint32_t user) {
    protocol::JobUpdate update = running({.id = job, .start = now});
    update.user_id = user;
    return update;
  };
  restart();
  connect(1);
  snapshot({job_of(1, 1'000), job_of(2, 1'000), job_of(3, 1'001)});
  ASSERT_TRUE(named({"1000|ada"}));
  see({job_of(4, 1'000), job_of(5, 1'001), job_of(6, 1'002)});
  ASSERT_TRUE(named({"1000|ada", "1002|eve"}));
  {
    const MutexLock lock(mutex);
    EXPECT_EQ(asked, (std::vector<std::vector<std::uint32_t>>{{1'000, 1'001}, {1'002}})) << "who has no name, too";
    names[1'000] = "ada2";
  }
  // A day later, and by another process, which asks again.
  now += 24 * k_hour + 1;
  see({job_of(7, 1'000)});
  ASSERT_TRUE(named({"1000|ada", "1002|eve", "1000|ada2"}));
  restart();
  connect(2);
  snapshot({job_of(7, 1'000), job_of(8, 1'002)});
  ASSERT_TRUE(test::eventually([&] {
    service->tick(Instant{now});
    const MutexLock lock(mutex);
    return asked.size() == 4;
  }));
  ++now;
  ASSERT_TRUE(named({"1000|ada", "1002|eve", "1000|ada2"})) << "as the ledger has them";
  const nlohmann::json jobs = ask(R"({"request":"jobs","all":true})")["jobs"];
  EXPECT_EQ(jobs.back()["user"], "eve");
  service.reset();  // before what its thread refers to
}

// A directory that was too slow is asked again some minutes later, for half as many users at once.
TEST_F(ServiceTest, UsersThatTheDirectoryDidNotComeToAreAskedForAgain) {
  Mutex mutex;
  std::vector<std::vector<std::uint32_t>> asked;
  options.user_names = [&](const std::vector<std::uint32_t>& users, const std::atomic<bool>& /*ended*/) {
    const MutexLock lock(mutex);
    asked.push_back(users);
    return FoundUsers{.names = {{users.front(), "ada"}}, .is_whole = asked.size() > 1};
  };
  restart();
  connect(1);
  std::vector<protocol::JobUpdate> jobs;
  for (std::uint32_t i = 1; i <= 4; ++i) {
    jobs.push_back(running({.id = i, .start = now}));
    jobs.back().user_id = 1'000 + i;
  }
  snapshot(jobs);
  const auto were_asked = [&](const std::vector<std::vector<std::uint32_t>>& questions) {
    return test::eventually([&] {
      service->tick(Instant{now});
      const MutexLock lock(mutex);
      return asked == questions;
    });
  };
  ASSERT_TRUE(were_asked({{1'001, 1'002, 1'003, 1'004}}));
  ASSERT_TRUE(test::eventually([&] {
    service->tick(Instant{now});
    return rows("SELECT 1 FROM events WHERE kind = 'user_named'").size() == 1;
  }));
  now += 601;
  ASSERT_TRUE(were_asked({{1'001, 1'002, 1'003, 1'004}, {1'002, 1'003}, {1'004}}));
  service.reset();  // before what its thread refers to
}

TEST(HostUserNames, AreThoseOfThisHost) {
  const std::atomic<bool> ended = false;
  EXPECT_EQ(host_user_names({0, 4'123'456'789}, ended).names, (accounting::UserNames{{0, "root"}}));
  EXPECT_TRUE(host_user_names({0}, ended).is_whole);
  EXPECT_TRUE(host_user_names({4'123'456'789}, ended).names.empty());
}

// Physics runs on chemistry's node, eight processors that it does not give: by m = 3600, R' and S' change every second,
// and by what a processor is worth after minutes. The plugin gets the keys then, and at once when something starts.
TEST_F(ServiceTest, KeysThatBrakeAreSentWhenAProcessorsWorthHasChanged) {
  connect(1);
  snapshot({running({.id = 1, .node = "n2", .cpus = 8, .start = now})});
  service->tick(Instant{now});
  const protocol::Ranks first = service->ranks();
  EXPECT_EQ(first.organizations.front(), "chemistry");
  ASSERT_EQ(first.braking.size(), first.organizations.size());
  EXPECT_EQ(first.residual, 3600);
  EXPECT_EQ(protocol::value_of(first.braking[0].work), Int128{3600} * 8 * k_micro);
  EXPECT_EQ(protocol::value_of(first.braking[0].balance), Int128{3600} * 1800 * 8 * k_micro);
  EXPECT_EQ(first.braking[0].doubled_turn, 4 * k_micro) << "half of what the guarantee leaves of 8, twice";
  EXPECT_EQ(first.braking.back().doubled_turn, 0) << "guests go last";
  now += 1;
  service->tick(Instant{now});
  EXPECT_NE(service->ranks().braking, first.braking);
  EXPECT_EQ(service->ranks().generation, first.generation);
  now += 3600;
  service->tick(Instant{now});
  EXPECT_GT(service->ranks().generation, first.generation);
  const std::uint64_t settled = service->ranks().generation;
  see({running({.id = 2, .node = "n1", .cpus = 1, .start = now})});
  EXPECT_GT(service->ranks().generation, settled);
}

TEST_F(ServiceTest, WhoIsBelowItsGuaranteeGoesFirst) {
  site.configuration.rule = accounting::KeyRule::horizon;  // what runs does not count
  now += 10;
  restart();
  connect(1);
  // Physics owes; chemistry holds physics' node, and a job of physics waits.
  snapshot({running({.id = 1, .node = "n2", .cpus = 8, .start = now - 1000}),
            running({.id = 2, .account = "chem", .start = now})});
  see({ended({.id = 1, .node = "n2", .cpus = 8, .start = now - 1000}, now)});
  now += 10;
  service->tick(Instant{now});
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
  see({waiting({.id = 3, .start = now})});
  EXPECT_EQ(service->ranks().organizations.front(), "physics");
  see({running({.id = 3, .start = now})});  // four of its eight processors are half of them
  EXPECT_EQ(service->ranks().organizations.front(), "chemistry");
}

// Each may count on 4 of its 8 processors.
TEST_F(ServiceTest, RanksSayWhatIsLackingWhenNodesAreBackUnlessTheyAreGone) {
  connect(1);
  snapshot({});
  EXPECT_TRUE(service->ranks().returning.empty());
  const auto note = [&](bool usable, std::vector<std::string> gone = {}) {
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = ++now;
    if (gone.empty()) o.nodes = {node_record("n2")};
    for (protocol::NodeRecord& node : o.nodes) node.usable = usable;
    o.gone_nodes = std::move(gone);
    service->receive(std::move(o), Instant{now});
    service->process(Instant{now});
  };
  const auto of = [&](const std::string& name, const std::vector<std::int64_t>& figures) {
    const auto& names = service->ranks().organizations;
    return figures.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  const std::uint64_t generation = service->ranks().generation;
  note(false);
  EXPECT_GT(service->ranks().generation, generation);
  ASSERT_EQ(service->ranks().returning.size(), service->ranks().organizations.size());
  EXPECT_EQ(of("chemistry", service->ranks().lacking), 0);
  EXPECT_EQ(of("chemistry", service->ranks().returning), 4);
  EXPECT_EQ(of("physics", service->ranks().returning), 0);
  note(true);
  EXPECT_EQ(of("chemistry", service->ranks().lacking), 4);
  EXPECT_TRUE(service->ranks().returning.empty());
  note(false);
  note(false, {"n2"});
  EXPECT_EQ(of("chemistry", service->ranks().lacking), 0);
  EXPECT_TRUE(service->ranks().returning.empty());
}

TEST_F(ServiceTest, AReloadChangesOwnershipFromNowOn) {
  connect(1);
  snapshot({running({.id = 1, .node = "n2", .start = now})});
  now += 100;
  Site changed = site;
  changed.configuration.organizations[0].nodes[0].nodes = {"n1", "n2"};
  changed.configuration.organizations[1].nodes.clear();
  changed.text = "physics owns all";
  ASSERT_TRUE(service->reload(changed, Instant{now}).has_value());
  EXPECT_EQ(rows("SELECT organization, begin > 0, end IS NULL FROM ownership WHERE node = 'n2' ORDER BY begin"),
            (Lines{"chemistry|0|0", "physics|1|1"}));
  EXPECT_EQ(service->site().text, "physics owns all");
}

TEST_F(ServiceTest, StatusSaysWhichConfigurationIsInForceAndWhyALaterOneIsNot) {
  // printf 'the first' | sha256sum
  site.text = "the first";
  now += 10;
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  const auto told = [&] { return ask(R"({"request":"status"})")["daemon"]["configuration"]; };
  EXPECT_EQ(told()["hash"], "6fa2c9ea02d6b6cc4aeb86495d9a1beac7ebeba72023ebd2c1ec8564117f1c6e");
  EXPECT_EQ(told()["loaded_at"], k_begin + 10);
  EXPECT_EQ(told()["refused_at"], nullptr);
  EXPECT_EQ(told()["refusal"], nullptr);
  now += 10;
  service->note_refusal(one_line({{3, "a fault", "a remedy"}, {4, "another", "too"}}, "x.yaml"), Instant{now});
  EXPECT_EQ(told()["hash"], "6fa2c9ea02d6b6cc4aeb86495d9a1beac7ebeba72023ebd2c1ec8564117f1c6e");
  EXPECT_EQ(told()["loaded_at"], k_begin + 10);
  EXPECT_EQ(told()["refused_at"], k_begin + 20);
  EXPECT_EQ(told()["refusal"], "x.yaml:3: a fault; a remedy (and 1 more fault)");
  site.text = "the second";
  ASSERT_TRUE(service->reload(site, Instant{now}).has_value());
  EXPECT_NE(told()["hash"], "6fa2c9ea02d6b6cc4aeb86495d9a1beac7ebeba72023ebd2c1ec8564117f1c6e");
  EXPECT_EQ(told()["refusal"], nullptr) << "what was refused before is over";
}

TEST_F(ServiceTest, AReloadCannotMoveTheLedger) {
  Site changed = site;
  changed.configuration.ledger = directory / "other.db";
  ASSERT_TRUE(service->reload(changed, Instant{now}).has_value());
  EXPECT_EQ(service->site().configuration.ledger, directory / "ledger.db");
}

TEST_F(ServiceTest, AReloadSendsFeedersTheNewPolicy) {
  const std::uint64_t before = service->configuration_generation();
  EXPECT_TRUE(service->welcome(1).act);
  Site changed = site;
  changed.configuration.mode = config::Mode::observe;
  ASSERT_TRUE(service->reload(changed, Instant{now}).has_value());
  EXPECT_FALSE(service->welcome(1).act);
  EXPECT_GT(service->configuration_generation(), before);
}

TEST_F(ServiceTest, ASecondDaemonOnTheLedgerIsRefused) {
  const auto second = Service::start(site, {}, Instant{now});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::conflict);
}

TEST_F(ServiceTest, EveryDayEndsWithItsStandings) {
  connect(1);
  snapshot({running({.id = 1, .node = "n2", .start = now})});
  now += 2 * 24 * 3600;
  service->tick(Instant{now});
  EXPECT_EQ(rows("SELECT COUNT(DISTINCT day) FROM books_by_day"), Lines{"2"});
  EXPECT_EQ(rows("SELECT DISTINCT balance != '0' FROM contributions_by_day WHERE organization = 'physics' AND "
                 "estimator = 'direct_contr'"),
            Lines{"1"});
}

TEST_F(ServiceTest, AStopSavesNoCheckpointAndLosesNothing) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  service->stop(Instant{now});
  EXPECT_EQ(rows("SELECT COUNT(*) FROM checkpoints"), Lines{"0"});
  restart();
  EXPECT_EQ(service->books().replayed_at_start(), service->books().last_sequence());
  EXPECT_EQ(service->books().state().jobs_with_open_segments().size(), 1U);
}

TEST_F(ServiceTest, CheckpointsComeWithTime) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  now += 601;
  service->tick(Instant{now});
  EXPECT_TRUE(service->books().is_saving_checkpoint());
  ASSERT_TRUE(checkpoint_ends());
  EXPECT_EQ(service->books().events_since_checkpoint(), 0);
  now += 601;
  service->tick(Instant{now});
  EXPECT_FALSE(service->books().is_saving_checkpoint()) << "nothing happened since";
  restart();
  EXPECT_EQ(service->books().replayed_at_start(), 0);
  EXPECT_EQ(service->books().state().jobs_with_open_segments().size(), 1U);
}

TEST_F(ServiceTest, CheckpointsComeWithEventsSoThatAStartReplaysFew) {
  options.checkpoint_events = 50;
  restart();
  connect(1);
  snapshot({});
  for (std::uint32_t job = 1; job <= 100; ++job) {
    now += 5;
    see({ended({.id = job, .start = now - 4}, now - 1)});
    ASSERT_TRUE(checkpoint_ends());
    EXPECT_LE(service->books().events_since_checkpoint(), 50);
  }
  EXPECT_EQ(rows("SELECT COUNT(*) FROM checkpoints"), Lines{"3"});
  const std::int64_t since = service->books().events_since_checkpoint();
  restart();
  EXPECT_EQ(service->books().replayed_at_start(), since);
}

// What a start had to replay because no checkpoint was of use, the next one need not.
TEST_F(ServiceTest, AStartThatReplaysMuchSavesACheckpoint) {
  options.checkpoint_events = 50;
  connect(1);
  std::vector<protocol::JobUpdate> jobs;
  for (std::uint32_t job = 1; job <= 50; ++job) jobs.push_back(ended({.id = job, .start = now - 50}, now - 10));
  snapshot(std::move(jobs));
  const std::int64_t events = service->books().last_sequence();
  ASSERT_GT(events, 50);
  restart();
  EXPECT_EQ(service->books().replayed_at_start(), events);
  restart();
  EXPECT_EQ(service->books().replayed_at_start(), 0);
}

TEST_F(ServiceTest, AStopEndsACheckpointThatIsUnderWay) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  now += 601;
  service->tick(Instant{now});
  service->stop(Instant{now});
  restart();
  EXPECT_EQ(service->books().state().jobs_with_open_segments().size(), 1U);
  now += 601;
  see({running({.id = 2, .start = now - 50})});
  service->tick(Instant{now});
  ASSERT_TRUE(checkpoint_ends());
  EXPECT_EQ(service->books().events_since_checkpoint(), 0);
}

TEST_F(ServiceTest, ABacklogThatCannotBeCommittedIsBounded) {
  connect(1);
  {
    const FullDisk full;
    for (std::uint32_t i = 0; service->accepting(); ++i) {
      ASSERT_LT(i, 1000U);
      now += 1;
      see({running({.id = 1, .start = k_begin}), ended({.id = 2, .start = k_begin}, k_begin + i)});
    }
  }
  now += 1;
  service->tick(Instant{now});
  EXPECT_TRUE(service->accepting());
}

TEST_F(ServiceTest, StatusAddsDaemonAndPluginToTheReport) {
  json status = ask(R"({"request":"status"})");
  EXPECT_EQ(status["plugin"]["connected"], false);
  connect(1);
  snapshot({running({.id = 1, .node = "n2", .start = now})});
  now += 7;
  status = ask(R"({"request":"status"})");
  EXPECT_EQ(status["plugin"]["connected"], true);
  EXPECT_EQ(status["plugin"]["slurm_version"], "22.05.8");
  EXPECT_EQ(status["plugin"]["age_s"], 7);
  EXPECT_EQ(status["daemon"]["ledger"], (directory / "ledger.db").string());
  EXPECT_EQ(status["daemon"]["events"], service->books().last_sequence());
  EXPECT_TRUE(status.contains("organizations"));
  EXPECT_TRUE(ask(R"({"request":"status","contribution":"hindsight"})").contains("organizations"));
  EXPECT_FALSE(status.contains("worth"));
  EXPECT_FALSE(ask(R"({"request":"status","worth":"much"})").contains("worth"));
  EXPECT_TRUE(ask(R"({"request":"status","worth":true})")["worth"].contains("organizations"));
}

TEST_F(ServiceTest, JobsComeFromTheLedger) {
  connect(1);
  snapshot({running({.id = 1, .node = "n2", .start = now}), waiting({.id = 2, .start = now})});
  const json all = ask(R"({"request":"jobs"})");
  ASSERT_TRUE(all.contains("jobs")) << all.dump();
  EXPECT_EQ(all["jobs"].size(), 2U);
}

TEST_F(ServiceTest, WhatCannotBeAnsweredIsAnError) {
  for (const char* request :
       {"", "{", "[]", "{}", R"({"request":1})", R"({"request":"nonsense"})",
        R"({"request":"status","contribution":"luck"})", R"({"request":"jobs","organizations":7})"}) {
    const json reply = ask(request);
    ASSERT_TRUE(reply.contains("error")) << request << " -> " << reply.dump();
    EXPECT_FALSE(reply["error"]["what"].get<std::string>().empty());
  }
  EXPECT_TRUE(ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServiceTest, TellsWhoHasStartableJobsAndHasHadNoStart) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50}), waiting({.id = 2, .start = now - 70}),
            waiting({.id = 3, .account = "chem", .start = now - 20})});
  const json expected = json::array(
      {{{"organization", "physics"}, {"since", now - 50}}, {{"organization", "chemistry"}, {"since", now - 20}}});
  EXPECT_EQ(ask(R"({"request":"jobs"})")["no_start"], expected);
  EXPECT_EQ(ask(R"({"request":"jobs","organizations":["chemistry"]})")["no_start"], json::array({expected[1]}));
  const json status = ask(R"({"request":"status"})");
  for (const json& row : status["organizations"]) {
    const json since = row["name"] == "physics" ? json(now - 50) : row["name"] == "chemistry" ? json(now - 20) : json();
    EXPECT_EQ(row["no_start_since"], since) << row["name"];
  }
}

}  // namespace
}  // namespace shapley::daemon
