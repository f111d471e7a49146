#include "daemon/start.hpp"

#include <csignal>
#include <future>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "daemon/server/start_server.hpp"
#include "daemon/supervisor.hpp"

namespace shapley::daemon {

namespace {

constexpr std::chrono::milliseconds k_look_every{20};

using Making = std::future<Expected<std::unique_ptr<Service>>>;

// Serves the socket until the service is made. False: a signal came.
class Meanwhile {
 public:
  Meanwhile(const Making& making, ledger::ReplayWatch& watch, const StartOptions& options)
      : making_(making),
        watch_(watch),
        options_(options),
        signals_(io_, SIGTERM, SIGINT),
        timer_(io_),
        server_(io_, options.socket, [this] { return watch_.percent(); }) {}

  bool run() {
    spdlog::info(
        "start: the books are not ready yet; the socket says how far they are, and the plugin keeps its "
        "observations meanwhile");
    // Who is in the way of this socket will be in the way of the service's, which says so.
    if (const auto opened = server_.open(); !opened) spdlog::warn("{}", opened.error().what);
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      spdlog::info("start: {}: stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT");
      watch_.stop = true;
    });
    tick();
    io_.run();
    return !watch_.stop;
  }

 private:
  void tick() {
    constexpr auto k_looks_a_second = std::chrono::seconds(1) / k_look_every;
    if (making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      server_.close();
      signals_.cancel();
      return;
    }
    if (looks_++ % k_looks_a_second == 0) {
      server_.check_progress();
      if (options_.notify) {
        options_.notify(fmt::format("{}\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=rebuilding the books, {} %",
                                    k_watchdog_ping, watch_.percent()));
      }
    }
    timer_.expires_after(k_look_every);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) tick();
    });
  }

  const Making& making_;
  ledger::ReplayWatch& watch_;
  const StartOptions& options_;
  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  StartServer server_;
  int looks_ = 0;
};

}  // namespace

Expected<std::unique_ptr<Service>> start_service(const MakeService& make, const StartOptions& options) {
  ledger::ReplayWatch watch;
  Making making;
  try {
    making = std::async(std::launch::async, [&] { return make(watch); });
  } catch (const std::system_error& error) {
    return fail(Errc::unavailable, fmt::format("start: a thread: {}", error.what()));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto takes_long = [&] {
    return watch.total > options.few_events && std::chrono::steady_clock::now() - begin >= options.patience;
  };
  while (!takes_long()) {
    if (making.wait_for(k_look_every) == std::future_status::ready) return making.get();
  }
  const bool wanted = Meanwhile(making, watch, options).run();
  auto made = making.get();
  if (!wanted) return nullptr;
  return made;
}

}  // namespace shapley::daemon
