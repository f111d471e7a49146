// One of two controllers: which of them writes the ledger, and how the other one follows it. The rules, with their
// reasons: docs/internals/two-controllers.md.
//
// Asks the other controller one question at a time (poll), and acts on the answer. A standby appends the events that
// come; when Slurm promotes it (want_promotion) it first has the other one lay down writing, and takes what it lacks,
// as long as the other one answers. Where the two ledgers parted, the one of the later promotion is continued: the
// other controller finds the last event in common and ends (parting), for its ledger to be set aside, and follows from
// there on. No sockets: who asks is passed in, as time is. Single-threaded, apart from a comparison with what was set
// aside, which has a thread of its own.
#pragma once

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
#include "daemon/controllers/controller_record.hpp"
#include "daemon/controllers/follow_messages.hpp"

namespace shapley::daemon {

class Controllers {
 public:
  struct Options {
    std::filesystem::path ledger;
    std::string host;  // this one's name, for people
    std::string peer;  // where the other one is asked
    // So long a promotion waits for an other one that does not answer.
    Duration promote_patience{3};
    // So long one that wrote the ledger before it was restarted waits for the other one's word that it still may.
    Duration resume_patience{5};
  };
  // Called after the role changed. An error of become_active is logged; it stays active.
  struct Hooks {
    std::function<Expected<void>(Instant now)> become_active;
    std::function<void(Instant now)> become_standby;
  };
  // The other one's answer, or why there is none: Errc::unavailable.
  using Done = std::function<void(const Expected<std::string>& answer, Instant now)>;
  // Asks the other one; `done` is called once, at once or later, by the thread that polls.
  using Ask = std::function<void(std::string request, Done done)>;

  // The other controller has another ledger in its place: this one's own events after `common` are not in it.
  struct Parting {
    std::int64_t common = 0;
    std::int64_t own = 0;
  };

  // `books` must outlive it. Begins as standby; whether it goes on writing is decided with the first answers.
  Controllers(Books& books, Options options, ControllerRecord record, Hooks hooks, Instant now);

  // Asks the next question if none is being asked. Call some times a second, and again at once while has_more().
  void poll(const Ask& ask);
  [[nodiscard]] bool has_more() const { return more_ && !asking_; }
  // Once a second: compares with what was set aside.
  void tick(Instant now);

  // Slurm's word: slurmctld is primary here. It takes effect with one of the next polls.
  void want_promotion(std::string asked_by, Instant now);
  [[nodiscard]] bool is_promoting() const { return promotion_.has_value(); }
  // Writes no more, from now on.
  [[nodiscard]] Expected<void> demote(Instant now);

  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] bool is_catching_up() const { return more_; }
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  // Why a feeder is not wanted here. No figure in it: the plugin logs each reason once.
  [[nodiscard]] std::string refusal() const;
  // Who this is, for the other one's questions.
  [[nodiscard]] Expected<Controller> self() const;
  // For `status`: docs/reference/protocol.md.
  [[nodiscard]] nlohmann::json report(Instant now) const;

 private:
  struct Peer {
    Instant heard;
    Controller controller;
    ledger::Position head;
  };
  struct Promotion {
    std::string asked_by;
    Instant since;
    bool fenced = false;  // the other one said that it writes no more
  };
  struct Bisection {
    std::int64_t in_common = 0;  // the two chains are the same up to here at least
    std::int64_t parted = 0;     // and not up to here
    [[nodiscard]] std::int64_t middle() const { return in_common + (parted - in_common) / 2; }
  };

  [[nodiscard]] Expected<std::string> question() const;
  void on_fenced(const Expected<std::string>& answer, Instant now);
  void on_answer(const Expected<std::string>& answer, Instant now);
  void on_peer(const FollowAnswer& answer, Instant now);
  void on_rows(const ledger::ChainPart& part, Instant now);
  void on_other_chain(const FollowAnswer& answer, Instant now);
  void on_bisected(bool holds);
  void go_on_bisecting();
  void on_other_ledger(const FollowAnswer& answer, Instant now);
  // No answer came.
  void on_silence(const Error& error, Instant now);
  // Everything that the other one has is here, or this line is the one to continue.
  void settle(Instant now);
  void promote(Instant now);
  // If its promotion is still the last one.
  void resume(Instant now);
  void become_active(Instant now);
  void compare_set_aside(Instant now);
  // A failure is a fault that is shown.
  void keep_record();
  void say_fault(std::string fault);

  [[nodiscard]] std::string_view state() const;
  [[nodiscard]] std::optional<accounting::ControllerPromoted> own_promotion() const;
  [[nodiscard]] std::optional<accounting::ControllerPromoted> peer_promotion() const;

  Books& books_;
  Options options_;
  ControllerRecord record_;
  Hooks hooks_;
  Instant started_;

  Role role_ = Role::standby;
  bool resuming_ = false;  // it wrote the ledger before it was restarted
  bool asking_ = false;
  bool more_ = false;
  bool reachable_ = false;
  std::optional<Promotion> promotion_;
  std::optional<Bisection> bisection_;
  std::optional<Parting> parting_;
  std::optional<Peer> peer_;
  std::string fault_;    // as logged; empty: none
  std::string silence_;  // why the other one does not answer, likewise
  std::future<Expected<ledger::Parted>> comparison_;
  Instant compared_;
};

}  // namespace shapley::daemon
