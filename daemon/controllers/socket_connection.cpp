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
#include "protocol/asking.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

namespace {

using remote::away;
using remote::TimedStream;
using Clock = TimedStream::Clock;

// A reader's conversation.
class SocketConnection : public PeerConnection {
 public:
  SocketConnection(TimedStream stream, std::optional<RemoteAsker> asks)
      : asking_(std::move(stream)), asks_(std::move(asks)) {}

  Expected<void> open(const std::filesystem::path& socket, Clock::time_point until) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = socket.native();
    if (path.size() >= sizeof address.sun_path) return fail(Errc::invalid_argument, path + ": the path is too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    SHAPLEY_TRY(asking_.stream().connect_to(&address, sizeof address, until));
    SHAPLEY_TRY(check_user());
    return greet(until);
  }

  Expected<std::string> ask(const std::string& request, Clock::time_point until) override {
    return asking_.ask(request, until);
  }

 private:
  [[nodiscard]] Expected<void> check_user() {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(asking_.stream().descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
      return away(std::strerror(errno));
    }
    if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
    return away("who listens there has uid " + std::to_string(peer.uid) + ", neither root nor this daemon's user");
  }

  Expected<void> greet(Clock::time_point until) {
    protocol::Hello hello;
    hello.role = protocol::Role::reader;
    hello.program = k_program;
    if (asks_) {
      hello.on_behalf_of = asks_->uid;
      hello.cluster = asks_->cluster;
      hello.ledger = asks_->ledger;
    }
    SHAPLEY_TRY_ASSIGN(const protocol::Message answer, asking_.greet(hello, until));
    if (const auto* refused = std::get_if<protocol::Refused>(&answer)) return away(refused->reason);
    if (std::holds_alternative<protocol::Welcome>(answer)) return {};
    return away("it does not greet as shapleyd does");
  }

  protocol::Asking<TimedStream> asking_;
  std::optional<RemoteAsker> asks_;
};

}  // namespace

Expected<std::unique_ptr<PeerConnection>> connect_by_socket(const std::filesystem::path& socket, int wake_up,
                                                            Clock::time_point until,
                                                            const std::optional<RemoteAsker>& asks) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open()) return away(std::strerror(errno));
  auto connection = std::make_unique<SocketConnection>(TimedStream(std::move(descriptor), wake_up), asks);
  SHAPLEY_TRY(connection->open(socket, until));
  return connection;
}

}  // namespace shapley::daemon
