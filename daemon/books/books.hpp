// The ledger and the State that folds it, kept together.
//
// Invariant: the State is the fold of exactly the events in the ledger. Events are appended first; only what the ledger
// accepted is applied. So a failed commit (disk full) changes nothing, and a killed daemon comes back with all that it
// ever acknowledged. Time is passed in.
//
// Late events, older than the State remembers, are appended like all others, unless they reach into what is archived,
// and the books are then to be rebuilt.
// Until that is done the figures of a moment before are held (`held()`), and the State is a memory alone
// (State::keep_memory_only), complete for whoever compares records with it. A rebuild runs in a thread of its own
// (ledger/recovery/rebuild.hpp); its owner says when to begin, so that many late events cost one rebuild. A checkpoint
// is made in another, one of the two at a time. Everything else is of one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/books/commit_times.hpp"
#include "daemon/books/held_figures.hpp"
#include "daemon/observer/run_writer.hpp"
#include "ledger/recovery/checkpoint_thread.hpp"
#include "ledger/recovery/rebuild.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

// What the ledger says the configuration is: the last declaration of each kind.
struct Declared {
  std::optional<accounting::OrganizationsDeclared> organizations;
  std::optional<accounting::PeriodDeclared> period;
  std::optional<accounting::ConfigurationLoaded> configuration;
  std::optional<accounting::RankingDeclared> ranking;
  std::optional<accounting::ChargeDeclared> charge;
  std::optional<accounting::ResidualMeasured> residual;
  std::map<std::string, std::vector<accounting::OwnershipStated>> ownership;  // by node, ascending by `effective`
};

// The books lack late events in their figures.
struct Incomplete {
  Instant since;               // when the first of them was booked
  std::optional<int> percent;  // of the rebuild that is under way, from 0 to 100; nullopt: it has not begun
};

class Books {
 public:
  struct Options {
    std::int64_t most_replayed = 100'000;  // events; after more a checkpoint is saved before anything else
    ledger::OnProgress on_migration = {};  // told how far a migration of the ledger is
    accounting::StateOptions state = {};   // of the books
    // About so many steps an estimator that is behind does whenever somebody asks: starts, ends and what is undone, in
    // all of its schedules. With 200,000 the longest turn of bench_hindsight took 435 ms on a machine that was busy
    // with other things, 87 ms of them without the estimator (docs/benchmarks.md); a quarter of that is no longer than
    // a slow disk makes a record wait.
    std::uint64_t effort = 50'000;
  };
  // `watch` lets another thread follow the replay that this may take, and end it or the checkpoint after it.
  [[nodiscard]] static Expected<Books> open(const std::filesystem::path& file, const Options& options,
                                            ledger::ReplayWatch* watch = nullptr);

  // One transaction: durable when it returns. On error neither ledger nor State changed. Conflicting events (another
  // fact of the same identity is on record) are refused and logged, and so are those that would change what is
  // archived; the others of the batch stand.
  [[nodiscard]] Expected<void> commit(std::span<const accounting::Event> events, Instant now);

  // Of every commit() that had something to write, failed ones included.
  [[nodiscard]] const CommitTimes& commit_times() const { return commit_times_; }

  // ---- of a standby (daemon/controllers) ----
  // Appends rows of the chain that this ledger continues, and applies their events; errors: ledger::append_copied.
  [[nodiscard]] Expected<void> follow(std::span<const ledger::ChainRow> rows, Instant now);
  // ledger::adopt_identity.
  [[nodiscard]] Expected<void> adopt_identity(const std::string& identity);

  // While the books are incomplete it is a memory of jobs, nodes and placements, and has no figures.
  [[nodiscard]] accounting::State& state() { return state_; }
  [[nodiscard]] const accounting::State& state() const { return state_; }
  [[nodiscard]] const ledger::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::int64_t last_sequence() const { return last_sequence_; }
  [[nodiscard]] std::int64_t replayed_at_start() const { return replayed_; }

  [[nodiscard]] Expected<Declared> declared() const;
  // The last instant at which an observation changed the books, as far as the newest events tell; nullopt: none does.
  [[nodiscard]] std::optional<Instant> last_observed() const { return last_observed_; }

  // When the ledger was last written, by the daemon's time: an event, or the end of a day; nullopt: never.
  [[nodiscard]] Expected<std::optional<Instant>> last_written() const;

  // The segments of a run from the ledger's tables, for runs that began before the State's horizon; empty for later
  // ones.
  [[nodiscard]] Expected<std::vector<PastSegment>> past_segments(JobId job, Instant start) const;

  // ---- late events ----
  // Whether one of these events, which are to be committed, is older than the State remembers. If so the books are
  // incomplete from now on, and what was derived from them before is better derived again: they know farther back then.
  [[nodiscard]] bool become_incomplete_by(std::span<const accounting::Event> events, Instant now);
  [[nodiscard]] std::optional<Incomplete> incomplete() const;
  // The figures of the moment before the books became incomplete; nullptr while they are complete.
  [[nodiscard]] const HeldFigures* held() const { return held_ ? &*held_ : nullptr; }
  // Of those that ended well since the start.
  [[nodiscard]] std::int64_t rebuilds() const { return rebuilds_; }
  // Begins a rebuild in a thread of its own, if the books are incomplete and none is under way. Errc::unavailable.
  [[nodiscard]] Expected<void> begin_rebuild();
  [[nodiscard]] bool is_rebuilding() const { return rebuild_ != nullptr; }
  // If a rebuild has ended: takes its books over, with what was appended meanwhile. The books stay incomplete if there
  // is a late event among that, too. An error is that of the rebuild; it can be begun again.
  [[nodiscard]] Expected<void> end_rebuild();

  // ---- estimators ----
  // Those that can say at once how things stand (State::caught_up); the others go on working at it. REQUIRES: the books
  // are complete.
  [[nodiscard]] accounting::EstimatorSet able(Instant now) { return state_.caught_up(now, effort_); }
  // From now on these are kept. If others are than before, the books are rebuilt with them, from the first event on.
  void keep(const accounting::EstimatorSet& kept, Instant now);

  // Looks now and then whether hindsight takes more memory than it may, and then keeps fewer of its coalitions
  // (hindsight_memory.hpp). REQUIRES: the books are complete.
  [[nodiscard]] Expected<void> bound_hindsight(const config::Configuration& configuration, Instant now);

  // Writes the standings of every UTC day that ended since the last call; later, if the books are incomplete. Without
  // those by an estimator that is behind.
  [[nodiscard]] Expected<void> close_days(Instant now);

  // ---- memory and checkpoints ----
  // Forgets what is beyond the horizon, and whether it is time to.
  void compact();
  [[nodiscard]] bool have_much_to_forget() const;
  // Begins a checkpoint of the present books, in a thread of its own (ledger/recovery/checkpoint_thread.hpp), so that
  // the next start need not replay more than what comes after it. Not while one is under way, nor of incomplete books:
  // the rebuild saves one. Errc::unavailable.
  [[nodiscard]] Expected<void> begin_checkpoint(Instant now);
  [[nodiscard]] bool is_saving_checkpoint() const { return checkpoint_ != nullptr; }
  // If the checkpoint has ended, whether it was saved: true or the error. False: none has ended since.
  [[nodiscard]] Expected<bool> end_checkpoint();
  // Keeps a signed head in the ledger (ledger/chain/signed_head.hpp).
  [[nodiscard]] Expected<void> store_head(const ledger::SignedHead& head) { return ledger_.store_head(head); }
  [[nodiscard]] std::int64_t events_since_checkpoint() const { return last_sequence_ - checkpoint_sequence_; }

 private:
  Books(std::filesystem::path file, ledger::Ledger ledger, ledger::Recovered recovered, const Options& options);
  [[nodiscard]] Expected<Instant> first_unwritten_day(Instant today) const;
  // What the ledger has accepted.
  void take(std::span<const accounting::Event> events, Instant now);
  void apply(const accounting::Event& event, Instant now);
  void hold(const accounting::Event& late, Instant now);
  void hold(Instant now);
  void save_now(const std::atomic<bool>* stop);
  [[nodiscard]] Expected<std::optional<Instant>> read_last_observed() const;

  std::filesystem::path file_;
  accounting::StateOptions options_;
  std::uint64_t effort_;
  ledger::Ledger ledger_;
  accounting::State state_;
  std::int64_t last_sequence_ = 0;
  std::int64_t replayed_ = 0;
  CommitTimes commit_times_;
  std::int64_t checkpoint_sequence_ = 0;
  struct Moment {
    std::int64_t sequence = 0;
    Instant time;
  };
  Moment compacted_at_;
  bool has_more_to_forget_ = false;  // than it had time for
  Instant weighed_at_;               // when it was looked how much hindsight takes
  std::optional<Instant> last_observed_;
  std::optional<Instant> day_;  // begin of the UTC day whose standings are to be written next

  std::optional<HeldFigures> held_;  // there while the books are incomplete
  std::int64_t rebuilds_ = 0;
  std::unique_ptr<ledger::Rebuild> rebuild_;              // under way, and then no checkpoint is
  std::unique_ptr<ledger::CheckpointThread> checkpoint_;  // likewise
};

}  // namespace shapley::daemon
