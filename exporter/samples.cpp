#include "exporter/samples.hpp"

#include <charconv>
#include <utility>

namespace shapley::exporter {

using nlohmann::json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::optional<double> number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return parsed;
}

json at(const json& object, const char* pointer) {
  const json::json_pointer place(pointer);
  return object.contains(place) ? object.at(place) : json(nullptr);
}

std::string text_at(const json& object, const char* pointer) {
  const json value = at(object, pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

MetricFamily without_samples(const Metric& metric) {
  MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = metric.type;
  return family;
}

void add(MetricFamily& family, double value, Labels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
}

Fill in_report(const char* pointer, double factor) {
  return [pointer, factor](const Status& status, prometheus::MetricFamily& family) {
    if (const auto found = number(at(status.report, pointer))) add(family, *found * factor);
  };
}

}  // namespace shapley::exporter
