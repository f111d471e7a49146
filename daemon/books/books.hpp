// The ledger and the State that folds it, kept together.
//
// Invariant: the State is the fold of exactly the events in the ledger. Events are appended first, and only accepted
// events are applied. So a failed commit (disk full) changes nothing, and a killed daemon comes back with everything
// that it has acknowledged. Time is passed in.
//
// Late events, which are older than the State's memory, are appended like all others, unless they reach into an
// archived period; then the books have to be rebuilt.
// Until that is done, the earlier figures are kept (`held()`), and the State is only a memory
// (State::keep_memory_only), complete for comparisons with records. A rebuild runs in a thread of its own
// (ledger/recovery/background.hpp); its owner says when to begin, so that many late events cost one rebuild. A
// checkpoint is made in another thread; only one of the two runs at a time. Everything else is single-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/contract.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/observer/run_writer.hpp"
#include "ledger/recovery/background.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/acknowledged.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

struct HeldFigures;  // held_figures.hpp

// The memory limit of hindsight, and the coalitions that are kept within it.
//
// Hindsight's memory depends on users' jobs. If it exceeds the limit, fewer coalitions are kept: first only pairs, then
// none, so that its stand-in ranks. Each step is an event, so the books stay a function of the ledger.
//
// The least memory limit of the process's cgroup and its parents, by version 2 or 1; nullopt: there is no limit. `self`
// is /proc/self/cgroup, `root` the mount point of the cgroups.
[[nodiscard]] std::optional<std::int64_t> cgroup_memory(const std::filesystem::path& self = "/proc/self/cgroup",
                                                        const std::filesystem::path& root = "/sys/fs/cgroup");

// In bytes: the configured limit, else a quarter of the cgroup's limit, else 1 GiB.
[[nodiscard]] std::int64_t hindsight_bound(const config::Configuration& configuration,
                                           const std::optional<std::int64_t>& cgroup);

struct HindsightMemory {
  std::int64_t bytes = 0;  // that it takes
  std::int64_t bound = 0;  // that it may take
};

// The next step, if the books need one.
[[nodiscard]] std::optional<accounting::HindsightBounded> hindsight_step(const accounting::State& state,
                                                                         const HindsightMemory& memory, Instant now);

// A histogram of the durations of commits since the start of shapleyd, from which a monitor computes quantiles.
class CommitTimes {
 public:
  // Upper bounds of the buckets, in seconds, ascending; longer commits are in no bucket. A sync to disk takes
  // milliseconds, and a commit that takes longer than the plugin's scan interval (a second) delays acknowledgements.
  static constexpr std::array k_bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0};
  static constexpr std::chrono::seconds k_slow{1};

  void note(std::chrono::duration<double> took) {
    ++count_;
    seconds_ += took.count();
    last_seconds_ = took.count();
    slow_in_a_row_ = took > k_slow ? slow_in_a_row_ + 1 : 0;
    const auto bucket = std::ranges::lower_bound(k_bounds, took.count());
    if (bucket != k_bounds.end()) ++counts_[static_cast<std::size_t>(bucket - k_bounds.begin())];
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // sum of all commits
  [[nodiscard]] double last_seconds() const { return last_seconds_; }
  // The number of last commits that took longer than a second each.
  [[nodiscard]] std::uint64_t slow_in_a_row() const { return slow_in_a_row_; }
  // The number of commits that took at most k_bounds[i] seconds, and more than the bound before.
  [[nodiscard]] const std::array<std::uint64_t, k_bounds.size()>& counts() const { return counts_; }

 private:
  std::uint64_t count_ = 0;
  double seconds_ = 0;
  double last_seconds_ = 0;
  std::uint64_t slow_in_a_row_ = 0;
  std::array<std::uint64_t, k_bounds.size()> counts_{};
};

// The configuration in the ledger: the last declaration of each kind.
struct Declared {
  std::optional<accounting::OrganizationsDeclared> organizations;
  std::optional<accounting::PeriodDeclared> period;
  std::optional<accounting::ConfigurationLoaded> configuration;
  std::optional<accounting::RankingDeclared> ranking;
  std::optional<accounting::ChargeDeclared> charge;
  std::optional<accounting::ResidualMeasured> residual;
  std::optional<accounting::ConsortiumDeclared> consortium;
  std::optional<accounting::HindsightDefined> hindsight;
  std::map<std::string, std::vector<accounting::OwnershipStated>> ownership;  // by node, ascending by `effective`
};

// The state of books whose figures lack late events.
struct Incomplete {
  Instant since;               // when the first of them was booked
  std::optional<int> percent;  // progress of the rebuild, from 0 to 100; nullopt: it has not begun
};

class Books {
 public:
  struct Options {
    std::int64_t most_replayed = 100'000;  // events; if a start replays more, it saves a checkpoint first
    ledger::OnProgress on_migration = {};  // called with the progress of a migration of the ledger
    accounting::StateOptions state = {};   // of the books
    // The approximate number of steps that an estimator that is behind does at each request: starts, ends and undone
    // steps, in all of its schedules. With 200,000 the longest turn of bench_hindsight took 435 ms on a machine that
    // was busy with other things, 87 ms of them without the estimator (docs/benchmarks.md); a quarter of that is no
    // longer than a slow disk makes a record wait.
    std::uint64_t effort = 50'000;
  };
  // Through `watch` another thread can follow and end the replay and the checkpoint after it.
  [[nodiscard]] static Expected<Books> open(const std::filesystem::path& file, const Options& options,
                                            ledger::ReplayWatch* watch = nullptr);

  // One transaction: durable when it returns. On error neither ledger nor State changed. Errc::conflict, also without
  // events, when the ledger's file was removed or replaced: nothing may be acknowledged. Conflicting events (another
  // fact of the same identity is on record) are refused and logged, and so are those that would change what is
  // archived; the others of the batch stand.
  [[nodiscard]] Expected<void> commit(std::span<const accounting::Event> events, Instant now);

  // ---- what was acknowledged (ledger/store/acknowledged.hpp) ----
  // Set from a start that finds less than was acknowledged until the gap that this leaves is committed
  // (GapCause::events_lost), or until a standby has copied the missing events.
  [[nodiscard]] const std::optional<ledger::Acknowledged>& lost() const { return lost_; }
  // Call once a second: syncs the file, and writes it again if that failed after a commit.
  [[nodiscard]] Expected<void> keep_acknowledged();

  // The durations of all commits that wrote events, failed ones included.
  [[nodiscard]] const CommitTimes& commit_times() const { return commit_times_; }

  // ---- for a standby (daemon/controllers) ----
  // Appends rows of the chain that this ledger continues, and applies their events; errors: ledger::append_copied.
  [[nodiscard]] Expected<void> follow(std::span<const ledger::ChainRow> rows, Instant now);
  // ledger::adopt_identity.
  [[nodiscard]] Expected<void> adopt_identity(const std::string& identity);

  // While the books are incomplete, the State is a memory of jobs, nodes and placements, and has no figures.
  [[nodiscard]] accounting::State& state() { return state_; }
  [[nodiscard]] const accounting::State& state() const { return state_; }
  [[nodiscard]] const ledger::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::int64_t last_sequence() const { return last_sequence_; }
  [[nodiscard]] std::int64_t replayed_at_start() const { return replayed_; }

  [[nodiscard]] Expected<Declared> declared() const;
  // The last instant at which an observation changed the books, according to the newest events; nullopt: these contain
  // none.
  [[nodiscard]] std::optional<Instant> last_observed() const { return last_observed_; }

  // The daemon's time when the ledger was last written: an event, or the end of a day; nullopt: never.
  [[nodiscard]] Expected<std::optional<Instant>> last_written() const;

  // The segments of a run from the ledger's tables, for runs that began before the State's horizon; empty for later
  // ones.
  [[nodiscard]] Expected<std::vector<PastSegment>> past_segments(JobId job, Instant start) const;

  // ---- late events ----
  // Whether one of these events, which are about to be committed, is older than the State's memory. If so, the books
  // are incomplete from now on, and events that were derived from them have to be derived again, because the memory
  // then reaches farther back.
  [[nodiscard]] bool become_incomplete_by(std::span<const accounting::Event> events, Instant now);
  [[nodiscard]] std::optional<Incomplete> incomplete() const;
  // The figures of the moment before the books became incomplete; nullptr while they are complete.
  [[nodiscard]] const HeldFigures* held() const { return held_.get(); }
  // By what the figures of held() count an array's rest.
  void count_tasks_by(std::function<ledger::StartableTasks()> tasks) { startable_tasks_ = std::move(tasks); }
  // The number of successful rebuilds since the start.
  [[nodiscard]] std::int64_t rebuilds() const { return rebuilds_; }
  // Begins a rebuild in a thread of its own, if the books are incomplete and no rebuild has begun. Errc::unavailable.
  [[nodiscard]] Expected<void> begin_rebuild();
  [[nodiscard]] bool is_rebuilding() const { return rebuild_ != nullptr; }
  // If a rebuild has ended: takes its books over, and applies the events that were appended meanwhile. If one of these
  // is late, the books stay incomplete. An error is that of the rebuild, which can be begun again.
  [[nodiscard]] Expected<void> end_rebuild();

  // ---- estimators ----
  // The estimators that have caught up (State::catch_up); the others continue to do so. REQUIRES: the books are
  // complete.
  [[nodiscard]] accounting::EstimatorSet able(Instant now) {
    SHAPLEY_REQUIRE(!incomplete());
    return state_.advance(now).catch_up(effort_);
  }
  // Sets the estimators that are kept. If they change, the books are rebuilt with them, from the first event on.
  void keep(const accounting::EstimatorSet& kept, Instant now);

  // From time to time, measures the memory of hindsight, which walks over all of its records. If it exceeds the limit,
  // and this process writes the books, fewer coalitions are kept. REQUIRES: the books are complete.
  [[nodiscard]] Expected<void> bound_hindsight(const config::Configuration& configuration, bool writes, Instant now);
  // The last measurement.
  [[nodiscard]] const HindsightMemory& hindsight_memory() const { return hindsight_memory_; }

  // Writes the standings of every UTC day that ended since the last call, without those of estimators that are behind.
  // If the books are incomplete, the standings are written later.
  [[nodiscard]] Expected<void> close_days(Instant now);

  // ---- memory and checkpoints ----
  // Drops records that are older than the memory horizon, and returns whether that is due.
  void compact();
  [[nodiscard]] bool have_much_to_forget() const;
  // Begins a checkpoint of the present books, in a thread of its own (ledger/recovery/background.hpp), so that
  // the next start need not replay more than what comes after it. Does nothing while a checkpoint is being made, or
  // while the books are incomplete, because the rebuild saves one. Errc::unavailable.
  [[nodiscard]] Expected<void> begin_checkpoint(Instant now);
  [[nodiscard]] bool is_saving_checkpoint() const { return checkpoint_ != nullptr; }
  // If a checkpoint has ended: true if it was saved, else the error. False: none has ended since the last call.
  [[nodiscard]] Expected<bool> end_checkpoint();
  // Stores a signed head in the ledger (ledger/chain/signing.hpp).
  [[nodiscard]] Expected<void> store_head(const ledger::SignedHead& head) { return ledger_.store_head(head); }
  [[nodiscard]] std::int64_t events_since_checkpoint() const { return last_sequence_ - checkpoint_sequence_; }

 private:
  Books(std::filesystem::path file, ledger::Ledger ledger, ledger::Recovered recovered, const Options& options);
  [[nodiscard]] Expected<Instant> first_unwritten_day(Instant today) const;
  // Applies events that the ledger has accepted.
  void take(std::span<const accounting::Event> events, Instant now);
  void apply(const accounting::Event& event, Instant now);
  void hold(const accounting::Event& late, Instant now);
  void hold(Instant now);
  void save_now(const std::atomic<bool>* stop);
  [[nodiscard]] Expected<void> find_loss();
  void note_acknowledged(std::span<const accounting::Event> events);
  [[nodiscard]] Expected<std::optional<Instant>> read_last_observed() const;

  std::filesystem::path file_;
  accounting::StateOptions options_;
  std::uint64_t effort_;
  ledger::Ledger ledger_;
  accounting::State state_;
  std::int64_t last_sequence_ = 0;
  std::optional<ledger::Acknowledged> lost_;
  Expected<void> acknowledged_written_;
  bool is_acknowledged_synced_ = true;
  std::int64_t replayed_ = 0;
  CommitTimes commit_times_;
  std::int64_t checkpoint_sequence_ = 0;
  struct Moment {
    std::int64_t sequence = 0;
    Instant time;
  };
  Moment compacted_at_;
  bool has_more_to_forget_ = false;  // than it had time for
  Instant weighed_at_;               // when hindsight's memory was last measured
  HindsightMemory hindsight_memory_;
  std::optional<Instant> last_observed_;
  std::optional<Instant> day_;  // begin of the UTC day whose standings are to be written next

  std::function<ledger::StartableTasks()> startable_tasks_;
  std::shared_ptr<const HeldFigures> held_;  // set while the books are incomplete
  std::int64_t rebuilds_ = 0;
  std::unique_ptr<ledger::Rebuild> rebuild_;              // set while a rebuild runs; then no checkpoint is made
  std::unique_ptr<ledger::CheckpointThread> checkpoint_;  // likewise
};

}  // namespace shapley::daemon
