// The charge of request/charging.hpp in the books' terms: what a run is charged, what a node is worth, and what a
// waiting job asks for, as events have it. The charge is the price in the unit of psi. What a run blocks, which is what
// its organization uses of the nodes, is the same by every rule (game/blocked.hpp); the books compute it. Immutable;
// pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "protocol/messages.hpp"
#include "request/charging.hpp"

namespace shapley::daemon {

using request::ChargeRule;
using request::NodeKind;

// Ascending by node.
[[nodiscard]] ChargeRule charge_rule(const config::Configuration& configuration);

// The node's last capacity_changed in the books; nullptr if it is not in the books.
using NodeLookup = std::function<const accounting::CapacityChanged*(std::string_view node)>;

// The kinds of nodes, which differ in resources or worth, each once, whether usable or not. The books do not have their
// units of allocation: single CPUs.
[[nodiscard]] std::vector<NodeKind> node_kinds(const std::vector<accounting::CapacityChanged>& nodes);

// On what a waiting job could run: the kinds of nodes that it may use, as far as the feeder has reported them, and
// those of all nodes in the books, which count where none of the others has what it needs.
struct Kinds {
  std::span<const NodeKind> usable = {};
  std::span<const NodeKind> all = {};
};

class Charging {
 public:
  explicit Charging(const ChargeRule& rule = {}) : rule_(rule) {}

  // The node's resources, worth and offer (its worth, or nothing if unusable), and whether its CPUs are counted, which
  // they are where runs are not charged what they block. The caller sets `at` and `ordinal`.
  [[nodiscard]] accounting::CapacityChanged capacity_of(const protocol::NodeRecord& node) const;
  [[nodiscard]] NodeKind kind_of(const protocol::NodeRecord& node) const { return rule_.kind_of(node); }

  // Where a started job runs, and what it is charged there. Ascending by name, each node once, no zero parts. On a node
  // that the books do not know it is charged its CPUs.
  [[nodiscard]] std::vector<accounting::NodeShare> shares_of(const protocol::JobUpdate& job,
                                                             const NodeLookup& nodes) const;

  // What one task of a pending record asks for; of a record that has started, with what was allocated of resources but
  // CPUs.
  [[nodiscard]] ProcessorMillionths task_of(const protocol::JobUpdate& job, const Kinds& kinds) const;
  // What a pending record asks for: pending_tasks times task_of.
  [[nodiscard]] ProcessorMillionths waiting_of(const protocol::JobUpdate& job, const Kinds& kinds) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> usable_cpus_of(const protocol::NodeRecord& node) const;

  request::Charging rule_;
};

}  // namespace shapley::daemon
