// The metrics, and how each follows from the daemon's answer to `status` (docs/reference/protocol.md).
//
// One table: what is served, what `--list` prints and what the documentation lists follow from it. Names and units by
// Prometheus' conventions: seconds and bytes, so a core-hour is 3600 core-seconds.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>

#include "base/error.hpp"
#include "base/types.hpp"
#include "health/health.hpp"
#include "reports/status.hpp"

namespace shapley::exporter {

// What users got, each under one account (users.hpp).
struct ChosenUsers {
  struct Row {
    std::string organization = {};
    std::string account = {};
    std::string user = {};
    double got = 0;  // processor-seconds
    friend bool operator==(const Row&, const Row&) = default;
  };
  Instant at = {};
  std::size_t count = 0;     // of users that got something
  std::size_t left_out = 0;  // of these: they have no row
  std::vector<Row> rows = {};
};

// An answer to `status`, and what the exporter adds.
struct Status {
  ledger::StatusReport report = {};
  health::Report said = {};       // the part of it that health is judged by: shapleyd itself and the plugin
  std::size_t organizations = 0;  // of the books, those that keep_top() left out, too
  std::optional<ChosenUsers> users = {};
};

// Errc::protocol: shapleyd is of another release, or it is not shapleyd that answers.
[[nodiscard]] Expected<Status> read_status(const nlohmann::json& answer);

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

// Leaves the organizations of a status that own the most processors, so many (0: all); of equals those first by name.
// What the others have is in no metric.
void keep_top(Status& status, std::size_t top);

// The families of a status that have a sample.
[[nodiscard]] std::vector<prometheus::MetricFamily> families_of(const Status& status);

}  // namespace shapley::exporter
