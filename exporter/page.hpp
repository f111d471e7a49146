// One page over HTTP, for every client: GET /metrics.
//
// One thread, and no connection that can keep others out: a request must come whole within some seconds, each
// connection is closed after its answer, and when there are too many the oldest gives way. A scraper asks as soon as it
// has connected, and is answered before so many others can have come. A page counts for a second, so that many scrapes
// at once ask the daemon once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <list>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/process.hpp"
#include "exporter/metrics.hpp"
#include "exporter/users.hpp"
#include "health/health.hpp"
#include "rpc_client/client.hpp"

namespace shapley::exporter {

class PageServer {
 public:
  using Clock = std::chrono::steady_clock;
  using Page = std::function<std::string()>;
  struct Limits {
    std::size_t connections = 256;
    std::chrono::milliseconds request{2000};  // from connecting to a whole request
    std::chrono::milliseconds answer{10000};  // from then on until all of it is taken
    std::chrono::milliseconds page{1000};
  };

  // "127.0.0.1:9753", "[::1]:9753"; port 0: a free one. Errc::invalid_argument, Errc::io.
  [[nodiscard]] static Expected<PageServer> open(const std::string& listen, Page page, Limits limits);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Until `stop` is readable.
  void serve(int stop);

 private:
  struct Connection {
    Descriptor socket;
    Clock::time_point until;
    std::string request = {};
    std::string answer = {};  // what is not taken yet; empty: the request is not whole yet
  };

  PageServer(Descriptor listening, std::uint16_t port, Page page, Limits limits)
      : listening_(std::move(listening)), port_(port), page_(std::move(page)), limits_(limits) {}
  void accept_some();
  // False: it is over.
  [[nodiscard]] bool read(Connection& connection);
  [[nodiscard]] static bool write(Connection& connection);
  [[nodiscard]] std::string answer_to(const std::string& request);
  [[nodiscard]] int milliseconds_to_wait() const;

  Descriptor listening_;
  std::uint16_t port_;
  Page page_;
  Limits limits_;
  std::list<Connection> connections_;  // the oldest first
  std::string last_page_;
  Clock::time_point last_made_{};
};

// What one scrape sees: the daemon is asked then, and within a bounded time.
//
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
  void tell(const std::string& fault) const;
  void add_users(nlohmann::json& report) const;

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
