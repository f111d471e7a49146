// Who owns which nodes, as the daemon reports it, by the indices of the table of ranks.
//
// By an estimator that credits the owners of the nodes in use, each processor that a run takes counts as given by those
// whose nodes it is on. The daemon says so with its next ranks; until then the plugin counts it itself. Immutable.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/types.hpp"
#include "game/split.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

struct OwnerShare {
  std::uint32_t organization = 0;  // k_no_organization: it has no rank, such as commons
  Int128 parts = 0;
};
using OwnerShares = std::vector<OwnerShare>;
inline constexpr std::uint32_t k_no_organization = std::numeric_limits<std::uint32_t>::max();

// Calls visit(organization, millionths of a processor) for each owner's part of `total` that has a rank, apportioned as
// the books do it: by largest remainder.
template <typename Visit>
void split_among(const OwnerShares& owners, std::int64_t total, Visit&& visit) {
  game::split_among(
      owners, total, [](const OwnerShare& owner) { return owner.parts; },
      [&](const OwnerShare& owner, std::int64_t part) {
        if (owner.organization != k_no_organization) visit(owner.organization, part);
      });
}

class NodeOwners {
 public:
  // No node has an owner.
  NodeOwners() = default;
  // index_of(name): of an organization, or k_no_organization.
  template <typename IndexOf>
  NodeOwners(const std::vector<protocol::OwnedNodes>& owned, IndexOf&& index_of) {
    for (const protocol::OwnedNodes& same : owned) {
      OwnerShares& shares = shares_.emplace_back();
      Int128 all = 0;
      for (const protocol::OwnerPart& part : same.owners) {
        if (part.parts_per_million <= 0) continue;
        shares.push_back({index_of(part.organization), part.parts_per_million});
        all += part.parts_per_million;
      }
      if (all > 0) {
        for (const std::string& node : same.nodes) by_node_.emplace(node, shares_.size() - 1);
      }
    }
  }

  // nullptr: not known. Valid as long as this is.
  [[nodiscard]] const OwnerShares* find(const std::string& node) const {
    const auto known = by_node_.find(node);
    return known == by_node_.end() ? nullptr : &shares_[known->second];
  }

 private:
  std::vector<OwnerShares> shares_;
  std::unordered_map<std::string, std::size_t> by_node_;
};

}  // namespace shapley::client
