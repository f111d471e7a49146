// shapleyd without sockets: configuration, books, intake and ranks in one place. Time is passed in, so that tests own
// it; whoever has no time of their own asks now().
//
// Single-threaded. Errors of the ledger while running (disk full) are logged, once each, and leave everything as it
// was: what was not committed is not acknowledged, and the next tick tries again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/books/cluster_name.hpp"
#include "daemon/books/intake.hpp"
#include "daemon/books/kept_privacy.hpp"
#include "daemon/books/upkeep.hpp"
#include "daemon/clock/clock_file.hpp"
#include "daemon/clock/trusted_clock.hpp"
#include "daemon/configuration/in_force.hpp"
#include "daemon/configuration/residual.hpp"
#include "daemon/configuration/site.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/observer/observer.hpp"
#include "daemon/requests/queue.hpp"
#include "daemon/workflows/workflows.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Service {
 public:
  struct Options {
    std::filesystem::path configuration_file;
    // A checkpoint is due after so many events, which take about a second to replay, or, if there was any, after so
    // long.
    std::int64_t checkpoint_events = 100'000;
    Duration checkpoint_interval{600};
    // Late events are collected for one rebuild while the feeder sends its backlog. It begins all the same when nothing
    // came for so long, or when they have waited for so long.
    Duration feed_silence{30};
    Duration longest_collection{600};
    std::uint64_t effort = Books::Options{}.effort;  // of an estimator that is behind, whenever ranks are made
    Intake::Limits intake;
    ledger::OnProgress on_migration = {};  // of a ledger that an older release wrote
    std::string host = {};                 // this machine, where there are two controllers
    std::string instance = {};             // this process, likewise
    std::function<std::chrono::milliseconds()> steady_clock = [] {
      return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
    };
    // The host's clocks, and the name of its present boot. Without them every time that is passed in is believed.
    std::function<ClockReading()> read_clock = {};
    std::string boot = {};
  };

  // Opens the ledger, recovers the books and states the configuration in them, as of `now`, or of the trusted time if
  // there is `read_clock`. `watch` lets another thread follow the replay that this may take, and end it.
  [[nodiscard]] static Expected<std::unique_ptr<Service>> start(Site site, Options options, Instant now,
                                                                ledger::ReplayWatch* watch = nullptr);

  // Takes the new configuration over: ownership from `now` on (configuration/declarations.hpp). On error the old one
  // stays. What only a restart can change (ledger, socket) keeps its old value, with a warning.
  [[nodiscard]] Expected<void> reload(Site site, Instant now);
  // The file was read again and is not taken over; status says so.
  void note_refusal(std::string why, Instant now) { in_force_.refuse(std::move(why), now); }

  // ---- time ----
  // The trusted time (clock/trusted_clock.hpp). REQUIRES: options().read_clock.
  [[nodiscard]] Instant now();
  // An administrator says that the wall clock is right.
  void accept_clock();
  // nullptr: there is no `read_clock`.
  [[nodiscard]] const TrustedClock* clock() const { return clock_ ? &*clock_ : nullptr; }
  // ---- two controllers ----
  // nullptr: this is the only one.
  [[nodiscard]] Controllers* controllers() { return controllers_.get(); }
  [[nodiscard]] const Controllers* controllers() const { return controllers_.get(); }
  // Whether it writes the ledger.
  [[nodiscard]] bool is_active() const { return !controllers_ || controllers_->role() == Role::active; }

  // ---- feeder ----
  // REQUIRES: cluster().admit() let it in.
  void begin_session(const protocol::Hello& hello, Instant now);
  void end_session();
  // Of two controllers: the feeder has gone, whose session may have begun. What it said is booked.
  void feeder_left(Instant now);
  void receive(FeederFrame frame, Instant now);
  [[nodiscard]] bool accepting() const { return intake_->accepting(); }
  // Reads a portion of what was received against the books, commits, ranks anew. Call once for many frames, and again
  // while it is unfinished. False: the commit failed.
  bool process(Instant now);
  [[nodiscard]] bool is_unfinished() const { return intake_->is_unfinished(); }
  // Once a second: late settlements, dated changes of ownership, ranks, days, checkpoints; tries again what failed.
  void tick(Instant now);
  // Commits and signs a head. A checkpoint that is under way ends with the service, saved or not.
  void stop(Instant now);

  // ---- upkeep (books/upkeep.hpp) ----
  [[nodiscard]] const Upkeep& upkeep() const { return upkeep_; }
  // Keeps it in memory all the same if the file cannot be written, which is tried again every second.
  [[nodiscard]] Expected<void> note_upkeep(const Upkeep& upkeep);

  // ---- privacy (books/kept_privacy.hpp) ----
  // As the feeder said last, to this process or to one before; nullopt: it never did.
  [[nodiscard]] const std::optional<KeptPrivacy>& privacy() const { return privacy_; }

  // ---- what to tell feeders ----
  [[nodiscard]] protocol::Welcome welcome(std::uint64_t instance) const;
  // Of two controllers: of the session that goes on.
  [[nodiscard]] std::uint64_t acknowledged(std::uint64_t instance) const;
  [[nodiscard]] const protocol::Ranks& ranks() const { return ranks_; }
  // Whether an estimator has work left, and does some of it.
  [[nodiscard]] bool is_behind() const { return is_behind_; }
  void catch_up(Instant now) { refresh_ranks(now); }
  [[nodiscard]] const Workflows& workflows() const { return workflows_; }
  [[nodiscard]] protocol::Rules rules() const { return {site_.rules}; }
  [[nodiscard]] std::uint64_t configuration_generation() const { return configuration_generation_; }
  // Rises when records that were read before mean something else now (rules, weights): a fresh snapshot is needed.
  [[nodiscard]] std::uint64_t reading_generation() const { return reading_generation_; }

  // ---- for queries ----
  struct Feeder {
    bool connected = false;
    protocol::Hello hello;
    Instant last_heard;
    // Sequence numbers of this connection's first and newest message; 0: none came.
    std::uint64_t first_received = 0;
    std::uint64_t last_received = 0;

    // Messages that are known to exist and are not durable here. `acknowledged`: Intake::acknowledged().
    [[nodiscard]] std::uint64_t backlog(std::uint64_t acknowledged) const;
  };
  // Readers' queries since the start, as the server says.
  struct QueryCounts {
    std::size_t waiting = 0;  // now
    std::size_t reading = 0;  // now, in the threads that read the ledger: 0 to 2
    std::uint64_t answered = 0;
    std::uint64_t dropped = 0;  // their clients went before the answer
  };
  void note(const QueryCounts& queries) { query_counts_ = queries; }
  [[nodiscard]] const QueryCounts& query_counts() const { return query_counts_; }
  [[nodiscard]] Books& books() { return books_; }
  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] const Intake& intake() const { return *intake_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] const std::optional<Feeder>& feeder() const { return feeder_; }
  [[nodiscard]] ClusterName& cluster() { return cluster_; }
  [[nodiscard]] const ClusterName& cluster() const { return cluster_; }
  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] const InForce& in_force() const { return in_force_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // What fails at present and is tried again: operation -> cause.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& failures() const { return failures_; }
  [[nodiscard]] Instant started_at() const { return started_at_; }

 private:
  Service(Site site, Options options, Books books, Instant now);

  // Kept in memory all the same if the file cannot be written, which is tried again every second.
  void note_privacy(protocol::Privacy&& privacy, Instant now);
  // Write the files, unless they have it already.
  void keep_privacy();
  [[nodiscard]] Expected<void> keep_upkeep();
  // Compares the host's clocks with what the ledger, and the last process, knew.
  [[nodiscard]] static Expected<TrustedClock> start_clock(const Options& options, const Books& books,
                                                          const std::optional<KeptClock>& kept);
  // Tells the log and the intake what became of the clock.
  void follow_clock(const std::optional<TrustedClock::Doubt>& before, Instant now);
  void keep_clock();
  // Makes the intake, which begins with what the look's file says.
  void make_intake();
  // Keeps until when a feeder scanned, if that is so much later than what is kept.
  void keep_look(Duration later);
  // Of two controllers: this one begins as a follower.
  [[nodiscard]] Expected<void> pair_up();
  [[nodiscard]] Expected<void> become_active(Instant now);
  [[nodiscard]] Expected<void> state_configuration(const Site& site, Instant now);
  // Keeps a signed head in the ledger, if there is a key.
  [[nodiscard]] Expected<void> store_head(Instant now);
  void refresh_ranks(Instant now);
  // Takes down by whom ranks are made, and logs it if that is news.
  void note_able(const accounting::EstimatorSet& able);
  // Takes over what `site_` says of workflows; true if it is something else than before.
  bool configure_workflows(Instant now);
  // Begins and ends rebuilds of the books.
  void rebuild_books(Instant now);
  void rest_after_rebuild(Instant now);
  [[nodiscard]] bool feed_goes_on(Instant now) const;
  // Forgets what a start replayed and is beyond the horizon.
  void begin_memory(Instant now);
  // Maintenance: memory, the mean residual run time, checkpoints and signed heads.
  void maintain(Instant now);
  // Measures the mean residual run time where that is due, and states it where it is news.
  [[nodiscard]] Expected<void> measure_residual(Instant now);
  [[nodiscard]] bool is_checkpoint_due(Instant now) const;
  void end_checkpoint(Instant now);
  void checkpoint_failed(const Expected<void>& result, Instant now);
  // Logs a failure once, until the operation succeeds or fails for another reason.
  bool succeeded(std::string_view operation, const Expected<void>& result, std::string_view again = "every second");

  Site site_;
  InForce in_force_;
  Options options_;
  Books books_;
  std::optional<TrustedClock> clock_;
  std::optional<KeptClock> kept_clock_;  // as the clock's file has it
  Instant kept_look_ = k_beginning_of_time;
  ReadingRules rules_;
  ClusterName cluster_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<Controllers> controllers_;
  std::optional<Feeder> feeder_;  // the last one, connected or not
  QueryCounts query_counts_;
  Upkeep upkeep_;
  bool upkeep_is_kept_ = true;  // in the file, as it is in memory
  std::optional<KeptPrivacy> privacy_;
  bool privacy_is_kept_ = true;  // in the file, as it is in memory
  protocol::Ranks ranks_;
  std::optional<accounting::EstimatorId> ranked_by_;
  bool is_behind_ = false;
  ResidualWatch residual_watch_;
  Workflows workflows_;
  Queue queue_;
  std::uint64_t configuration_generation_ = 1;
  std::uint64_t reading_generation_ = 1;
  Instant started_at_;
  Instant last_checkpoint_;  // when the last one was begun
  Instant no_checkpoint_before_ = k_beginning_of_time;
  Instant rebuild_began_ = k_beginning_of_time;
  Instant no_rebuild_before_ = k_beginning_of_time;
  std::optional<Instant> head_day_;                           // the UTC day that has its signed head
  std::map<std::string, std::string, std::less<>> failures_;  // operation -> cause, as logged
};

}  // namespace shapley::daemon
