#include "exporter/collector.hpp"

#include <chrono>
#include <future>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "exporter/samples.hpp"
#include "reports/requests.hpp"

namespace shapley::exporter {

namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily gauge(const Metric& metric, double value, Labels labels = {}) {
  MetricFamily family = without_samples(metric);
  add(family, value, std::move(labels));
  return family;
}

MetricFamily health_by_rule(const Metric& metric, const std::vector<health::Verdict>& verdicts) {
  MetricFamily family = without_samples(metric);
  for (const health::Verdict& verdict : verdicts)
    add(family, static_cast<double>(verdict.state()), {{"rule", std::string(verdict.rule)}});
  return family;
}

Expected<Status> status_of(const rpc_client::Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(rpc_client::Client client, rpc_client::Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask(ledger::request_of(ledger::StatusRequest{.worth = true})));
  return read_status(answer);
}

Expected<health::Report> said(const Expected<Status>& status) {
  return status.map([](const Status& answer) { return answer.said; });
}

void nothing(const Status& /*status*/, MetricFamily& /*family*/) {}

}  // namespace

std::span<const Metric> own_metrics() {
  static const std::vector<Metric> table{
      {"shapley_up", MetricType::Gauge, "",
       "1: shapleyd answered this scrape; 0: it did not, and its metrics are absent", nothing},
      {"shapley_scrape_duration_seconds", MetricType::Gauge, "", "How long shapleyd took to answer, or was waited for",
       nothing},
      {"shapley_exporter_build_info", MetricType::Gauge, "version", "The exporter's version; always 1", nothing},
      {"shapley_health", MetricType::Gauge, "rule",
       "What shapleyctl health finds by each of its rules: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN", nothing},
  };
  return table;
}

// Threads of prometheus-cpp's server have stacks of 100 KiB (civetweb, USE_STACK_SIZE), and one frame of shapleyd's
// protocol takes 64 KiB, so a thread of its own collects.
std::vector<MetricFamily> Collector::Collect() const {
  return std::async(std::launch::async, [this] { return collected(); }).get();
}

std::vector<MetricFamily> Collector::collected() const {
  const auto began = std::chrono::steady_clock::now();
  Expected<Status> status = status_of(endpoint_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  log_fault(status ? std::string() : status.error().what);
  const auto own = own_metrics();
  std::vector<MetricFamily> families{gauge(own[0], status ? 1 : 0), gauge(own[1], took.count()),
                                     gauge(own[2], 1, {{"version", SHAPLEY_VERSION}}),
                                     health_by_rule(own[3], health::judge(said(status), limits_))};
  if (!status) return families;
  keep_top(*status, top_);
  if (users_ != nullptr) add_users(*status);
  for (MetricFamily& family : families_of(*status)) families.push_back(std::move(family));
  return families;
}

void Collector::add_users(Status& status) const {
  UserFigures::Latest latest = users_->latest(status.report);
  status.users = std::move(latest.figures);
  const MutexLock lock(mutex_);
  if (latest.state == users_state_) return;
  users_state_ = std::move(latest.state);
  log_ << "shapley-exporter: " << printable(users_state_) << std::endl;
}

void Collector::log_fault(const std::string& fault) const {
  const MutexLock lock(mutex_);
  const bool was_away = !fault_.empty();
  const bool first = !std::exchange(asked_, true);
  fault_ = fault;
  if (!fault.empty() && (first || !was_away)) log_ << "shapley-exporter: " << printable(fault) << std::endl;
  if (fault.empty() && was_away) log_ << "shapley-exporter: shapleyd answers again" << std::endl;
}

}  // namespace shapley::exporter
