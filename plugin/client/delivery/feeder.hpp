// The client's own thread: the only one that touches the socket and the spool.
//
// It waits only in poll(2). States: away (until the next attempt), greeting (Hello sent), connected (Welcome received).
// On a new connection it sends the backlog first, because that may have runs that slurmctld has dropped meanwhile, and
// asks the scanning thread for a snapshot, which follows once the backlog is acknowledged. Every failure leads to
// `away`, and the observations are kept.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>

#include "plugin/client/delivery/connection.hpp"
#include "plugin/client/log.hpp"
#include "plugin/client/places/places.hpp"
#include "plugin/client/ranks/rank_table.hpp"
#include "plugin/client/spool/backlog.hpp"

namespace shapley::client {

// Only tests shorten them.
struct Timings {
  std::chrono::milliseconds first_backoff{100};  // doubled after each failure, until the daemon acknowledges something
  std::chrono::milliseconds longest_backoff{5000};
  std::chrono::milliseconds refused_retry{5000};  // after an answer that will not change if the request is repeated
  std::chrono::milliseconds spool_delay{1000};    // how long an unacknowledged observation may be in memory only
  // After this time without any answer a greeting is given up, and an established connection counts as silent: it
  // stays, but the ranks' age counts from then.
  std::chrono::milliseconds answer_timeout{30'000};
  // If the last message is this old, a scan without changes is reported, too.
  std::chrono::milliseconds sign_of_life{10'000};
};

struct FeederOptions {
  std::string socket_path;
  std::string spool_path;
  std::size_t spool_max_bytes = 0;
  protocol::Hello hello;
  Timings timings;
};

// Written by the feeder thread, read by any; for tests.
struct Counters {
  std::atomic<bool> connected = false;
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<std::uint64_t> acknowledged = 0;  // messages, not sequence numbers
  std::atomic<std::uint64_t> queued_bytes = 0;
  std::atomic<std::uint64_t> spooled_bytes = 0;
  std::atomic<std::uint64_t> reconnects = 0;
  std::atomic<std::uint64_t> snapshots = 0;
  std::atomic<std::uint64_t> dropped_backlogs = 0;
};

class Feeder {
 public:
  Feeder(FeederOptions options, Log log, EventDescriptor& event, Inbox& inbox, WakeUpSignal& wake_up, RankBoard& board,
         Places& places);
  ~Feeder() { stop(); }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  // Starts the thread, with every signal blocked. Errc::unavailable when no thread can be created.
  [[nodiscard]] Expected<void> start();
  // Spools what is not acknowledged, and joins the thread.
  void stop();
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  enum class State { away, greeting, connected };

  void run() noexcept;
  void start_over() noexcept;
  void turn();
  void sleep_until_due();
  [[nodiscard]] Clock::time_point next_due() const;

  void take_observations();
  void queue(ScanChunk&& chunk);
  // Without it the daemon could not distinguish an idle cluster from a slurmctld that hangs with its records locked.
  void give_sign_of_life();
  void keep_bound();
  void spool_what_is_due();

  void connect();
  void exchange(bool readable);
  void receive();
  void send();
  void handle(protocol::Message&& message);
  void handle_ranks(protocol::Ranks&& ranks);
  void handle_levels(const protocol::Levels& levels);
  void handle_welcome(const protocol::Welcome& welcome);
  void handle_acknowledgement(std::uint64_t sequence);
  // The daemon's ranks include everything that it has acknowledged.
  void note_reflected(std::uint64_t sequence);
  void lose(const Error& cause);
  void report_away(const Error& cause, bool was_in_use);
  void want_snapshot_once_backlog_is_through();
  void watch_answers(bool heard);
  void let_ranks_age(Clock::time_point now);
  [[nodiscard]] std::string kept_meanwhile() const;
  void watch_staleness();
  void publish_counters();

  // Called when observations were permanently lost: from now on the daemon is informed that observation began now.
  void note_dropped();

  const FeederOptions options_;
  const Log log_;
  EventDescriptor& event_;
  Inbox& inbox_;
  WakeUpSignal& wake_up_;
  RankBoard& board_;
  Places& places_;
  Counters counters_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;

  // Members that only the thread uses.
  Backlog backlog_;
  struct Sent {
    std::uint64_t sequence = 0;  // of a scan's last message
    std::uint64_t scan = 0;
  };
  std::deque<Sent> scans_;  // not acknowledged; the last k_max_scans
  protocol::Hello hello_;
  State state_ = State::away;
  std::optional<Connection> connection_;
  bool sending_observations_ = false;  // the frame under way is from the backlog, not Hello
  bool ready_to_read_ = false;
  std::uint64_t connection_number_ = 0;
  bool in_use_ = false;  // the daemon acknowledged something on this connection
  std::string program_;  // the daemon's name, from Welcome
  std::chrono::milliseconds backoff_;
  Clock::time_point next_attempt_;
  Clock::time_point next_spooling_;
  std::optional<Clock::time_point> answer_due_;
  Clock::time_point sign_due_;
  std::int64_t scanned_at_ = 0;  // the last scan whose changes are in the backlog, or were
  std::int64_t signed_at_ = 0;   // the scan that the last sign of life reported
  std::chrono::seconds stale_after_{0};
  std::optional<Clock::time_point> ranks_hold_until_;
  bool levels_known_ = false;  // the levels on this connection are known, or known to be absent
  bool silent_ = false;        // connected, but an answer is overdue by more than the timeout
  std::optional<std::uint64_t>
      backlog_at_welcome_;  // last message that the snapshot must wait for; nullopt: it was requested
  std::string reported_;    // why the daemon is away, as last logged; empty: nothing since it was in use
  std::string closed_;      // why a connection in use ended, until the next attempt; empty: that was logged as an error
};

}  // namespace shapley::client
