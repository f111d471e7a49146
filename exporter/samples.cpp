#include "exporter/samples.hpp"

#include <charconv>
#include <utility>

namespace shapley::exporter {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double from_micro(Int128 micro) {
  const std::string text = format_micro(micro);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
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

}  // namespace shapley::exporter
