// One of two controllers: decides whether it writes the ledger, and follows the other one.
// docs/internals/two-controllers.md has the rules with their reasons.
//
// The controller with a feeder writes, and the one without a feeder follows. Only the feeder decides that: messages of
// the other controller never change a role. The controller sends one question at a time to the other one (poll), and a
// follower appends the events of the answer. A feeder that connects is held until all events of the other one are here,
// or until that one has not answered for a while. If the two ledgers have diverged, the controller without a feeder
// ends (has_parted), so that its ledger is set aside, and follows from the beginning. There are no sockets here: the
// function that asks is passed in, as time is. Single-threaded, except for the comparison with ledgers that were set
// aside, which has a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/controllers/controller_json.hpp"

namespace shapley::daemon {

// Decides when the feeder's messages are acknowledged. While the other controller follows and has caught up, they are
// acknowledged when it has them, too, so that no acknowledged message is lost with a host. The follower is waited for
// at most a second. After that the two are out of step: messages are acknowledged when they are durable here, and
// counted, until the follower has caught up.

class Acknowledgements {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds k_patience{1000};
  // A follower that has not asked for this time is away.
  static constexpr Milliseconds k_silence{3000};

  // A feeder begins to send; the numbers of its messages start again.
  void begin();
  // The follower holds the ledger up to the event `sequence`; here it ends with `head`.
  void confirm(std::int64_t sequence, std::int64_t head, Milliseconds now);
  // Messages up to `message` are durable here, in events up to `head`.
  void note_durable(std::uint64_t message, std::int64_t head, Milliseconds now);

  // The highest message that may be acknowledged; 0: none.
  [[nodiscard]] std::uint64_t released(Milliseconds now);
  // Whether acknowledged messages are on both hosts.
  [[nodiscard]] bool in_step(Milliseconds now) const { return in_step_ && now < asked_ + k_silence; }
  // The last event that the follower was known to have.
  [[nodiscard]] std::int64_t confirmed() const { return confirmed_; }
  // The number of messages that were acknowledged without the follower.
  [[nodiscard]] std::uint64_t alone() const { return alone_; }

 private:
  struct Pending {
    std::uint64_t message = 0;
    std::int64_t head = 0;
    Milliseconds since;
  };

  std::deque<Pending> pending_;  // ascending
  std::uint64_t released_ = 0;
  std::uint64_t alone_ = 0;
  bool in_step_ = false;
  Milliseconds asked_{0};
  std::int64_t confirmed_ = 0;
  std::int64_t head_then_ = 0;  // the ledger's end when the follower asked last
};

class Controllers {
 public:
  using Milliseconds = std::chrono::milliseconds;
  struct Options {
    std::filesystem::path ledger;
    std::string host;      // the name of this controller, for messages
    std::string peer;      // the address of the other controller
    std::string instance;  // unique to this process, so that an answer from itself is recognized
    // The times for which a feeder is held if the other controller does not answer, and if that one still has a feeder.
    Milliseconds silence_patience{5000};
    Milliseconds handover_patience{15000};
    // After this time a feeder is refused, and tries again, because its greeting must be answered within 30 seconds.
    Milliseconds longest_hold{20000};
    // A monotonic clock, independent of the wall clock.
    std::function<Milliseconds()> steady_clock = {};
  };
  // Called when this controller begins to write. An error is logged, and it writes nevertheless.
  using BecomeActive = std::function<Expected<void>(Instant now)>;
  // The other one's answer, or Errc::unavailable with the reason why it has no answer.
  using Done = std::function<void(const Expected<std::string>& answer, Instant now)>;
  // Asks the other controller; `done` is called once, immediately or later, by the thread that polls.
  using Ask = std::function<void(std::string request, Done done)>;

  // `books` must outlive it.
  Controllers(Books& books, Options options, ControllerRecord record, BecomeActive become_active);

  // Asks the next question if none is pending. Call several times a second, and again immediately while has_more().
  void poll(const Ask& ask);
  [[nodiscard]] bool has_more() const { return more_ && !asking_; }
  // Call once a second: compares with ledgers that were set aside. An error: the record cannot be written, which is
  // tried again.
  [[nodiscard]] Expected<void> tick(Instant now);

  // ---- the feeder ----
  // A feeder has connected, and is held until role() is active, or there is a refusal().
  void hold_feeder();
  void feeder_left();
  // The reason why the held feeder is refused; empty: it is still held. Without figures, because the plugin logs each
  // reason once.
  [[nodiscard]] std::string refusal() const;
  // An administrator allows this controller to begin with the ledger that it has. Errc::conflict: that is not needed.
  [[nodiscard]] Expected<void> allow_beginning(std::string_view author);

  // ---- the other one's questions ----
  // Answers a question. A follower's question says how much of this ledger it has.
  void note_question(const FollowQuestion& question);
  [[nodiscard]] Expected<Controller> self() const;
  // Whether the position is in this chain, archives included.
  [[nodiscard]] Expected<bool> holds(const ledger::Position& position) const;

  // Messages up to `message` are durable here, and all of their events are in the ledger.
  void note_durable(std::uint64_t message) {
    acknowledgements_.note_durable(message, books_.last_sequence(), now_ms());
  }
  // The highest message that may be acknowledged to the feeder.
  [[nodiscard]] std::uint64_t acknowledged() { return acknowledgements_.released(now_ms()); }

  [[nodiscard]] Role role() const { return role_; }
  // Whether an administrator's order can be written here: this controller writes, or neither does and this ledger is
  // complete.
  [[nodiscard]] bool takes_orders() const;
  // Whether an order in events up to `head` is on both hosts; otherwise, whether that is to be expected soon.
  [[nodiscard]] bool is_on_both(std::int64_t head) const { return acknowledgements_.confirmed() >= head; }
  [[nodiscard]] bool is_followed() const {
    return role_ == Role::active ? acknowledgements_.in_step(now_ms()) : is_heard();
  }
  // Whether this ledger has all that is known to be in either.
  [[nodiscard]] bool is_current() const { return role_ == Role::active || behind() == 0; }
  [[nodiscard]] bool is_catching_up() const { return more_; }
  // The other controller has a diverged ledger, and continues that one.
  [[nodiscard]] bool has_parted() const { return parted_; }
  // The report for `status`: docs/reference/protocol.md.
  [[nodiscard]] protocol::ControllerReport report() const;

 private:
  struct Peer {
    Milliseconds heard;
    Controller controller;
    ledger::Position head;
  };

  [[nodiscard]] Milliseconds now_ms() const { return options_.steady_clock(); }
  [[nodiscard]] Expected<std::string> question() const;
  void on_answer(const Expected<std::string>& answer, Instant now);
  void on_peer(const FollowAnswer& answer, Instant now);
  void on_rows(const ledger::ChainPart& part, Instant now);
  void on_other_chain(const FollowAnswer& answer, Instant now);
  void on_other_ledger(const FollowAnswer& answer, Instant now);
  // There was no answer, or no useful one.
  void on_silence(const Error& error, Instant now);
  // All events of the other controller are here, or are not to be continued.
  void on_caught_up(Instant now);
  void begin(accounting::PeerAnswer peer, Instant now);
  // Whether this ledger lacks a part that only the other controller has: it is empty, or was never copied completely.
  [[nodiscard]] bool is_partial() const { return books_.last_sequence() == 0 || record_.copying; }
  [[nodiscard]] bool lacks_other() const { return is_partial() && !is_allowed_; }
  // Whether what it lacks comes from the other one.
  [[nodiscard]] bool is_copying() const;
  // Whether the copy has all that the other one had when it began.
  [[nodiscard]] bool is_whole_copy() const;
  [[nodiscard]] bool is_heard() const;
  [[nodiscard]] bool has_waited(Milliseconds patience) const {
    return held_since_ && now_ms() >= *held_since_ + patience;
  }
  [[nodiscard]] std::optional<std::int64_t> behind() const;
  [[nodiscard]] protocol::ControllerState state() const;
  void compare_set_aside(Instant now);
  [[nodiscard]] Expected<void> keep_record();
  void keep_copying(bool copying);
  void say_fault(std::string fault);

  Books& books_;
  Options options_;
  ControllerRecord record_;
  bool record_is_kept_ = true;  // in its file, as it is in memory
  BecomeActive become_active_;
  Acknowledgements acknowledgements_;

  Role role_ = Role::standby;
  bool asking_ = false;
  bool more_ = false;
  bool in_line_ = false;    // the last answer showed that the one chain is the beginning of the other
  bool reachable_ = false;  // the last question was answered
  bool is_allowed_ = false;
  bool was_wanted_ = false;                 // a feeder came since it last began
  std::optional<Milliseconds> held_since_;  // a feeder is held
  bool asked_since_ = false;                // the question that is being asked was made after that
  bool parted_ = false;
  std::optional<Peer> peer_;
  std::string fault_;    // as logged; empty: none
  std::string silence_;  // why the other one does not answer, likewise
  std::future<Expected<ledger::Parted>> comparison_;
  std::size_t comparing_ = 0;  // of what was set aside
  Instant compared_;
};

}  // namespace shapley::daemon
