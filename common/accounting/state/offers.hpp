// What nodes offer to each organization, entered in the accounts (accounts.hpp): by both measures, and by charge, by
// kinds of nodes. Single-threaded; the caller owns it and what it refers to.
#pragma once

#include "accounting/ownership/kinds.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/state/accounts.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class Offers {
 public:
  Offers(const Nodes& nodes, const KindHistory& kinds, Accounts& accounts)
      : nodes_(nodes), kinds_(kinds), accounts_(accounts) {}

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
    for (const Node& node : nodes_) enter(node, from, -1);
    change();
    for (const Node& node : nodes_) enter(node, from, 1);
  }
  // For a checkpoint: everything that is remembered.
  void enter_all();

 private:
  // Enters what the node offers from an instant on (sign 1), or takes it back (-1).
  void enter(const Node& node, Instant from, int sign);

  const Nodes& nodes_;
  const KindHistory& kinds_;
  Accounts& accounts_;
};

}  // namespace shapley::accounting
