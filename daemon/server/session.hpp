// One connection: reads bytes, passes messages to its owner, and queues and writes messages.
//
// Single-threaded (the io_context's). Lives as long as an operation is pending; close() ends it at any time. Bounds:
// the first frame has at most k_max_first_frame_bytes and must arrive in time; then the frame size of its role applies.
// A peer that leaves k_max_queued_bytes unread, or reads nothing for too long, is dropped, and so is a reader that does
// not ask for too long or sends a request too slowly. A reader's next request is read when its last answer is written;
// a closed connection is noticed meanwhile, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Session;

// The process at the other end of the connection, from the kernel (SO_PEERCRED), so it cannot be forged.
struct Peer {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
};

// What a session reports. All calls come from its own handlers; the owner may close the session in them.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // An error ends the session: it is sent to the peer as Refused if that has not been welcomed, and is logged in any
  // case.
  [[nodiscard]] virtual Expected<void> on_message(Session& session, protocol::Message message) = 0;
  // False: read no further until resume().
  [[nodiscard]] virtual bool may_read(const Session& session) const = 0;
  // Everything that was sent is written.
  virtual void on_written_out(Session& session) = 0;
  virtual void on_closed(Session& session) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t k_max_queued_bytes = 16U << 20U;
  static constexpr std::size_t k_max_query_bytes = 64U << 10U;

  struct Timeouts {
    std::chrono::seconds handshake{10};
    std::chrono::seconds write{30};
    std::chrono::seconds request{300};  // from one whole request of a reader to its next
  };

  Session(Socket socket, Peer peer, SessionOwner& owner, Timeouts timeouts);

  void start();
  void welcome(protocol::Role role);  // the handshake is over: the role's frame size counts from now on
  void send(const protocol::Message& message);
  void refuse(std::string reason);  // sends the reason, then closes
  void resume();
  void close();
  // Takes no further request until the next send(): the answer to the last one comes later.
  void await_answer() { awaits_answer_ = true; }
  // Drops the peer if it does not read its messages, or, as a reader, does not ask.
  void check_progress(Clock::time_point now);

  [[nodiscard]] const Peer& peer() const { return peer_; }
  // The peer's process ended, or closed the connection: on_closed() follows, unless another process holds the
  // connection open.
  [[nodiscard]] bool has_gone();
  // From now on its questions count as those of this user, as its peer reports.
  void ask_for(std::uint32_t uid) {
    peer_.uid = uid;
    asks_for_itself_ = false;
  }
  [[nodiscard]] bool asks_for_itself() const { return asks_for_itself_; }
  [[nodiscard]] std::optional<protocol::Role> role() const { return role_; }
  [[nodiscard]] std::size_t unwritten_bytes() const { return queued_bytes_; }
  [[nodiscard]] std::string name() const;  // "feeder (uid 64030, pid 812)"

  // The last ranks and levels that the owner sent to this session.
  struct Pushed {
    std::uint64_t instance = 0;
    std::optional<Instant> waits_since;  // for the first levels after a start
    std::uint64_t acknowledged = 0;
    std::uint64_t rank_generation = 0;
    Instant ranks_at;  // when they were sent last
    std::uint64_t level_generation = 0;
    std::uint64_t configuration_generation = 0;
    std::uint64_t owners_generation = 0;
    std::uint64_t reading_generation = 0;
  };
  Pushed pushed;

 private:
  void read();
  // A reader that closes its end is closed at once, although it is not read while it waits for an answer.
  void watch_hang_up();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void take_frames();
  [[nodiscard]] Expected<void> take_frame(bool& more);
  void on_written(const boost::system::error_code& error);
  void fail_with(const Error& error);
  void write();
  // Errors of readers are not logged, so that they cannot fill the log.
  void log_fault(const std::string& what) const;

  Socket socket_;
  Peer peer_;
  bool asks_for_itself_ = true;
  SessionOwner& owner_;
  Timeouts timeouts_;
  boost::asio::steady_timer handshake_;
  protocol::FrameReader reader_{protocol::k_max_first_frame_bytes};
  std::optional<protocol::Role> role_;
  std::vector<char> buffer_;
  std::deque<std::string> queue_;  // the first one is being written
  std::size_t queued_bytes_ = 0;
  Clock::time_point write_started_;
  Clock::time_point last_request_;  // of a reader; its welcome before the first
  bool awaits_answer_ = false;
  bool reading_ = false;
  bool closing_ = false;  // close when the queue is written
  bool closed_ = false;
};

// A Unix socket that any process on the host may connect to, with the user of each connection.

class Listener {
 public:
  // Called with each new connection, which is closed on exec, and the process at its other end.
  using Accepted = std::function<void(Session::Socket socket, const Peer& peer)>;
  Listener(boost::asio::io_context& io, std::string path, Accepted accepted);

  // Binds the path, mode 0666 (server.hpp says why), and listens. A socket file on which no process listens is
  // replaced. Errors, which leave no file of ours behind: Errc::conflict, another process listens there; Errc::io,
  // Errc::invalid_argument, the path cannot be used.
  [[nodiscard]] Expected<void> open();
  // Stops accepting connections.
  void stop();
  // After stop(): removes the socket file.
  void remove() const;

 private:
  void accept();

  boost::asio::io_context& io_;
  const std::string path_;
  const Accepted accepted_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
};

// Errc::protocol: the peer uses another version.
[[nodiscard]] Expected<void> check_version(const protocol::Hello& hello);

}  // namespace shapley::daemon
