#include "daemon/server/session.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::daemon {

namespace {

// A feeder sends much data at once; other clients may be many.
constexpr std::size_t k_feeder_buffer_bytes = 256U << 10U;
constexpr std::size_t k_buffer_bytes = 4096;

}  // namespace

Session::Session(Socket socket, Peer peer, SessionOwner& owner, Timeouts timeouts)
    : socket_(std::move(socket)),
      peer_(peer),
      owner_(owner),
      timeouts_(timeouts),
      handshake_(socket_.get_executor()),
      buffer_(k_buffer_bytes) {}

std::string Session::name() const {
  const std::string_view what = !role_ ? "connection" : *role_ == protocol::Role::feeder ? "feeder" : "reader";
  return fmt::format("{} (uid {}, pid {})", what, peer_.uid, peer_.pid);
}

void Session::start() {
  handshake_.expires_after(timeouts_.handshake);
  handshake_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->role_) return;
    spdlog::debug("server: {}: said nothing for {} s; closed", self->name(), self->timeouts_.handshake.count());
    self->close();
  });
  read();
}

void Session::welcome(protocol::Role role) {
  role_ = role;
  last_request_ = Clock::now();
  handshake_.cancel();
  const bool feeder = role == protocol::Role::feeder;
  reader_.set_limit(feeder ? protocol::k_max_frame_bytes : k_max_query_bytes);
  // The contents of the old buffer were passed to the frame reader already.
  if (feeder) buffer_.resize(k_feeder_buffer_bytes);
  if (!feeder) watch_hang_up();
}

void Session::watch_hang_up() {
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](const boost::system::error_code& error) {
    // Gone, or it sent urgent data, which no client of ours does.
    if (!error) self->close();
  });
}

bool Session::has_gone() {
  pollfd descriptor{socket_.native_handle(), 0, 0};
  if (::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & (POLLHUP | POLLERR)) != 0) return true;
  return peer_.pid > 0 && ::kill(peer_.pid, 0) != 0 && errno == ESRCH;
}

void Session::read() {
  if (closed_ || closing_ || reading_ || !owner_.may_read(*this)) return;
  reading_ = true;
  socket_.async_read_some(boost::asio::buffer(buffer_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
                            self->reading_ = false;
                            self->on_read(error, size);
                          });
}

void Session::resume() {
  read();
}

void Session::on_read(const boost::system::error_code& error, std::size_t size) {
  if (closed_) return;
  if (error) {
    // Only the end of a feeder is logged, by the server.
    close();
    return;
  }
  reader_.feed(std::string_view(buffer_.data(), size));
  take_frames();
}

void Session::take_frames() {
  bool more = true;
  while (more && !closed_ && !closing_) {
    // The rest waits in the frame reader until the answer is written.
    if (role_ == protocol::Role::reader && (awaits_answer_ || !queue_.empty())) return;
    if (const auto taken = take_frame(more); !taken) {
      fail_with(taken.error());
      return;
    }
  }
  read();
}

Expected<void> Session::take_frame(bool& more) {
  SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, reader_.next());
  more = body.has_value();
  if (!more) return {};
  last_request_ = Clock::now();
  SHAPLEY_TRY_ASSIGN(protocol::Message message, protocol::decode_body(*body));
  return owner_.on_message(*this, std::move(message));
}

void Session::fail_with(const Error& error) {
  log_fault(error.what + "; closed");
  refuse(error.what);
}

void Session::log_fault(const std::string& what) const {
  const bool feeder = role_ == protocol::Role::feeder;
  spdlog::log(feeder ? spdlog::level::err : spdlog::level::debug, "server: {}: {}", name(), what);
}

void Session::send(const protocol::Message& message) {
  awaits_answer_ = false;
  if (closed_ || closing_) return;
  if (queued_bytes_ > k_max_queued_bytes) {
    log_fault(fmt::format("leaves {} bytes unread; dropped", queued_bytes_));
    close();
    return;
  }
  queue_.push_back(protocol::encode_frame(message));
  queued_bytes_ += queue_.back().size();
  if (queue_.size() == 1) write();
}

void Session::refuse(std::string reason) {
  send(protocol::Refused{std::move(reason)});
  closing_ = true;
  if (queue_.empty()) close();
}

void Session::write() {
  write_started_ = Clock::now();
  boost::asio::async_write(
      socket_, boost::asio::buffer(queue_.front()),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) { self->on_written(error); });
}

void Session::on_written(const boost::system::error_code& error) {
  if (closed_) return;
  if (error) {
    close();
    return;
  }
  queued_bytes_ -= queue_.front().size();
  queue_.pop_front();
  if (!queue_.empty()) {
    write();
  } else if (closing_) {
    close();
  } else {
    // The owner may close the session in this call.
    owner_.on_written_out(*this);
    if (role_ == protocol::Role::reader && !reading_) take_frames();
  }
}

void Session::check_progress(Clock::time_point now) {
  if (closed_) return;
  if (!queue_.empty()) {
    if (now - write_started_ < timeouts_.write) return;
    log_fault(fmt::format("took nothing for {} s; dropped", timeouts_.write.count()));
    close();
  } else if (role_ == protocol::Role::reader && !awaits_answer_ && now - last_request_ >= timeouts_.request) {
    log_fault(fmt::format("asked nothing for {} s; dropped", timeouts_.request.count()));
    close();
  }
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  handshake_.cancel();
  socket_.close(ignored);
  owner_.on_closed(*this);
}

namespace {

using boost::asio::local::stream_protocol;

// Whether a process listens on the socket file; removes one that a dead daemon left.
Expected<void> make_room(boost::asio::io_context& io, const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return fail(Errc::io, fmt::format("server: open: {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return fail(
        Errc::conflict,
        fmt::format("server: open: {}: is there and is no socket; remove it or configure another `socket`", path));
  }
  stream_protocol::socket probe(io);
  boost::system::error_code error;
  probe.connect(stream_protocol::endpoint(path), error);
  if (!error || error == boost::asio::error::try_again) {
    return fail(
        Errc::conflict,
        fmt::format("server: open: {}: another process listens on it; stop it or configure another `socket`", path));
  }
  if (error != boost::asio::error::connection_refused) {
    return fail(Errc::io, fmt::format("server: open: {}: {}", path, error.message()));
  }
  spdlog::info("server: open: {}: replaced the socket of a daemon that is gone", path);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(Errc::io, fmt::format("server: open: remove {}: {}", path, std::strerror(errno)));
  }
  return {};
}

Expected<void> set_up(const std::string& path, stream_protocol::acceptor& acceptor) {
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) != 0) {
    return fail(Errc::io, fmt::format("server: open: mode of {}: {}", path, std::strerror(errno)));
  }
  boost::system::error_code error;
  acceptor.listen(stream_protocol::acceptor::max_listen_connections, error);
  if (error) return fail(Errc::io, fmt::format("server: listen: {}: {}", path, error.message()));
  return {};
}

// Processes that the daemon starts must not inherit it; Boost.Asio does not set this itself.
void close_on_exec(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

Expected<Peer> peer_of(Session::Socket& socket) {
  close_on_exec(socket.native_handle());
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return fail(Errc::io, fmt::format("server: accept: credentials of the peer: {}", std::strerror(errno)));
  }
  return Peer{credentials.uid, credentials.pid};
}

}  // namespace

Listener::Listener(boost::asio::io_context& io, std::string path, Accepted accepted)
    : io_(io), path_(std::move(path)), accepted_(std::move(accepted)), acceptor_(io), pause_(io) {}

Expected<void> Listener::open() {
  if (path_.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(Errc::invalid_argument, fmt::format("server: open: {}: a socket's path has at most {} bytes", path_,
                                                    sizeof(sockaddr_un::sun_path) - 1));
  }
  SHAPLEY_TRY(make_room(io_, path_));
  boost::system::error_code error;
  acceptor_.open(stream_protocol(), error);
  if (!error) close_on_exec(acceptor_.native_handle());
  if (!error) acceptor_.bind(stream_protocol::endpoint(path_), error);
  if (error) return fail(Errc::io, fmt::format("server: open: {}: {}", path_, error.message()));
  auto listens = set_up(path_, acceptor_);
  if (!listens) {
    unlink(path_.c_str());
    return listens;
  }
  accept();
  return {};
}

void Listener::stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::remove() const {
  unlink(path_.c_str());
}

void Listener::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, Session::Socket socket) {
    if (!acceptor_.is_open()) return;
    if (!error) {
      if (const auto peer = peer_of(socket)) {
        accepted_(std::move(socket), *peer);
      } else {
        spdlog::error("{}", peer.error().what);
      }
      accept();
      return;
    }
    // Descriptors or memory are exhausted. Other connections will be closed; trying again at once would only use
    // processor time.
    spdlog::error("server: accept: {}", error.message());
    pause_.expires_after(std::chrono::seconds(1));
    pause_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled && acceptor_.is_open()) accept();
    });
  });
}

Expected<void> check_version(const protocol::Hello& hello) {
  if (hello.version == protocol::k_version) return {};
  return fail(Errc::protocol,
              fmt::format("{} speaks protocol version {}, this daemon version {}; install the same release of both",
                          hello.program, hello.version, protocol::k_version));
}

}  // namespace shapley::daemon
