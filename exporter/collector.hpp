// What one scrape sees: the daemon is asked then, and within a bounded time.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>

#include "base/mutex.hpp"
#include "exporter/metrics.hpp"
#include "exporter/users.hpp"
#include "health/health.hpp"
#include "rpc_client/client.hpp"

namespace shapley::exporter {

// The metrics of the exporter itself: they are there whether the daemon answers or not. Their `fill` does nothing.
[[nodiscard]] std::span<const Metric> own_metrics();

// Any thread may collect. A daemon that is away or does not answer in time is no error: shapley_up is 0, shapley_health
// is that of the rule `daemon` alone, and everything that it would have reported is absent, so no old value outlives
// it.
class Collector : public prometheus::Collectable {
 public:
  // `top`: as of keep_top(). `limits`: those of shapley_health. `log` gets a line when the daemon goes away, one when
  // it is back, and one whenever figures of users come or go. `users`: they are served, too; nullptr: none are.
  Collector(rpc_client::Endpoint endpoint, std::size_t top, const health::Limits& limits, std::ostream& log,
            const UserFigures* users = nullptr)
      : endpoint_(std::move(endpoint)), top_(top), limits_(limits), log_(log), users_(users) {}

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  [[nodiscard]] std::vector<prometheus::MetricFamily> collected() const;
  void log_fault(const std::string& fault) const;
  void add_users(Status& status) const;

  rpc_client::Endpoint endpoint_;
  std::size_t top_;
  health::Limits limits_;
  std::ostream& log_;
  const UserFigures* users_;
  mutable Mutex mutex_;
  mutable bool asked_ SHAPLEY_GUARDED_BY(mutex_) = false;
  mutable std::string fault_ SHAPLEY_GUARDED_BY(mutex_);  // of the last scrape; empty: it answered
  mutable std::string users_state_ SHAPLEY_GUARDED_BY(mutex_);
};

}  // namespace shapley::exporter
