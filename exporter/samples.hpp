// How values of the daemon's status become samples of a metric.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>

#include "exporter/metrics.hpp"

namespace shapley::exporter {

using Fill = std::function<void(const Status&, prometheus::MetricFamily&)>;
using Labels = std::vector<prometheus::ClientMetric::Label>;

inline constexpr double k_seconds_per_hour = 3600;

// A number, a truth (1 or 0), or exact decimal text.
[[nodiscard]] std::optional<double> number(const nlohmann::json& value);
// null: nothing is there.
[[nodiscard]] nlohmann::json at(const nlohmann::json& object, const char* pointer);
// "": no text is there.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* pointer);

[[nodiscard]] prometheus::MetricFamily without_samples(const Metric& metric);
void add(prometheus::MetricFamily& family, double value, Labels labels = {});

// A member of the report outside its rows, times `factor`; no sample where there is no number.
[[nodiscard]] Fill in_report(const char* pointer, double factor = 1);

}  // namespace shapley::exporter
