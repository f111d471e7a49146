#include "daemon/observer/charging.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>

#include "game/blocked.hpp"

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

game::Amounts amounts_of(std::int64_t cpus, std::int64_t memory, const std::vector<Resource>& gres) {
  game::Amounts amounts{cpus, memory, {}};
  for (const Resource& r : gres) amounts.gres.push_back({r.name, r.count});
  return amounts;
}

game::Amounts amounts_of(const CapacityChanged& node) {
  return amounts_of(node.cpus, node.memory, node.gres);
}

ProcessorMillionths times(ProcessorMillionths whole, const game::NodePart& part) {
  return bounded(static_cast<Int128>(whole.value) * part.of / part.whole);
}

bool has_what_it_needs(const CapacityChanged& node, const std::vector<Resource>& gres) {
  const game::Amounts has = amounts_of(node);
  return node.cpus > 0 &&
         std::all_of(gres.begin(), gres.end(), [&](const Resource& r) { return game::count_in(has.gres, r.name) > 0; });
}

std::uint64_t tres_count(const protocol::JobUpdate& job, std::string_view name) {
  for (const protocol::Tres& t : job.tres) {
    if (t.name == name) return t.count;
  }
  return 0;
}

// The request of one task for generic resources, memory and nodes.
struct Request {
  std::vector<Resource> gres;
  std::int64_t memory = 0;
};

Request request_of(const protocol::JobUpdate& job) {
  if (job.start_time == 0) return {resources_of(job.requested_gres), count_of(job.requested_memory)};
  std::vector<protocol::Tres> gres;
  for (const protocol::NodeHolding& h : job.nodes) gres.insert(gres.end(), h.gres.begin(), h.gres.end());
  const bool holds_memory =
      std::any_of(job.nodes.begin(), job.nodes.end(), [](const protocol::NodeHolding& h) { return h.memory > 0; });
  return {resources_of(gres), holds_memory ? count_of(tres_count(job, "mem")) : 0};
}

// "billing" is a TRES as others are, and the only one that counts.
std::optional<Weighting> weighting_of(const ChargeRule& rule) {
  switch (rule.charge) {
    case config::Charge::weights:
      return Weighting(rule.weights);
    case config::Charge::billing:
      return Weighting({{"billing", 1}});
    default:
      return std::nullopt;
  }
}

std::map<std::string, NodeShare> holdings_of(const protocol::JobUpdate& job) {
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

Charging::Charging(ChargeRule rule) : rule_(std::move(rule)), weighting_(weighting_of(rule_)) {}

std::int64_t Charging::weight_of(std::string_view node) const {
  const auto found = rule_.node_weights.find(node);
  return found == rule_.node_weights.end() ? 1 : found->second;
}

CapacityChanged Charging::capacity_of(const protocol::NodeRecord& node) const {
  const ProcessorMillionths whole = weighting_
                                        ? weighting_->capacity_of(node)
                                        : bounded(static_cast<Int128>(node.cpus) * weight_of(node.name) * k_micro);
  return {.node = node.name,
          .at = {},
          .ordinal = 0,
          .processors = node.usable ? whole : ProcessorMillionths{},
          .whole = whole,
          .cpus = node.cpus,
          .memory = count_of(node.memory),
          .gres = resources_of(node.gres),
          .usable_cpus = counts_cpus(node) ? std::optional(node.usable ? node.cpus : 0) : std::nullopt};
}

// Where a run is charged what it blocks, its charge says that already.
bool Charging::counts_cpus(const protocol::NodeRecord& node) const {
  const bool is_charged_blocked = rule_.charge == config::Charge::dominant && weight_of(node.name) == 1;
  return !is_charged_blocked && node.cpus > 0 && Int128{node.cpus} * k_micro <= k_max_weighted.value;
}

ProcessorMillionths Charging::charge_of(const NodeShare& held, bool exclusive, const CapacityChanged* node) const {
  const ProcessorMillionths by_cpus = bounded(static_cast<Int128>(held.cpus) * weight_of(held.node) * k_micro);
  const bool known = node != nullptr && node->cpus > 0 && node->whole.value > 0;
  if (rule_.charge == config::Charge::cpu || !known) return by_cpus;
  if (exclusive) return node->whole;
  const game::NodePart part = game::dominant_part(amounts_of(held.cpus, held.memory, held.gres), amounts_of(*node));
  // Never zero: a share without processors would not be in the books at all.
  return std::max(ProcessorMillionths{1}, std::min(node->whole, times(node->whole, part)));
}

std::vector<NodeShare> Charging::shares_of(const protocol::JobUpdate& job, const NodeLookup& nodes) const {
  std::map<std::string, NodeShare> held = holdings_of(job);
  if (weighting_) {
    for (const NodeShare& share : weighting_->shares_of(job)) held[share.node].processors = share.processors;
    // Slurm cuts a job's billing to a whole number. A run of which nothing is left is in the books nevertheless.
    if (rule_.charge == config::Charge::billing) {
      for (auto& [node, share] : held) {
        if (share.cpus > 0) share.processors = std::max(ProcessorMillionths{1}, share.processors);
      }
    }
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
  // The books refuse larger runs, which weights may produce for a large job. It is charged as much as they accept.
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

ProcessorMillionths Charging::task_of(const protocol::JobUpdate& job, std::span<const CapacityChanged> kinds) const {
  if (weighting_) {
    const ProcessorMillionths asked = weighting_->task_of(job);
    // What is billed nothing waits nevertheless, and its organization may be below its guarantee.
    const bool is_something = rule_.charge == config::Charge::billing && job.requested_cpus > 0;
    return is_something ? std::max(ProcessorMillionths{1}, asked) : asked;
  }
  const Request request = request_of(job);
  std::optional<ProcessorMillionths> least;
  for (const CapacityChanged& node : kinds) {
    if (!has_what_it_needs(node, request.gres)) continue;
    game::NodePart part{job.requested_cpus, node.cpus};
    if (rule_.charge == config::Charge::dominant) {
      part = game::dominant_part(amounts_of(job.requested_cpus, request.memory, request.gres), amounts_of(node));
      if (job.exclusive) {
        const std::int64_t full = (part.of + part.whole - 1) / part.whole;
        // The record of a started job has its nodes, and no longer the requested number.
        const auto held = static_cast<std::int64_t>(job.nodes.size());
        part = {std::max({std::int64_t{1}, std::int64_t{job.requested_nodes}, held, full}), 1};
      }
    }
    const ProcessorMillionths here = times(node.whole, part);
    least = std::min(least.value_or(here), here);
  }
  return least.value_or(bounded(static_cast<Int128>(job.requested_cpus) * k_micro));
}

ProcessorMillionths Charging::waiting_of(const protocol::JobUpdate& job, std::span<const CapacityChanged> kinds) const {
  return bounded(static_cast<Int128>(task_of(job, kinds).value) * job.pending_tasks);
}

namespace {

constexpr std::string_view k_cpu = "cpu";

Int128 weighted(std::uint64_t count, std::int64_t weight) {
  // Slurm marks unknown counts with values near 2^64; nothing real comes near a tenth of that.
  constexpr std::uint64_t k_unknown = 1ULL << 60U;
  return count >= k_unknown ? Int128{0} : static_cast<Int128>(count) * weight * k_micro;
}

// What a job holds of one node: CPUs, and the weighted sum of its generic resources there.
struct Holding {
  std::uint64_t cpus = 0;
  ProcessorMillionths others;
};

}  // namespace

ProcessorMillionths bounded(Int128 micro) {
  return {static_cast<std::int64_t>(std::clamp<Int128>(micro, 0, k_max_weighted.value))};
}

Weighting::Weighting(std::vector<std::pair<std::string, std::int64_t>> weights) : weights_(std::move(weights)) {}

std::int64_t Weighting::weight_of(std::string_view tres) const {
  const auto found = std::find_if(weights_.begin(), weights_.end(), [&](const auto& w) { return w.first == tres; });
  return found == weights_.end() ? 0 : found->second;
}

ProcessorMillionths Weighting::others_of(const std::vector<protocol::Tres>& tres) const {
  Int128 sum = 0;
  for (const protocol::Tres& t : tres) {
    if (t.name != k_cpu) sum += weighted(t.count, weight_of(t.name));
  }
  return bounded(sum);
}

ProcessorMillionths Weighting::capacity_of(const protocol::NodeRecord& node) const {
  return bounded(weighted(node.cpus, weight_of(k_cpu)) + others_of(node.tres).value);
}

ProcessorMillionths Weighting::task_of(const protocol::JobUpdate& job) const {
  return bounded(weighted(job.requested_cpus, weight_of(k_cpu)) + others_of(job.tres).value);
}

std::vector<accounting::NodeShare> Weighting::shares_of(const protocol::JobUpdate& job) const {
  std::map<std::string_view, Holding> holdings;
  std::uint64_t all_cpus = 0;
  for (const protocol::NodeHolding& n : job.nodes) {
    Holding& holding = holdings[n.node];
    holding.cpus += n.cpus;
    holding.others = bounded(static_cast<Int128>(holding.others.value) + others_of(n.gres).value);
    all_cpus += n.cpus;
  }
  if (all_cpus == 0) return {};

  Int128 left = others_of(job.tres).value;
  for (const auto& [node, holding] : holdings) left -= holding.others.value;
  // If Slurm does not track a resource, a node's own count of it has no worth, and neither has a job's.
  if (left < 0) {
    for (auto& [node, holding] : holdings) left += std::exchange(holding.others, {}).value;
  }
  const auto spread = static_cast<std::int64_t>(left);
  std::vector<accounting::NodeShare> shares;
  std::vector<Int128> remainders;
  left = spread;
  for (const auto& [node, holding] : holdings) {
    const Int128 exact = static_cast<Int128>(spread) * holding.cpus;  // in units of 1 / all_cpus
    remainders.push_back(exact % all_cpus);
    left -= exact / all_cpus;
    const Int128 sum = weighted(holding.cpus, weight_of(k_cpu)) + holding.others.value + exact / all_cpus;
    shares.push_back({std::string(node), bounded(sum)});
  }
  std::vector<std::size_t> by_remainder(shares.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) shares[by_remainder[i]].processors.value += 1;
  std::erase_if(shares, [](const accounting::NodeShare& s) { return s.processors.value <= 0; });
  return shares;
}

}  // namespace shapley::daemon
