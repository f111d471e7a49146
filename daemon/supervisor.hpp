// What a supervisor such as systemd hears of the daemon, by the protocol of sd_notify(3).
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace shapley::daemon {

// Says this to $NOTIFY_SOCKET. Without it nobody asked: nothing is sent.
void notify(const std::string& state);

inline constexpr const char* k_watchdog_ping = "WATCHDOG=1";

// Says from time to time that the loop goes round, twice as often as the supervisor asks for ($WATCHDOG_USEC, to be
// believed if $WATCHDOG_PID is this process). One that waits in vain ends the daemon and starts it anew.
class Watchdog {
 public:
  explicit Watchdog(boost::asio::io_context& io);
  void start();
  void stop() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
  std::chrono::microseconds interval_;  // 0: nobody waits
};

}  // namespace shapley::daemon
