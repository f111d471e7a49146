#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/descriptor.hpp"
#include "protocol/asking.hpp"
#include "protocol/messages.hpp"
#include "reader/client.hpp"

namespace shapley::reader {

namespace {

using Deadline = Client::Deadline;

Expected<sockaddr_un> address_of(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(Errc::invalid_argument, "socket: '" + path + "': a path of 1 to " +
                                            std::to_string(sizeof(address.sun_path) - 1) + " bytes is allowed");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// shapleyd's socket. Its errors say what the user could do.
class Socket {
 public:
  Socket(Descriptor descriptor, Endpoint endpoint)
      : descriptor_(std::move(descriptor)), endpoint_(std::move(endpoint)) {}

  Expected<void> open(Deadline until);
  Expected<void> send(std::string_view bytes, Deadline until) const;
  Expected<std::size_t> receive(std::span<char> buffer, Deadline until) const;

 private:
  [[nodiscard]] Expected<void> await(short events, Deadline until) const;
  [[nodiscard]] tl::unexpected<Error> away(const std::string& cause) const;

  Descriptor descriptor_;
  Endpoint endpoint_;
};

tl::unexpected<Error> Socket::away(const std::string& cause) const {
  return fail(Errc::unavailable, "cannot reach shapleyd at " + endpoint_.socket.native() + ": " + cause +
                                     "; is it running (systemctl status shapleyd)?" +
                                     (endpoint_.otherwise.empty() ? std::string() : ' ' + endpoint_.otherwise));
}

Expected<void> Socket::open(Deadline until) {
  SHAPLEY_TRY_ASSIGN(const sockaddr_un address, address_of(endpoint_.socket));
  // A Unix socket whose backlog is full answers EAGAIN instead of "in progress": waiting for room is trying again.
  while (::connect(descriptor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
    if (std::chrono::steady_clock::now() >= until) return away("it accepts no connection");
    ::poll(nullptr, 0, 20);
  }
  return {};
}

Expected<void> Socket::await(short events, Deadline until) const {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      return away("no answer within " + std::to_string(endpoint_.timeout.count() / 1000) + " s");
    }
    pollfd poll_for{.fd = descriptor_.get(), .events = events, .revents = 0};
    const int ready = ::poll(&poll_for, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return away(std::strerror(errno));
  }
}

Expected<void> Socket::send(std::string_view bytes, Deadline until) const {
  while (!bytes.empty()) {
    // MSG_NOSIGNAL: a daemon that hangs up is an error value, not a SIGPIPE.
    const ssize_t n = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      SHAPLEY_TRY(await(POLLOUT, until));
    } else if (errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
  return {};
}

Expected<std::size_t> Socket::receive(std::span<char> buffer, Deadline until) const {
  while (true) {
    SHAPLEY_TRY(await(POLLIN, until));
    const ssize_t n = ::recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return away("it hung up");
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
  }
}

class SocketTransport : public Client::Transport {
 public:
  explicit SocketTransport(Socket socket) : asking_(std::move(socket)) {}

  Expected<void> open(const Endpoint& endpoint, Deadline until) {
    SHAPLEY_TRY(asking_.stream().open(until));
    protocol::Hello hello;
    hello.role = protocol::Role::reader;
    hello.program = endpoint.program;
    SHAPLEY_TRY_ASSIGN(const protocol::Message answer, asking_.greet(hello, until));
    if (const auto* refused = std::get_if<protocol::Refused>(&answer)) {
      return fail(Errc::denied, "shapleyd refuses: " + refused->reason);
    }
    if (std::holds_alternative<protocol::Welcome>(answer)) return {};
    return fail(Errc::protocol, "whoever listens at " + endpoint.socket.native() + " does not greet as shapleyd does");
  }

  Expected<std::string> ask(const std::string& request, Deadline until) override { return asking_.ask(request, until); }

 private:
  protocol::Asking<Socket> asking_;
};

}  // namespace

Expected<std::unique_ptr<Client::Transport>> connect_by_socket(const Endpoint& endpoint, Deadline until) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open()) return fail(Errc::io, std::string("socket: ") + std::strerror(errno));
  auto transport = std::make_unique<SocketTransport>(Socket(std::move(descriptor), endpoint));
  SHAPLEY_TRY(transport->open(endpoint, until));
  return transport;
}

}  // namespace shapley::reader
