// What nodes offer to each organization, entered in the accounts (accounts.hpp): the whole of it by both measures, and
// by charge, by kinds of nodes, and what they offer to jobs with each placement that is in use. Single-threaded; the
// caller owns it and what it refers to.
#pragma once

#include <cstdint>
#include <string_view>

#include "accounting/ownership/kinds.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/ownership/placement.hpp"
#include "accounting/state/accounts.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class Offers {
 public:
  Offers(const Nodes& nodes, const KindHistory& kinds, Placements& placements, Accounts& accounts)
      : nodes_(nodes), kinds_(kinds), placements_(placements), accounts_(accounts) {}

  // Makes a change after which the node offers something else from `from` on.
  template <typename Change>
  void change(const Node& node, Instant from, Change&& change) {
    enter(node, from, -1);
    change();
    enter(node, from, 1);
  }
  // Makes a change after which other nodes are of one kind from `from` on.
  template <typename Change>
  void change_kinds(Instant from, Change&& change) {
    for (const Node& node : nodes_) enter_amounts(node, from, -1);
    change();
    for (const Node& node : nodes_) enter_amounts(node, from, 1);
  }
  // Makes a change after which jobs with the placement may use other nodes from `from` on.
  template <typename Change>
  void change(const PlacementHistory& placement, Instant from, Change&& change) {
    if (placement.uses > 0) enter_placed(placement, from, -1);
    change();
    if (placement.uses > 0) enter_placed(placement, from, 1);
  }

  // Counts one wait or run more, or less, for the placement (empty: none); `begin` is its begin.
  void add_use(std::string_view placement, Instant begin);
  void remove_use(std::string_view placement);
  // The same without entering anything: for a checkpoint, of which enter_all() enters everything that is remembered.
  void count_use(std::string_view placement, Instant begin);
  void enter_all();

 private:
  // Enters what the node offers from an instant on (sign 1), or takes it back (-1).
  void enter(const Node& node, Instant from, int sign);
  void enter_amounts(const Node& node, Instant from, int sign);
  // The same of what the node, or each of its nodes, offers to jobs with the placement; from told_since on at the
  // earliest.
  void enter_placed(const PlacementHistory& placement, std::uint32_t node, Instant from, int sign);
  void enter_placed(const PlacementHistory& placement, Instant from, int sign);

  const Nodes& nodes_;
  const KindHistory& kinds_;
  Placements& placements_;
  Accounts& accounts_;
};

}  // namespace shapley::accounting
