// How values of a report become samples of a metric.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "base/json.hpp"
#include "base/types.hpp"
#include "exporter/metrics.hpp"
#include "reports/amounts.hpp"

namespace shapley::exporter {

using Fill = std::function<void(const Status&, prometheus::MetricFamily&)>;
using Labels = std::vector<prometheus::ClientMetric::Label>;

inline constexpr double k_seconds_per_hour = 3600;

// The nearest number to so many millionths.
[[nodiscard]] double from_micro(Int128 micro);

// The number of a report's value: a truth is 1 or 0, an instant the seconds since the epoch. nullopt: it is not known.
template <typename Value>
[[nodiscard]] std::optional<double> figure_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? figure_of(*value) : std::nullopt;
  } else if constexpr (std::same_as<Value, Utility> || std::same_as<Value, CpuTime>) {
    return from_micro(value.value);
  } else if constexpr (std::same_as<Value, ledger::Processors>) {
    return value.number();
  } else if constexpr (std::same_as<Value, Dated>) {
    return value.is_known() ? std::optional(static_cast<double>(value.value)) : std::nullopt;
  } else if constexpr (requires { value.value; }) {
    return static_cast<double>(value.value);
  } else {
    return static_cast<double>(value);
  }
}

[[nodiscard]] prometheus::MetricFamily without_samples(const Metric& metric);
void add(prometheus::MetricFamily& family, double value, Labels labels = {});

// One sample, of what `get` returns of the status; none where that is not known.
template <typename Get>
[[nodiscard]] Fill figure(Get get) {
  return [get](const Status& status, prometheus::MetricFamily& family) {
    if (const auto found = figure_of(std::invoke(get, status))) add(family, *found);
  };
}

}  // namespace shapley::exporter
