#include "exporter/other_clusters.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "exporter/samples.hpp"

namespace shapley::exporter {

namespace {

using nlohmann::json;
using prometheus::MetricFamily;
using prometheus::MetricType;

// `value_of`: of a row of the status's clusters; nullopt: not known.
Fill clusters(std::optional<double> (*value_of)(const Status& status, const json& row)) {
  return [value_of](const Status& status, MetricFamily& family) {
    for (const json& row : at(status.report, "/clusters")) {
      const std::string cluster = text_at(row, "/cluster");
      if (cluster.empty()) continue;
      if (const auto value = value_of(status, row)) add(family, *value, {{"cluster", cluster}});
    }
  };
}

std::optional<double> statement_age(const Status& status, const json& row) {
  const auto stated = number(at(row, "/stated_at"));
  if (!stated) return std::nullopt;
  return std::max(0.0, static_cast<double>(status.said.daemon.now.value) - *stated);
}

std::optional<double> stands_still(const Status& /*status*/, const json& row) {
  return at(row, "/stated_at").is_null() ? 1 : number(at(row, "/is_stale"));
}

std::optional<double> refused(const Status& /*status*/, const json& row) {
  return number(at(row, "/refused"));
}

std::optional<double> clock_ahead(const Status& /*status*/, const json& row) {
  return number(at(row, "/ahead_s"));
}

void owed_elsewhere(const Status& status, MetricFamily& family) {
  std::set<std::string> listed;
  for (const json& row : at(status.report, "/organizations")) listed.insert(text_at(row, "/name"));
  for (const json& cluster : at(status.report, "/clusters")) {
    for (const json& row : at(cluster, "/organizations")) {
      const std::string organization = text_at(row, "/organization");
      const auto owed = number(at(row, "/core_hours"));
      if (!owed || !listed.contains(organization)) continue;
      add(family, *owed * k_seconds_per_hour,
          {{"organization", organization}, {"cluster", text_at(cluster, "/cluster")}});
    }
  }
}

}  // namespace

std::vector<Metric> other_cluster_metrics() {
  return {
      {"shapley_organization_owed_elsewhere_core_seconds", MetricType::Gauge, "organization, cluster",
       "What it is owed on another cluster of the consortium, work given less got there, as ranks here count it; "
       "negative: it owes",
       owed_elsewhere},
      {"shapley_other_cluster_statement_age_seconds", MetricType::Gauge, "cluster",
       "Age of the statement of that cluster by which ranks are made; absent: none was recorded yet",
       clusters(statement_age)},
      {"shapley_other_cluster_stands_still", MetricType::Gauge, "cluster",
       "1 while what ranks count of that cluster stands still: its statement is too old, or there is none yet",
       clusters(stands_still)},
      {"shapley_other_cluster_refused_statements_total", MetricType::Counter, "cluster",
       "Statements of that cluster that came and were refused", clusters(refused)},
      {"shapley_other_cluster_clock_ahead_seconds", MetricType::Gauge, "cluster",
       "Time of the newest signed statement of that cluster less the clock here when it came, 0 at least",
       clusters(clock_ahead)},
  };
}

}  // namespace shapley::exporter
