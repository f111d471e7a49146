#include "accounting/state/posting.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "accounting/ownership/sharing.hpp"

namespace shapley::accounting {

namespace {

ProcessorMillionths signed_part(int sign, ProcessorMillionths processors) {
  return {sign * processors.value};
}

}  // namespace

template <typename Visit>
void Posting::for_each_piece(const Node& node, OrgId organization, const Work& held, std::int64_t count,
                             Visit&& visit) const {
  const auto stretches = node.ownership.in_force();
  // From the last stretch backwards: nearly every run lies in it.
  for (std::size_t i = stretches.size(); i-- > 0;) {
    const Instant until = i + 1 < stretches.size() ? stretches[i + 1].from : k_end_of_time;
    if (until <= held.begin) return;
    const Instant begin = std::max(held.begin, stretches[i].from);
    const Instant end = std::min(held.end, until);
    if (begin >= end) continue;
    split_among(stretches[i].owners, held.processors, [&](OrgId owner, ProcessorMillionths part) {
      visit(Piece{organization, owner, {part.value * count}, begin, end});
    });
  }
}

template <typename Visit>
void Posting::for_each_class_on(const Node& node, Measure by, Instant from, Visit&& visit) const {
  std::vector<Claim> claims;
  std::vector<std::size_t> groups;  // by claim: the organization
  for (const Holder& h : holders_of(node, from)) {
    const SegmentOpened& opened = h.run->live.opened;
    const OrgId organization = organization_of(*h.run);
    const auto claim = [&](Instant begin, Instant end, ProcessorMillionths processors) {
      claims.push_back({begin, end, processors});
      groups.push_back(organization.value);
    };
    if (by == &Measured::charged) {
      claim(opened.begin, h.run->end(), h.share->processors);
    } else {
      node.for_each_claim(*h.share, opened.begin, h.run->end(),
                          [&](Instant begin, Instant end, const Measured& claimed) { claim(begin, end, claimed.*by); });
    }
  }
  for_each_class_held(claims, groups, node.worths(by), from,
                      [&](std::size_t claim, std::int64_t count, Instant begin, Instant end, ProcessorMillionths held) {
                        visit(OrgId{static_cast<std::uint32_t>(groups[claim])}, count, Work{held, begin, end});
                      });
}

template <typename Visit>
void Posting::for_each_remembered_piece(Measure by, Visit&& visit) const {
  for (const Node& node : nodes_) {
    for_each_class_on(node, by, remembered_since(), [&](OrgId organization, std::int64_t count, const Work& held) {
      for_each_piece(node, organization, held, count, visit);
    });
  }
}

SegmentFact Posting::fact_of(const SegmentOpened& opened, OrgId organization) {
  return {.key = opened.key,
          .organization = organization,
          .processors = opened.processors,
          .begin = opened.begin,
          .end = k_end_of_time,
          .released = opened.released,
          .waited_as = opened.waited_as};
}

SegmentFact Posting::fact_of_asked(const SegmentOpened& opened, OrgId organization) const {
  SegmentFact fact = fact_of(opened, organization);
  fact.asked = asked_by(opened, could_start_since(opened));
  return fact;
}

SegmentFact Posting::fact_of(const SegmentRecord& segment) const {
  SegmentFact fact = fact_of_asked(segment.live.opened, organization_of(segment));
  fact.end = segment.end();
  fact.reason = segment.reason;
  return fact;
}

std::vector<Posting::Holder> Posting::holders_of(const Node& node, Instant from) const {
  std::vector<JobId> ids = node.jobs;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<Holder> holders;
  for (const JobId id : ids) {
    const RememberedJob* job = jobs_.find(id);
    if (job == nullptr) continue;
    for (const SegmentRecord& record : job->segments) {
      if (!record.counts() || record.end() <= from) continue;
      const std::vector<NodeShare>& shares = record.live.opened.nodes;  // ascending by name
      const auto share = std::lower_bound(shares.begin(), shares.end(), node.name,
                                          [](const NodeShare& s, const std::string& name) { return s.node < name; });
      if (share != shares.end() && share->node == node.name) holders.push_back({&record, &*share});
    }
  }
  return holders;
}

Instant Posting::remembered_since() const {
  return present_.memory_horizon == k_beginning_of_time ? present_.memory_horizon
                                                        : present_.memory_horizon - Duration{1};
}

void Posting::fold_pieces(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count) {
  const bool blocks_the_same = !node.is_measured_apart();
  for_each_piece(node, organization, held, count, [&](const Piece& piece) {
    accounts_.fold_piece(sign, piece);
    if (blocks_the_same) accounts_.fold_blocked(sign, piece);
  });
}

void Posting::fold_blocked(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count) {
  for_each_piece(node, organization, held, count, [&](const Piece& piece) { accounts_.fold_blocked(sign, piece); });
}

void Posting::fold_node_pieces(int sign, const Node& node, Instant from) {
  for_each_class_on(node, &Measured::charged, from, [&](OrgId organization, std::int64_t count, const Work& held) {
    fold_pieces(sign, node, organization, held, count);
  });
  fold_node_blocked(sign, node, from);
}

void Posting::fold_node_blocked(int sign, const Node& node, Instant from) {
  if (!node.is_measured_apart()) return;
  for_each_class_on(node, &Measured::blocked, from, [&](OrgId organization, std::int64_t count, const Work& held) {
    fold_blocked(sign, node, organization, held, count);
  });
}

void Posting::fold_running(int sign, OrgId organization, const Work& held) {
  const auto hold = [&](Instant t, ProcessorMillionths running) {
    accounts_.change_levels(t, organization, {.running = running, .owned = {}});
  };
  hold(held.begin, signed_part(sign, held.processors));
  if (held.end != k_end_of_time) hold(held.end, signed_part(-sign, held.processors));
}

void Posting::fold_node(int sign, const Node& node, Instant from) {
  for_each_class_on(node, &Measured::charged, from, [&](OrgId organization, std::int64_t count, const Work& held) {
    fold_pieces(sign, node, organization, held, count);
    fold_running(sign, organization, {{held.processors.value * count}, held.begin, held.end});
  });
  fold_node_blocked(sign, node, from);
}

void Posting::fold_remembered(int sign) {
  for (const Node& node : nodes_) fold_node_pieces(sign, node, remembered_since());
  jobs_.for_each_counted([&](const SegmentRecord& segment) { fold_segment(sign, segment); });
}

template <typename Change>
void Posting::change_held(const std::vector<std::uint32_t>& nodes, Instant from, Change&& change) {
  for (const std::uint32_t index : nodes) {
    const Node& node = nodes_[index];
    const auto [entry, is_first] = taken_back_.try_emplace(index, from);
    if (!is_first && entry->second <= from) continue;
    if (!is_first) {
      // Facts may come from the latest to the earliest: put back once for all of them, not for each.
      fold_node(1, node, entry->second);
      entry->second = std::min(from, present_.memory_horizon);
    }
    fold_node(-1, node, entry->second);
  }
  change();
}

void Posting::put_back_held() {
  for (const auto& [index, since] : taken_back_) fold_node(1, nodes_[index], since);
  taken_back_.clear();
}

void Posting::pass_remembered(Estimator& listener, int sign) const {
  for_each_remembered_piece(&Measured::charged, [&](const Piece& piece) { listener.fold_piece(sign, piece); });
  jobs_.for_each_counted([&](const SegmentRecord& segment) { listener.fold_segment(sign, fact_of(segment)); });
}

Estimator::Remembered Posting::remembered() const {
  return {present_.memory_horizon, present_.now,
          [this](Estimator& listener, int sign) { pass_remembered(listener, sign); }};
}

void Posting::change_wait(const SegmentRecord& wait, Instant from, int sign) {
  const ProcessorMillionths asked = wait.live.opened.processors;
  const OrgId organization = organization_of(wait);
  accounts_.change_waiting(from, organization, signed_part(sign, asked));
  if (wait.end() != k_end_of_time) accounts_.change_waiting(wait.end(), organization, signed_part(-sign, asked));
}

template <typename Change>
void Posting::for_each_claim_change(const Node& node, const NodeShare& share, Instant from, Instant end, int sign,
                                    Change&& change) {
  Measured before;
  node.for_each_claim(share, from, end, [&](Instant begin, Instant, const Measured& claimed) {
    change(begin, sign > 0 ? claimed - before : before - claimed);
    before = claimed;
  });
  if (end != k_end_of_time) change(end, sign > 0 ? -before : before);
}

void Posting::change_claims(Node& node, Instant t, int sign) {
  for (const Holder& h : holders_of(node, t)) {
    const Instant from = std::max(t, h.run->live.opened.begin);
    for_each_claim_change(node, *h.share, from, h.run->end(), sign,
                          [&](Instant at, const Measured& delta) { node.change_claimed(at, delta); });
  }
}

void Posting::change_claimed(Node& node, Instant t, const Measured& delta) {
  if (node.offer_ignores(t, delta)) return node.change_claimed(t, delta);
  offers_.change(node, t, [&] { node.change_claimed(t, delta); });
}

// If nothing is shared, the run holds what it claims, and no other run is concerned. If something is, before or after
// the change, what all runs hold of the node since `from` changes.
void Posting::change_run(SegmentRecord& run, Instant from, int sign, const std::function<void()>& mutate) {
  const std::vector<NodeShare>& shares = run.live.opened.nodes;
  const Instant end = run.end();
  std::vector<std::pair<const NodeShare*, Node*>> places;
  std::vector<std::pair<const NodeShare*, Node*>> alone;
  std::vector<std::uint32_t> shared;
  for (const NodeShare& share : shares) {
    const std::uint32_t index = nodes_.index_of(share.node);
    Node& node = nodes_[index];
    places.emplace_back(&share, &node);
    const bool is_shared = taken_back_.contains(index) ||
                           node.is_shared_since(from, sign > 0 ? node.most_claimed(share, from, end) : Measured{});
    if (is_shared) {
      shared.push_back(index);
    } else {
      alone.push_back(places.back());
    }
  }
  change_held(shared, from, [&] {
    mutate();
    for (const auto& [share, node] : places) {
      for_each_claim_change(*node, *share, from, end, sign, [this, node = node](Instant at, const Measured& delta) {
        change_claimed(*node, at, delta);
      });
    }
  });
  const OrgId organization = organization_of(run);
  Work held{{}, from, end};
  for (const auto& [share, node] : alone) {
    held.processors += share->processors;
    fold_share(sign, *node, organization, *share, from, end);
  }
  if (held.processors.value > 0) fold_running(sign, organization, held);
}

void Posting::fold_share(int sign, const Node& node, OrgId organization, const NodeShare& share, Instant from,
                         Instant end) {
  fold_pieces(sign, node, organization, {share.processors, from, end});
  if (!node.is_measured_apart()) return;
  node.for_each_claim(share, from, end, [&](Instant begin, Instant until, const Measured& claimed) {
    fold_blocked(sign, node, organization, {claimed.blocked, begin, until});
  });
}

void Posting::enter(SegmentRecord& segment, int sign, const std::function<void()>& mutate) {
  const Instant begin = segment.live.opened.begin;
  fold_segment(sign, segment);
  placements_.count_use(segment.live.opened.placement, sign);
  if (segment.live.opened.key.kind == SegmentKind::run) {
    change_run(segment, begin, sign, mutate);
  } else {
    change_wait(segment, begin, sign);
    mutate();
  }
}

void Posting::close(SegmentRecord& segment, Instant end, const std::function<void()>& mutate) {
  fold_segment(-1, segment);
  if (segment.live.opened.key.kind == SegmentKind::run) {
    change_run(segment, end, -1, mutate);
  } else {
    change_wait(segment, end, -1);
    mutate();
  }
  fold_segment(1, segment);
}

void Posting::post(const CapacityChanged& event) {
  const std::uint32_t index = nodes_.index_of(event.node);
  Node& node = nodes_[index];
  // The node's worth determines what runs hold of it only if they claim more; its resources what they block of it.
  const bool changes_claims = node.changes_claims(event);
  const bool shared = node.is_shared_since(event.at, {}) || node.claims_exceed(event.whole, event.at);
  std::vector<std::uint32_t> changed;
  if (shared || changes_claims) changed.push_back(index);
  change_held(changed, event.at, [&] {
    offers_.change(node, event.at, [&] {
      if (changes_claims) change_claims(node, event.at, -1);
      node.insert_capacity(event);
      if (changes_claims) change_claims(node, event.at, 1);
    });
  });
}

void Posting::change_ownership(std::uint32_t index, Instant from, const std::function<void()>& change) {
  put_back_held();
  const Node& node = nodes_[index];
  fold_node_pieces(-1, node, from);
  offers_.change(node, from, change);
  fold_node_pieces(1, node, from);
}

void Posting::post(const PeriodDeclared& event) {
  if (accounts_.declare(event, present_.now, [this](int sign) { fold_remembered(sign); })) restate_levels();
}

void Posting::change_rows(const std::function<void()>& change) {
  // Lending between organizations depends on which is a part of which, and nothing else does.
  const auto fold_lending = [this](int sign) {
    for_each_remembered_piece(&Measured::blocked, [&](const Piece& piece) { accounts_.fold_lending(sign, piece); });
  };
  put_back_held();
  fold_lending(-1);
  change();
  fold_lending(1);
}

void Posting::forget(const SegmentRecord& segment) {
  if (segment.counts()) placements_.count_use(segment.live.opened.placement, -1);
}

void Posting::forget_jobs_of_nodes(const std::unordered_set<JobId>& changed, const std::vector<bool>& lose_some) {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (lose_some[i]) std::erase_if(nodes_[i].jobs, [&](JobId job) { return changed.contains(job); });
  }
  for (const JobId id : changed) {
    const RememberedJob* job = jobs_.find(id);
    if (job == nullptr) continue;
    for (const SegmentRecord& record : job->segments) {
      for (const NodeShare& share : record.live.opened.nodes) {
        const std::uint32_t index = nodes_.index_of(share.node);
        if (lose_some[index]) nodes_[index].jobs.push_back(id);
      }
    }
  }
}

void Posting::for_each_held_during(Instant from, Instant until, const VisitPiece& visit) const {
  for (const Node& node : nodes_) {
    const std::vector<Holder> holders = holders_of(node, from);
    std::vector<Claim> claims;
    claims.reserve(holders.size());
    for (const Holder& h : holders) claims.push_back({h.run->live.opened.begin, h.run->end(), h.share->processors});
    for_each_held(claims, node.worths(&Measured::charged), from,
                  [&](std::size_t claim, Instant begin, Instant end, ProcessorMillionths processors) {
                    const SegmentRecord& run = *holders[claim].run;
                    const Work clipped{processors, std::max(begin, from), std::min(end, until)};
                    if (clipped.begin >= clipped.end) return;
                    for_each_piece(node, organization_of(run), clipped, 1,
                                   [&](const Piece& piece) { visit(run, accounts_.in_rows(piece)); });
                  });
  }
}

PeriodSums Posting::got_by_forgotten() const {
  PeriodSums forgotten = accounts_.got();
  for_each_remembered_piece(&Measured::charged, [&](const Piece& piece) {
    forgotten.fold(-1, piece.organization, {piece.processors, piece.begin, piece.end});
  });
  return forgotten;
}

std::vector<OrganizationLevel> Posting::levels_before(Instant t) const {
  std::vector<OrganizationLevel> rows(organizations_.names().size());
  for (const Node& node : nodes_) {
    const Offer offer = node.offer_before(t);
    split_among(*offer.owners, offer.amount.blocked,
                [&](OrgId owner, ProcessorMillionths part) { rows[owner.value].owned += part; });
  }
  jobs_.for_each_counted([&](const SegmentRecord& segment) {
    const SegmentFact fact = fact_of(segment);
    if (fact.begin >= t || fact.end < t) return;
    if (fact.key.kind == SegmentKind::wait) rows[fact.organization.value].waiting += fact.processors;
  });
  for_each_remembered_piece(&Measured::blocked, [&](const Piece& booked) {
    if (booked.begin >= t || booked.end < t) return;
    rows[booked.organization.value].used += booked.processors;
    const Piece piece = accounts_.in_rows(booked);
    if (piece.organization == piece.owner) return;
    rows[piece.owner.value].lent += piece.processors;
    rows[piece.organization.value].borrowed += piece.processors;
  });
  return rows;
}

void Posting::restate_levels() {
  for (PeriodLevels::Period& period : accounts_.levels().periods()) {
    if (!accounts_.levels().settled(period)) period.rows = levels_before(period.end);
  }
}

void Posting::restore(const SegmentRecord& segment) {
  const SegmentOpened& opened = segment.live.opened;
  for (const NodeShare& share : opened.nodes) nodes_.named(share.node).jobs.push_back(opened.key.job);
  if (!segment.counts()) return;
  fold_segment(1, segment);
  placements_.count_use(opened.placement, 1);
  if (opened.key.kind == SegmentKind::wait) return change_wait(segment, opened.begin, 1);
  for (const NodeShare& share : opened.nodes) {
    Node& node = nodes_.named(share.node);
    for_each_claim_change(node, share, opened.begin, segment.end(), 1,
                          [&](Instant at, const Measured& delta) { node.change_claimed(at, delta); });
  }
}

// What each run holds is known only when all claims are. Where nothing is shared it is what the run claims.
void Posting::restore_runs() {
  const Instant since = remembered_since();
  std::vector<bool> shared;
  shared.reserve(nodes_.size());
  for (const Node& node : nodes_) shared.push_back(node.is_shared_since(since, {}));
  jobs_.for_each_counted([&](const SegmentRecord& run) {
    if (run.live.opened.key.kind != SegmentKind::run || run.end() <= since) return;
    const OrgId organization = organization_of(run);
    Work alone{{}, std::max(run.live.opened.begin, since), run.end()};
    for (const NodeShare& share : run.live.opened.nodes) {
      const std::uint32_t index = nodes_.index_of(share.node);
      if (shared[index]) continue;
      alone.processors += share.processors;
      fold_share(1, nodes_[index], organization, share, alone.begin, alone.end);
    }
    if (alone.processors.value > 0) fold_running(1, organization, alone);
  });
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (shared[i]) fold_node(1, nodes_[i], since);
  }
}

void Posting::restore_all() {
  restore_runs();
  offers_.enter_all();
}

}  // namespace shapley::accounting
