#include "exporter/metrics.hpp"

#include <atomic>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "exporter/collector.hpp"
#include "exporter/users.hpp"
#include "tests/ctl/fake_daemon.hpp"
#include "tests/exporter/status.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::exporter {
namespace {

using nlohmann::json;

std::string text_of(const Status& status) {
  return prometheus::TextSerializer().Serialize(families_of(status));
}
std::string text_of(const json& status) {
  return text_of(read_status(status).value());
}

bool has(const std::string& text, const std::string& line) {
  return ('\n' + text).find('\n' + line + '\n') != std::string::npos;
}

TEST(Metrics, TellOrganizationsInBaseUnits) {
  const std::string text = text_of(full_status());
  for (const char* line : {
           R"(shapley_organization_standing_core_seconds{organization="physics"} 45000)",
           R"(shapley_organization_psi_core_seconds_squared{organization="physics"} 1234567890.25)",
           R"(shapley_organization_phi_core_seconds_squared{organization="physics",estimator="direct_contr"} 3.5)",
           R"(shapley_organization_phi_core_seconds_squared{organization="physics",estimator="hindsight"} 4)",
           R"(shapley_estimator_behind{estimator="direct_contr"} 0)",
           R"(shapley_estimator_behind{estimator="hindsight"} 1)",
           "shapley_hindsight_coalitions 1",
           "shapley_hindsight_memory_bytes 900",
           "shapley_hindsight_memory_bound_bytes 1000",
           R"(shapley_organization_got_core_seconds{organization="physics"} 1800)",
           R"(shapley_organization_lent_processors{organization="physics"} 32.5)",
           R"(shapley_organization_owned_processors{organization="commons"} 4)",
           // They add up to the 64 that it owns, and those that are down.
           R"(shapley_organization_processors{organization="physics",state="own"} 0)",
           R"(shapley_organization_processors{organization="physics",state="lent"} 32.5)",
           R"(shapley_organization_processors{organization="physics",state="idle_wanted"} 8)",
           R"(shapley_organization_processors{organization="physics",state="idle_not_wanted"} 23.5)",
           R"(shapley_organization_processors{organization="physics",state="down"} 16)",
           R"(shapley_organization_processors{organization="commons",state="idle_not_wanted"} 4)",
           R"(shapley_organization_waiting_jobs{organization="physics"} 2)",
           R"(shapley_organization_rank{organization="physics"} 1)",
           R"(shapley_organization_no_start_since_timestamp_seconds{organization="physics"} 1795240000)",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
  // Commons has no rank, and no job that could start.
  EXPECT_EQ(text.find(R"(rank{organization="commons"})"), std::string::npos);
  EXPECT_EQ(text.find(R"(no_start_since_timestamp_seconds{organization="commons"})"), std::string::npos);
}

TEST(Metrics, TellWhatCooperationIsWorth) {
  Status status = whole_status();
  const std::string text = text_of(status);
  for (const char* line : {
           R"(shapley_organization_alone_psi_core_seconds_squared{organization="physics"} 987654321.5)",
           R"(shapley_organization_alone_core_seconds{organization="physics"} 1700)",
           R"(shapley_organization_cooperation_gain_core_seconds{organization="physics"} 1800)",
           R"(shapley_organization_alone_provisional{organization="physics"} 1)",
           "shapley_cooperation_gain_core_seconds 900",
           "shapley_leaving_gain_core_seconds -450",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
  // The worth is unknown, or there is no organization that could leave.
  (*status.report.worth)->leaving.reset();
  EXPECT_EQ(text_of(status).find("shapley_leaving"), std::string::npos);
  status.report.worth->reset();
  EXPECT_EQ(text_of(status).find("alone"), std::string::npos);
}

TEST(Metrics, TellWhatRanksCountOfOtherClusters) {
  Status status = whole_status();
  const std::string text = text_of(status);
  for (const char* line : {
           R"(shapley_organization_owed_elsewhere_core_seconds{organization="physics",cluster="south"} -145800)",
           R"(shapley_other_cluster_statement_age_seconds{cluster="south"} 120)",
           R"(shapley_other_cluster_stands_still{cluster="south"} 0)",
           R"(shapley_other_cluster_stands_still{cluster="west"} 1)",
           R"(shapley_other_cluster_refused_statements_total{cluster="south"} 3)",
           R"(shapley_other_cluster_refused_statements_total{cluster="west"} 0)",
           R"(shapley_other_cluster_clock_ahead_seconds{cluster="south"} 2)",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
  for (const char* absent : {R"(age_seconds{cluster="west"})", R"(ahead_seconds{cluster="west"})", R"("elsewhere")"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  status.report.clusters[0].is_stale = true;
  EXPECT_TRUE(has(text_of(status), R"(shapley_other_cluster_stands_still{cluster="south"} 1)"));
  // --top bounds these time series, too.
  keep_top(status, 1);
  EXPECT_NE(text_of(status).find("owed_elsewhere"), std::string::npos);
  status.report.organizations[0].is.name = "another";
  EXPECT_EQ(text_of(status).find("owed_elsewhere"), std::string::npos);
  status.report.clusters.clear();
  EXPECT_EQ(text_of(status).find("other_cluster"), std::string::npos) << "it is in no consortium";
}

TEST(Metrics, TellDaemonLedgerAndPlugin) {
  const std::string text = text_of(full_status());
  for (const char* line : {
           "shapley_ranks_computed_timestamp_seconds 1795244399",
           "shapley_lost_runs_total 3",
           "shapley_held_observations 5",
           "shapley_clock_ahead_seconds -70",
           "shapley_observation_gaps_total 6",
           "shapley_observation_gaps_seconds_total 70",
           "shapley_observation_unobserved_seconds_total 50",
           "shapley_observation_gap_end_timestamp_seconds 1795230060",
           "shapley_state_losses_total 2",
           R"(shapley_state_lost_runs_total{outcome="closed"} 3)",
           R"(shapley_state_lost_core_seconds_total{outcome="closed"} 7200)",
           R"(shapley_state_lost_runs_total{outcome="retracted"} 1)",
           "shapley_state_loss_timestamp_seconds 1795230070",
           "shapley_ledger_size_bytes 4096",
           "shapley_ledger_log_size_bytes 8192",
           "shapley_ledger_filesystem_free_bytes 1000000",
           "shapley_last_backup_timestamp_seconds 1795240001",
           R"(shapley_configuration_info{hash="00ff"} 1)",
           "shapley_configuration_refused_timestamp_seconds 1795240003",
           "shapley_plugin_connected 1",
           "shapley_plugin_backlog_messages 9",
           "shapley_plugin_dropped_backlogs_total 1",
           R"(shapley_controller_info{role="active",state="writes"} 1)",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
}

TEST(Metrics, TellCommitsAsACumulativeHistogram) {
  const std::string text = text_of(full_status());
  for (const char* line :
       {R"(shapley_commit_duration_seconds_bucket{le="0.1"} 6)", R"(shapley_commit_duration_seconds_bucket{le="1"} 9)",
        R"(shapley_commit_duration_seconds_bucket{le="+Inf"} 10)", "shapley_commit_duration_seconds_sum 1.5",
        "shapley_commit_duration_seconds_count 10"}) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
}

TEST(Metrics, OfWhatIsUnknownAreAbsent) {
  json status = full_status();
  status["daemon"]["backup"] = nullptr;
  status["daemon"]["clock"] = nullptr;
  status["daemon"]["failures"] = json::object();
  status["daemon"]["configuration"]["refused_at"] = nullptr;
  status["daemon"]["gaps"]["last_end"] = nullptr;
  status["daemon"]["controller"] = nullptr;
  status["plugin"] = json_of(protocol::PluginReport{});
  const std::string text = text_of(status);
  for (const char* absent : {"last_backup", "refused_timestamp", "gap_end", "controller", "backlog"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  EXPECT_TRUE(has(text, "shapley_plugin_connected 0"));
}

TEST(Metrics, OfAnotherReleasesStatusAreNotMade) {
  json status = full_status();
  status["daemon"]["configuration"] = "/etc/shapley/shapleyd.yaml";
  EXPECT_EQ(read_status(status).error().what,
            "shapleyd answers otherwise than this shapley-exporter reads: it is not an object");
  status = full_status();
  status["plugin"].erase("connected");
  EXPECT_EQ(read_status(status).error().what,
            "shapleyd answers otherwise than this shapley-exporter reads: connected is missing");
  for (const char* nonsense : {"{}", "[]", "7", "null", R"({"organizations": 7, "daemon": [], "plugin": "x"})"})
    EXPECT_FALSE(read_status(json::parse(nonsense))) << nonsense;
  status = full_status();
  status["organizations"][1].erase("owned");
  EXPECT_EQ(read_status(status).error().what,
            "shapleyd answers otherwise than this shapley-exporter reads: owned is missing");
}

TEST(Metrics, HaveASampleEachFromAFullStatus) {
  std::map<std::string, int> samples;
  for (const auto& family : families_of(whole_status())) samples[family.name] = static_cast<int>(family.metric.size());
  for (const Metric& metric : status_metrics()) EXPECT_GT(samples[std::string(metric.name)], 0) << metric.name;
}

TEST(Metrics, HaveTheLabelsThatTheTableNames) {
  std::map<std::string, std::string> labels;
  for (const auto& family : families_of(whole_status())) {
    std::string& names = labels[family.name];
    for (const auto& label : family.metric.front().label) names += (names.empty() ? "" : ", ") + label.name;
  }
  for (const Metric& metric : status_metrics())
    EXPECT_EQ(labels[std::string(metric.name)], metric.labels) << metric.name;
}

// A thousand organizations would be some twenty thousand time series.
TEST(Metrics, OfTheTopAreThoseWhoOwnMost) {
  Status status = whole_status();
  const ledger::OrganizationRow row = status.report.organizations[0];
  for (int i = 0; i < 1000; ++i) {
    ledger::OrganizationRow other = row;
    other.is.name = "o" + std::to_string(i);
    other.is.owned = ProcessorMillionths{(i < 900 ? 10 : 70 + i) * k_micro};
    status.report.organizations.push_back(other);
    (*status.report.worth)->organizations.push_back({.name = other.is.name, .is = {.provisional = true}});
  }
  status.organizations = status.report.organizations.size();
  Status some = status;
  keep_top(some, 3);
  const std::string text = text_of(some);
  EXPECT_TRUE(has(text, "shapley_organizations 1002"));
  for (const char* name : {"o999", "o998", "o997"}) {
    EXPECT_TRUE(has(text, "shapley_organization_rank{organization=\"" + std::string(name) + "\"} 1")) << name;
    EXPECT_TRUE(has(text, "shapley_organization_alone_provisional{organization=\"" + std::string(name) + "\"} 1"));
  }
  for (const char* name : {"o996", "o0", "physics"}) {
    EXPECT_EQ(text.find("organization=\"" + std::string(name) + '"'), std::string::npos) << name;
  }
  for (const std::size_t all : {0U, 1002U}) {
    Status same = status;
    keep_top(same, all);
    EXPECT_EQ(json_of(same.report), json_of(status.report));
  }
}

// Of those who own as much the first by name is kept.
TEST(Metrics, OfEqualsTheFirstByNameIsKept) {
  Status status = whole_status();
  for (ledger::OrganizationRow& row : status.report.organizations) row.is.owned = ProcessorMillionths{k_micro};
  keep_top(status, 1);
  EXPECT_EQ(status.report.organizations.at(0).is.name, "commons");
}

ledger::UserRow user(const std::string& account, std::uint32_t id, const std::string& name, std::int64_t got) {
  return {.account = account, .user_id = id, .got = {CpuTime{Int128{got} * k_micro}}, .user = name};
}

ledger::AccountReport statement() {
  ledger::UserRow hidden = user("", 0, "(others)", 9999);
  hidden.account.reset();
  hidden.user_id.reset();
  ledger::UserRow fraction = user("lab", 1, "ada", 20);
  fraction.got.work.value += k_micro / 2;
  ledger::AccountReport report;
  report.of = {.since = Instant{1795200000}, .until = Instant{1795244000}};
  report.organizations = {
      {.name = "physics", .users = {user("theory", 1, "ada", 30), fraction, user("lab", 2, "bob", 0), hidden}},
      {.name = "bio", .users = {user("bio", 3, "a\"\\\nb", 40), user("bio", 4, "eve", 20)}}};
  report.organizations[1].users[1].got = fraction.got;
  return report;
}

TEST(Users, ThoseThatGotTheMostAreChosenAndTheRestIsCounted) {
  Status status = whole_status();
  status.users = chosen_users(statement(), 3);
  status.report.organizations.emplace_back().is.name = "bio";
  const std::string text = text_of(status);
  // Of equals the first by organization; label values are escaped.
  for (const char* line : {
           R"(shapley_user_got_core_seconds{organization="bio",account="bio",user="a\"\\\nb"} 40)",
           R"(shapley_user_got_core_seconds{organization="physics",account="theory",user="ada"} 30)",
           R"(shapley_user_got_core_seconds{organization="bio",account="bio",user="eve"} 20.5)",
           "shapley_users 4",
           "shapley_users_left_out 1",
           "shapley_users_timestamp_seconds 1795244000",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
  // Who got nothing and who is hidden are in no time series.
  for (const char* absent : {"bob", "(others)", "\"lab\""}) EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  EXPECT_EQ(chosen_users(statement(), 4).left_out, 0U);
  EXPECT_EQ(chosen_users({}, 4).count, 0U);
}

// Prometheus refuses a page with the same time series twice.
TEST(Users, OfOneNameAreOneTimeSeries) {
  ledger::AccountReport twice = statement();
  twice.organizations[1].users.push_back(user("bio", 5, "eve", 2));
  const ChosenUsers chosen = chosen_users(twice, 9);
  EXPECT_EQ(chosen.count, 4U);
  EXPECT_EQ(chosen.rows.at(2), (ChosenUsers::Row{.organization = "bio", .account = "bio", .user = "eve", .got = 22.5}));
}

using ctl::FakeDaemon;
using ctl::Reaction;

double value_of(const std::vector<prometheus::MetricFamily>& families, const std::string& name) {
  for (const auto& family : families)
    if (family.name == name) return family.metric.front().gauge.value;
  return -1;
}

class Collecting : public testing::Test {
 protected:
  [[nodiscard]] Collector collector(std::chrono::milliseconds timeout) {
    return {rpc_client::Endpoint{.socket = directory / "s", .timeout = timeout, .program = "tester"}, 0, {}, log};
  }
  // Of a daemon that is away, only the exporter's own metrics are shown.
  void expect_away(const std::vector<prometheus::MetricFamily>& families) {
    EXPECT_EQ(value_of(families, "shapley_up"), 0);
    EXPECT_EQ(families.size(), own_metrics().size());
  }

  TempDirectory directory;
  std::ostringstream log;
};

TEST_F(Collecting, AsksAgainAtEachScrape) {
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            EXPECT_EQ(request, json({{"request", "status"}, {"worth", true}}));
                            json status = full_status();
                            status["daemon"]["rebuilds"] = 0;
                            status["daemon"]["stale_after_s"] = ++asked;
                            return status;
                          }));
  const Collector scraped = collector(test::k_timeout);
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_ranks_stale_after_seconds"), 1);
  const auto again = scraped.Collect();
  EXPECT_EQ(value_of(again, "shapley_ranks_stale_after_seconds"), 2);
  EXPECT_EQ(value_of(again, "shapley_up"), 1);
}

TEST_F(Collecting, OfADaemonThatIsAwayShowsOnlyThatAndLogsItOnce) {
  const Collector scraped = collector(test::k_timeout);
  expect_away(scraped.Collect());
  expect_away(scraped.Collect());
  EXPECT_EQ(log.str(), "shapley-exporter: cannot reach shapleyd at " + (directory / "s").string() +
                           ": No such file or directory; is it running (systemctl status shapleyd)?\n");
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) { return full_status(); }));
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_up"), 1);
  EXPECT_NE(log.str().find("shapleyd answers again\n"), std::string::npos);
}

TEST_F(Collecting, OfADaemonThatIsSilentWaitsABoundedTime) {
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{}; });
  expect_away(collector(std::chrono::milliseconds(50)).Collect());
}

TEST_F(Collecting, OfADaemonThatStillStartsShowsThatItIsNotUp) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) {
                            return json{{"error", {{"code", "unavailable"}, {"what", "rebuilding, 37 %"}}}};
                          }));
  expect_away(collector(test::k_timeout).Collect());
}

TEST_F(Collecting, UsersAreServedOnlyWhilePrivateDataHidesNothing) {
  std::atomic<int> statements = 0;
  json privacy{{"jobs", false}, {"usage", false}, {"told_at", nullptr}};
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            if (request["request"] == "statement") {
                              EXPECT_EQ(request["since"], 1795200000);
                              ++statements;
                              return json_of(statement());
                            }
                            json status = full_status();
                            status["period"] = json_of(ledger::PeriodReport{.begin = Instant{1795200000}});
                            status["daemon"]["privacy"] = privacy;
                            return status;
                          }));
  const rpc_client::Endpoint endpoint{.socket = directory / "s", .timeout = test::k_timeout, .program = "tester"};
  UserFigures users(endpoint, 2);
  const Collector scraped(endpoint, 0, {}, log, &users);
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_users"), -1) << "nothing was asked yet";
  users.ask();
  EXPECT_EQ(value_of(scraped.Collect(), "shapley_users_left_out"), 2);
  EXPECT_EQ(log.str(), "shapley-exporter: users are exported\n");
  // What was asked before counts no more from the scrape on that shows it to be private.
  for (const char* hidden : {"jobs", "usage"}) {
    for (const json& value : {json(true), json(nullptr)}) {
      privacy = {{"jobs", false}, {"usage", false}, {"told_at", nullptr}};
      privacy[hidden] = value;
      const auto families = scraped.Collect();
      EXPECT_EQ(value_of(families, "shapley_up"), 1);
      EXPECT_EQ(value_of(families, "shapley_user_got_core_seconds"), -1) << privacy;
      users.ask();
    }
  }
  EXPECT_EQ(statements, 1);
  EXPECT_NE(log.str().find("no user is exported: PrivateData"), std::string::npos);
}

TEST_F(Collecting, UsersAreAskedForInAThreadThatEndsAtOnce) {
  std::atomic<int> asked = 0;
  // It never answers.
  const FakeDaemon daemon(directory / "s", [&](const protocol::Message&) {
    ++asked;
    return Reaction{};
  });
  UserFigures users({.socket = directory / "s", .timeout = std::chrono::hours(1), .program = "tester"}, 2);
  users.ask_every(std::chrono::seconds(3600));
  EXPECT_TRUE(test::eventually([&] { return asked > 0; }));
}

}  // namespace
}  // namespace shapley::exporter
