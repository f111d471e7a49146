#include "accounting/state/offers.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace shapley::accounting {

void Offers::add_use(std::string_view name, Instant begin) {
  if (name.empty()) return;
  PlacementHistory& placement = placements_.obtain(name);
  const bool was_used = placement.uses++ > 0;
  if (begin >= placement.told_since) return;
  if (was_used) enter_placed(placement, placement.told_since, -1);
  placement.told_since = begin;
  enter_placed(placement, begin, 1);
}

void Offers::remove_use(std::string_view name) {
  if (name.empty()) return;
  PlacementHistory& placement = placements_.obtain(name);
  if (--placement.uses > 0) return;
  placement.told_since = k_end_of_time;
  accounts_.forget_placement(placement.id);
}

void Offers::count_use(std::string_view name, Instant begin) {
  if (name.empty()) return;
  PlacementHistory& placement = placements_.obtain(name);
  ++placement.uses;
  placement.told_since = std::min(placement.told_since, begin);
}

void Offers::enter_all() {
  for (const Node& node : nodes_) enter(node, k_beginning_of_time, 1);
}

void Offers::enter_amounts(const Node& node, Instant from, int sign) {
  const auto tell = [&](const Offer& offer, Measure by, int direction, const auto& change) {
    if ((offer.amount.*by).value == 0) return;
    split_among(*offer.owners, offer.amount.*by,
                [&](OrgId owner, ProcessorMillionths part) { change(owner, {direction * part.value}); });
  };
  const auto tell_charged = [&](Instant at, const Offer& offer, Kind kind, int direction) {
    tell(offer, &Measured::charged, direction, [&](OrgId owner, ProcessorMillionths part) {
      accounts_.change_levels(at, owner, {.running = {}, .waiting = {}, .owned = part, .kind = kind});
    });
  };
  std::vector<Instant> moves;  // to another kind
  const auto kind_before = [&](Instant at) { return kinds_.kind_of(node.name, {at.value - 1}); };
  for (const Instant at : kinds_.changes_since(from)) {
    if (kind_before(at) != kinds_.kind_of(node.name, at)) moves.push_back(at);
  }
  node.for_each_offer_change(from, [&](Instant at, const Offer& before, const Offer& after) {
    if (!after.same_as(before, &Measured::charged) && std::ranges::find(moves, at) == moves.end()) {
      const Kind kind = kinds_.kind_of(node.name, at);
      tell_charged(at, before, kind, -sign);
      tell_charged(at, after, kind, sign);
    }
    if (after.same_as(before, &Measured::blocked)) return;
    const auto change = [&](OrgId owner, ProcessorMillionths part) { accounts_.change_owned(at, owner, part); };
    tell(before, &Measured::blocked, -sign, change);
    tell(after, &Measured::blocked, sign, change);
  });
  for (const Instant at : moves) {
    tell_charged(at, node.offer_before(at), kind_before(at), -sign);
    tell_charged(at, node.offer_before(at + Duration{1}), kinds_.kind_of(node.name, at), sign);
  }
}

void Offers::enter(const Node& node, Instant from, int sign) {
  enter_amounts(node, from, sign);
  const std::uint32_t index = *nodes_.find(node.name);
  for (const auto& [name, placement] : placements_) {
    if (placement.uses > 0 && placement.ever_holds(index)) enter_placed(placement, index, from, sign);
  }
}

void Offers::enter_placed(const PlacementHistory& placement, std::uint32_t index, Instant from, int sign) {
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
      accounts_.change_placed(at, owner, {.placement = placement.id, .offered = {direction * part.value}});
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

void Offers::enter_placed(const PlacementHistory& placement, Instant from, int sign) {
  for (const std::uint32_t node : placement.nodes()) enter_placed(placement, node, from, sign);
}

}  // namespace shapley::accounting
