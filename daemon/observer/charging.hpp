// From what Slurm allocated to what a run is charged: the one place where `charge`, `weights` and `node_weights` of the
// configuration are applied.
//
// A node is worth its CPUs, times the weight of the node. By which rule a run is charged on each of its nodes:
//   dominant  the largest of its parts of the node's CPUs, memory and generic resources, times what the node is worth;
//             a run that has the node to itself: all of that. What blocks the node is what counts.
//   cpu       its CPUs, times the weight of the node.
//   weights   the weighted sum of what it holds (weighting.hpp); the node is worth that sum over what it has.
// A waiting job asks for what it would be charged, by the same rule, on those kinds of nodes that have what it needs
// and where that is least. Which partition or nodes it asked for is not looked at. Immutable; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/observer/weighting.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

struct ChargeRule {
  config::Charge charge = config::Charge::dominant;
  std::vector<std::pair<std::string, std::int64_t>> weights{{"cpu", 1}};  // of `weights`: TRES name -> weight
  std::map<std::string, std::int64_t, std::less<>> node_weights;          // node -> weight, where it is not 1
  friend bool operator==(const ChargeRule&, const ChargeRule&) = default;
};

[[nodiscard]] ChargeRule charge_rule(const config::Configuration& configuration);

// What the books know of a node: the last capacity_changed; nullptr if they do not know the node.
using NodeLookup = std::function<const accounting::CapacityChanged*(std::string_view node)>;

// Nodes that differ in what they have or are worth, each kind once. What they offer does not matter.
[[nodiscard]] std::vector<accounting::CapacityChanged> node_kinds(
    const std::vector<accounting::CapacityChanged>& nodes);

class Charging {
 public:
  explicit Charging(ChargeRule rule = {});

  // What the node has, is worth, and offers: that, or nothing if it is not usable. `at` and `ordinal` are the caller's.
  [[nodiscard]] accounting::CapacityChanged capacity_of(const protocol::NodeRecord& node) const;

  // Where a started job runs, and what it is charged there. Ascending by name, each node once, no zero parts. On a node
  // that the books do not know it is charged its CPUs.
  [[nodiscard]] std::vector<accounting::NodeShare> shares_of(const protocol::JobRecord& job,
                                                             const NodeLookup& nodes) const;

  // What one task of a pending record asks for; of a record that has started, with what was allocated of resources but
  // CPUs.
  [[nodiscard]] MicroProcessors task_of(const protocol::JobRecord& job,
                                        std::span<const accounting::CapacityChanged> kinds) const;
  // What a pending record asks for: pending_tasks times task_of.
  [[nodiscard]] MicroProcessors waiting_of(const protocol::JobRecord& job,
                                           std::span<const accounting::CapacityChanged> kinds) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view node) const;
  [[nodiscard]] MicroProcessors charge_of(const accounting::NodeShare& held, bool exclusive,
                                          const accounting::CapacityChanged* node) const;

  ChargeRule rule_;
  Weighting weighting_;
};

}  // namespace shapley::daemon
