// What psi, the levels and the estimators are told of the facts.
#include "accounting/state/state_impl.hpp"

namespace shapley::accounting {

namespace {

MicroProcessors signed_part(int sign, MicroProcessors processors) {
  return {sign * processors.value};
}

}  // namespace

void State::Impl::fold_piece(int sign, const Piece& piece) {
  got.fold(sign, piece.organization, {piece.processors, piece.begin, piece.end});
  levels.fold_piece(sign, in_rows(piece));
  for (const auto& estimator : estimators) estimator->fold_piece(sign, piece);
}

OrgId State::Impl::organization_of(const SegmentRecord& segment) const {
  return *organizations.find(segment.live.opened.organization);
}

SegmentFact State::Impl::fact_of(const SegmentOpened& opened, OrgId organization) {
  return {.key = opened.key,
          .organization = organization,
          .processors = opened.processors,
          .begin = opened.begin,
          .end = k_end_of_time,
          .released = opened.released,
          .waited_as = opened.waited_as};
}

SegmentFact State::Impl::fact_of(const SegmentRecord& segment) const {
  SegmentFact fact = fact_of(segment.live.opened, organization_of(segment));
  fact.end = segment.end();
  fact.reason = segment.reason;
  return fact;
}

void State::Impl::fold_segment(int sign, const SegmentRecord& segment) {
  const SegmentFact fact = fact_of(segment);
  for (const auto& estimator : estimators) estimator->fold_segment(sign, fact);
}

std::vector<State::Impl::Holder> State::Impl::holders_of(const Node& node, Instant from) const {
  std::vector<JobId> ids = node.jobs;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<Holder> holders;
  for (const JobId id : ids) {
    const auto job = jobs.find(id);
    if (job == jobs.end()) continue;
    for (const SegmentRecord& record : job->second.segments) {
      if (!record.counts() || record.end() <= from) continue;
      const std::vector<NodeShare>& shares = record.live.opened.nodes;  // ascending by name
      const auto share = std::lower_bound(shares.begin(), shares.end(), node.name,
                                          [](const NodeShare& s, const std::string& name) { return s.node < name; });
      if (share != shares.end() && share->node == node.name) holders.push_back({&record, &*share});
    }
  }
  return holders;
}

Instant State::Impl::remembered_since() const {
  return horizon == k_beginning_of_time ? horizon : horizon - Duration{1};
}

void State::Impl::fold_pieces(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count) {
  for_each_piece(node, organization, held, count, [&](const Piece& piece) { fold_piece(sign, piece); });
}

void State::Impl::fold_node_pieces(int sign, const Node& node, Instant from) {
  for_each_class_on(node, from, [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
    fold_pieces(sign, node, organization_of(run), held, count);
  });
}

void State::Impl::fold_running(int sign, const SegmentRecord& run, const Work& held) {
  const OrgId organization = organization_of(run);
  const std::string& name = run.live.opened.placement;
  const auto hold = [&](Instant t, MicroProcessors running) {
    fold_levels(t, organization, {.running = running, .waiting = {}, .owned = {}});
    if (name.empty()) return;
    const PlacementId placement = placement_of(name).id;
    for (const auto& estimator : estimators) {
      estimator->change_placed(t, organization, {.placement = placement, .running = running});
    }
  };
  hold(held.begin, signed_part(sign, held.processors));
  if (held.end != k_end_of_time) hold(held.end, signed_part(-sign, held.processors));
}

void State::Impl::fold_node(int sign, const Node& node, Instant from) {
  for_each_class_on(node, from, [&](const SegmentRecord& run, std::int64_t count, const Work& held) {
    fold_pieces(sign, node, organization_of(run), held, count);
    fold_running(sign, run, {{held.processors.value * count}, held.begin, held.end});
  });
}

void State::Impl::take_back_held(const Node& node, Instant from) {
  const std::uint32_t index = node_index.find(node.name)->second;
  const auto [entry, is_first] = taken_back.try_emplace(index, from);
  if (!is_first) {
    if (entry->second <= from) return;
    // Facts that come from the latest to the earliest: once more for all of them, not for each.
    fold_node(1, node, entry->second);
    entry->second = std::min(from, horizon);
  }
  fold_node(-1, node, entry->second);
}

void State::Impl::put_back_held() {
  for (const auto& [index, since] : taken_back) fold_node(1, nodes[index], since);
  taken_back.clear();
}

void State::Impl::fold_levels(Instant t, OrgId organization, const LevelChange& change) {
  if (gathered_levels) {
    gathered_levels->push_back({t, organization, change});
    return;
  }
  levels.change(t, organization, {.owned = change.owned, .waiting = change.waiting, .lent = {}, .borrowed = {}});
  for (const auto& estimator : estimators) estimator->change_levels(t, organization, change);
}

void State::Impl::tell_gathered_levels() {
  std::vector<GatheredLevel> all = std::exchange(gathered_levels, std::nullopt).value();
  const auto place_of = [](const GatheredLevel& level) { return std::pair(level.t, level.organization); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  for (std::size_t i = 0; i < all.size();) {
    LevelChange sum;
    std::size_t end = i;
    for (; end < all.size() && place_of(all[end]) == place_of(all[i]); ++end) {
      sum.running += all[end].change.running;
      sum.waiting += all[end].change.waiting;
      sum.owned += all[end].change.owned;
    }
    fold_levels(all[i].t, all[i].organization, sum);
    i = end;
  }
}

void State::Impl::tell_remembered(Estimator& listener, int sign) const {
  for_each_remembered_piece([&](const Piece& piece) { listener.fold_piece(sign, piece); });
  for_each_remembered([&](const SegmentRecord& segment) { listener.fold_segment(sign, fact_of(segment)); });
}

Estimator::Remembered State::Impl::remembered() const {
  return {horizon, now, [this](Estimator& listener, int sign) { tell_remembered(listener, sign); }};
}

void State::Impl::change_wait(const SegmentRecord& wait, Instant from, int sign) {
  const SegmentOpened& opened = wait.live.opened;
  const OrgId organization = organization_of(wait);
  const auto ask = [&](Instant t, MicroProcessors waiting) {
    if (opened.placement.empty()) {
      return fold_levels(t, organization, {.running = {}, .waiting = waiting, .owned = {}});
    }
    const PlacementId placement = placement_of(opened.placement).id;
    levels.change(t, organization, {.owned = {}, .waiting = waiting, .lent = {}, .borrowed = {}});
    for (const auto& estimator : estimators) {
      estimator->change_placed(t, organization, {.placement = placement, .waiting = waiting});
    }
  };
  ask(from, signed_part(sign, opened.processors));
  if (wait.end() != k_end_of_time) ask(wait.end(), signed_part(-sign, opened.processors));
}

void State::Impl::add_use(PlacementHistory& placement, Instant begin) {
  const bool told = placement.uses++ > 0;
  if (begin >= placement.told_since) return;
  if (told) emit_all_placed(placement, placement.told_since, -1);
  placement.told_since = begin;
  emit_all_placed(placement, begin, 1);
}

void State::Impl::remove_use(PlacementHistory& placement) {
  if (--placement.uses > 0) return;
  placement.told_since = k_end_of_time;
  for (const auto& estimator : estimators) estimator->forget_placement(placement.id);
}

void State::Impl::change_claimed(Node& node, Instant t, MicroProcessors delta) {
  const bool offers_change = !node.offer_ignores(t, delta);
  if (offers_change) emit_offers(node, t, -1);
  node.change_claimed(t, delta);
  if (offers_change) emit_offers(node, t, 1);
}

// Where nothing is shared the run holds what it claims, and nobody else is concerned. Where something is, before or
// after the change, all that is held of the node since `from` is taken back, and put back before the figures are read.
void State::Impl::change_run(SegmentRecord& run, Instant from, int sign, const std::function<void()>& mutate) {
  const std::vector<NodeShare>& shares = run.live.opened.nodes;
  const Instant end = run.end();
  const OrgId organization = organization_of(run);
  struct Place {
    Node* node;
    bool shared;
  };
  std::vector<Place> places;
  places.reserve(shares.size());
  for (const NodeShare& share : shares) {
    Node& node = node_of(share.node);
    const bool shared = taken_back.contains(index_of(share.node)) ||
                        node.is_shared_since(from, sign > 0 ? share.processors : MicroProcessors{});
    places.push_back({&node, shared});
    if (shared) take_back_held(node, from);
  }
  mutate();
  MicroProcessors alone;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Node& node = *places[i].node;
    change_claimed(node, from, signed_part(sign, shares[i].processors));
    if (end != k_end_of_time) change_claimed(node, end, signed_part(-sign, shares[i].processors));
    if (places[i].shared) continue;
    alone += shares[i].processors;
    fold_pieces(sign, node, organization, {shares[i].processors, from, end});
  }
  if (alone.value > 0) fold_running(sign, run, {alone, from, end});
}

void State::Impl::enter(SegmentRecord& segment, int sign, const std::function<void()>& mutate) {
  const Instant begin = segment.live.opened.begin;
  const std::string& placement = segment.live.opened.placement;
  fold_segment(sign, segment);
  if (!placement.empty() && sign > 0) add_use(placement_of(placement), begin);
  if (segment.live.opened.key.kind == SegmentKind::run) {
    change_run(segment, begin, sign, mutate);
  } else {
    change_wait(segment, begin, sign);
    mutate();
  }
  if (!placement.empty() && sign < 0) remove_use(placement_of(placement));
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
  const std::uint32_t index = node_index.find(node.name)->second;
  for (const auto& [name, placement] : placements) {
    if (placement.uses > 0 && placement.ever_holds(index)) emit_placed(placement, index, from, sign);
  }
}

void State::Impl::emit_placed(const PlacementHistory& placement, std::uint32_t index, Instant from, int sign) {
  const Node& node = nodes[index];
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
    if (offer.processors.value == 0) return;
    split_among(*offer.owners, offer.processors, [&](OrgId owner, MicroProcessors part) {
      for (const auto& estimator : estimators) {
        estimator->change_placed(at, owner, {.placement = placement.id, .offered = signed_part(direction, part)});
      }
    });
  };
  Offer before;
  if (!from_the_first && placement.holds_before(index, from)) before = offers.begin()->second;
  for (const Instant t : instants) {
    const Offer after = placement.holds(index, t) ? std::prev(offers.upper_bound(t))->second : Offer{};
    if (!after.same_as(before)) {
      tell(t, before, -sign);
      tell(t, after, sign);
    }
    before = after;
  }
}

void State::Impl::emit_all_placed(const PlacementHistory& placement, Instant from, int sign) {
  for (const std::uint32_t node : placement.nodes()) emit_placed(placement, node, from, sign);
}

std::vector<Level> State::Impl::levels_before(Instant t) const {
  std::vector<Level> rows(organizations.names().size());
  for (const Node& node : nodes) {
    const Offer offer = node.offer_before(t);
    split_among(*offer.owners, offer.processors,
                [&](OrgId owner, MicroProcessors part) { rows[owner.value].owned += part; });
  }
  for_each_remembered([&](const SegmentRecord& segment) {
    const SegmentFact fact = fact_of(segment);
    if (fact.begin >= t || fact.end < t) return;
    if (fact.key.kind == SegmentKind::wait) rows[fact.organization.value].waiting += fact.processors;
  });
  for_each_remembered_piece([&](const Piece& booked) {
    const Piece piece = in_rows(booked);
    if (piece.begin >= t || piece.end < t || piece.organization == piece.owner) return;
    rows[piece.owner.value].lent += piece.processors;
    rows[piece.organization.value].borrowed += piece.processors;
  });
  return rows;
}

void State::Impl::restate_levels() {
  for (Levels::Period& period : levels.periods()) {
    if (!levels.settled(period)) period.rows = levels_before(period.end);
  }
}

}  // namespace shapley::accounting
