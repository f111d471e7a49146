#include "daemon/server/session.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>

namespace shapley::daemon {

namespace {

// A feeder sends much at once; of the others there may be many.
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
  // What the old buffer held was handed to the frame reader already.
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
    // Only the end of a feeder is worth a line in the log; the server writes it.
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

}  // namespace shapley::daemon
