// The inside of State: how events reach psi (period_sums.hpp), the contribution estimators (estimator.hpp), the levels
// (levels.hpp), the nodes (node.hpp) and the memory of jobs (job_memory.hpp).
//
// Every change is expressed as "remove what the old facts made, add what the new facts make", so that the books
// depend on the set of facts only. validate() decides without changing anything; fold() cannot fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/estimators/period_sums.hpp"
#include "accounting/ownership/group_sharing.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/ownership/placement.hpp"
#include "accounting/state/adjustments.hpp"
#include "accounting/state/job_memory.hpp"
#include "accounting/state/kept_facts.hpp"
#include "accounting/state/levels.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/period_rules.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

struct State::Impl {
  explicit Impl(StateOptions state_options);

  StateOptions options;
  Organizations organizations;
  PeriodRules period_rules;
  PeriodSums got;  // psi
  Levels levels;
  std::vector<std::unique_ptr<Estimator>> estimators;  // by EstimatorId
  std::deque<Node> nodes;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> node_index;
  std::map<std::string, PlacementHistory, std::less<>> placements;  // by name
  std::uint32_t placements_met = 0;
  Jobs jobs;
  std::unordered_map<JobId, std::set<JobId>> tasks;  // by array; derived from the descriptions of jobs
  std::map<Instant, std::uint64_t> configurations;   // content hashes
  KeptFacts kept;
  std::vector<OrgId> row_by_id;  // whose row the figures are part of; derived from the adjustments
  std::set<std::pair<Instant, std::uint32_t>> hand_overs;  // known, not yet in force: (when, index of the node)

  struct GatheredLevel {
    Instant t;
    OrgId organization;
    LevelChange change;
  };
  std::optional<std::vector<GatheredLevel>> gathered_levels;  // only while a checkpoint is read
  // Since when what runs hold of a node is taken back from psi, levels and estimators; by index. Every run that comes
  // or goes where runs share a node changes what each of them holds, so that is put back once for many of them, before
  // the figures are read (put_back_held).
  std::map<std::uint32_t, Instant> taken_back;

  bool memory_only = false;  // no event is too old, and there are no estimators to be told of it

  std::vector<Instant> forgotten_starts;  // by OrgId: the last start of its forgotten runs

  Instant now = k_beginning_of_time;
  Instant horizon = k_beginning_of_time;
  Instant first_event = k_end_of_time;  // of those that tell when something happened
  Instant next_boundary = k_end_of_time;
  std::vector<Instant> boundaries;   // at or before now
  std::vector<ClosedPeriod> closed;  // derived
  bool closed_stale = false;

  // What apply() will answer; changes nothing. state_validate.cpp has one for each kind of event.
  [[nodiscard]] Expected<Applied> validate(const Event& event) const;
  template <typename Fact>
  [[nodiscard]] Expected<Applied> validate(const Fact& event) const = delete;
  [[nodiscard]] Applied fresh_since(Instant reach) const;
  // Whether an estimator cannot be told of this segment, whose begin is not before the horizon.
  [[nodiscard]] bool is_too_old_for_estimators(const SegmentOpened& event) const;
  [[nodiscard]] bool stays_for_estimators(const SegmentRecord& segment) const;
  [[nodiscard]] const SegmentRecord* find(const SegmentKey& key) const;

  // REQUIRES: validate() said `changed` and now >= the event's time. state_fold.cpp has one for each kind of event.
  void fold(const Event& event);
  template <typename Fact>
  void fold(const Fact& event) = delete;

  void advance(Instant t);
  bool compact(Instant keep, std::uint64_t effort);
  void compact_placements();
  void forget_task(JobId id, const JobRecord& job);
  // Lets the nodes of forgotten segments (`lose_some`, by index) know only the segments left of these jobs.
  void forget_jobs_of_nodes(const std::unordered_set<JobId>& changed, const std::vector<bool>& lose_some);

  void set_organizations();
  void set_rows();
  [[nodiscard]] OrgId row_of(OrgId organization) const { return row_by_id[organization.value]; }
  // The piece as organizations are today.
  [[nodiscard]] Piece in_rows(Piece piece) const;
  void close_period(Instant boundary);
  OrgId join(std::string_view name);
  Node& node_of(std::string_view name);
  std::uint32_t index_of(std::string_view name);
  PlacementHistory& placement_of(std::string_view name);

  // Calls visit(piece) for each piece of what the organization's runs, so many and each the same, hold on the node, by
  // the ownership in force.
  template <typename Visit>
  void for_each_piece(const Node& node, OrgId organization, const Work& held, std::int64_t count, Visit&& visit) const;
  // Calls visit(run, work) for what remembered runs hold of the node at instants >= from (sharing.hpp).
  template <typename Visit>
  void for_each_held_on(const Node& node, Instant from, Visit&& visit) const;
  // Calls visit(run, count, work): so many runs of the organization and the placement of `run` hold this each
  // (group_sharing.hpp).
  template <typename Visit>
  void for_each_class_on(const Node& node, Instant from, Visit&& visit) const;
  // From this second on everything that was held is remembered. Before it a run may have shared a node with another
  // that is forgotten: what it held then is in the sums.
  [[nodiscard]] Instant remembered_since() const;
  // Calls visit(piece) for all pieces of remembered runs since then.
  template <typename Visit>
  void for_each_remembered_piece(Visit&& visit) const;
  template <typename Visit>
  void for_each_remembered(Visit&& visit) const;  // segment that counts
  // The remembered runs that claim some of the node at an instant >= from, ascending by key.
  struct Holder {
    const SegmentRecord* run;
    const NodeShare* share;
  };
  [[nodiscard]] std::vector<Holder> holders_of(const Node& node, Instant from) const;
  [[nodiscard]] OrgId organization_of(const SegmentRecord& segment) const;
  void note_task(JobId job, JobId array);
  // Raises its organization's last start to that of the run, if it is one that counts.
  void note_start(const SegmentRecord& record, std::vector<Instant>& starts) const;
  [[nodiscard]] SegmentFact fact_of(const SegmentRecord& segment) const;
  [[nodiscard]] static SegmentFact fact_of(const SegmentOpened& opened, OrgId organization);  // while it is open

  // Tell psi, levels and estimators.
  void fold_piece(int sign, const Piece& piece);
  void fold_segment(int sign, const SegmentRecord& segment);  // without its pieces
  void fold_pieces(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count = 1);
  // Pieces of all that is held of the node at instants >= from; with how many processors run by that, or without.
  void fold_node_pieces(int sign, const Node& node, Instant from);
  void fold_node(int sign, const Node& node, Instant from);
  // Takes back what is held of the node at instants >= from, until put_back_held(). REQUIRES: no fact changed
  // what is held there before `from` since it was put back last.
  void take_back_held(const Node& node, Instant from);
  // Called before psi, levels and estimators are read, and before facts of more than one run are changed in them at
  // once.
  void put_back_held();
  void fold_running(int sign, const SegmentRecord& run, const Work& held);
  void fold_levels(Instant t, OrgId organization, const LevelChange& change);
  // Tells what fold_levels() kept back since gathered_levels was there, in the order of time: a checkpoint's facts come
  // in the order of their jobs, and one change of an instant costs as much as all of it.
  void tell_gathered_levels();
  void tell_remembered(Estimator& listener, int sign) const;
  [[nodiscard]] Estimator::Remembered remembered() const;

  // The wait asks (sign 1), or no longer asks (-1), for its processors at instants >= from.
  void change_wait(const SegmentRecord& wait, Instant from, int sign);
  // One wait or run more, or less, is of the placement; `begin` is its own.
  void add_use(PlacementHistory& placement, Instant begin);
  void remove_use(PlacementHistory& placement);
  // The run claims, or no longer claims, its part of its nodes at instants >= from and before its end. `mutate` makes
  // it so in the memory of jobs.
  void change_run(SegmentRecord& run, Instant from, int sign, const std::function<void()>& mutate);
  void change_claimed(Node& node, Instant t, MicroProcessors delta);
  // Adds or removes a segment as a whole, as `mutate` does in the memory of jobs.
  void enter(SegmentRecord& segment, int sign, const std::function<void()>& mutate);

  // Tells what the node offers to whom from t on (sign 1), or that it no longer does (-1).
  void emit_offers(const Node& node, Instant from, int sign);
  // The same of what it offers to the jobs of a placement; from told_since on at the earliest.
  void emit_placed(const PlacementHistory& placement, std::uint32_t node, Instant from, int sign);
  void emit_all_placed(const PlacementHistory& placement, Instant from, int sign);  // of all its nodes
  // Runs `change` on a node whose ownership will differ from `from` on, and moves what ran there since.
  void change_ownership(std::uint32_t index, Instant from, const std::function<void(Ownership&)>& change);
  void schedule_hand_over(std::uint32_t index);
  [[nodiscard]] std::vector<Ownership::Span> spans_of(const OwnershipStated& event);
  [[nodiscard]] std::vector<std::uint32_t> indices_of(const PlacementResolved& event);
  void restructure_periods();
  // Takes the levels of the periods that are not settled from the remembered facts.
  void restate_levels();
  [[nodiscard]] std::vector<Level> levels_before(Instant t) const;

  // psi without the remembered segments: what forgotten ones left.
  [[nodiscard]] PeriodSums got_by_forgotten() const;
  [[nodiscard]] static std::vector<std::string> sorted_names(const std::deque<Node>& all);
  // Put a checkpoint's facts back; see state_text.cpp.
  void restore_statement(const OwnershipStated& statement);
  void restore_segment(const SegmentRecord& segment);
  void restore_placement(const PlacementResolved& fact);
  void restore_runs();
  void restore_offers();

  // With the credits of these estimators.
  [[nodiscard]] std::vector<Standing> standings_of(std::size_t period, Instant t, const EstimatorSet& by);
  // Of the period, at t: its end if it is closed.
  [[nodiscard]] std::optional<CooperationWorth> worth_in(std::size_t period, Instant t, const EstimatorSet& by);
  const std::vector<ClosedPeriod>& closed_periods();
};

template <typename Visit>
void State::Impl::for_each_piece(const Node& node, OrgId organization, const Work& held, std::int64_t count,
                                 Visit&& visit) const {
  const auto stretches = node.ownership.in_force();
  // From the last stretch backwards: nearly every run lies in it.
  for (std::size_t i = stretches.size(); i-- > 0;) {
    const Instant until = i + 1 < stretches.size() ? stretches[i + 1].from : k_end_of_time;
    if (until <= held.begin) return;
    const Instant begin = std::max(held.begin, stretches[i].from);
    const Instant end = std::min(held.end, until);
    if (begin >= end) continue;
    split_among(stretches[i].owners, held.processors, [&](OrgId owner, MicroProcessors part) {
      visit(Piece{organization, owner, {part.value * count}, begin, end});
    });
  }
}

template <typename Visit>
void State::Impl::for_each_held_on(const Node& node, Instant from, Visit&& visit) const {
  const std::vector<Holder> holders = holders_of(node, from);
  std::vector<Claim> claims;
  claims.reserve(holders.size());
  for (const Holder& h : holders) claims.push_back({h.run->live.opened.begin, h.run->end(), h.share->processors});
  for_each_held(claims, node.worths(), from, [&](std::size_t claim, Instant begin, Instant end, MicroProcessors held) {
    visit(*holders[claim].run, Work{held, begin, end});
  });
}

template <typename Visit>
void State::Impl::for_each_class_on(const Node& node, Instant from, Visit&& visit) const {
  const std::vector<Holder> holders = holders_of(node, from);
  std::vector<Claim> claims;
  std::vector<std::size_t> groups;
  std::map<std::pair<OrgId, std::string_view>, std::size_t> known;
  for (const Holder& h : holders) {
    claims.push_back({h.run->live.opened.begin, h.run->end(), h.share->processors});
    groups.push_back(
        known.try_emplace({organization_of(*h.run), h.run->live.opened.placement}, known.size()).first->second);
  }
  for_each_class_held(claims, groups, node.worths(), from,
                      [&](std::size_t claim, std::int64_t count, Instant begin, Instant end, MicroProcessors held) {
                        visit(*holders[claim].run, count, Work{held, begin, end});
                      });
}

template <typename Visit>
void State::Impl::for_each_remembered_piece(Visit&& visit) const {
  for (const Node& node : nodes) {
    for_each_class_on(node, remembered_since(), [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
      for_each_piece(node, organization_of(run), held, count, visit);
    });
  }
}

template <typename Visit>
void State::Impl::for_each_remembered(Visit&& visit) const {
  for (const auto& [id, job] : jobs) {
    for (const SegmentRecord& record : job.segments) {
      if (record.counts()) visit(record);
    }
  }
}

}  // namespace shapley::accounting
