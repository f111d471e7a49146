#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/descriptor.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"
#include "reader/client.hpp"

namespace shapley::reader {

namespace {

using Deadline = Client::Deadline;

constexpr std::size_t k_read_bytes = 64U << 10U;

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

class SocketTransport : public Client::Transport {
 public:
  SocketTransport(Descriptor descriptor, Endpoint endpoint)
      : descriptor_(std::move(descriptor)), endpoint_(std::move(endpoint)) {}

  Expected<void> open(Deadline until);
  Expected<void> greet(Deadline until);
  Expected<std::string> ask(const std::string& request, Deadline until) override;

 private:
  [[nodiscard]] Expected<void> await(short events, Deadline until) const;
  [[nodiscard]] Expected<void> send(const protocol::Message& message, Deadline until) const;
  [[nodiscard]] Expected<protocol::Message> receive(Deadline until);
  [[nodiscard]] tl::unexpected<Error> away(const std::string& cause) const;

  Descriptor descriptor_;
  Endpoint endpoint_;
  protocol::FrameReader frames_;
  std::uint64_t last_id_ = 0;
};

Expected<std::string> SocketTransport::ask(const std::string& request, Deadline until) {
  const std::uint64_t id = ++last_id_;
  SHAPLEY_TRY(send(protocol::Query{.id = id, .json = request}, until));
  while (true) {
    SHAPLEY_TRY_ASSIGN(protocol::Message message, receive(until));
    // Anything else is news for other roles; a reader waits for its own answer.
    if (auto* reply = std::get_if<protocol::Reply>(&message); reply != nullptr && reply->id == id) {
      return std::move(reply->json);
    }
  }
}

tl::unexpected<Error> SocketTransport::away(const std::string& cause) const {
  return fail(Errc::unavailable, "cannot reach shapleyd at " + endpoint_.socket.native() + ": " + cause +
                                     "; is it running (systemctl status shapleyd)?" +
                                     (endpoint_.otherwise.empty() ? std::string() : ' ' + endpoint_.otherwise));
}

Expected<void> SocketTransport::open(Deadline until) {
  SHAPLEY_TRY_ASSIGN(const sockaddr_un address, address_of(endpoint_.socket));
  // A Unix socket whose backlog is full answers EAGAIN instead of "in progress": waiting for room is trying again.
  while (::connect(descriptor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
    if (std::chrono::steady_clock::now() >= until) return away("it accepts no connection");
    ::poll(nullptr, 0, 20);
  }
  return {};
}

Expected<void> SocketTransport::greet(Deadline until) {
  protocol::Hello hello;
  hello.role = protocol::Role::reader;
  hello.program = endpoint_.program;
  SHAPLEY_TRY(send(hello, until));
  SHAPLEY_TRY_ASSIGN(const protocol::Message message, receive(until));
  if (const auto* refused = std::get_if<protocol::Refused>(&message)) {
    return fail(Errc::denied, "shapleyd refuses: " + refused->reason);
  }
  if (!std::holds_alternative<protocol::Welcome>(message)) {
    return fail(Errc::protocol, "whoever listens at " + endpoint_.socket.native() + " does not greet as shapleyd does");
  }
  return {};
}

Expected<void> SocketTransport::await(short events, Deadline until) const {
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

Expected<void> SocketTransport::send(const protocol::Message& message, Deadline until) const {
  const std::string frame = protocol::encode_frame(message);
  std::size_t sent = 0;
  while (sent < frame.size()) {
    // MSG_NOSIGNAL: a daemon that hangs up is an error value, not a SIGPIPE.
    const ssize_t n = ::send(descriptor_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      SHAPLEY_TRY(await(POLLOUT, until));
    } else if (errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
  return {};
}

Expected<protocol::Message> SocketTransport::receive(Deadline until) {
  while (true) {
    SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, frames_.next());
    if (body) return protocol::decode_body(*body);
    SHAPLEY_TRY(await(POLLIN, until));
    std::array<char, k_read_bytes> buffer{};
    const ssize_t n = ::recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      frames_.feed({buffer.data(), static_cast<std::size_t>(n)});
    } else if (n == 0) {
      return away("it hung up");
    } else if (errno != EAGAIN && errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
}

}  // namespace

Expected<std::unique_ptr<Client::Transport>> connect_by_socket(const Endpoint& endpoint, Deadline until) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open()) return fail(Errc::io, std::string("socket: ") + std::strerror(errno));
  auto transport = std::make_unique<SocketTransport>(std::move(descriptor), endpoint);
  SHAPLEY_TRY(transport->open(until));
  SHAPLEY_TRY(transport->greet(until));
  return transport;
}

}  // namespace shapley::reader
