// Computes the charge of a run from Slurm's allocation: the only place where `charge`, `weights` and `node_weights` of
// the configuration are applied. The charge is the price in the unit of psi. What a run blocks, which is what its
// organization uses of the nodes, is the same by every rule (game/blocked.hpp); the books compute it.
//
// A node's worth is its CPUs, times the weight of the node. The rules by which a run is charged on each of its nodes:
//   dominant  the largest of its parts of the node's CPUs, memory and generic resources, times what the node is worth;
//             a run that has the node to itself: all of that. What blocks the node is what counts.
//   cpu       its CPUs, times the weight of the node.
//   weights   the weighted sum of what it holds (Weighting); the node is worth that sum over what it has.
//   billing   Slurm's own TRES "billing" of the job, spread over its nodes in proportion to their CPUs; a node is worth
//             its own "billing", which slurmctld makes from the TRESBillingWeights of its partitions.
// A waiting job asks for what it would be charged, by the same rule, on those kinds of nodes that have what it needs
// and where that is least. Which partition or nodes it asked for is not looked at. Immutable; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// A single job or node larger than this (a million weighted processors) is a malformed record, and is reduced to it.
inline constexpr ProcessorMillionths k_max_weighted{1'000'000 * k_micro};

// `micro`, limited to 0 and that bound.
[[nodiscard]] ProcessorMillionths bounded(Int128 micro);

// Computes weighted micro-processors from Slurm's counts: the only place where the `weights` of the configuration are
// applied.
//
// One processor of weight 1 is 1,000,000 micro-processors. What a record asks for or holds is the sum over the weights
// of count * weight; resources without a weight count nothing. Results are bounded by k_max_weighted, so that sums over
// a whole cluster stay within the range of game/utility.hpp whatever a record claims. Immutable; pure.
class Weighting {
 public:
  // TRES name -> weight (>= 0), as in config::Configuration::weights.
  explicit Weighting(std::vector<std::pair<std::string, std::int64_t>> weights = {{"cpu", 1}});

  // A node's capacity, whether it is usable or not.
  [[nodiscard]] ProcessorMillionths capacity_of(const protocol::NodeRecord& node) const;

  // The weighted request of one task; after the start, with the allocated amounts of resources except cpus.
  [[nodiscard]] ProcessorMillionths task_of(const protocol::JobUpdate& job) const;

  // Where a started job runs: cpus and generic resources as Slurm allocated them to each node. What the job's sums have
  // beyond these (resources with a type, whose weight Slurm reports for the job only) in proportion to the nodes' cpus,
  // by largest remainder (ties to the earlier name), so that the parts add up exactly; all of it is spread so where the
  // nodes' counts sum to more than the job's, as those that Slurm does not track do. Ascending by name, each node once,
  // no zero parts.
  [[nodiscard]] std::vector<accounting::NodeShare> shares_of(const protocol::JobUpdate& job) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view tres) const;
  [[nodiscard]] ProcessorMillionths others_of(const std::vector<protocol::Tres>& tres) const;

  std::vector<std::pair<std::string, std::int64_t>> weights_;
};

struct ChargeRule {
  config::Charge charge = config::Charge::dominant;
  std::vector<std::pair<std::string, std::int64_t>> weights{{"cpu", 1}};  // of `weights`: TRES name -> weight
  std::map<std::string, std::int64_t, std::less<>> node_weights;          // node -> weight, where it is not 1
  friend bool operator==(const ChargeRule&, const ChargeRule&) = default;
};

[[nodiscard]] ChargeRule charge_rule(const config::Configuration& configuration);

// The node's last capacity_changed in the books; nullptr if it is not in the books.
using NodeLookup = std::function<const accounting::CapacityChanged*(std::string_view node)>;

// The kinds of nodes, which differ in resources or weight, each once, whether usable or not.
[[nodiscard]] std::vector<accounting::CapacityChanged> node_kinds(
    const std::vector<accounting::CapacityChanged>& nodes);

class Charging {
 public:
  explicit Charging(ChargeRule rule = {});

  // The node's resources, worth and offer (its worth, or nothing if unusable), and whether its CPUs are counted, which
  // they are where runs are not charged what they block. The caller sets `at` and `ordinal`.
  [[nodiscard]] accounting::CapacityChanged capacity_of(const protocol::NodeRecord& node) const;

  // Where a started job runs, and what it is charged there. Ascending by name, each node once, no zero parts. On a node
  // that the books do not know it is charged its CPUs.
  [[nodiscard]] std::vector<accounting::NodeShare> shares_of(const protocol::JobUpdate& job,
                                                             const NodeLookup& nodes) const;

  // What one task of a pending record asks for; of a record that has started, with what was allocated of resources but
  // CPUs.
  [[nodiscard]] ProcessorMillionths task_of(const protocol::JobUpdate& job,
                                            std::span<const accounting::CapacityChanged> kinds) const;
  // What a pending record asks for: pending_tasks times task_of.
  [[nodiscard]] ProcessorMillionths waiting_of(const protocol::JobUpdate& job,
                                               std::span<const accounting::CapacityChanged> kinds) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view node) const;
  [[nodiscard]] bool counts_cpus(const protocol::NodeRecord& node) const;
  [[nodiscard]] ProcessorMillionths charge_of(const accounting::NodeShare& held, bool exclusive,
                                              const accounting::CapacityChanged* node) const;

  ChargeRule rule_;
  std::optional<Weighting> weighting_;  // where the charge is a sum over TRES
};

}  // namespace shapley::daemon
