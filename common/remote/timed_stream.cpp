#include "remote/timed_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace shapley::remote {

namespace {

tl::unexpected<Error> away(int error) {
  return fail(Errc::unavailable, std::strerror(error));
}

Expected<std::string> end_of(int socket, int (*name)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (name(socket, any, &length) != 0) return away(errno);
  const int error =
      ::getnameinfo(any, length, host.data(), host.size(), port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return fail(Errc::unavailable, std::string("address of a connection: ") + ::gai_strerror(error));
  constexpr std::string_view k_mapped = "::ffff:";
  std::string_view text(host.data());
  text = text.substr(0, text.find('%'));
  if (text.starts_with(k_mapped) && text.find('.') != std::string_view::npos) text.remove_prefix(k_mapped.size());
  return '[' + std::string(text) + "]:" + port.data();
}

}  // namespace

Expected<Addresses> resolve(const config::Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) return fail(Errc::unavailable, fmt::format("{}: {}", endpoint.host, ::gai_strerror(error)));
  return Addresses(found);
}

Expected<std::string> own_end(int socket) {
  return end_of(socket, ::getsockname);
}

Expected<std::string> other_end(int socket) {
  return end_of(socket, ::getpeername);
}

Expected<bool> wait_for(int descriptor, short events, int wake_up, TimedStream::Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - TimedStream::Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> both{pollfd{.fd = wake_up, .events = POLLIN, .revents = 0},
                               pollfd{.fd = descriptor, .events = events, .revents = 0}};
    const auto most = static_cast<std::int64_t>(std::numeric_limits<int>::max());
    const int ready = ::poll(both.data(), both.size(), static_cast<int>(std::min<std::int64_t>(left, most)));
    if (ready < 0 && errno != EINTR) return away(errno);
    if (ready > 0 && both[0].revents != 0) return fail(Errc::unavailable, "it ends here");
    if (ready > 0) return true;
  }
}

Expected<void> TimedStream::await(short events, Clock::time_point until) const {
  SHAPLEY_TRY_ASSIGN(const bool ready, wait_for(socket_.get(), events, wake_up_, until));
  return ready ? Expected<void>() : fail(Errc::unavailable, "no answer in time");
}

Expected<void> TimedStream::connect_to(const void* address, std::size_t size, Clock::time_point until) {
  constexpr std::chrono::milliseconds k_pause{20};
  while (::connect(socket_.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) != 0) {
    if (errno == EINPROGRESS) {
      SHAPLEY_TRY(await(POLLOUT, until));
      int error = 0;
      socklen_t length = sizeof error;
      if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
      // The connection was accepted and closed at once: the next read reports it.
      return error == 0 || error == ECONNRESET ? Expected<void>() : away(error);
    }
    // A Unix socket's queue is full.
    if (errno != EAGAIN && errno != EINTR) return away(errno);
    if (Clock::now() + k_pause >= until) return fail(Errc::unavailable, "it accepts no connection");
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
      SHAPLEY_TRY(await(POLLOUT, until));
    } else if (errno != EINTR) {
      return away(errno);
    }
  }
  return {};
}

Expected<std::size_t> TimedStream::receive(std::span<char> buffer, Clock::time_point until) const {
  while (true) {
    SHAPLEY_TRY(await(POLLIN, until));
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return fail(Errc::unavailable, "it hung up");
    if (errno != EAGAIN && errno != EINTR) return away(errno);
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
