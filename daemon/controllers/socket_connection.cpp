#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/controllers/peer_connection.hpp"
#include "daemon/version.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

namespace {

using remote::away;
using remote::TimedStream;
using Clock = TimedStream::Clock;

// A reader's conversation.
class SocketConnection : public PeerConnection {
 public:
  SocketConnection(TimedStream stream, std::optional<uid_t> asks) : stream_(std::move(stream)), asks_(asks) {}

  Expected<void> open(const std::filesystem::path& socket, Clock::time_point until) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = socket.native();
    if (path.size() >= sizeof address.sun_path) return fail(Errc::invalid_argument, path + ": the path is too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    SHAPLEY_TRY(stream_.connect_to(&address, sizeof address, until));
    SHAPLEY_TRY(check_user());
    return greet(until);
  }

  Expected<std::string> ask(const std::string& request, Clock::time_point until) override {
    const std::uint64_t id = ++last_id_;
    SHAPLEY_TRY(send(protocol::Query{.id = id, .json = request}, until));
    while (true) {
      SHAPLEY_TRY_ASSIGN(protocol::Message message, receive(until));
      if (auto* reply = std::get_if<protocol::Reply>(&message); reply != nullptr && reply->id == id) {
        return std::move(reply->json);
      }
    }
  }

 private:
  [[nodiscard]] Expected<void> check_user() const {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(stream_.descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
      return away(std::strerror(errno));
    }
    if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
    return away("who listens there has uid " + std::to_string(peer.uid) + ", neither root nor this daemon's user");
  }

  Expected<void> greet(Clock::time_point until) {
    protocol::Hello hello;
    hello.role = protocol::Role::reader;
    hello.program = k_program;
    if (asks_) hello.on_behalf_of = *asks_;
    SHAPLEY_TRY(send(hello, until));
    SHAPLEY_TRY_ASSIGN(const protocol::Message message, receive(until));
    if (const auto* refused = std::get_if<protocol::Refused>(&message)) return away(refused->reason);
    if (std::holds_alternative<protocol::Welcome>(message)) return {};
    return away("it does not greet as shapleyd does");
  }

  Expected<void> send(const protocol::Message& message, Clock::time_point until) const {
    return stream_.send(protocol::encode_frame(message), until);
  }

  Expected<protocol::Message> receive(Clock::time_point until) {
    constexpr std::size_t k_read_bytes = 64U << 10U;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, frames_.next());
      if (body) return protocol::decode_body(*body);
      std::array<char, k_read_bytes> buffer{};
      SHAPLEY_TRY_ASSIGN(const std::size_t n, stream_.receive(buffer, until));
      frames_.feed({buffer.data(), n});
    }
  }

  TimedStream stream_;
  std::optional<uid_t> asks_;
  protocol::FrameReader frames_;
  std::uint64_t last_id_ = 0;
};

}  // namespace

Expected<std::unique_ptr<PeerConnection>> connect_by_socket(const std::filesystem::path& socket, int wake_up,
                                                            Clock::time_point until, std::optional<uid_t> asks) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open()) return away(std::strerror(errno));
  auto connection = std::make_unique<SocketConnection>(TimedStream(std::move(descriptor), wake_up), asks);
  SHAPLEY_TRY(connection->open(socket, until));
  return connection;
}

}  // namespace shapley::daemon
