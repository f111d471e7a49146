#include "exporter/collector.hpp"

#include <chrono>
#include <ostream>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace shapley::exporter {

namespace {

using nlohmann::json;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily gauge(const Metric& metric, double value, std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric sample;
  sample.label = std::move(labels);
  sample.gauge.value = value;
  MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = metric.type;
  family.metric.push_back(std::move(sample));
  return family;
}

Expected<json> status_of(const reader::Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(reader::Client client, reader::Client::connect(endpoint));
  return client.ask({{"request", "status"}, {"worth", true}});
}

void nothing(const json& /*status*/, MetricFamily& /*family*/) {}

}  // namespace

std::span<const Metric> own_metrics() {
  static const std::vector<Metric> table{
      {"shapley_up", MetricType::Gauge, "",
       "1: shapleyd answered this scrape; 0: it did not, and its metrics are absent", nothing},
      {"shapley_scrape_duration_seconds", MetricType::Gauge, "", "How long shapleyd took to answer, or was waited for",
       nothing},
      {"shapley_exporter_build_info", MetricType::Gauge, "version", "The exporter's version; always 1", nothing},
  };
  return table;
}

std::vector<MetricFamily> Collector::Collect() const {
  const auto began = std::chrono::steady_clock::now();
  Expected<json> status = status_of(endpoint_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  tell(status ? std::string() : status.error().what);
  const auto own = own_metrics();
  std::vector<MetricFamily> families{gauge(own[0], status ? 1 : 0), gauge(own[1], took.count()),
                                     gauge(own[2], 1, {{"version", SHAPLEY_VERSION}})};
  if (!status) return families;
  keep_top(*status, top_);
  for (MetricFamily& family : families_of(*status)) families.push_back(std::move(family));
  return families;
}

void Collector::tell(const std::string& fault) const {
  const std::lock_guard lock(mutex_);
  const bool was_away = !fault_.empty();
  const bool first = !std::exchange(asked_, true);
  fault_ = fault;
  if (!fault.empty() && (first || !was_away)) log_ << "shapley-exporter: " << printable(fault) << std::endl;
  if (fault.empty() && was_away) log_ << "shapley-exporter: shapleyd answers again" << std::endl;
}

}  // namespace shapley::exporter
