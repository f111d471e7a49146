// One page over HTTP, to whoever asks for it: GET /metrics.
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
#include <list>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

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

}  // namespace shapley::exporter
