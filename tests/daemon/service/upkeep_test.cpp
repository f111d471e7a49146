// What status says of the daemon's own work: commits, files, backlog; backups and audits that it was told of.
#include <filesystem>
#include <fstream>

#include "ledger/chain/hash_chain.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "tests/daemon/service/service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

class UpkeepTest : public ServiceTest {
 protected:
  json told(const json& request, Asker asker = Asker::administrator) {
    return json::parse(std::get<std::string>(answer(*service, request.dump(), Instant{now}, asker)));
  }
  [[nodiscard]] json about_head(const char* done) const {
    const auto head = ledger::head_of(service->books().ledger()).value();
    return {{"request", "upkeep"}, {"done", done}, {"sequence", head.sequence}, {"hash", ledger::to_hex(head.hash)}};
  }
  json daemon() { return ask(R"({"request":"status"})")["daemon"]; }
};

TEST_F(UpkeepTest, BackupsAndAuditsAreKeptAcrossRestarts) {
  EXPECT_EQ(daemon()["backup"], nullptr);
  EXPECT_EQ(daemon()["audit"], nullptr);
  const json backup = told(about_head("backup"));
  EXPECT_EQ(backup["backup"]["at"], now) << backup;
  const std::int64_t newest = service->books().last_sequence();
  now += 100;
  json request = about_head("audit");
  request["clean"] = true;
  EXPECT_FALSE(told(request).contains("error"));
  restart();
  EXPECT_EQ(daemon()["backup"], json({{"at", now - 100}, {"sequence", newest}}));
  EXPECT_EQ(daemon()["audit"], json({{"at", now}, {"sequence", newest}, {"clean", true}}));
  request["clean"] = false;
  told(request);
  EXPECT_EQ(daemon()["audit"]["clean"], false);
}

TEST_F(UpkeepTest, OfAnotherLedgerAreNotBelieved) {
  json other = about_head("backup");
  other["hash"] = std::string(64, '0');
  EXPECT_EQ(told(other)["error"]["code"], "conflict");
  other = about_head("backup");
  other["sequence"] = 1'000'000;
  EXPECT_EQ(told(other)["error"]["code"], "conflict");
  for (const char* faulty :
       {R"({"request":"upkeep"})", R"({"request":"upkeep","done":"cleaning","sequence":1,"hash":"00"})",
        R"({"request":"upkeep","done":"backup","sequence":"1","hash":7})"})
    EXPECT_EQ(told(json::parse(faulty))["error"]["code"], "invalid_argument") << faulty;
  EXPECT_EQ(told(about_head("backup"), Asker::anybody)["error"]["code"], "denied");
  EXPECT_EQ(daemon()["backup"], nullptr);
}

TEST_F(UpkeepTest, ADamagedFileIsNoBackup) {
  told(about_head("backup"));
  std::ofstream(upkeep_file_of(site.configuration.ledger)) << "backup soon\nnonsense\naudit 5 6 1\n";
  restart();
  EXPECT_EQ(daemon()["backup"], nullptr);
  EXPECT_EQ(daemon()["audit"]["sequence"], 6);
}

TEST_F(UpkeepTest, StatusTellsOfCommitsAndFiles) {
  connect(1);
  const auto before = daemon()["commits"]["count"].get<std::int64_t>();
  snapshot({running({.id = 1, .node = "n2", .start = now})});
  const json status = daemon();
  EXPECT_GT(status["commits"]["count"], before);
  EXPECT_GT(status["commits"]["seconds"], 0.0);
  std::int64_t in_buckets = 0;
  for (const json& bucket : status["commits"]["buckets"]) in_buckets += bucket[1].get<std::int64_t>();
  EXPECT_LE(in_buckets, status["commits"]["count"].get<std::int64_t>());
  EXPECT_EQ(status["storage"]["ledger_bytes"], std::filesystem::file_size(site.configuration.ledger));
  EXPECT_GT(status["storage"]["free_bytes"], 0);
  EXPECT_EQ(status["failures"], json::object());
  EXPECT_EQ(status["ranks_computed_at"], now);
  EXPECT_EQ(status["now"], now);
}

TEST(CommitTimesTest, FallIntoTheBucketOfTheirBound) {
  CommitTimes times;
  for (const double seconds : {0.0005, 0.001, 0.0011, 10.0, 11.0}) times.note(std::chrono::duration<double>(seconds));
  EXPECT_EQ(times.counts().front(), 2U);
  EXPECT_EQ(times.counts()[1], 1U);
  EXPECT_EQ(times.counts().back(), 1U);
  EXPECT_EQ(times.count(), 5U);
  EXPECT_DOUBLE_EQ(times.last_seconds(), 11.0);
}

TEST(BacklogTest, IsWhatTheFeederHadAndWhatCameSince) {
  Service::Feeder feeder;
  EXPECT_EQ(feeder.backlog(0), 0U);
  // What it says at the Hello, before anything came.
  feeder.hello.backlog = 5;
  EXPECT_EQ(feeder.backlog(100), 5U);
  // 101 to 105 are on their way.
  feeder.first_received = 101;
  feeder.last_received = 102;
  EXPECT_EQ(feeder.backlog(100), 5U);
  EXPECT_EQ(feeder.backlog(103), 2U);
  // A daemon that was restarted knows of no acknowledgement before.
  EXPECT_EQ(feeder.backlog(0), 5U);
  feeder.last_received = 110;
  EXPECT_EQ(feeder.backlog(105), 5U);
  EXPECT_EQ(feeder.backlog(110), 0U);
}

TEST_F(UpkeepTest, TheBacklogIsToldOfThePlugin) {
  protocol::Hello hello = feeder_hello(7);
  hello.backlog = 3;
  hello.dropped_backlogs = 2;
  service->begin_session(hello, Instant{now});
  json plugin = ask(R"({"request":"status"})")["plugin"];
  EXPECT_EQ(plugin["backlog"], 3);
  EXPECT_EQ(plugin["dropped_backlogs"], 2);
  snapshot({});
  plugin = ask(R"({"request":"status"})")["plugin"];
  EXPECT_EQ(plugin["backlog"], 0);
}

}  // namespace
}  // namespace shapley::daemon
