#include "exporter/metrics.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "tests/exporter/status.hpp"

namespace shapley::exporter {
namespace {

using nlohmann::json;

std::string text_of(const json& status) {
  return prometheus::TextSerializer().Serialize(families_of(status));
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
           R"(shapley_organization_phi_core_seconds_squared{organization="physics",estimator="shapley_rate"} 4)",
           R"(shapley_estimator_behind{estimator="direct_contr"} 0)",
           R"(shapley_estimator_behind{estimator="hindsight"} 1)",
           "shapley_hindsight_coalitions 1",
           "shapley_hindsight_memory_bytes 900",
           "shapley_hindsight_memory_bound_bytes 1000",
           R"(shapley_organization_got_core_seconds{organization="physics"} 1800)",
           R"(shapley_organization_lent_processors{organization="physics"} 32.5)",
           R"(shapley_organization_owned_processors{organization="commons"} 4)",
           R"(shapley_organization_waiting_jobs{organization="physics"} 2)",
           R"(shapley_organization_rank{organization="physics"} 1)",
           R"(shapley_organization_no_start_since_timestamp_seconds{organization="physics"} 1795240000)",
       }) {
    EXPECT_TRUE(has(text, line)) << line << '\n' << text;
  }
  // Commons has no rank, and nobody who could start.
  EXPECT_EQ(text.find(R"(rank{organization="commons"})"), std::string::npos);
  EXPECT_EQ(text.find(R"(no_start_since_timestamp_seconds{organization="commons"})"), std::string::npos);
}

TEST(Metrics, TellWhatCooperationIsWorth) {
  json status = full_status();
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
  // Nobody can say, or there is nobody who could leave.
  status["worth"]["leaving"] = nullptr;
  EXPECT_EQ(text_of(status).find("shapley_leaving"), std::string::npos);
  status["worth"] = nullptr;
  EXPECT_EQ(text_of(status).find("alone"), std::string::npos);
}

TEST(Metrics, TellDaemonLedgerAndPlugin) {
  const std::string text = text_of(full_status());
  for (const char* line : {
           "shapley_conservation_holds 1",
           "shapley_ranks_computed_timestamp_seconds 1795244399",
           R"(shapley_operation_failing{operation="commit"} 1)",
           "shapley_lost_runs_total 3",
           "shapley_held_observations 5",
           "shapley_clock_in_doubt 1",
           "shapley_clock_ahead_seconds -70",
           "shapley_rebuilding 0",
           "shapley_observation_gaps_total 6",
           "shapley_observation_gaps_seconds_total 70",
           "shapley_observation_unobserved_seconds_total 50",
           "shapley_observation_gap_end_timestamp_seconds 1795230060",
           "shapley_state_losses_total 2",
           R"(shapley_state_lost_runs_total{outcome="closed"} 3)",
           R"(shapley_state_lost_core_seconds_total{outcome="closed"} 7200.5)",
           R"(shapley_state_lost_runs_total{outcome="retracted"} 1)",
           "shapley_state_loss_timestamp_seconds 1795230070",
           "shapley_refused_feeders_total 7",
           "shapley_plugin_sign_of_life_seconds 10",
           "shapley_ledger_size_bytes 4096",
           "shapley_ledger_log_size_bytes 8192",
           "shapley_ledger_filesystem_free_bytes 1000000",
           "shapley_last_backup_timestamp_seconds 1795240001",
           "shapley_last_audit_clean 1",
           R"(shapley_configuration_info{hash="00ff"} 1)",
           "shapley_configuration_reload_success 0",
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
  status["daemon"].erase("gaps");
  status["plugin"] = {{"connected", false}, {"last_heard_at", 0}};
  const std::string text = text_of(status);
  for (const char* absent :
       {"last_backup", "operation_failing", "refused_timestamp", "observation_gap", "last_heard", "backlog"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  EXPECT_TRUE(has(text, "shapley_clock_in_doubt 0"));
  EXPECT_TRUE(has(text, "shapley_configuration_reload_success 1"));
  EXPECT_TRUE(has(text, "shapley_plugin_connected 0"));
  // An older daemon says where its configuration is, and no more; nor does nonsense end a scrape.
  status["daemon"]["configuration"] = "/etc/shapley/shapleyd.yaml";
  EXPECT_EQ(text_of(status).find("shapley_configuration"), std::string::npos);
  for (const char* nonsense :
       {"{}", "[]", "7", "null", R"({"organizations": 7, "daemon": [], "plugin": "x"})",
        R"({"organizations": [7, {"name": 1}], "daemon": {"commits": {"count": 1, "buckets": [7]}}})"}) {
    EXPECT_NO_THROW(text_of(json::parse(nonsense))) << nonsense;
  }
}

TEST(Metrics, HaveASampleEachFromAFullStatus) {
  std::map<std::string, int> samples;
  for (const auto& family : families_of(full_status())) samples[family.name] = static_cast<int>(family.metric.size());
  for (const Metric& metric : status_metrics()) EXPECT_GT(samples[std::string(metric.name)], 0) << metric.name;
}

TEST(Metrics, HaveTheLabelsThatTheTableNames) {
  std::map<std::string, std::string> labels;
  for (const auto& family : families_of(full_status())) {
    std::string& names = labels[family.name];
    for (const auto& label : family.metric.front().label) names += (names.empty() ? "" : ", ") + label.name;
  }
  for (const Metric& metric : status_metrics())
    EXPECT_EQ(labels[std::string(metric.name)], metric.labels) << metric.name;
}

// A thousand organizations would be some twenty thousand time series.
TEST(Metrics, OfTheTopAreThoseWhoOwnMost) {
  json status = full_status();
  const json row = status["organizations"][0];
  for (int i = 0; i < 1000; ++i) {
    json other = row;
    other["name"] = "o" + std::to_string(i);
    other["owned"] = i < 900 ? 10 : 70 + i;
    status["organizations"].push_back(other);
    status["worth"]["organizations"].push_back({{"name", other["name"]}, {"provisional", true}});
  }
  json some = status;
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
  json all = status;
  keep_top(all, 0);
  EXPECT_EQ(all, status);
  keep_top(all, 1002);
  EXPECT_EQ(all, status);
}

}  // namespace
}  // namespace shapley::exporter
