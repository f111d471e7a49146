#include "exporter/other_clusters.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "exporter/samples.hpp"

namespace shapley::exporter {

namespace {

using ledger::OtherClusterReport;
using prometheus::MetricFamily;
using prometheus::MetricType;

// `get`: of a row of the status's clusters.
template <typename Get>
Fill clusters(Get get) {
  return [get](const Status& status, MetricFamily& family) {
    for (const OtherClusterReport& row : status.report.clusters) {
      if (const auto found = figure_of(std::invoke(get, row))) add(family, *found, {{"cluster", row.cluster}});
    }
  };
}

void statement_ages(const Status& status, MetricFamily& family) {
  for (const OtherClusterReport& row : status.report.clusters) {
    if (!row.stated_at.is_known()) continue;
    const Duration age = std::max(Duration{0}, status.said.daemon.now - row.last_stated());
    add(family, static_cast<double>(age.value), {{"cluster", row.cluster}});
  }
}

void owed_elsewhere(const Status& status, MetricFamily& family) {
  std::set<std::string> listed;
  for (const ledger::OrganizationRow& row : status.report.organizations) listed.insert(row.is.name);
  for (const OtherClusterReport& cluster : status.report.clusters) {
    for (const ledger::OwedElsewhere& row : cluster.organizations) {
      if (!listed.contains(row.organization)) continue;
      add(family, row.core_hours * k_seconds_per_hour,
          {{"organization", row.organization}, {"cluster", cluster.cluster}});
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
       "Age of the last statement of that cluster that counts; absent: none was recorded yet", statement_ages},
      {"shapley_other_cluster_stands_still", MetricType::Gauge, "cluster",
       "1 while what ranks count of that cluster stands still: its statement is too old, or there is none yet",
       clusters([](const OtherClusterReport& row) { return !row.stated_at.is_known() || row.is_stale; })},
      {"shapley_other_cluster_refused_statements_total", MetricType::Counter, "cluster",
       "Statements of that cluster that came and were refused", clusters(&OtherClusterReport::refused)},
      {"shapley_other_cluster_clock_ahead_seconds", MetricType::Gauge, "cluster",
       "Time of the newest signed statement of that cluster less the clock here when it came, 0 at least",
       clusters(&OtherClusterReport::ahead)},
  };
}

}  // namespace shapley::exporter
