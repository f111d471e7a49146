// shapleyd without sockets: configuration, books, intake and ranks. Time is passed in, so that tests control it;
// callers without a timestamp use now().
//
// Single-threaded. Errors of the ledger while running (disk full) are logged, once each, and change nothing else:
// uncommitted messages are not acknowledged, and the next tick tries again.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/books/cluster_name.hpp"
#include "daemon/books/intake.hpp"
#include "daemon/books/side_files.hpp"
#include "daemon/books/trusted_clock.hpp"
#include "daemon/books/user_names.hpp"
#include "daemon/configuration/site.hpp"
#include "daemon/consortium/consortium.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/maintenance.hpp"
#include "daemon/observer/observer.hpp"
#include "daemon/ranks.hpp"
#include "daemon/requests/pending_jobs.hpp"
#include "daemon/workflows/workflows.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Service {
 public:
  struct Options : Maintenance::Limits {
    std::filesystem::path configuration_file;
    std::uint64_t effort =
        Books::Options{}.effort;  // steps of an estimator that is behind, whenever ranks are computed
    Intake::Limits intake;
    ledger::OnProgress on_migration = {};  // progress with a ledger that an older release wrote
    std::string host = {};                 // name of this host, if there are two controllers
    std::string instance = {};             // name of this process, likewise
    std::function<std::chrono::milliseconds()> steady_clock = [] {
      return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
    };
    // The host's clocks, and the name of its present boot. Without them, all times that are passed in are believed.
    std::function<ClockReading()> read_clock = {};
    std::string boot = {};
    UserLookup user_names = {};  // null: users have no names in the ledger
  };

  // Opens the ledger, recovers the books and states the configuration in them, as of `now`, or of the trusted time if
  // there is `read_clock`. `watch` lets another thread follow the replay that this may take, and end it.
  [[nodiscard]] static Expected<std::unique_ptr<Service>> start(Site site, Options options, Instant now,
                                                                ledger::ReplayWatch* watch = nullptr);

  // Takes the new configuration over: ownership from `now` on (configuration/declarations.hpp). On error the old
  // configuration stays. Keys that only a restart can change (ledger, socket) keep their old values, with a warning.
  [[nodiscard]] Expected<void> reload(Site site, Instant now);
  // Records that the file was read again and refused, for `status`.
  void note_refusal(std::string why, Instant now) { in_force_.refuse(std::move(why), now); }

  // ---- time ----
  // The trusted time (books/trusted_clock.hpp). REQUIRES: options().read_clock.
  [[nodiscard]] Instant now();
  // An administrator confirms the wall clock.
  void accept_clock();
  // nullptr: there is no `read_clock`.
  [[nodiscard]] const TrustedClock* clock() const { return clock_ ? &*clock_ : nullptr; }
  // ---- two controllers ----
  // nullptr: there is only one controller.
  [[nodiscard]] Controllers* controllers() { return controllers_.get(); }
  [[nodiscard]] const Controllers* controllers() const { return controllers_.get(); }
  // Whether this daemon writes the ledger.
  [[nodiscard]] bool is_active() const { return !controllers_ || controllers_->role() == Role::active; }

  // ---- other clusters ----
  [[nodiscard]] Consortium& consortium() { return consortium_; }
  [[nodiscard]] const Consortium& consortium() const { return consortium_; }
  // What came for another cluster of the consortium (Consortium::receive); ranks follow it at once.
  void receive_standing(const std::string& cluster, HeardStatement heard, Instant now);

  // ---- feeder ----
  // REQUIRES: cluster().admit() has admitted the feeder.
  void begin_session(const protocol::Hello& hello, Instant now);
  void end_session();
  // For two controllers: the feeder has gone, whose session may have begun. Its messages are booked.
  void feeder_left(Instant now);
  void receive(FeederFrame frame, Instant now);
  [[nodiscard]] bool accepting() const { return intake_->accepting(); }
  // Reads a portion of the received frames against the books, commits, and computes the ranks again. Call once for many
  // frames, and again while it is unfinished. False: the commit failed.
  bool process(Instant now);
  [[nodiscard]] bool is_unfinished() const { return intake_->is_unfinished(); }
  // Call once a second: handles late records, dated changes of ownership, ranks, days and checkpoints, and tries failed
  // operations again.
  void tick(Instant now);
  // Commits and signs a head. A checkpoint that is being made ends with the service, saved or not.
  void stop(Instant now);

  // ---- files beside the ledger (books/side_files.hpp) ----
  [[nodiscard]] Upkeep upkeep() const { return upkeep_.value().value_or(Upkeep{}); }
  // Keeps the value in memory even if the file cannot be written; writing is tried again every second.
  [[nodiscard]] Expected<void> note_upkeep(const Upkeep& upkeep);
  // The last report of a feeder, to this process or an earlier one; nullopt: there was none.
  [[nodiscard]] const std::optional<KeptPrivacy>& privacy() const { return privacy_.value(); }

  // ---- messages to feeders ----
  [[nodiscard]] protocol::Welcome welcome(std::uint64_t instance) const;
  // For two controllers: of the present session.
  [[nodiscard]] std::uint64_t acknowledged(std::uint64_t instance) const;
  [[nodiscard]] const protocol::Ranks& ranks() const { return ranks_.ranks(); }
  // Does a part of an estimator's work; returns whether some is left.
  [[nodiscard]] bool is_behind() const { return ranks_.is_behind(); }
  void catch_up(Instant now) { refresh_ranks(now); }
  [[nodiscard]] const Workflows& workflows() const { return workflows_; }
  [[nodiscard]] protocol::Rules rules() const {
    return {site_.rules, charge_rule(site_.configuration), ranks_.owners()};
  }
  // Rises with the owners in rules(), which change without a reload.
  [[nodiscard]] std::uint64_t owners_generation() const { return ranks_.owners_generation(); }
  [[nodiscard]] std::uint64_t configuration_generation() const { return configuration_generation_; }
  // Rises when a change of rules or weights affects records that were read before, so that a fresh snapshot is needed.
  [[nodiscard]] std::uint64_t reading_generation() const { return reading_generation_; }

  // ---- for queries ----
  struct Feeder {
    bool connected = false;
    protocol::Hello hello;
    Instant last_heard;
    // Sequence numbers of this connection's first and newest message; 0: no message came.
    std::uint64_t first_received = 0;
    std::uint64_t last_received = 0;

    // The number of messages that are known to exist and are not durable here. `acknowledged`: Intake::acknowledged().
    [[nodiscard]] std::uint64_t backlog(std::uint64_t acknowledged) const;
  };
  // Readers' queries since the start, counted by the server.
  void note(const protocol::QueryCounts& queries) { query_counts_ = queries; }
  [[nodiscard]] const protocol::QueryCounts& query_counts() const { return query_counts_; }
  [[nodiscard]] Books& books() { return books_; }
  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] const Intake& intake() const { return *intake_; }
  [[nodiscard]] const PendingJobs& pending_jobs() const { return pending_jobs_; }
  [[nodiscard]] const std::optional<Feeder>& feeder() const { return feeder_; }
  [[nodiscard]] ClusterName& cluster() { return cluster_; }
  [[nodiscard]] const ClusterName& cluster() const { return cluster_; }
  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] const InForce& in_force() const { return in_force_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // Operations that fail at present and are tried again: operation -> cause.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& failures() const { return failures_.present(); }
  [[nodiscard]] Instant started_at() const { return started_at_; }

 private:
  Service(Site site, Options options, Books books, Intake::Resumed resumed, Instant now);

  void note_privacy(protocol::Privacy&& privacy, Instant now);
  // Writes the file, unless it has the value already; a failed write is tried again every second.
  template <typename Value>
  Expected<void> write(SideFile<Value>& file);
  // Compares the host's clocks with the times that the ledger and the last process recorded.
  [[nodiscard]] static Expected<TrustedClock> start_clock(const Options& options, const Books& books,
                                                          const std::optional<KeptClock>& kept);
  // Logs the state of the clock, and passes it to the intake.
  void follow_clock(const std::optional<TrustedClock::Doubt>& before, Instant now);
  void keep_clock();
  void refresh_ranks(Instant now) { ranks_.refresh(intake_->away(), now); }
  // Makes the intake, which begins with the instant in the file of the last look.
  void make_intake(Intake::Resumed resumed = {});
  // Stores the instant until which a feeder scanned, if it is at least `later` after the stored one.
  void keep_look(Duration later);
  // For two controllers: this one begins as a follower.
  [[nodiscard]] Expected<void> pair_up();
  [[nodiscard]] Expected<void> become_active(Instant now);
  [[nodiscard]] Expected<void> state_configuration(const Site& site, Instant now);
  [[nodiscard]] bool feed_goes_on(Instant now) const;

  Site site_;
  InForce in_force_;
  Options options_;
  Books books_;
  std::optional<TrustedClock> clock_;
  ReadingRules rules_;
  ClusterName cluster_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<Controllers> controllers_;
  std::optional<Feeder> feeder_;  // the last one, connected or not
  protocol::QueryCounts query_counts_;
  SideFile<Upkeep> upkeep_;
  SideFile<KeptPrivacy> privacy_;
  SideFile<KeptClock> clock_file_;
  SideFile<KeptLook> look_;
  Consortium consortium_;
  RankMaker ranks_;
  Failures failures_;
  Maintenance maintenance_;
  Workflows workflows_;
  PendingJobs pending_jobs_;
  NamedUsers users_;
  std::uint64_t configuration_generation_ = 1;
  std::uint64_t reading_generation_ = 1;
  Instant started_at_;
};

}  // namespace shapley::daemon
