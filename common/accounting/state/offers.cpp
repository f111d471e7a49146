#include "accounting/state/offers.hpp"

#include <algorithm>
#include <vector>

namespace shapley::accounting {

void Offers::enter_all() {
  for (const Node& node : nodes_) enter(node, k_beginning_of_time, 1);
}

void Offers::enter(const Node& node, Instant from, int sign) {
  const auto pass = [&](const Offer& offer, Measure by, int direction, const auto& change) {
    if ((offer.amount.*by).value == 0) return;
    split_among(*offer.owners, offer.amount.*by,
                [&](OrgId owner, ProcessorMillionths part) { change(owner, {direction * part.value}); });
  };
  const auto pass_charged = [&](Instant at, const Offer& offer, Kind kind, int direction) {
    pass(offer, &Measured::charged, direction, [&](OrgId owner, ProcessorMillionths part) {
      accounts_.change_levels(at, owner, {.running = {}, .owned = part, .kind = kind});
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
      pass_charged(at, before, kind, -sign);
      pass_charged(at, after, kind, sign);
    }
    if (after.same_as(before, &Measured::blocked)) return;
    const auto change = [&](OrgId owner, ProcessorMillionths part) { accounts_.change_owned(at, owner, part); };
    pass(before, &Measured::blocked, -sign, change);
    pass(after, &Measured::blocked, sign, change);
  });
  for (const Instant at : moves) {
    pass_charged(at, node.offer_before(at), kind_before(at), -sign);
    pass_charged(at, node.offer_before(at + Duration{1}), kinds_.kind_of(node.name, at), sign);
  }
}

}  // namespace shapley::accounting
