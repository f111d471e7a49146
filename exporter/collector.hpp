// What one scrape sees: the daemon is asked then, and within a bounded time.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include "exporter/metrics.hpp"
#include "reader/client.hpp"

namespace shapley::exporter {

// The metrics of the exporter itself: they are there whether the daemon answers or not. Their `fill` does nothing.
[[nodiscard]] std::span<const Metric> own_metrics();

// Any thread may collect. A daemon that is away or does not answer in time is no error: shapley_up is 0 and everything
// that it would have told is absent, so no old value outlives it.
class Collector : public prometheus::Collectable {
 public:
  // `top`: as of keep_top(). `log` gets a line when the daemon goes away, and one when it is back.
  Collector(reader::Endpoint endpoint, std::size_t top, std::ostream& log)
      : endpoint_(std::move(endpoint)), top_(top), log_(log) {}

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  void tell(const std::string& fault) const;

  reader::Endpoint endpoint_;
  std::size_t top_;
  std::ostream& log_;
  mutable std::mutex mutex_;  // of the members below
  mutable bool asked_ = false;
  mutable std::string fault_;  // of the last scrape; empty: it answered
};

}  // namespace shapley::exporter
