// The metrics, and how each follows from the daemon's answer to `status` (docs/reference/protocol.md).
//
// One table: what is served, what `--list` prints and what the documentation lists follow from it. Names and units by
// Prometheus' conventions: seconds and bytes, so a core-hour is 3600 core-seconds.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>

#include "base/error.hpp"
#include "health/health.hpp"

namespace shapley::exporter {

// An answer to `status`: the whole, whose rows are read as JSON, and what shapleyd says of itself and of the plugin.
struct Status {
  nlohmann::json report;
  health::Report said = {};
};

// Errc::protocol: shapleyd is of another release, or it is not shapleyd that answers.
[[nodiscard]] Expected<Status> read_status(nlohmann::json report);

struct Metric {
  std::string_view name;
  prometheus::MetricType type = prometheus::MetricType::Untyped;
  std::string_view labels;  // their names, separated by commas; empty: none
  std::string_view help;
  // Adds what the status says to the family; nothing, where it says nothing.
  std::function<void(const Status& status, prometheus::MetricFamily& family)> fill;
};

// Of a daemon that answers; all are absent while it does not.
[[nodiscard]] std::span<const Metric> status_metrics();

// Notes how many organizations there are, and leaves those of a status that own the most processors, so many (0: all);
// of equals those first by name. What the others have is in no metric.
void keep_top(nlohmann::json& status, std::size_t top);

// The families of a status that have a sample.
[[nodiscard]] std::vector<prometheus::MetricFamily> families_of(const Status& status);

}  // namespace shapley::exporter
