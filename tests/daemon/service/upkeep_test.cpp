// What status says of the daemon's own work: commits, files, backlog; backups and audits that were reported to it.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "ledger/chain/hash_chain.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "service_fixture.hpp"
#include "tests/daemon/service/service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

class UpkeepTest : public ServiceTest {
 protected:
  json told(const json& request, Asker asker = Asker::administrator) {
    return json::parse(std::get<std::string>(answer(*service, parse_request(request.dump()), Instant{now}, asker)));
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

TEST_F(UpkeepTest, PapersAreOfTheLastMonthThatHasSome) {
  EXPECT_EQ(daemon()["papers"], nullptr);
  const std::int64_t month = period_begin(Period::monthly, Instant{now}).value;
  const std::int64_t month_before = period_begin(Period::monthly, Instant{month - 1}).value;
  json request = about_head("papers");
  for (const json& until :
       {json(nullptr), json(0), json(month + 1), json(period_end(Period::monthly, Instant{now}).value)}) {
    request["until"] = until;
    if (until.is_null()) request.erase("until");
    EXPECT_EQ(told(request)["error"]["code"], "invalid_argument") << request;
  }
  EXPECT_EQ(daemon()["papers"], nullptr);
  request["until"] = month;
  const json said = told(request);
  const json papers{{"at", now}, {"sequence", request["sequence"]}, {"until", month}};
  EXPECT_EQ(said["papers"], papers) << said;
  EXPECT_EQ(said["audit"], nullptr);
  restart();
  now += 100;
  request = about_head("papers");
  request["until"] = month_before;
  EXPECT_FALSE(told(request).contains("error"));
  EXPECT_EQ(daemon()["papers"], papers) << "those of an earlier month are no news";
}

TEST_F(UpkeepTest, PapersOfACopyThatEndsBeforeTheMonthAreRefused) {
  json of_copy = about_head("papers");
  connect(1);
  snapshot({});
  json of_all = about_head("papers");
  ASSERT_NE(of_all["sequence"], of_copy["sequence"]);
  const std::int64_t month = period_end(Period::monthly, Instant{now}).value;
  now = month + 100;
  of_copy["until"] = of_all["until"] = month;
  EXPECT_EQ(told(of_copy)["error"]["code"], "conflict");
  EXPECT_EQ(daemon()["papers"], nullptr);
  EXPECT_FALSE(told(of_all).contains("error"));
  EXPECT_NE(daemon()["papers"], nullptr);
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
  for (const char* damaged :
       {R"({"backup":{"at":"soon","sequence":6},"audit":null})", R"({"backup":null})", "nonsense"}) {
    std::ofstream(SideFile<Upkeep>::path_of(site.configuration.ledger)) << damaged;
    restart();
    EXPECT_EQ(daemon()["backup"], nullptr) << damaged;
  }
}

TEST_F(UpkeepTest, StatusShowsCommitsAndFiles) {
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

TEST(CommitTimesTest, CountSlowOnesInARow) {
  CommitTimes times;
  const auto after = [&](double seconds) {
    times.note(std::chrono::duration<double>(seconds));
    return times.slow_in_a_row();
  };
  EXPECT_EQ(times.slow_in_a_row(), 0U);
  EXPECT_EQ(after(1.0), 0U);
  EXPECT_EQ(after(1.5), 1U);
  EXPECT_EQ(after(11.0), 2U);
  EXPECT_EQ(after(0.5), 0U);
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

TEST_F(UpkeepTest, TheBacklogIsThatOfThePlugin) {
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

// The small files beside the ledger: what they hold, and that one that could not be written is tried again every
// second.

namespace fs = std::filesystem;

class SideFilesTest : public ServiceTest {
 protected:
  void SetUp() override {
    options.boot = "boot";
    options.read_clock = [this] { return ClockReading{.wall = Instant{now}, .since_boot = {now - k_begin + 1'000}}; };
    // No file can take the name of a directory.
    for (const fs::path& file : files()) fs::create_directory(file);
    restart();
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    const fs::path& ledger = site.configuration.ledger;
    return {SideFile<KeptClock>::path_of(ledger), SideFile<KeptFeeder>::path_of(ledger),
            SideFile<KeptLook>::path_of(ledger), SideFile<KeptPrivacy>::path_of(ledger),
            SideFile<Upkeep>::path_of(ledger)};
  }
  // The names of those that are there.
  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const fs::path& file : files()) {
      if (fs::is_regular_file(file)) names.push_back(file.extension().string());
    }
    return names;
  }
};

TEST_F(SideFilesTest, AreTriedAgainEverySecond) {
  protocol::Hello hello = feeder_hello(1);
  hello.state_location_id = "2049:131";
  ASSERT_TRUE(service->cluster().admit(hello, false, Instant{now}));
  connect(1);
  snapshot({});
  EXPECT_FALSE(
      service->note_upkeep({.backup = Upkeep::Backup{.at = Instant{now}, .sequence = 1}, .audit = {}}).has_value());
  now += 61;
  see({});
  service->tick(service->now());
  EXPECT_EQ(written(), std::vector<std::string>{});
  EXPECT_EQ(service->failures().size(), 5U);
  for (const fs::path& file : files()) fs::remove(file);
  service->tick(service->now());
  EXPECT_EQ(written(), (std::vector<std::string>{".clock", ".feeder", ".look", ".privacy", ".upkeep"}));
  EXPECT_EQ(service->failures().size(), 0U);
}

TEST_F(SideFilesTest, AClockOfAnotherBootMeansNothing) {
  for (const fs::path& file : files()) fs::remove(file);
  for (const auto& [boot, is_believed] : {std::pair{"boot", true}, std::pair{"another", false}}) {
    SideFile<KeptClock> kept(site.configuration.ledger);
    kept.set({.boot = boot,
              .offset = Duration{k_begin - 1'000 - 3'600},
              .doubt = TrustedClock::Doubt{.since = Instant{now - 60}, .ahead = Duration{3'600}}});
    ASSERT_TRUE(kept.write().has_value());
    restart();
    EXPECT_EQ(service->clock()->doubt().has_value(), is_believed) << boot;
  }
}

TEST(SideFile, HoldsItsValueWholeAndForItsOwner) {
  const TempDirectory directory;
  const fs::path ledger = directory / "ledger.db";
  SideFile<KeptClock> file(ledger);
  EXPECT_EQ(file.path(), directory / "ledger.db.clock");
  EXPECT_FALSE(file.value());
  EXPECT_TRUE(file.write().has_value()) << "there is nothing to write";
  EXPECT_FALSE(fs::exists(file.path()));
  const TrustedClock::Doubt doubt{
      .since = Instant{1'700'000'000}, .ahead = Duration{-3600}, .is_exact = true, .is_witnessed = false};
  file.set({.boot = "a", .offset = Duration{-17}, .doubt = doubt});
  ASSERT_TRUE(file.write().has_value());
  EXPECT_EQ(fs::status(file.path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1)
      << "something is left";
  auto read = SideFile<KeptClock>(ledger).value();
  ASSERT_TRUE(read && read->doubt);
  EXPECT_EQ(read->boot, "a");
  EXPECT_EQ(read->offset, Duration{-17});
  EXPECT_EQ(read->doubt->since, doubt.since);
  EXPECT_EQ(read->doubt->ahead, doubt.ahead);
  EXPECT_FALSE(read->doubt->is_witnessed);
  file.set({.boot = "b", .offset = Duration{5}, .doubt = std::nullopt});
  ASSERT_TRUE(file.write().has_value());
  read = SideFile<KeptClock>(ledger).value();
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->doubt);
  fs::resize_file(file.path(), 3);
  EXPECT_FALSE(SideFile<KeptClock>(ledger).value());
  SideFile<KeptClock> nowhere(directory / "absent" / "ledger.db");
  nowhere.set({.boot = "a", .offset = {}, .doubt = {}});
  EXPECT_FALSE(nowhere.write().has_value());
}

}  // namespace
}  // namespace shapley::daemon
