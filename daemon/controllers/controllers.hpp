// One of two controllers: whether it writes the ledger, and how it follows the other one. The rules, with their
// reasons: docs/internals/two-controllers.md.
//
// The one that has a feeder writes; one that has none follows the other one. Only the feeder decides that: what comes
// over the network is read, and changes no role. Asks the other controller one question at a time (poll): a follower
// appends the events that come. A feeder that connects is held until everything that the other one has is here, or it
// has not answered for a while. Where the two ledgers parted, the one without a feeder finds the last event in common
// and ends (parting), for its ledger to be set aside, and follows from there on. No sockets: who asks is passed in, as
// time is. Single-threaded, apart from a comparison with what was set aside, which has a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/controllers/acknowledgements.hpp"
#include "daemon/controllers/controller_record.hpp"
#include "daemon/controllers/follow_messages.hpp"

namespace shapley::daemon {

class Controllers {
 public:
  using Milliseconds = std::chrono::milliseconds;
  struct Options {
    std::filesystem::path ledger;
    std::string host;      // this one's name, for people
    std::string peer;      // where the other one is asked
    std::string instance;  // of this process, like no other one's: so an answer that is its own is recognized
    // A feeder is held so long for an other one that does not answer, and so long for one that has a feeder still.
    Milliseconds silence_patience{5000};
    Milliseconds handover_patience{15000};
    // Beyond it a feeder is refused, and tries again: its greeting must be answered within 30 seconds.
    Milliseconds longest_hold{20000};
    // Rises evenly whatever is done to the wall clock.
    std::function<Milliseconds()> steady_clock = {};
  };
  // Called when it begins to write. An error is logged; it writes all the same.
  using BecomeActive = std::function<Expected<void>(Instant now)>;
  // The other one's answer, or why there is none: Errc::unavailable.
  using Done = std::function<void(const Expected<std::string>& answer, Instant now)>;
  // Asks the other one; `done` is called once, at once or later, by the thread that polls.
  using Ask = std::function<void(std::string request, Done done)>;

  // `books` must outlive it.
  Controllers(Books& books, Options options, ControllerRecord record, BecomeActive become_active);

  // Asks the next question if none is being asked. Call some times a second, and again at once while has_more().
  void poll(const Ask& ask);
  [[nodiscard]] bool has_more() const { return more_ && !asking_; }
  // Once a second: compares with what was set aside. An error: its record cannot be written, which is tried again.
  [[nodiscard]] Expected<void> tick(Instant now);

  // ---- the feeder ----
  // One is here, and is held until role() is active, or there is a refusal().
  void hold_feeder();
  void feeder_left();
  // Why the one that is held is not wanted; empty: it is held on. No figure in it: the plugin logs each reason once.
  [[nodiscard]] std::string refusal() const;
  // An administrator says that this one may begin with the ledger that it has. Errc::conflict: that is not needed.
  [[nodiscard]] Expected<void> allow_beginning(std::string_view author);

  // ---- the other one's questions ----
  // A question that came. Of a follower, it says how far it holds this ledger.
  void note_question(const FollowQuestion& question);
  [[nodiscard]] Expected<Controller> self() const;

  // Messages up to `message` are durable here, and everything of them is in the ledger by now.
  void note_durable(std::uint64_t message) {
    acknowledgements_.note_durable(message, books_.last_sequence(), now_ms());
  }
  // What the feeder may be told.
  [[nodiscard]] std::uint64_t acknowledged() { return acknowledgements_.released(now_ms()); }

  [[nodiscard]] Role role() const { return role_; }
  // Whether an administrator's order can be written here: it writes, or neither does, and nothing is missing here.
  [[nodiscard]] bool takes_orders() const;
  [[nodiscard]] bool is_catching_up() const { return more_; }
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  // For `status`: docs/reference/protocol.md.
  [[nodiscard]] nlohmann::json report() const;

 private:
  struct Peer {
    Milliseconds heard;
    Controller controller;
    ledger::Position head;
  };
  // Where this ledger and the other one's part.
  struct Fork {
    std::int64_t in_common = 0;  // the two chains are the same up to here at least
    std::int64_t parted = 0;     // and not up to here
    [[nodiscard]] bool is_found() const { return parted - in_common <= 1; }
    [[nodiscard]] std::int64_t middle() const { return in_common + (parted - in_common) / 2; }
  };

  [[nodiscard]] Milliseconds now_ms() const { return options_.steady_clock(); }
  [[nodiscard]] Expected<std::string> question() const;
  void on_answer(const Expected<std::string>& answer, Instant now);
  void on_peer(const FollowAnswer& answer, Instant now);
  void on_rows(const ledger::ChainPart& part, Instant now);
  void on_other_chain(const FollowAnswer& answer, Instant now);
  void decide_fork(Instant now);
  void on_other_ledger(const FollowAnswer& answer, Instant now);
  // No answer came, or none that helps.
  void on_silence(const Error& error, Instant now);
  // Everything that the other one has is here, or is not to be continued.
  void on_caught_up(Instant now);
  void begin(accounting::PeerAnswer peer, Instant now);
  // Whether its ledger lacks a part that only the other one has: it is empty, or was never copied to its end.
  [[nodiscard]] bool is_partial() const { return books_.last_sequence() == 0 || record_.copying; }
  [[nodiscard]] bool lacks_other() const { return is_partial() && !is_allowed_; }
  [[nodiscard]] bool is_heard() const;
  [[nodiscard]] bool has_waited(Milliseconds patience) const {
    return held_since_ && now_ms() >= *held_since_ + patience;
  }
  [[nodiscard]] std::optional<std::int64_t> behind() const;
  [[nodiscard]] std::string_view state() const;
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
  std::optional<Fork> fork_;
  std::optional<Parting> parting_;
  std::optional<Peer> peer_;
  std::string fault_;    // as logged; empty: none
  std::string silence_;  // why the other one does not answer, likewise
  std::future<Expected<ledger::Parted>> comparison_;
  Instant compared_;
};

}  // namespace shapley::daemon
