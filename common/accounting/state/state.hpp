// State: the books of all organizations, as a fold over events.
//
// Invariants: the same set of events in any order, with any repetition, gives the same books; at every instant
// Sum(psi) = Sum(phi) by every estimator, to the unit. It reads no clock: apply() and advance(t) move the present, and
// questions are answered for now(). Single-threaded, questions included, because they may finish work that was put off;
// the caller owns it.
//
// psi is a sum over segments and does not care about order. phi, what an organization gave, is measured by every
// estimator of the table (estimators/table.hpp), always; the caller chooses one to rank by. What late events may change
// is remembered back to `memory_horizon()`. An event older than that makes apply() answer needs_replay; the caller then
// rebuilds from the ledger, and may go on with the memory alone meanwhile (keep_memory_only).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/estimators/table.hpp"
#include "accounting/events/event.hpp"
#include "accounting/state/consortium.hpp"
#include "accounting/worth/worth.hpp"
#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "game/split.hpp"

namespace shapley::accounting {

// What apply() did.
enum class Applied {
  changed,       // the books know something new
  duplicate,     // this very fact was known; nothing changed
  needs_replay,  // older than the memory horizon: nothing changed; rebuild from the ledger with this event included
};

// One organization's row at one instant. psi, phi and the works count from the begin of the current period.
struct Standing {
  OrgId organization;
  Utility psi;
  CpuTime got;                  // work its jobs did
  Credits credits;              // phi and work given, by EstimatorId
  ProcessorMillionths charged;  // what its running jobs are charged now, in the unit of psi
  ProcessorMillionths waiting;  // what its eligible pending jobs ask for now, in the same unit
  // In processors, which are CPUs of nodes, whatever they are worth:
  ProcessorMillionths owned;     // offered now, by ownership and capacity
  ProcessorMillionths used;      // its jobs block now
  ProcessorMillionths lent;      // its processors blocked by other organizations' jobs now
  ProcessorMillionths borrowed;  // other organizations' processors blocked by its jobs now
  // Of `got`, and of the work given by every estimator: what was agreed on and no run did (WorkSettled).
  CpuTime settled_got;
  CpuTime settled_given;

  [[nodiscard]] Utility phi(EstimatorId e) const { return credits[e.value].phi; }
  [[nodiscard]] CpuTime given(EstimatorId e) const { return credits[e.value].given; }
  [[nodiscard]] ProcessorMillionths rate(EstimatorId e) const { return credits[e.value].rate; }
  [[nodiscard]] Utility balance(EstimatorId e) const { return phi(e) - psi; }

  // Adds the figures of an organization that is a part of this one.
  Standing& operator+=(const Standing& part);
};

// A closed period's final rows; `owned`, `used` and the like are those of its last second. Late events correct them.
struct ClosedPeriod {
  Instant begin;
  Instant end;
  std::vector<Standing> standings;  // by OrgId
};

struct LiveSegment {
  SegmentOpened opened;
  std::optional<Instant> end;  // set when closed but still remembered
};

struct RetractedSegment {
  SegmentKey key;  // stays used: another segment with it would be a repetition or a contradiction
  Instant at;
};

// A node during [begin, end), in which it offers the same to the same owners.
struct NodeStretch {
  const std::string& node;
  Instant begin, end;
  const CapacityChanged* known;  // its capacity; nullptr: not known
  ProcessorMillionths offered;   // in the unit of psi, as `whole`
  ProcessorMillionths whole;     // what it is worth, offered or not; `offered` where that is not known
  std::vector<std::pair<OrgId, std::int64_t>> owners;  // rows, with their parts per million, which sum to 1,000,000

  // Calls visit(owner, part) for each owner's part of `total`; the parts sum to total.
  template <typename Visit>
  void split(ProcessorMillionths total, Visit&& visit) const {
    game::split_among(
        owners, total.value, [](const auto& owner) { return Int128{owner.second}; },
        [&](const auto& owner, std::int64_t part) { visit(owner.first, ProcessorMillionths{part}); });
  }
};

// How the remembered waits and runs of a placement use it.
struct PlacementUse {
  // The first begin of those that end after what is known last of the placement (PlacementResolved), or of all where
  // nothing is known; k_end_of_time: there are none.
  Instant since = k_end_of_time;
  std::map<OrgId, ProcessorMillionths> demand;  // of those that are open, by organization
};

// Stands for the members of a description except job and submit time: whether two of them say the same.
[[nodiscard]] std::uint64_t content_hash(const JobDescribed& description);

// Which description of a job is known as its newest.
struct KnownDescription {
  Instant submit;
  Instant since = k_beginning_of_time;  // of the change (JobChanged) that it comes from, if it comes from one
  std::uint64_t content = 0;            // its content_hash
};

// What the observer needs to know of a job that slurmctld may still mention.
struct JobMemory {
  std::string organization;
  std::optional<KnownDescription> description;
  JobId array;                              // 0: none
  std::vector<SegmentKey> segments;         // ascending; runs and waits that count
  std::vector<RetractedSegment> retracted;  // ascending by key
  // The latest end of a wait that ended with its job, whether or not it was taken back.
  std::optional<Instant> wait_ended;
};

// How far back late events are re-evaluated without a replay; compact() forgets what is older. Memory and the time to
// load a state follow the jobs that are remembered, so a busy site's memory horizon is nearer.
struct StateOptions {
  Duration memory_horizon{2 * 24 * 3600};
  // Beyond so many finished jobs the oldest are forgotten sooner, but none within the last `shortest_memory_horizon`:
  // when thousands of jobs are cancelled at once, late events of a moment before must still find what they concern.
  std::size_t most_finished = 150'000;  // > 0
  Duration shortest_memory_horizon{6 * 3600};
  // These are not kept and cost nothing: by them every organization gave what it got. They can be left out of books
  // that had them; books that had not have to be made again from the first event to have them.
  EstimatorSet left_out = {};
  // For readers: load() leaves out what the text's books had not.
  bool as_saved = false;
};

using UserNames = std::map<std::uint32_t, std::string>;
using NodeNames = std::set<std::string, std::less<>>;

// Nodes of the same owners, whose parts sum to 1,000,000.
struct OwnedNodes {
  std::vector<std::string> nodes;
  std::vector<OwnerPart> owners;
};

struct Rank;     // ranking.hpp
struct RankRow;  // ranking.hpp

class State {
 public:
  explicit State(StateOptions options = {});
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  ~State();

  // Folds one event in; the present moves to the event's time if that is later. Errors (books unchanged):
  // Errc::conflict when a different event has the same key, or a segment would end before it begins;
  // Errc::invalid_argument for a malformed event (negative processors, shares over 100 %, ...). A SegmentClosed may
  // come before its SegmentOpened; it waits for it.
  [[nodiscard]] Expected<Applied> apply(const Event& event);

  // Whether apply() would answer needs_replay.
  [[nodiscard]] bool is_too_old(const Event& event) const;

  // Moves the books' present to t: dated ownership and period boundaries up to t take effect. No effect when t <=
  // now(). Returns these books.
  State& advance(Instant t);
  [[nodiscard]] Instant now() const;  // largest instant seen by advance or apply
  // The first time of an event that begins books (begin_by); k_end_of_time: no event begins them.
  [[nodiscard]] Instant begin() const;

  // All rows by OrgId, at now(). What is a part of another row is zero. By estimators that are not among `by`, every
  // organization gave what its jobs got.
  [[nodiscard]] std::vector<Standing> standings(const EstimatorSet& by = EstimatorSet::all()) const;
  [[nodiscard]] const std::vector<ClosedPeriod>& closed_periods() const;
  // Of the period that holds now(); the time of the first event at the earliest.
  [[nodiscard]] Instant period_begin() const;
  [[nodiscard]] Period period() const;
  // Those that are neither left out nor off for another reason (Estimator::is_off).
  [[nodiscard]] EstimatorSet kept() const;
  // Lets each of these work with about `effort` steps on how things stand at now(), so that calling it again and again
  // brings them there. Returns those that can say it at once.
  [[nodiscard]] EstimatorSet catch_up(std::uint64_t effort);
  // From now on it is left out.
  void leave_out(EstimatorId estimator);
  // When the books change next by themselves, by what is known now(): a period ends, or a node changes hands.
  // k_end_of_time: never.
  [[nodiscard]] Instant next_dated_change() const;

  // Names by OrgId; guests is 0, commons is 1.
  [[nodiscard]] const std::vector<std::string>& organizations() const;
  // Whose row has the figures of the organization of this name.
  [[nodiscard]] std::optional<OrgId> find_organization(std::string_view name) const;
  // Whose row the figures of an organization are part of: its own, unless it was renamed or merged (AdjustmentMade).
  // Rows, levels, pieces and waits are by row, for all times; events name organizations as they were.
  [[nodiscard]] OrgId row_of(OrgId organization) const;
  // Organizations that are a part of another's row are left out. OrgIds in the configuration's order; then
  // organizations no longer configured, in the order they had; then those met in events only, by name; then guests and
  // commons.
  [[nodiscard]] std::vector<OrgId> configured_order() const;

  // What cooperation is worth in the current period, at now(). nullopt: none of these estimators can say. One that has
  // fallen behind catches up with everything: leave it out.
  [[nodiscard]] std::optional<CooperationWorth> worth(const EstimatorSet& by = EstimatorSet::all()) const;
  // The same of closed_periods()[i], as of its end, by what is known now. nullopt, too: it is so long ago that nothing
  // changes it any more, and what coalitions did in it is forgotten. REQUIRES: i < closed_periods().size().
  [[nodiscard]] std::optional<CooperationWorth> closed_worth(std::size_t i) const;

  // The last declaration of the rule of ranks with `at` <= now(); published_rule() when none was declared.
  [[nodiscard]] RankingDeclared ranking_rule() const;
  // The mean residual run time in force at now(); nullptr: none was measured, and game::k_assumed_residual is taken.
  [[nodiscard]] const ResidualMeasured* residual_measured() const;
  [[nodiscard]] Duration residual() const;  // that time, measured or assumed
  // The last one, by which the estimators of coalitions keep fewer of them; nullptr: they keep all.
  [[nodiscard]] const HindsightBounded* hindsight_bounded() const;
  // The last definition of hindsight with `at` <= now(); nullptr: none.
  [[nodiscard]] const HindsightDefined* hindsight_defined() const;
  // Whether by these definitions jobs start whole at all instants from `from` to now().
  [[nodiscard]] bool start_whole_since(Instant from) const;
  // What the estimators of coalitions keep in memory, about.
  [[nodiscard]] std::size_t bytes_of_coalitions() const;
  // What the key looks at by rule and residual.
  [[nodiscard]] game::KeyTerms key_terms() const;
  // What other clusters are in force at now(); nullptr: none ever was declared.
  [[nodiscard]] const ConsortiumDeclared* consortium() const;
  // The last statement of each other cluster, in force or not, except one of a ledger that was given up since
  // (LedgerReplaced). Pointers hold until the books change.
  [[nodiscard]] std::vector<const StandingReceived*> statements() const;
  // All of them, ascending.
  [[nodiscard]] std::vector<LedgerReplaced> replaced_ledgers() const;
  // What they contribute to keys at now() (state/consortium.hpp), none before the first one was declared, by these
  // statements. Pointers in it hold until the books change.
  [[nodiscard]] std::vector<ClusterShare> shares_elsewhere(std::span<const StandingReceived* const> by) const;
  [[nodiscard]] std::vector<ClusterShare> shares_elsewhere() const { return shares_elsewhere(statements()); }
  // What ranks are made from at now(), the shares of other clusters included, with phi by `estimator`, or by its
  // stand-in if it is not kept: rows of all organizations that have a rank, which commons has not, in the order that
  // breaks ties.
  [[nodiscard]] std::vector<RankRow> rank_rows(EstimatorId estimator) const;
  // The same by these statements instead of statements().
  [[nodiscard]] std::vector<RankRow> rank_rows(EstimatorId estimator,
                                               std::span<const StandingReceived* const> statements) const;
  // The same by these books alone: what this cluster states to the others.
  [[nodiscard]] std::vector<RankRow> own_rank_rows(EstimatorId estimator) const;
  // Ranks at now() by the rule in force then, with phi by `estimator` (nullopt: the rule's own; if this program does
  // not know that, the first of the table; if it is not kept, its stand-in). Ties by configured order. Commons, which
  // runs nothing, is left out. `away`: the nodes that jobs cannot use now and that may come back, for Rank::returning;
  // those that the books do not know do not count. The books do not know which nodes may come back: one that was
  // removed and one that is down both offer nothing.
  [[nodiscard]] std::vector<Rank> ranking(std::optional<EstimatorId> estimator = std::nullopt,
                                          const NodeNames& away = {}) const;
  // All nodes that the books know, by who owns them at now(), commons included.
  [[nodiscard]] std::vector<OwnedNodes> owned_nodes() const;
  // Rises when they may have changed.
  [[nodiscard]] std::uint64_t owners_epoch() const;
  // What each organization's nodes are worth and do not offer at now(), in processors; by OrgId.
  [[nodiscard]] std::vector<ProcessorMillionths> down() const;
  // Of all nodes that the books know, as they are now or were last, whole, whether or not they are there: by the
  // measure, processors or the unit of psi, by which each is more.
  [[nodiscard]] ProcessorMillionths whole_processors() const;

  // All of them, ascending.
  [[nodiscard]] std::vector<ObservationsMistimed> mistimed_observations() const;
  // All of them, ascending by begin.
  [[nodiscard]] std::vector<ObservationGap> observation_gaps() const;
  // All of them, ascending.
  [[nodiscard]] std::vector<StateLost> state_losses() const;
  // All of them, ascending by `at`.
  [[nodiscard]] std::vector<HistoryImported> imports() const;
  // The rules by which runs were charged, ascending by `at`.
  [[nodiscard]] std::vector<ChargeDeclared> charges() const;
  // What the cluster was named last; nullptr: no feeder has named it.
  [[nodiscard]] const ClusterNamed* cluster() const;
  // What users were called last, by number.
  [[nodiscard]] UserNames user_names() const;
  // Whether the user is called so at that time already, or was named later.
  [[nodiscard]] bool is_called(const UserNamed& user) const;
  // All of them, ascending by number.
  [[nodiscard]] std::vector<AdjustmentMade> adjustments() const;
  // The one that continues the highest event; nullptr: there was no second controller ever.
  [[nodiscard]] const ControllerBegan* last_beginning() const;

  // When a run of each organization began last; by OrgId, k_beginning_of_time: none ever did. Walks over all remembered
  // jobs.
  [[nodiscard]] std::vector<Instant> last_starts() const;

  // Memory of jobs and segments, for the observer and for `shapleyctl jobs`. find_segment does not find retracted
  // segments. Pointers hold until the next member that is not const is called.
  [[nodiscard]] const LiveSegment* find_segment(const SegmentKey& key) const;
  [[nodiscard]] const JobMemory* find_job(JobId job) const;
  [[nodiscard]] std::vector<JobId> jobs_with_open_segments() const;
  // The remembered jobs of an array, itself apart, ascending.
  [[nodiscard]] std::vector<JobId> tasks_of(JobId array) const;
  // What is known last of a node: what it offers, is worth and has. nullptr: nothing. Valid until the books change.
  [[nodiscard]] const CapacityChanged* last_capacity(std::string_view node) const;
  [[nodiscard]] std::optional<ProcessorMillionths> capacity(std::string_view node) const;  // what it offers by that
  [[nodiscard]] std::vector<std::string> nodes() const;
  // What is known last of a placement. nullptr: nothing. Valid until the books change.
  [[nodiscard]] const PlacementResolved* last_placement(std::string_view placement) const;
  // The placements of the remembered waits and runs that count, ascending, each once; the empty one is not among them.
  [[nodiscard]] std::vector<std::string> placements() const;
  // Those that have nodes by what is known last, ascending.
  [[nodiscard]] std::vector<std::string> resolved_placements() const;
  // Of each of placements(), how it is used. Walks over all remembered jobs.
  [[nodiscard]] std::map<std::string, PlacementUse, std::less<>> placement_uses() const;

  // What the remembered runs held during [from, until), what the remembered waits asked for, and what nodes offered: by
  // what is known now, clipped to it, in no particular order, all in the unit of psi. The pieces sum to what got and
  // given by direct_contr grew by. REQUIRES: from >= memory_horizon(), until <= now().
  using VisitPiece = std::function<void(const SegmentKey& run, const Piece& piece)>;
  void visit_pieces(Instant from, Instant until, const VisitPiece& visit) const;
  using VisitLevel =
      std::function<void(OrgId organization, ProcessorMillionths processors, Instant begin, Instant end)>;
  void visit_waits(Instant from, Instant until, const VisitLevel& visit) const;
  // Each node while it offers the same to the same owners.
  using VisitNode = std::function<void(const NodeStretch& node)>;
  void visit_nodes(Instant from, Instant until, const VisitNode& visit) const;
  // The segments of remembered runs that hold something during [from, until), or begin then, by the organization's row.
  using VisitRun = std::function<void(const LiveSegment& run, OrgId organization)>;
  void visit_runs(Instant from, Instant until, const VisitRun& visit) const;

  // Forgets closed segments, jobs and breakpoints from before the memory horizon that StateOptions give, or from before
  // `keep` if that is earlier. The books do not change. An estimator for which that is more than about `effort` steps
  // of work makes it forget less; false then: there is more to forget.
  bool compact(Instant keep = k_end_of_time, std::uint64_t effort = std::numeric_limits<std::uint64_t>::max());
  [[nodiscard]] Instant memory_horizon() const;
  [[nodiscard]] std::size_t remembered_jobs() const;

  // Discards psi, phi and periods without return; keeps jobs, nodes and placements, so that records can be compared
  // with them while the books are rebuilt. From here on rows, ranks and closed periods mean nothing, and apply() takes
  // events however old they are. No event so far was later than `known_until`: so what was forgotten is from before
  // that, and memory_horizon() goes back to it if it was later. REQUIRES afterwards: no compact(), no save().
  void keep_memory_only(Instant known_until);

  // The whole state as text, for checkpoints; load(save()) behaves the same in every respect. The format is versioned:
  // load refuses (Errc::corrupt) what it does not know and the caller replays instead. Both take seconds where much is
  // remembered: another thread may set `stop` to end them soon, save with an empty text, load with Errc::unavailable.
  [[nodiscard]] std::string save(const std::atomic<bool>* stop = nullptr) const;
  [[nodiscard]] static Expected<State> load(std::string_view text, StateOptions options = {},
                                            const std::atomic<bool>* stop = nullptr);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace shapley::accounting
