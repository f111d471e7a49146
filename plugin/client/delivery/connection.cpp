#include "plugin/client/delivery/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>

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

void Inbox::push(ScanChunk&& chunk) {
  std::deque<ScanChunk> discarded;  // destroyed after the mutex is free again
  {
    const MutexLock lock(mutex_);
    if (chunk.first && bytes_ > max_bytes_) {
      discarded.swap(content_.chunks);
      bytes_ = 0;
      content_.lost = true;
    }
    const std::size_t bytes = chunk.bytes;
    content_.chunks.push_back(std::move(chunk));
    bytes_ += bytes;
  }
  event_.signal();
}

void Inbox::note_scan(std::int64_t observed_at) {
  const MutexLock lock(mutex_);
  content_.scanned_at = observed_at;
}

void Inbox::mark_lost() {
  {
    const MutexLock lock(mutex_);
    content_.lost = true;
  }
  event_.signal();
}

std::uint64_t Inbox::snapshot_wanted_for() const {
  const MutexLock lock(mutex_);
  return snapshot_wanted_for_;
}

void Inbox::snapshot_taken_for(std::uint64_t connection) {
  const MutexLock lock(mutex_);
  if (snapshot_wanted_for_ == connection) snapshot_wanted_for_ = 0;
}

Inbox::Content Inbox::take() {
  Content taken;
  const MutexLock lock(mutex_);
  std::swap(taken, content_);
  content_.scanned_at = taken.scanned_at;
  taken.snapshot_wanted = snapshot_wanted_for_ != 0;
  bytes_ = 0;
  return taken;
}

void Inbox::want_snapshot_for(std::uint64_t connection) {
  const MutexLock lock(mutex_);
  snapshot_wanted_for_ = connection;
}

void WakeUpSignal::raise(bool WakeUpSignal::*flag) {
  {
    const MutexLock lock(mutex_);
    this->*flag = true;
  }
  changed_.notify_all();
}

enum shapley_wake WakeUpSignal::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const MutexLock lock(mutex_);
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    if (!hinted_ && !ranks_ && !stopped_) changed_.wait_until(mutex_, std::min(deadline, now + k_hint_delay));
    if (stopped_) return SHAPLEY_WAKE_STOP;
    if (std::exchange(ranks_, false)) return SHAPLEY_WAKE_RANKS;
    if (hinted_.exchange(false)) return SHAPLEY_WAKE_HINT;
    if (std::chrono::steady_clock::now() >= deadline) return SHAPLEY_WAKE_TICK;
  }
}

}  // namespace shapley::client
