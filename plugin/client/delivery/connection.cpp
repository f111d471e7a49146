#include "plugin/client/delivery/connection.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::client {

namespace {

Expected<void> check_peer(int socket, const std::string& path) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return system_failure("identify the peer of " + path, errno);
  }
  if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
  return fail(Errc::denied, "the socket " + path + " belongs to user id " + std::to_string(peer.uid) +
                                "; run shapleyd as root or as slurmctld's user (id " + std::to_string(::geteuid()) +
                                ")");
}

}  // namespace

Expected<Connection> Connection::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(Errc::invalid_argument, "connect \"" + path + "\": a socket's path has 1 to " +
                                            std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_failure("socket for " + path, errno);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // A nonblocking Unix socket never connects later: it answers EAGAIN when the listener's queue is full.
    if (errno == EAGAIN) return fail(Errc::unavailable, "connect " + path + ": shapleyd does not accept connections");
    const bool forbidden = errno == EACCES || errno == EPERM;  // no use in trying again soon
    return system_failure("connect " + path, errno, forbidden ? Errc::denied : Errc::io);
  }
  SHAPLEY_TRY(check_peer(socket.get(), path));
  return Connection(std::move(socket));
}

void Connection::start_writing(std::string frame) {
  frame_ = std::move(frame);
  written_ = 0;
}

Expected<void> Connection::write_some() {
  while (is_writing()) {
    const ssize_t sent = ::send(socket_.get(), frame_.data() + written_, frame_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return fail(Errc::unavailable, "closed by the daemon");
    if (sent < 0) return system_failure("write to the daemon", errno);
    written_ += static_cast<std::size_t>(sent);
  }
  return {};
}

Expected<void> Connection::read_some(std::vector<protocol::Message>& messages) {
  std::array<char, 16384> buffer;  // NOLINT: filled by recv
  const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return {};
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return fail(Errc::unavailable, "closed by the daemon");
  if (got < 0) return system_failure("read from the daemon", errno);
  reader_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  while (true) {
    SHAPLEY_TRY_ASSIGN(std::optional<std::string> body, reader_.next());
    if (!body) return {};
    SHAPLEY_TRY_ASSIGN(protocol::Message message, protocol::decode_body(*body));
    messages.push_back(std::move(message));
  }
}

}  // namespace shapley::client
