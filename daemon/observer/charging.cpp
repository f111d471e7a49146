#include "daemon/observer/charging.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace shapley::daemon {

namespace {

using accounting::CapacityChanged;
using accounting::NodeShare;
using accounting::Resource;

constexpr std::int64_t k_max_count = std::int64_t{1} << 60U;

std::int64_t count_of(std::uint64_t count) {
  return count > static_cast<std::uint64_t>(k_max_count) ? k_max_count : static_cast<std::int64_t>(count);
}

// By name, each once, without zeros.
std::vector<Resource> resources_of(const std::vector<protocol::Tres>& gres) {
  std::map<std::string, std::int64_t> sums;
  for (const protocol::Tres& g : gres) {
    if (!g.name.empty()) sums[g.name] = std::min(k_max_count, sums[g.name] + count_of(g.count));
  }
  std::vector<Resource> resources;
  for (const auto& [name, count] : sums) {
    if (count > 0) resources.push_back({name, count});
  }
  return resources;
}

std::int64_t count_in(const std::vector<Resource>& resources, std::string_view name) {
  const auto found =
      std::find_if(resources.begin(), resources.end(), [&](const Resource& r) { return r.name == name; });
  return found == resources.end() ? 0 : found->count;
}

// A part of what there is; larger than 1 if more is asked for than one node has.
struct Part {
  std::int64_t of = 0;
  std::int64_t whole = 1;
  friend bool operator<(const Part& a, const Part& b) {
    return static_cast<Int128>(a.of) * b.whole < static_cast<Int128>(b.of) * a.whole;
  }
};

struct Amounts {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  const std::vector<Resource>& gres;
};

// The largest part of the node's CPUs, memory and generic resources. What the node does not list cannot be held there
// (or Slurm does not count it), so it blocks nothing.
Part dominant_part(const Amounts& amounts, const CapacityChanged& node) {
  Part largest{amounts.cpus, node.cpus};
  if (node.memory > 0) largest = std::max(largest, Part{amounts.memory, node.memory});
  for (const Resource& r : node.gres) {
    if (r.count > 0) largest = std::max(largest, Part{count_in(amounts.gres, r.name), r.count});
  }
  return largest;
}

MicroProcessors times(MicroProcessors whole, const Part& part) {
  return bounded(static_cast<Int128>(whole.value) * part.of / part.whole);
}

bool has_what_it_needs(const CapacityChanged& node, const std::vector<Resource>& gres) {
  return node.cpus > 0 &&
         std::all_of(gres.begin(), gres.end(), [&](const Resource& r) { return count_in(node.gres, r.name) > 0; });
}

std::uint64_t tres_count(const protocol::JobRecord& job, std::string_view name) {
  for (const protocol::Tres& t : job.tres) {
    if (t.name == name) return t.count;
  }
  return 0;
}

// What one task needs of generic resources, memory and nodes.
struct Request {
  std::vector<Resource> gres;
  std::int64_t memory = 0;
};

Request request_of(const protocol::JobRecord& job) {
  if (job.start_time == 0) return {resources_of(job.requested_gres), count_of(job.requested_memory)};
  std::vector<protocol::Tres> gres;
  for (const protocol::NodeHolding& h : job.nodes) gres.insert(gres.end(), h.gres.begin(), h.gres.end());
  const bool holds_memory =
      std::any_of(job.nodes.begin(), job.nodes.end(), [](const protocol::NodeHolding& h) { return h.memory > 0; });
  return {resources_of(gres), holds_memory ? count_of(tres_count(job, "mem")) : 0};
}

std::map<std::string, NodeShare> holdings_of(const protocol::JobRecord& job) {
  std::map<std::string, NodeShare> shares;
  std::map<std::string, std::vector<protocol::Tres>> gres;
  for (const protocol::NodeHolding& h : job.nodes) {
    NodeShare& share = shares[h.node];
    share.node = h.node;
    share.cpus += h.cpus;
    share.memory = std::min(k_max_count, share.memory + count_of(h.memory));
    gres[h.node].insert(gres[h.node].end(), h.gres.begin(), h.gres.end());
  }
  for (auto& [node, share] : shares) share.gres = resources_of(gres[node]);
  return shares;
}

}  // namespace

ChargeRule charge_rule(const config::Configuration& configuration) {
  ChargeRule rule{configuration.charge, configuration.weights, {}};
  for (const config::NodeWeight& weight : configuration.node_weights) {
    for (const std::string& node : weight.nodes) rule.node_weights[node] = weight.weight;
  }
  return rule;
}

std::vector<CapacityChanged> node_kinds(const std::vector<CapacityChanged>& nodes) {
  const auto looks = [](const CapacityChanged& node) {
    return std::tie(node.cpus, node.memory, node.whole, node.gres);
  };
  std::vector<CapacityChanged> kinds;
  for (const CapacityChanged& node : nodes) {
    const bool known = std::any_of(kinds.begin(), kinds.end(),
                                   [&](const CapacityChanged& kind) { return looks(kind) == looks(node); });
    if (!known && node.cpus > 0) kinds.push_back(node);
  }
  return kinds;
}

Charging::Charging(ChargeRule rule) : rule_(std::move(rule)), weighting_(rule_.weights) {}

std::int64_t Charging::weight_of(std::string_view node) const {
  const auto found = rule_.node_weights.find(node);
  return found == rule_.node_weights.end() ? 1 : found->second;
}

CapacityChanged Charging::capacity_of(const protocol::NodeRecord& node) const {
  const bool by_weights = rule_.charge == config::Charge::weights;
  const MicroProcessors whole = by_weights ? weighting_.capacity_of(node)
                                           : bounded(static_cast<Int128>(node.cpus) * weight_of(node.name) * k_micro);
  return {.node = node.name,
          .at = {},
          .ordinal = 0,
          .processors = node.usable ? whole : MicroProcessors{},
          .whole = whole,
          .cpus = node.cpus,
          .memory = count_of(node.memory),
          .gres = resources_of(node.gres)};
}

MicroProcessors Charging::charge_of(const NodeShare& held, bool exclusive, const CapacityChanged* node) const {
  const MicroProcessors by_cpus = bounded(static_cast<Int128>(held.cpus) * weight_of(held.node) * k_micro);
  const bool known = node != nullptr && node->cpus > 0 && node->whole.value > 0;
  if (rule_.charge == config::Charge::cpu || !known) return by_cpus;
  if (exclusive) return node->whole;
  const Part part = dominant_part({held.cpus, held.memory, held.gres}, *node);
  // Never nothing: a share without processors would not be in the books at all.
  return std::max(MicroProcessors{1}, std::min(node->whole, times(node->whole, part)));
}

std::vector<NodeShare> Charging::shares_of(const protocol::JobRecord& job, const NodeLookup& nodes) const {
  std::map<std::string, NodeShare> held = holdings_of(job);
  if (rule_.charge == config::Charge::weights) {
    for (const NodeShare& share : weighting_.shares_of(job)) held[share.node].processors = share.processors;
  } else {
    for (auto& [node, share] : held) {
      if (share.cpus > 0) share.processors = charge_of(share, job.exclusive, nodes(node));
    }
  }
  std::vector<NodeShare> shares;
  Int128 sum = 0;
  for (auto& [node, share] : held) {
    sum += share.processors.value;
    if (share.processors.value > 0) shares.push_back(std::move(share));
  }
  // The books refuse a run of more: weights may make one of a large job. It is charged as much as they take.
  if (sum > k_max_weighted.value) {
    for (NodeShare& share : shares) {
      const Int128 part = static_cast<Int128>(share.processors.value) * k_max_weighted.value / sum;
      share.processors = {std::max<std::int64_t>(1, static_cast<std::int64_t>(part))};
    }
    std::int64_t over = -k_max_weighted.value;
    for (const NodeShare& share : shares) over += share.processors.value;
    if (over > 0) shares.front().processors.value -= over;
  }
  return shares;
}

MicroProcessors Charging::task_of(const protocol::JobRecord& job, std::span<const CapacityChanged> kinds) const {
  if (rule_.charge == config::Charge::weights) return weighting_.task_of(job);
  const Request request = request_of(job);
  std::optional<MicroProcessors> least;
  for (const CapacityChanged& node : kinds) {
    if (!has_what_it_needs(node, request.gres)) continue;
    Part part{job.requested_cpus, node.cpus};
    if (rule_.charge == config::Charge::dominant) {
      part = dominant_part({job.requested_cpus, request.memory, request.gres}, node);
      if (job.exclusive) {
        const std::int64_t full = (part.of + part.whole - 1) / part.whole;
        // A record that has started tells its nodes, and no longer how many were asked for.
        const auto held = static_cast<std::int64_t>(job.nodes.size());
        part = {std::max({std::int64_t{1}, std::int64_t{job.requested_nodes}, held, full}), 1};
      }
    }
    const MicroProcessors here = times(node.whole, part);
    least = std::min(least.value_or(here), here);
  }
  return least.value_or(bounded(static_cast<Int128>(job.requested_cpus) * k_micro));
}

MicroProcessors Charging::waiting_of(const protocol::JobRecord& job, std::span<const CapacityChanged> kinds) const {
  return bounded(static_cast<Int128>(task_of(job, kinds).value) * job.pending_tasks);
}

}  // namespace shapley::daemon
