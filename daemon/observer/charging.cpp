#include "daemon/observer/charging.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace shapley::daemon {

using accounting::CapacityChanged;
using accounting::NodeShare;

namespace {

NodeKind kind_of(const CapacityChanged& node) {
  return {.cpus = node.cpus, .memory = node.memory, .gres = node.gres, .whole = node.whole};
}

}  // namespace

ChargeRule charge_rule(const config::Configuration& configuration) {
  ChargeRule rule{configuration.charge, {}, {}};
  for (const auto& [tres, weight] : configuration.weights) rule.weights.push_back({tres, weight});
  std::map<std::string, std::int64_t> node_weights;
  for (const config::NodeWeight& weight : configuration.node_weights) {
    for (const std::string& node : weight.nodes) node_weights[node] = weight.weight;
  }
  for (const auto& [node, weight] : node_weights) rule.node_weights.push_back({node, weight});
  return rule;
}

std::vector<NodeKind> node_kinds(const std::vector<CapacityChanged>& nodes) {
  std::vector<NodeKind> kinds;
  for (const CapacityChanged& node : nodes) {
    NodeKind kind = kind_of(node);
    if (kind.cpus > 0 && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  return kinds;
}

// Where a run is charged what it blocks, its charge says that already.
std::optional<std::uint32_t> Charging::usable_cpus_of(const protocol::NodeRecord& node) const {
  const bool is_bounded = Int128{node.cpus} * k_micro <= request::k_max_weighted.value;
  if (rule_.is_charged_blocked(node.name) || node.cpus == 0 || !is_bounded) return std::nullopt;
  return node.usable ? node.cpus : 0;
}

CapacityChanged Charging::capacity_of(const protocol::NodeRecord& node) const {
  NodeKind kind = kind_of(node);
  return {.node = node.name,
          .at = {},
          .ordinal = 0,
          .processors = node.usable ? kind.whole : ProcessorMillionths{},
          .whole = kind.whole,
          .cpus = kind.cpus,
          .memory = kind.memory,
          .gres = std::move(kind.gres),
          .usable_cpus = usable_cpus_of(node)};
}

std::vector<NodeShare> Charging::shares_of(const protocol::JobUpdate& job, const NodeLookup& nodes) const {
  const auto kind = [&](std::string_view name) -> std::optional<NodeKind> {
    const CapacityChanged* known = nodes(name);
    return known == nullptr ? std::nullopt : std::optional(daemon::kind_of(*known));
  };
  std::vector<NodeShare> shares;
  for (request::Share& share : rule_.shares_of(job, kind)) {
    shares.push_back({std::move(share.node), share.charge, share.cpus, share.memory, std::move(share.gres)});
  }
  return shares;
}

ProcessorMillionths Charging::task_of(const protocol::JobUpdate& job, const Kinds& kinds) const {
  return {rule_.task_of(rule_.request_of(job), kinds.usable, kinds.all).charge};
}

ProcessorMillionths Charging::waiting_of(const protocol::JobUpdate& job, const Kinds& kinds) const {
  return request::bounded(static_cast<Int128>(task_of(job, kinds).value) * job.pending_tasks);
}

}  // namespace shapley::daemon
