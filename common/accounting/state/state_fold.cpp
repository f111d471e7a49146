// How each kind of event changes the books, and what the passing of time does.
#include <algorithm>
#include <utility>

#include "accounting/events/event_check.hpp"
#include "accounting/state/state_impl.hpp"
#include "base/fnv1a.hpp"

namespace shapley::accounting {

namespace {

MicroProcessors signed_part(int sign, MicroProcessors processors) {
  return {sign * processors.value};
}

}  // namespace

State::Impl::Impl(StateOptions state_options) : options(state_options) {
  for (const EstimatorRow& row : accounting::estimators()) estimators.push_back(row.make());
  set_organizations();
}

void State::Impl::set_organizations() {
  got.resize(organizations.names().size());
  levels.resize(organizations.names().size());
  const std::vector<OrgId> by_name = organizations.by_name();
  for (const auto& estimator : estimators) estimator->set_organizations(by_name);
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

Node& State::Impl::node_of(std::string_view name) {
  return nodes[index_of(name)];
}

void State::Impl::fold_piece(int sign, const Piece& piece) {
  got.fold(sign, piece.organization, {piece.processors, piece.begin, piece.end});
  levels.fold_piece(sign, piece);
  for (const auto& estimator : estimators) estimator->fold_piece(sign, piece);
}

SegmentFact State::Impl::fact_of(const SegmentRecord& segment) const {
  const SegmentOpened& opened = segment.live.opened;
  return {.key = opened.key,
          .organization = *organizations.find(opened.organization),
          .processors = opened.processors,
          .begin = opened.begin,
          .end = segment.end(),
          .reason = segment.reason};
}

void State::Impl::fold_segment(const SegmentRecord& segment, int sign) {
  for_each_piece(segment, [&](const Piece& piece) { fold_piece(sign, piece); });
  const SegmentFact fact = fact_of(segment);
  for (const auto& estimator : estimators) estimator->fold_segment(sign, fact);
}

void State::Impl::fold_levels(Instant t, OrgId organization, const LevelChange& change) {
  levels.change(t, organization, {.owned = change.owned, .waiting = change.waiting, .lent = {}, .borrowed = {}});
  for (const auto& estimator : estimators) estimator->change_levels(t, organization, change);
}

void State::Impl::tell_remembered(Estimator& listener, int sign) const {
  for_each_remembered([&](const SegmentRecord& segment) {
    for_each_piece(segment, [&](const Piece& piece) { listener.fold_piece(sign, piece); });
    listener.fold_segment(sign, fact_of(segment));
  });
}

Estimator::Remembered State::Impl::remembered() const {
  return {horizon, now, [this](Estimator& listener, int sign) { tell_remembered(listener, sign); }};
}

void State::Impl::hold_or_ask(const SegmentOpened& segment, Instant t, int sign) {
  const OrgId organization = *organizations.find(segment.organization);
  const MicroProcessors delta = signed_part(sign, segment.processors);
  if (segment.key.kind == SegmentKind::wait) {
    fold_levels(t, organization, {.running = {}, .waiting = delta, .owned = {}});
  } else {
    fold_levels(t, organization, {.running = delta, .waiting = {}, .owned = {}});
  }
}

void State::Impl::change_levels(const SegmentOpened& segment, Instant t, int sign) {
  hold_or_ask(segment, t, sign);
  for (const NodeShare& share : segment.nodes) {
    Node& node = node_of(share.node);
    const MicroProcessors here = signed_part(sign, share.processors);
    const bool offers_change = !node.offer_ignores(t, here);
    if (offers_change) emit_offers(node, t, -1);
    node.change_running(t, here);
    if (offers_change) emit_offers(node, t, 1);
  }
}

void State::Impl::enter(const SegmentRecord& segment, int sign) {
  fold_segment(segment, sign);
  change_levels(segment.live.opened, segment.live.opened.begin, sign);
  if (segment.live.end) change_levels(segment.live.opened, *segment.live.end, -sign);
}

void State::Impl::emit_offers(const Node& node, Instant from, int sign) {
  node.for_each_offer_change(from, [&](Instant at, const Offer& before, const Offer& after) {
    const auto tell = [&](const Offer& offer, int direction) {
      if (offer.processors.value == 0) return;
      split_among(*offer.owners, offer.processors, [&](OrgId owner, MicroProcessors part) {
        fold_levels(at, owner, {.running = {}, .waiting = {}, .owned = signed_part(direction, part)});
      });
    };
    tell(before, -sign);
    tell(after, sign);
  });
}

void State::Impl::change_ownership(std::uint32_t index, Instant from, const std::function<void(Ownership&)>& change) {
  Node& node = nodes[index];
  std::sort(node.jobs.begin(), node.jobs.end());
  node.jobs.erase(std::unique(node.jobs.begin(), node.jobs.end()), node.jobs.end());
  std::vector<std::pair<const SegmentRecord*, const NodeShare*>> affected;
  for (const JobId id : node.jobs) {
    const auto job = jobs.find(id);
    if (job == jobs.end()) continue;
    for (const SegmentRecord& record : job->second.segments) {
      if (!record.counts() || record.end() <= from) continue;
      for (const NodeShare& share : record.live.opened.nodes) {
        if (share.node == node.name) affected.emplace_back(&record, &share);
      }
    }
  }
  const auto fold_affected = [&](int sign) {
    for (const auto& [run, share] : affected) {
      for_each_piece(*run, *share, [&](const Piece& piece) { fold_piece(sign, piece); });
    }
  };
  fold_affected(-1);
  emit_offers(node, from, -1);
  change(node.ownership);
  emit_offers(node, from, 1);
  fold_affected(1);
}

void State::Impl::schedule_hand_over(std::uint32_t index) {
  if (const auto at = nodes[index].ownership.next_hand_over()) hand_overs.emplace(*at, index);
}

void State::Impl::restructure_periods() {
  for_each_remembered([this](const SegmentRecord& segment) { fold_segment(segment, -1); });
  got.set_boundaries(boundaries);
  levels.set_boundaries(boundaries);
  for (const auto& estimator : estimators) estimator->set_boundaries(boundaries);
  for_each_remembered([this](const SegmentRecord& segment) { fold_segment(segment, 1); });
  restate_levels();
}

std::vector<Level> State::Impl::levels_before(Instant t) const {
  std::vector<Level> rows(organizations.names().size());
  for (const Node& node : nodes) {
    const Offer offer = node.offer_before(t);
    split_among(*offer.owners, offer.processors,
                [&](OrgId owner, MicroProcessors part) { rows[owner.value].owned += part; });
  }
  for_each_remembered([&](const SegmentRecord& segment) {
    const SegmentOpened& opened = segment.live.opened;
    if (opened.begin >= t || segment.end() < t) return;
    if (opened.key.kind == SegmentKind::wait)
      rows[organizations.find(opened.organization)->value].waiting += opened.processors;
    for_each_piece(segment, [&](const Piece& piece) {
      if (piece.begin >= t || piece.end < t || piece.organization == piece.owner) return;
      rows[piece.owner.value].lent += piece.processors;
      rows[piece.organization.value].borrowed += piece.processors;
    });
  });
  return rows;
}

void State::Impl::restate_levels() {
  for (Levels::Period& period : levels.periods()) {
    if (!levels.settled(period)) period.rows = levels_before(period.end);
  }
}

template <>
void State::Impl::fold(const SegmentOpened& event) {
  join(event.organization);
  first_event = std::min(first_event, event.begin);
  JobRecord& job = jobs[event.key.job];
  SegmentRecord& record = job.obtain(event.key);
  record.live.opened = event;
  record.opened = true;
  for (const NodeShare& share : event.nodes) node_of(share.node).jobs.push_back(event.key.job);
  if (record.counts()) enter(record, 1);
  job.refresh();
}

template <>
void State::Impl::fold(const SegmentClosed& event) {
  SegmentRecord& record = jobs[event.key.job].obtain(event.key);
  const bool counts = record.counts();
  if (counts) fold_segment(record, -1);
  record.live.end = event.end;
  record.reason = event.reason;
  record.job_state_hash = fnv1a(event.job_state);
  if (!counts) return;
  fold_segment(record, 1);
  change_levels(record.live.opened, event.end, -1);
}

template <>
void State::Impl::fold(const SegmentRetracted& event) {
  JobRecord& job = jobs[event.key.job];
  SegmentRecord& record = job.obtain(event.key);
  if (record.counts()) enter(record, -1);
  record.retracted = true;
  record.retracted_at = event.at;
  job.refresh();
}

template <>
void State::Impl::fold(const OrganizationsDeclared& event) {
  first_event = std::min(first_event, event.at);
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
  change_ownership(index, event.effective,
                   [&](Ownership& ownership) { ownership.state(event.effective, std::move(spans), now); });
  schedule_hand_over(index);
}

template <>
void State::Impl::fold(const CapacityChanged& event) {
  first_event = std::min(first_event, event.at);
  Node& node = node_of(event.node);
  emit_offers(node, event.at, -1);
  node.insert_capacity({event.at, event.ordinal, event.processors});
  emit_offers(node, event.at, 1);
}

template <>
void State::Impl::fold(const PeriodDeclared& event) {
  first_event = std::min(first_event, event.at);
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
  job.descriptions.insert(later, {event.submit, content_hash(event), event.organization});
  job.refresh();
}

template <>
void State::Impl::fold(const ConfigurationLoaded& event) {
  configurations[event.at] = fnv1a(event.text);
}

void State::Impl::fold(const Event& event) {
  std::visit([this](const auto& fact) { fold(fact); }, event);
}

void State::Impl::close_period(Instant boundary) {
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

void State::Impl::compact() {
  if (now == k_beginning_of_time) return;
  const Instant next = std::max(now - options.horizon,
                                std::min(now - options.shortest_horizon, begin_of_latest(jobs, options.most_finished)));
  if (next <= horizon) return;
  horizon = next;
  levels.settle(horizon);
  for (const auto& estimator : estimators) estimator->forget_before(horizon);
  forget_before(jobs, horizon);
  for (Node& node : nodes) {
    node.forget_before(horizon);
    node.jobs.clear();
  }
  for (const auto& [id, job] : jobs) {
    for (const SegmentRecord& record : job.segments) {
      for (const NodeShare& share : record.live.opened.nodes) node_of(share.node).jobs.push_back(id);
    }
  }
}

}  // namespace shapley::accounting
