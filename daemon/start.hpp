// Starting the service. The books are made in a thread of their own. If that takes long (a large ledger whose
// checkpoint is lost, or does not remember far enough), the socket and the supervisor get the progress meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/piece_of_work.hpp"
#include "daemon/service.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

// Runs in the other thread. It must end, with any result, soon after the watch's `stop` is set.
using MakeService = std::function<Expected<std::unique_ptr<Service>>(ledger::ReplayWatch& watch)>;

struct StartOptions {
  std::string socket;
  // A start that takes less time, or replays fewer events, opens no socket of its own.
  std::chrono::milliseconds patience{1000};
  std::int64_t few_events = 100'000;
  std::function<void(const std::string& state)> notify;  // for the supervisor, by the protocol of sd_notify(3)
};

// Returns the result of `make`; nullptr if SIGTERM or SIGINT came while the socket was served. Errc::unavailable: no
// thread can be started.
[[nodiscard]] Expected<std::unique_ptr<Service>> start_service(const MakeService& make, const StartOptions& options);

// Notifies a supervisor such as systemd: sends the text to $NOTIFY_SOCKET by the protocol of sd_notify(3). Does nothing
// if that is not set.
void notify(const std::string& state);

inline constexpr const char* k_watchdog_ping = "WATCHDOG=1";

// Notifies the supervisor that the loop runs and no other thread hangs (base/piece_of_work.hpp), twice as often as it
// requires ($WATCHDOG_USEC, which is valid if $WATCHDOG_PID is this process). Without these notifications the
// supervisor ends the daemon and starts it again. Without a supervisor only the log names the thread that hangs.
class Watchdog {
 public:
  using Clock = PieceOfWork::Clock;
  explicit Watchdog(boost::asio::io_context& io, std::function<Clock::time_point()> clock = Clock::now);
  void start();
  void stop() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
  std::function<Clock::time_point()> clock_;
  std::chrono::microseconds asked_for_;  // 0: there is no supervisor
};

}  // namespace shapley::daemon
