// What one task of a request is charged and what it blocks, and what a run is charged: the only place where `charge`,
// `weights` and `node_weights` of the configuration are applied. shapleyd books demand and runs by it, and the plugin
// counts by it what a start takes from an organization's lead.
//
// A node's worth is its CPUs, times the weight of the node. The rules by which a run is charged on each of its nodes:
//   dominant  the largest of its parts of the node's CPUs, memory and generic resources, times what the node is worth;
//             a run that has the node to itself: all of that. What blocks the node is what counts.
//   cpu       its CPUs, times the weight of the node.
//   weights   the weighted sum of what it holds (Weighting); the node is worth that sum over what it has.
//   billing   Slurm's own TRES "billing" of the job, spread over its nodes in proportion to their CPUs; a node is worth
//             its own "billing", which slurmctld makes from the TRESBillingWeights of its partitions.
// By a sum, what is more than one of the nodes is worth is charged on the others, if they are worth that together.
// A waiting job asks for what it would be charged, by the same rule, on those kinds of nodes that have what it needs
// and where that is least (Kinds). What it would block there is the same by
// `dominant` without weights, whatever the rule.
//
// Slurm gives jobs whole cores (or sockets): a task of one CPU on a node of two threads a core holds two. The CPUs that
// a request counts are those that it will hold. Immutable; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/resource.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::request {

using protocol::ChargeRule;

// A single job or node larger than this (a million weighted processors) is a malformed record, and is reduced to it.
inline constexpr ProcessorMillionths k_max_weighted{1'000'000 * k_micro};

// `micro`, limited to 0 and that bound.
[[nodiscard]] ProcessorMillionths bounded(Int128 micro);

// Slurm's count, limited to 2^60.
[[nodiscard]] std::int64_t count_of(std::uint64_t count);

// By name, each once, without zeros.
[[nodiscard]] std::vector<Resource> resources_of(const std::vector<protocol::Tres>& gres);

// What a node has that distinguishes the charge there; nodes of one kind are equal.
struct NodeKind {
  std::uint32_t cpus = 0;
  std::uint32_t allocation_unit = 1;  // as in protocol::NodeRecord
  std::int64_t memory = 0;            // MiB
  std::vector<Resource> gres = {};    // ascending by name, without zeros
  ProcessorMillionths whole = {};     // what it is worth
  friend auto operator<=>(const NodeKind&, const NodeKind&) = default;
};

// Whether the node has a generic resource of this name.
[[nodiscard]] bool has_resource(const NodeKind& node, std::string_view name);

// The kinds of nodes on which a request may be counted: where it may run now; if none of these has what it needs, where
// it may run when reservations are over, so that it asks for no less during a maintenance; and if none of these does,
// or they are not known, any.
struct Kinds {
  std::span<const NodeKind> usable = {};   // Placement::admits()
  std::span<const NodeKind> fitting = {};  // Placement::fits()
  std::span<const NodeKind> all = {};
};

// What a run holds on one node.
struct Share {
  std::string node;
  ProcessorMillionths charge = {};
  std::uint32_t cpus = 0;
  std::int64_t memory = 0;          // MiB
  std::vector<Resource> gres = {};  // ascending by name, without zeros
  friend bool operator==(const Share&, const Share&) = default;
};

// Greater weights are reduced to it, so that no sum overflows.
inline constexpr std::int64_t k_max_weight = std::int64_t{1} << 40U;

// Computes weighted micro-processors from Slurm's counts: the only place where the `weights` of the configuration are
// applied.
//
// One processor of weight 1 is 1,000,000 micro-processors. What a record asks for or holds is the sum over the weights
// of count * weight; resources without a weight count nothing. Results are bounded by k_max_weighted, so that sums over
// a whole cluster stay within the range of game/utility.hpp whatever a record claims. Immutable; pure.
class Weighting {
 public:
  // Weights of TRES: at least 0, at most k_max_weight.
  explicit Weighting(std::vector<protocol::Weight> weights = {{"cpu", 1}});

  // A node's capacity, whether it is usable or not.
  [[nodiscard]] ProcessorMillionths capacity_of(const protocol::NodeRecord& node) const;

  [[nodiscard]] ProcessorMillionths cpus(std::uint64_t count) const;
  // What a job's record counts, except for its CPUs: requested amounts, after the start the allocated ones.
  [[nodiscard]] ProcessorMillionths others_of(const std::vector<protocol::Tres>& tres) const;

  // Where a started job runs: cpus and generic resources as Slurm allocated them to each node. What the job's sums have
  // beyond these (resources with a type, whose weight Slurm reports for the job only) in proportion to the nodes' cpus,
  // by largest remainder (ties to the earlier name), so that the parts add up exactly; all of it is spread so where the
  // nodes' counts sum to more than the job's, as those that Slurm does not track do. Ascending by name, each node once,
  // no zero parts, and of each the charge only.
  [[nodiscard]] std::vector<Share> shares_of(const protocol::JobUpdate& job) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view tres) const;

  std::vector<protocol::Weight> weights_;
};

// The request of one task.
struct Request {
  std::int64_t cpus = 0;            // as Slurm counts them before it has chosen nodes
  std::int64_t memory = 0;          // MiB, on all its nodes together
  std::vector<Resource> gres = {};  // on all its nodes together; ascending by name, without zeros
  std::int64_t nodes = 1;           // at least so many
  bool exclusive = false;
  ProcessorMillionths others = {};  // by a rule of sums: what counts besides its CPUs
  friend auto operator<=>(const Request&, const Request&) = default;
};

// What a job needs of one node, at least: no node that has less free can start a part of it.
struct LeastPart {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;          // MiB
  std::vector<Resource> gres = {};  // ascending by name, without zeros
  // Generic resources of a type ("gres/gpu:tesla") that it must have, however many; ascending.
  std::vector<std::string> types = {};
  friend auto operator<=>(const LeastPart&, const LeastPart&) = default;
};

// In millionths of a processor: a charge by the rule, and the processors of nodes that no other job can use meanwhile.
struct Measure {
  std::int64_t charge = 0;
  std::int64_t blocked = 0;  // > 0
  friend bool operator==(const Measure&, const Measure&) = default;
};

// The kind of a node by its name; nullopt: it is not known.
using KindLookup = std::function<std::optional<NodeKind>(std::string_view node)>;

class Charging {
 public:
  explicit Charging(const ChargeRule& rule = {});

  [[nodiscard]] NodeKind kind_of(const protocol::NodeRecord& node) const;

  // Whether a run on the node is charged what it blocks there.
  [[nodiscard]] bool is_charged_blocked(std::string_view node) const {
    return charge_ == Charge::dominant && weight_of(node) == 1;
  }
  // Whether the charge is a sum over what Slurm reports of a job, and not a part of a node.
  [[nodiscard]] bool is_a_sum() const { return weighting_.has_value(); }

  // Where a started job runs, and what it is charged there. Ascending by name, each node once, no zero parts. On a node
  // that is not known it is charged its CPUs. The sum is at most k_max_weighted.
  [[nodiscard]] std::vector<Share> shares_of(const protocol::JobUpdate& job, const KindLookup& nodes) const;
  // Of one share, by a rule that is no sum; nullptr: the node is not known.
  [[nodiscard]] ProcessorMillionths charge_of(const Share& held, bool exclusive, const NodeKind* node) const;

  // The request of one task of a record; of one that has started, with what was allocated of resources but CPUs.
  [[nodiscard]] Request request_of(const protocol::JobUpdate& job) const;
  // What one task is charged and blocks, each where it is least among the kinds of nodes that have what it needs. Where
  // none has, it counts its CPUs. What is billed nothing is charged a millionth, because it waits nevertheless.
  [[nodiscard]] Measure task_of(const Request& request, const Kinds& kinds) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view node) const;
  [[nodiscard]] std::optional<Measure> least_of(const Request& request, std::span<const NodeKind> kinds) const;
  [[nodiscard]] ProcessorMillionths charge_of(const Request& request, const NodeKind& node) const;

  Charge charge_ = Charge::dominant;
  std::map<std::string, std::int64_t, std::less<>> node_weights_;  // node -> weight, where it is not 1
  std::optional<Weighting> weighting_;                             // where the charge is a sum over TRES
};

// What Slurm allocated to a run: ascending by name, each node once; without charges.
[[nodiscard]] std::vector<Share> holdings_of(const protocol::JobUpdate& job);

// The millionths of a processor that a share blocks on its node; its CPUs, if that is not known. > 0
[[nodiscard]] std::int64_t blocked_by(const Share& held, bool exclusive, const NodeKind* node);

// The millionths of a processor that all runs of a node leave of it, which hold so much together, and one of which has
// it to itself or not. From 0 to its CPUs.
[[nodiscard]] std::int64_t free_beside(const Share& held, bool exclusive, const NodeKind& node);

// Of what is free of a node (free_beside), as much as parts of a job fill that need `least` of one node each, or the
// whole node. From 0 to `free`.
[[nodiscard]] std::int64_t room_for(const LeastPart& least, bool whole_node, std::int64_t free, const NodeKind& node);

}  // namespace shapley::request
