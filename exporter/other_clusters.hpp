// What ranks count of the other clusters of a consortium, as metrics. Their number has a bound: a configuration names
// at most 100 clusters, and amounts are of the organizations that the status lists (keep_top).
#pragma once

#include <vector>

#include "exporter/metrics.hpp"

namespace shapley::exporter {

[[nodiscard]] std::vector<Metric> other_cluster_metrics();

}  // namespace shapley::exporter
