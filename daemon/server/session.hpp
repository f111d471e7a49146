// One connection: bytes in, messages out to its owner, messages queued and written back.
//
// Single-threaded (the io_context's). Lives as long as an operation is pending; close() ends it at any time. Bounds: a
// first frame of k_max_first_frame_bytes in good time, then the frame size of its role; a peer that leaves
// k_max_queued_bytes unread, or takes nothing for too long, is dropped, and so is a reader that asks nothing for too
// long or lets a request trickle in. A reader's next request is read when its last one is answered and the answer
// written; that it has gone is seen meanwhile, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Session;

// Whoever the connection's peer is, as the kernel says (SO_PEERCRED): it cannot be forged.
struct Peer {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
};

// What a session tells. All calls come from its own handlers; the owner may close the session in them.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  // An error ends the session: the peer gets it as Refused if it has not been welcomed, the log gets it in any case.
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
  void refuse(std::string reason);  // says why, then closes
  void resume();
  void close();
  // Takes no further request until the next send(): the answer to the last one comes later.
  void await_answer() { awaits_answer_ = true; }
  // Drops the peer if it does not take what is written for it, or, as a reader, asks nothing.
  void check_progress(Clock::time_point now);

  [[nodiscard]] const Peer& peer() const { return peer_; }
  // Its process ended, or closed the connection: on_closed() follows, or something else holds the connection open.
  [[nodiscard]] bool has_gone();
  // From now on its questions are this user's, whom its peer names.
  void ask_for(std::uint32_t uid) {
    peer_.uid = uid;
    asks_for_itself_ = false;
  }
  [[nodiscard]] bool asks_for_itself() const { return asks_for_itself_; }
  [[nodiscard]] std::optional<protocol::Role> role() const { return role_; }
  [[nodiscard]] std::size_t unwritten_bytes() const { return queued_bytes_; }
  [[nodiscard]] std::string name() const;  // "feeder (uid 64030, pid 812)"

  // What the owner last pushed to this session.
  struct Pushed {
    std::uint64_t instance = 0;
    std::optional<Instant> waits_since;  // for the first levels after a start
    std::uint64_t acknowledged = 0;
    std::uint64_t rank_generation = 0;
    Instant ranks_at;  // when they were sent last
    std::uint64_t level_generation = 0;
    std::uint64_t configuration_generation = 0;
    std::uint64_t reading_generation = 0;
  };
  Pushed pushed;

 private:
  void read();
  // A reader that hangs up is closed at once, though nothing is read from it while it awaits an answer.
  void watch_hang_up();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void take_frames();
  [[nodiscard]] Expected<void> take_frame(bool& more);
  void on_written(const boost::system::error_code& error);
  void fail_with(const Error& error);
  void write();
  // What a reader does is nobody's concern but its own: it must not fill the log.
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

}  // namespace shapley::daemon
