#include "remote/timed_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include <poll.h>
#include <sys/socket.h>

namespace shapley::remote {

tl::unexpected<Error> away(std::string_view cause) {
  return fail(Errc::unavailable, "does not answer: " + std::string(cause));
}

Expected<bool> wait_for(int descriptor, short events, int wake_up, TimedStream::Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - TimedStream::Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> both{pollfd{.fd = wake_up, .events = POLLIN, .revents = 0},
                               pollfd{.fd = descriptor, .events = events, .revents = 0}};
    const auto most = static_cast<std::int64_t>(std::numeric_limits<int>::max());
    const int ready = ::poll(both.data(), both.size(), static_cast<int>(std::min<std::int64_t>(left, most)));
    if (ready < 0 && errno != EINTR) return away(std::strerror(errno));
    if (ready > 0 && both[0].revents != 0) return away("it ends here");
    if (ready > 0) return true;
  }
}

namespace {

Expected<void> wait_for_or_fail(int descriptor, short events, int wake_up, TimedStream::Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(const bool ready, wait_for(descriptor, events, wake_up, until));
  return ready ? Expected<void>() : away("nothing came in time");
}

}  // namespace

Expected<void> TimedStream::connect_to(const void* address, std::size_t size, Clock::time_point until) {
  constexpr std::chrono::milliseconds k_pause{20};
  while (::connect(socket_.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) != 0) {
    if (errno == EINPROGRESS) {
      SHAPLEY_TRY(wait_for_or_fail(socket_.get(), POLLOUT, wake_up_, until));
      int error = 0;
      socklen_t length = sizeof error;
      if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
      // Accepted, and hung up on at once: whoever reads next is told.
      return error == 0 || error == ECONNRESET ? Expected<void>() : away(std::strerror(error));
    }
    // A Unix socket's queue is full.
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
    if (Clock::now() + k_pause >= until) return away("it accepts no connection");
    SHAPLEY_TRY(wait_for(-1, 0, wake_up_, Clock::now() + k_pause));
  }
  return {};
}

Expected<void> TimedStream::send(std::string_view bytes, Clock::time_point until) const {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      SHAPLEY_TRY(wait_for_or_fail(socket_.get(), POLLOUT, wake_up_, until));
    } else if (errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
  return {};
}

Expected<std::size_t> TimedStream::receive(std::span<char> buffer, Clock::time_point until) const {
  while (true) {
    SHAPLEY_TRY(wait_for_or_fail(socket_.get(), POLLIN, wake_up_, until));
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return away("it hung up");
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
  }
}

Expected<void> TimedStream::receive_all(std::span<char> buffer, Clock::time_point until) const {
  while (!buffer.empty()) {
    SHAPLEY_TRY_ASSIGN(const std::size_t n, receive(buffer, until));
    buffer = buffer.subspan(n);
  }
  return {};
}

}  // namespace shapley::remote
