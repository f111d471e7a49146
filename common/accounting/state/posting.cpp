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
  std::vector<const SegmentRecord*> runs;  // by claim
  std::vector<Claim> claims;
  std::vector<std::size_t> groups;
  std::map<std::pair<OrgId, std::string_view>, std::size_t> known;
  for (const Holder& h : holders_of(node, from)) {
    const SegmentOpened& opened = h.run->live.opened;
    const std::size_t group =
        known.try_emplace({organization_of(*h.run), opened.placement}, known.size()).first->second;
    const auto claim = [&](Instant begin, Instant end, ProcessorMillionths processors) {
      runs.push_back(h.run);
      claims.push_back({begin, end, processors});
      groups.push_back(group);
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
                        visit(*runs[claim], count, Work{held, begin, end});
                      });
}

template <typename Visit>
void Posting::for_each_remembered_piece(Measure by, Visit&& visit) const {
  for (const Node& node : nodes_) {
    for_each_class_on(node, by, remembered_since(),
                      [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
                        for_each_piece(node, organization_of(run), held, count, visit);
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

SegmentFact Posting::fact_of(const SegmentRecord& segment) const {
  SegmentFact fact = fact_of(segment.live.opened, organization_of(segment));
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
  for_each_class_on(node, &Measured::charged, from,
                    [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
                      fold_pieces(sign, node, organization_of(run), held, count);
                    });
  fold_node_blocked(sign, node, from);
}

void Posting::fold_node_blocked(int sign, const Node& node, Instant from) {
  if (!node.is_measured_apart()) return;
  for_each_class_on(node, &Measured::blocked, from,
                    [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
                      fold_blocked(sign, node, organization_of(run), held, count);
                    });
}

void Posting::fold_running(int sign, const SegmentRecord& run, const Work& held) {
  const OrgId organization = organization_of(run);
  const std::string& name = run.live.opened.placement;
  const auto hold = [&](Instant t, ProcessorMillionths running) {
    accounts_.change_levels(t, organization, {.running = running, .waiting = {}, .owned = {}});
    if (name.empty()) return;
    const PlacementId placement = placements_.obtain(name).id;
    accounts_.change_placed(t, organization, {.placement = placement, .running = running});
  };
  hold(held.begin, signed_part(sign, held.processors));
  if (held.end != k_end_of_time) hold(held.end, signed_part(-sign, held.processors));
}

void Posting::fold_node(int sign, const Node& node, Instant from) {
  for_each_class_on(node, &Measured::charged, from,
                    [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
                      fold_pieces(sign, node, organization_of(run), held, count);
                      fold_running(sign, run, {{held.processors.value * count}, held.begin, held.end});
                    });
  fold_node_blocked(sign, node, from);
}

void Posting::fold_remembered(int sign) {
  for (const Node& node : nodes_) fold_node_pieces(sign, node, remembered_since());
  jobs_.for_each_counted([&](const SegmentRecord& segment) { fold_segment(sign, segment); });
}

void Posting::take_back_held(std::uint32_t index, Instant from) {
  const Node& node = nodes_[index];
  const auto [entry, is_first] = taken_back_.try_emplace(index, from);
  if (!is_first) {
    if (entry->second <= from) return;
    // Facts may come from the latest to the earliest: put back once for all of them, not for each.
    fold_node(1, node, entry->second);
    entry->second = std::min(from, present_.memory_horizon);
  }
  fold_node(-1, node, entry->second);
}

void Posting::put_back_held() {
  for (const auto& [index, since] : taken_back_) fold_node(1, nodes_[index], since);
  taken_back_.clear();
}

void Posting::tell_remembered(Estimator& listener, int sign) const {
  for_each_remembered_piece(&Measured::charged, [&](const Piece& piece) { listener.fold_piece(sign, piece); });
  jobs_.for_each_counted([&](const SegmentRecord& segment) { listener.fold_segment(sign, fact_of(segment)); });
}

Estimator::Remembered Posting::remembered() const {
  return {present_.memory_horizon, present_.now,
          [this](Estimator& listener, int sign) { tell_remembered(listener, sign); }};
}

void Posting::change_wait(const SegmentRecord& wait, Instant from, int sign) {
  const SegmentOpened& opened = wait.live.opened;
  const OrgId organization = organization_of(wait);
  const auto ask = [&](Instant t, ProcessorMillionths waiting) {
    if (opened.placement.empty()) {
      accounts_.change_levels(t, organization, {.running = {}, .waiting = waiting, .owned = {}});
    } else {
      const PlacementId placement = placements_.obtain(opened.placement).id;
      accounts_.change_placed(t, organization, {.placement = placement, .waiting = waiting});
    }
  };
  ask(from, signed_part(sign, opened.processors));
  if (wait.end() != k_end_of_time) ask(wait.end(), signed_part(-sign, opened.processors));
}

void Posting::add_use(PlacementHistory& placement, Instant begin) {
  const bool was_used = placement.uses++ > 0;
  if (begin >= placement.told_since) return;
  if (was_used) emit_all_placed(placement, placement.told_since, -1);
  placement.told_since = begin;
  emit_all_placed(placement, begin, 1);
}

void Posting::remove_use(PlacementHistory& placement) {
  if (--placement.uses > 0) return;
  placement.told_since = k_end_of_time;
  accounts_.forget_placement(placement.id);
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
  const bool offers_change = !node.offer_ignores(t, delta);
  if (offers_change) emit_offers(node, t, -1);
  node.change_claimed(t, delta);
  if (offers_change) emit_offers(node, t, 1);
}

// If nothing is shared, the run holds what it claims, and no other run is concerned. If something is, before or after
// the change, all that is held of the node since `from` is taken back, and put back before the figures are read.
void Posting::change_run(SegmentRecord& run, Instant from, int sign, const std::function<void()>& mutate) {
  const std::vector<NodeShare>& shares = run.live.opened.nodes;
  const Instant end = run.end();
  const OrgId organization = organization_of(run);
  struct Place {
    std::uint32_t node;
    bool shared;
  };
  std::vector<Place> places;
  places.reserve(shares.size());
  for (const NodeShare& share : shares) {
    const std::uint32_t node = nodes_.index_of(share.node);
    const bool shared =
        taken_back_.contains(node) ||
        nodes_[node].is_shared_since(from, sign > 0 ? nodes_[node].most_claimed(share, from, end) : Measured{});
    places.push_back({node, shared});
    if (shared) take_back_held(node, from);
  }
  mutate();
  ProcessorMillionths alone;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Node& node = nodes_[places[i].node];
    for_each_claim_change(node, shares[i], from, end, sign,
                          [&](Instant at, const Measured& delta) { change_claimed(node, at, delta); });
    if (places[i].shared) continue;
    alone += shares[i].processors;
    fold_share(sign, node, organization, shares[i], from, end);
  }
  if (alone.value > 0) fold_running(sign, run, {alone, from, end});
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
  const std::string& placement = segment.live.opened.placement;
  fold_segment(sign, segment);
  if (!placement.empty() && sign > 0) add_use(placements_.obtain(placement), begin);
  if (segment.live.opened.key.kind == SegmentKind::run) {
    change_run(segment, begin, sign, mutate);
  } else {
    change_wait(segment, begin, sign);
    mutate();
  }
  if (!placement.empty() && sign < 0) remove_use(placements_.obtain(placement));
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
  if (shared || changes_claims) take_back_held(index, event.at);
  emit_offers(node, event.at, -1);
  if (changes_claims) change_claims(node, event.at, -1);
  node.insert_capacity(event);
  if (changes_claims) change_claims(node, event.at, 1);
  emit_offers(node, event.at, 1);
}

void Posting::change_ownership(std::uint32_t index, Instant from, const std::function<void()>& change) {
  put_back_held();
  const Node& node = nodes_[index];
  fold_node_pieces(-1, node, from);
  emit_offers(node, from, -1);
  change();
  emit_offers(node, from, 1);
  fold_node_pieces(1, node, from);
}

void Posting::post(const PlacementResolved& event) {
  PlacementHistory& placement = placements_.obtain(event.placement);
  std::vector<std::uint32_t> indices = indices_of(event, nodes_);
  if (placement.uses > 0) emit_all_placed(placement, event.at, -1);
  placement.insert(event, std::move(indices));
  if (placement.uses > 0) emit_all_placed(placement, event.at, 1);
}

void Posting::post(const PeriodDeclared& event) {
  std::vector<Instant> boundaries = accounts_.declare(event, present_.now);
  if (boundaries == accounts_.boundaries()) return;
  put_back_held();
  fold_remembered(-1);
  accounts_.set_boundaries(std::move(boundaries));
  fold_remembered(1);
  restate_levels();
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

void Posting::close_period() {
  put_back_held();
  accounts_.close_period();
}

void Posting::forget(const SegmentRecord& segment) {
  const std::string& placement = segment.live.opened.placement;
  if (segment.counts() && !placement.empty()) remove_use(placements_.obtain(placement));
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

void Posting::emit_offers(const Node& node, Instant from, int sign) {
  node.for_each_offer_change(from, [&](Instant at, const Offer& before, const Offer& after) {
    const auto tell = [&](Measure by, const auto& change) {
      if (after.same_as(before, by)) return;
      for (const auto& [offer, direction] : {std::pair(&before, -sign), std::pair(&after, sign)}) {
        if ((offer->amount.*by).value == 0) continue;
        split_among(*offer->owners, offer->amount.*by,
                    [&, direction = direction](OrgId owner, ProcessorMillionths part) {
                      change(owner, signed_part(direction, part));
                    });
      }
    };
    tell(&Measured::charged, [&](OrgId owner, ProcessorMillionths part) {
      accounts_.change_levels(at, owner, {.running = {}, .waiting = {}, .owned = part});
    });
    tell(&Measured::blocked, [&](OrgId owner, ProcessorMillionths part) { accounts_.change_owned(at, owner, part); });
  });
  const std::uint32_t index = *nodes_.find(node.name);
  for (const auto& [name, placement] : placements_) {
    if (placement.uses > 0 && placement.ever_holds(index)) emit_placed(placement, index, from, sign);
  }
}

void Posting::emit_placed(const PlacementHistory& placement, std::uint32_t index, Instant from, int sign) {
  const Node& node = nodes_[index];
  const bool from_the_first = from <= placement.told_since;
  from = std::max(from, placement.told_since);
  std::map<Instant, Offer> offers{{k_beginning_of_time, node.offer_before(from)}};
  node.for_each_offer_change(from, [&](Instant at, const Offer&, const Offer& after) { offers[at] = after; });
  std::vector<Instant> instants = placement.changes_since(from);
  instants.push_back(from);
  for (const auto& [at, offer] : offers) {
    if (at > from) instants.push_back(at);
  }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  const auto tell = [&](Instant at, const Offer& offer, int direction) {
    if (offer.amount.charged.value == 0) return;
    split_among(*offer.owners, offer.amount.charged, [&](OrgId owner, ProcessorMillionths part) {
      accounts_.change_placed(at, owner, {.placement = placement.id, .offered = signed_part(direction, part)});
    });
  };
  Offer before;
  if (!from_the_first && placement.holds_before(index, from)) before = offers.begin()->second;
  for (const Instant t : instants) {
    const Offer after = placement.holds(index, t) ? std::prev(offers.upper_bound(t))->second : Offer{};
    if (!after.same_as(before, &Measured::charged)) {
      tell(t, before, -sign);
      tell(t, after, sign);
    }
    before = after;
  }
}

void Posting::emit_all_placed(const PlacementHistory& placement, Instant from, int sign) {
  for (const std::uint32_t node : placement.nodes()) emit_placed(placement, node, from, sign);
}

std::vector<Level> Posting::levels_before(Instant t) const {
  std::vector<Level> rows(organizations_.names().size());
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
  for (Levels::Period& period : accounts_.levels().periods()) {
    if (!accounts_.levels().settled(period)) period.rows = levels_before(period.end);
  }
}

void Posting::restore(const SegmentRecord& segment) {
  const SegmentOpened& opened = segment.live.opened;
  for (const NodeShare& share : opened.nodes) nodes_.named(share.node).jobs.push_back(opened.key.job);
  if (!segment.counts()) return;
  fold_segment(1, segment);
  if (!opened.placement.empty()) {
    PlacementHistory& placement = placements_.obtain(opened.placement);
    ++placement.uses;
    placement.told_since = std::min(placement.told_since, opened.begin);
  }
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
    if (alone.processors.value > 0) fold_running(1, run, alone);
  });
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (shared[i]) fold_node(1, nodes_[i], since);
  }
}

void Posting::restore_all() {
  restore_runs();
  for (const Node& node : nodes_) emit_offers(node, k_beginning_of_time, 1);
  placements_.note_told_before(present_.memory_horizon);
}

}  // namespace shapley::accounting
