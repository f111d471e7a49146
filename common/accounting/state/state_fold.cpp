// How each kind of event changes the books, and what the passing of time does.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "accounting/estimators/left_out.hpp"
#include "accounting/events/begin.hpp"
#include "accounting/events/event_check.hpp"
#include "accounting/state/state_impl.hpp"
#include "base/brackets.hpp"
#include "base/fnv1a.hpp"

namespace shapley::accounting {

State::Impl::Impl(StateOptions state_options) : options(state_options) {
  for (const EstimatorId id : estimator_ids()) {
    const bool is_left_out = options.left_out.contains(id);
    estimators.push_back(is_left_out ? make_left_out() : accounting::estimators()[id.value].make());
  }
  set_organizations();
}

void State::Impl::set_organizations() {
  got.resize(organizations.names().size());
  levels.resize(organizations.names().size());
  forgotten_starts.resize(organizations.names().size(), k_beginning_of_time);
  const std::vector<OrgId> by_name = organizations.by_name();
  for (const auto& estimator : estimators) estimator->set_organizations(by_name);
  set_rows();
}

void State::Impl::set_rows() {
  row_by_id = rows_by(kept.all<AdjustmentMade>(), organizations);
}

Piece State::Impl::in_rows(Piece piece) const {
  piece.organization = row_of(piece.organization);
  piece.owner = row_of(piece.owner);
  return piece;
}

OrgId State::Impl::join(std::string_view name) {
  const std::size_t before = organizations.names().size();
  const OrgId id = organizations.join(name);
  if (organizations.names().size() != before) set_organizations();
  return id;
}

std::uint32_t State::Impl::index_of(std::string_view name) {
  if (const auto known = node_index.find(name); known != node_index.end()) return known->second;
  const auto index = static_cast<std::uint32_t>(nodes.size());
  nodes.emplace_back(std::string(name));
  node_index.emplace(name, index);
  return index;
}

PlacementHistory& State::Impl::placement_of(std::string_view name) {
  if (const auto known = placements.find(name); known != placements.end()) return known->second;
  return placements.try_emplace(std::string(name), PlacementId{placements_met++}).first->second;
}

Node& State::Impl::node_of(std::string_view name) {
  return nodes[index_of(name)];
}

void State::Impl::change_ownership(std::uint32_t index, Instant from, const std::function<void(Ownership&)>& change) {
  put_back_held();
  Node& node = nodes[index];
  fold_node_pieces(-1, node, from);
  emit_offers(node, from, -1);
  change(node.ownership);
  emit_offers(node, from, 1);
  fold_node_pieces(1, node, from);
}

void State::Impl::schedule_hand_over(std::uint32_t index) {
  if (const auto at = nodes[index].ownership.next_hand_over()) hand_overs.emplace(*at, index);
}

void State::Impl::restructure_periods() {
  const auto fold_remembered = [this](int sign) {
    for (const Node& node : nodes) fold_node_pieces(sign, node, remembered_since());
    for_each_remembered([&](const SegmentRecord& segment) { fold_segment(sign, segment); });
  };
  put_back_held();
  fold_remembered(-1);
  got.set_boundaries(boundaries);
  levels.set_boundaries(boundaries);
  for (const auto& estimator : estimators) estimator->set_boundaries(boundaries);
  fold_remembered(1);
  restate_levels();
}

template <>
void State::Impl::fold(const SegmentOpened& event) {
  join(event.organization);
  JobRecord& job = jobs[event.key.job];
  SegmentRecord& record = job.obtain(event.key);
  record.live.opened = event;
  for (const NodeShare& share : event.nodes) node_of(share.node).jobs.push_back(event.key.job);
  if (record.retracted) {
    record.opened = true;
  } else {
    enter(record, 1, [&] { record.opened = true; });
  }
  job.refresh();
}

template <>
void State::Impl::fold(const SegmentClosed& event) {
  SegmentRecord& record = jobs[event.key.job].obtain(event.key);
  const auto mutate = [&] {
    record.live.end = event.end;
    record.reason = event.reason;
    record.job_state_hash = fnv1a(event.job_state);
  };
  if (!record.counts()) return mutate();
  fold_segment(-1, record);
  if (event.key.kind == SegmentKind::run) {
    change_run(record, event.end, -1, mutate);
  } else {
    change_wait(record, event.end, -1);
    mutate();
  }
  fold_segment(1, record);
}

template <>
void State::Impl::fold(const SegmentRetracted& event) {
  JobRecord& job = jobs[event.key.job];
  SegmentRecord& record = job.obtain(event.key);
  const auto mutate = [&] {
    record.retracted = true;
    record.retracted_at = event.at;
  };
  if (record.counts()) {
    enter(record, -1, mutate);
  } else {
    mutate();
  }
  job.refresh();
}

template <>
void State::Impl::fold(const OrganizationsDeclared& event) {
  for (const std::string& name : event.names) join(name);
  organizations.declare(event.at, event.names);
}

std::vector<Ownership::Span> State::Impl::spans_of(const OwnershipStated& event) {
  std::vector<Ownership::Span> spans;
  for (const OwnershipSpan& span : event.spans) {
    Ownership::Span& known = spans.emplace_back(Ownership::Span{span.from, {}});
    std::int64_t commons = k_whole_node;
    for (const OwnerPart& part : span.owners) {
      const OrgId owner = join(part.organization);
      if (owner == k_commons_id) continue;
      known.owners.push_back({owner, part.parts_per_million});
      commons -= part.parts_per_million;
    }
    if (commons > 0) known.owners.push_back({k_commons_id, commons});
  }
  return spans;
}

template <>
void State::Impl::fold(const OwnershipStated& event) {
  std::vector<Ownership::Span> spans = spans_of(event);
  kept.keep(event);
  const std::uint32_t index = index_of(event.node);
  if (const auto planned = nodes[index].ownership.next_hand_over()) hand_overs.erase({*planned, index});
  change_ownership(index, event.effective, [&](Ownership& ownership) {
    ownership.state({event.effective, event.revision}, std::move(spans), now);
  });
  schedule_hand_over(index);
}

template <>
void State::Impl::fold(const CapacityChanged& event) {
  Node& node = node_of(event.node);
  // What the node is worth decides what runs hold of it only where they claim more.
  const bool shared = node.is_shared_since(event.at, {}) || node.claims_exceed(event.whole, event.at);
  if (shared) take_back_held(node, event.at);
  emit_offers(node, event.at, -1);
  node.insert_capacity(event);
  emit_offers(node, event.at, 1);
}

template <>
void State::Impl::fold(const PeriodDeclared& event) {
  period_rules.declare(event.at, event.period);
  next_boundary = period_rules.next_boundary(now);
  std::vector<Instant> all = period_rules.boundaries_until(now);
  if (all == boundaries) return;
  boundaries = std::move(all);
  restructure_periods();
}

template <>
void State::Impl::fold(const JobDescribed& event) {
  JobRecord& job = jobs[event.job];
  const auto later = std::find_if(job.descriptions.begin(), job.descriptions.end(),
                                  [&](const JobDescription& d) { return d.submit > event.submit; });
  job.descriptions.insert(later, {event.submit, content_hash(event), event.organization, {event.array_job}});
  job.refresh();
  note_task(event.job, {event.array_job});
}

template <>
void State::Impl::fold(const JobChanged& event) {
  JobRecord& job = jobs[event.job];
  const auto later = std::find_if(job.changes.begin(), job.changes.end(), [&](const JobChange& c) {
    return std::pair(c.submit, c.at) > std::pair(event.submit, event.at);
  });
  job.changes.insert(later, {event.submit, event.at, content_hash(event.description()), event.organization});
  job.refresh();
}

void State::Impl::note_start(const SegmentRecord& record, std::vector<Instant>& starts) const {
  const SegmentKey& key = record.live.opened.key;
  if (!record.counts() || key.kind != SegmentKind::run) return;
  Instant& last = starts[organization_of(record).value];
  last = std::max(last, key.anchor);
}

void State::Impl::note_task(JobId job, JobId array) {
  if (array.value != 0 && array != job) tasks[array].insert(job);
}

template <>
void State::Impl::fold(const ConfigurationLoaded& event) {
  configurations[event.at] = fnv1a(event.text);
}

template <>
void State::Impl::fold(const RankingDeclared& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const ResidualMeasured& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const ChargeDeclared& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const HistoryImported& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const AdjustmentMade& event) {
  for (const std::string* name : {&event.organization, &event.into}) {
    if (!name->empty()) join(*name);
  }
  // Who lends to whom depends on who is whose part, and nothing else does.
  const auto fold_lending = [this](int sign) {
    for_each_remembered_piece([&](const Piece& piece) { levels.fold_piece(sign, in_rows(piece)); });
  };
  put_back_held();
  const bool may_join = event.kind != AdjustmentKind::attribute && event.kind != AdjustmentKind::own;
  if (may_join) fold_lending(-1);
  kept.keep(event);
  set_rows();
  if (may_join) fold_lending(1);
}

template <>
void State::Impl::fold(const ObservationsMistimed& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const ControllerBegan& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const ObservationGap& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const HindsightBounded& event) {
  kept.keep(event);
  for (const auto& estimator : estimators) estimator->keep_at_most(event.coalitions);
}

template <>
void State::Impl::fold(const StateLost& event) {
  kept.keep(event);
}

template <>
void State::Impl::fold(const ClusterNamed& event) {
  kept.keep(event);
}

std::vector<std::uint32_t> State::Impl::indices_of(const PlacementResolved& event) {
  std::vector<std::uint32_t> indices;
  if (event.nodes.empty()) return indices;
  const auto names = expand_brackets(event.nodes);  // check() has read it
  if (!names) return indices;
  for (const std::string& name : *names) indices.push_back(index_of(name));
  return indices;
}

template <>
void State::Impl::fold(const PlacementResolved& event) {
  PlacementHistory& placement = placement_of(event.placement);
  std::vector<std::uint32_t> indices = indices_of(event);
  if (placement.uses > 0) emit_all_placed(placement, event.at, -1);
  placement.insert(event, std::move(indices));
  if (placement.uses > 0) emit_all_placed(placement, event.at, 1);
}

void State::Impl::fold(const Event& event) {
  first_event = std::min(first_event, begin_by(event));
  std::visit([this](const auto& fact) { fold(fact); }, event);
}

void State::Impl::close_period(Instant boundary) {
  put_back_held();
  boundaries.push_back(boundary);
  got.close_period(boundary);
  levels.close_period(boundary);
  for (const auto& estimator : estimators) estimator->close_period(boundaries);
}

void State::Impl::advance(Instant t) {
  t = std::min(t, k_last_instant);
  while (true) {
    const Instant hand_over = hand_overs.empty() ? k_end_of_time : hand_overs.begin()->first;
    const Instant next = std::min(hand_over, next_boundary);
    if (next > t) break;
    now = next;
    if (next == next_boundary) {
      close_period(next);
      next_boundary = period_rules.next_boundary(next);
      closed_stale = true;
    }
    while (!hand_overs.empty() && hand_overs.begin()->first == next) {
      const std::uint32_t index = hand_overs.begin()->second;
      hand_overs.erase(hand_overs.begin());
      change_ownership(index, next, [&](Ownership& ownership) { ownership.hand_over(next); });
      schedule_hand_over(index);
    }
  }
  now = std::max(now, t);
}

bool State::Impl::compact(Instant keep, std::uint64_t effort) {
  if (now == k_beginning_of_time) return true;
  const Instant far_enough = std::max(
      now - options.horizon, std::min(now - options.shortest_horizon, begin_of_latest(jobs, options.most_finished)));
  const Instant wanted = std::min(far_enough, keep);
  if (wanted <= horizon) return true;
  put_back_held();
  Instant next = wanted;
  for (const auto& estimator : estimators) next = std::min(next, estimator->forgettable(wanted, effort));
  if (next <= horizon) return false;
  horizon = next;
  levels.settle(horizon);
  for (const auto& estimator : estimators) estimator->forget_before(horizon);
  // What is derived from jobs follows those that are forgotten only: most stay, and walking over them takes long.
  std::unordered_set<JobId> changed;
  std::vector<bool> lose_some(nodes.size());  // of their jobs; by index
  const auto forget_segment = [&](const SegmentRecord& record) {
    note_start(record, forgotten_starts);
    const SegmentOpened& opened = record.live.opened;
    if (record.counts() && !opened.placement.empty()) remove_use(placement_of(opened.placement));
    if (opened.nodes.empty()) return;
    changed.insert(opened.key.job);
    for (const NodeShare& share : opened.nodes) lose_some[index_of(share.node)] = true;
  };
  forget_before(jobs, horizon, forget_segment, [this](JobId id, const JobRecord& job) { forget_task(id, job); });
  compact_placements();
  for (Node& node : nodes) node.forget_before(horizon);
  forget_jobs_of_nodes(changed, lose_some);
  return next == wanted;
}

void State::Impl::forget_task(JobId id, const JobRecord& job) {
  for (const JobDescription& description : job.descriptions) {
    const auto known = tasks.find(description.array);
    if (known == tasks.end()) continue;
    known->second.erase(id);
    if (known->second.empty()) tasks.erase(known);
  }
}

void State::Impl::forget_jobs_of_nodes(const std::unordered_set<JobId>& changed, const std::vector<bool>& lose_some) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (lose_some[i]) std::erase_if(nodes[i].jobs, [&](JobId job) { return changed.contains(job); });
  }
  for (const JobId id : changed) {
    const auto job = jobs.find(id);
    if (job == jobs.end()) continue;
    for (const SegmentRecord& record : job->second.segments) {
      for (const NodeShare& share : record.live.opened.nodes) {
        const std::uint32_t index = index_of(share.node);
        if (lose_some[index]) nodes[index].jobs.push_back(id);
      }
    }
  }
}

// From before the horizon on what a placement's nodes offer is part of the estimators' own memory.
void State::Impl::compact_placements() {
  for (auto& [name, placement] : placements) {
    placement.forget_before(horizon);
    if (placement.told_since < horizon) placement.told_since = k_beginning_of_time;
  }
  std::erase_if(placements, [this](const auto& entry) { return entry.second.is_over(horizon); });
}

}  // namespace shapley::accounting
