#include "daemon/supervisor.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::daemon {

namespace {

std::chrono::microseconds half_of_what_is_asked_for() {
  const char* pid = std::getenv("WATCHDOG_PID");
  if (pid != nullptr && std::strtoll(pid, nullptr, 10) != ::getpid()) return {};
  const char* interval = std::getenv("WATCHDOG_USEC");
  return std::chrono::microseconds(interval == nullptr ? 0 : std::strtoll(interval, nullptr, 10) / 2);
}

}  // namespace

void notify(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  if (::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               size) < 0) {
    spdlog::warn("daemon: notify {}: {}", path, std::strerror(errno));
  }
  ::close(descriptor);
}

Watchdog::Watchdog(boost::asio::io_context& io) : timer_(io), interval_(half_of_what_is_asked_for()) {}

void Watchdog::start() {
  if (interval_.count() <= 0) return;
  notify(k_watchdog_ping);
  timer_.expires_after(interval_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) start();
  });
}

}  // namespace shapley::daemon
