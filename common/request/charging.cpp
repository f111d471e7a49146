#include "request/charging.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "game/blocked.hpp"

namespace shapley::request {

namespace {

constexpr std::int64_t k_max_count = std::int64_t{1} << 60U;

game::Amounts amounts(std::int64_t cpus, std::int64_t memory, const std::vector<Resource>& gres) {
  game::Amounts result{.cpus = cpus, .memory = memory, .gres = {}};
  result.gres.reserve(gres.size());
  for (const Resource& r : gres) result.gres.push_back({r.name, r.count});
  return result;
}

game::Amounts amounts(const NodeKind& node) {
  return amounts(node.cpus, node.memory, node.gres);
}

game::Amounts amounts(const Share& held) {
  return amounts(held.cpus, held.memory, held.gres);
}

ProcessorMillionths times(ProcessorMillionths whole, const game::NodePart& part) {
  return bounded(static_cast<Int128>(whole.value) * part.of / part.whole);
}

bool has_what_it_needs(const NodeKind& node, const std::vector<Resource>& gres) {
  return node.cpus > 0 &&
         std::all_of(gres.begin(), gres.end(), [&](const Resource& wanted) { return has_resource(node, wanted.name); });
}

// The CPUs that the request will hold: whole units, and one unit at least of each of its nodes.
std::int64_t held_cpus(const Request& request, const NodeKind& node) {
  const std::int64_t unit = node.allocation_unit;
  if (unit <= 1) return request.cpus;
  return std::max((request.cpus + unit - 1) / unit, request.nodes) * unit;
}

// As game::dominant_part; as many whole nodes as it needs for a request that wants them to itself.
game::NodePart part_of(const Request& request, const NodeKind& node) {
  const game::NodePart part =
      game::dominant_part(amounts(held_cpus(request, node), request.memory, request.gres), amounts(node));
  if (!request.exclusive) return part;
  const std::int64_t full = (part.of + part.whole - 1) / part.whole;
  return {std::max({std::int64_t{1}, request.nodes, full}), 1};
}

std::uint64_t tres_count(const protocol::JobUpdate& job, std::string_view name) {
  for (const protocol::Tres& t : job.tres) {
    if (t.name == name) return t.count;
  }
  return 0;
}

// "billing" is a TRES as others are, and the only one that counts.
std::optional<Weighting> weighting_of(const ChargeRule& rule) {
  switch (rule.charge) {
    case Charge::weights:
      return Weighting(rule.weights);
    case Charge::billing:
      return Weighting({{"billing", 1}});
    default:
      return std::nullopt;
  }
}

std::map<std::string, Share> shares_by_node(const protocol::JobUpdate& job) {
  std::map<std::string, Share> shares;
  std::map<std::string, std::vector<protocol::Tres>> gres;
  for (const protocol::NodeHolding& h : job.nodes) {
    Share& share = shares[h.node];
    share.node = h.node;
    share.cpus += h.cpus;
    share.memory = std::min(k_max_count, share.memory + count_of(h.memory));
    gres[h.node].insert(gres[h.node].end(), h.gres.begin(), h.gres.end());
  }
  for (auto& [node, share] : shares) share.gres = resources_of(gres[node]);
  return shares;
}

// What is charged beyond a node's worth is charged on the others, in proportion to what they are worth besides. If they
// are not worth as much together, nothing is moved.
void fit_to_worth(std::map<std::string, Share>& shares, const KindLookup& nodes) {
  std::int64_t over = 0;
  Int128 left = 0;
  std::vector<std::pair<Share*, std::int64_t>> rooms;  // less than 0: charged too much
  for (auto& [name, share] : shares) {
    const std::optional<NodeKind> node = nodes(name);
    if (!node || node->whole.value == 0) continue;
    const std::int64_t room = node->whole.value - share.charge.value;
    rooms.emplace_back(&share, room);
    if (room < 0) over -= room;
    if (room > 0 && share.cpus > 0) left += room;
  }
  if (over == 0 || left < over) return;
  const std::int64_t moved = over;
  for (auto& [share, room] : rooms) {
    if (room < 0) share->charge.value += room;
    if (room <= 0 || share->cpus == 0) continue;
    const auto more = static_cast<std::int64_t>(Int128{moved} * room / left);
    share->charge.value += more;
    room -= more;
    over -= more;
  }
  for (auto& [share, room] : rooms) {
    if (room <= 0 || over == 0 || share->cpus == 0) continue;
    const std::int64_t more = std::min(room, over);
    share->charge.value += more;
    over -= more;
  }
}

}  // namespace

bool has_resource(const NodeKind& node, std::string_view name) {
  return std::any_of(node.gres.begin(), node.gres.end(),
                     [&](const Resource& r) { return r.name == name && r.count > 0; });
}

ProcessorMillionths bounded(Int128 micro) {
  return {static_cast<std::int64_t>(std::clamp<Int128>(micro, 0, k_max_weighted.value))};
}

std::int64_t count_of(std::uint64_t count) {
  return count > static_cast<std::uint64_t>(k_max_count) ? k_max_count : static_cast<std::int64_t>(count);
}

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

Charging::Charging(const ChargeRule& rule) : charge_(rule.charge), weighting_(weighting_of(rule)) {
  for (const protocol::Weight& node : rule.node_weights) {
    node_weights_[node.name] = std::clamp<std::int64_t>(node.weight, 0, k_max_weight);
  }
}

std::int64_t Charging::weight_of(std::string_view node) const {
  const auto found = node_weights_.find(node);
  return found == node_weights_.end() ? 1 : found->second;
}

NodeKind Charging::kind_of(const protocol::NodeRecord& node) const {
  return {.cpus = node.cpus,
          .allocation_unit = std::max<std::uint32_t>(1, node.allocation_unit),
          .memory = count_of(node.memory),
          .gres = resources_of(node.gres),
          .whole = weighting_ ? weighting_->capacity_of(node)
                              : bounded(static_cast<Int128>(node.cpus) * weight_of(node.name) * k_micro)};
}

ProcessorMillionths Charging::charge_of(const Share& held, bool exclusive, const NodeKind* node) const {
  const ProcessorMillionths by_cpus = bounded(static_cast<Int128>(held.cpus) * weight_of(held.node) * k_micro);
  const bool known = node != nullptr && node->cpus > 0 && node->whole.value > 0;
  if (charge_ == Charge::cpu || !known) return by_cpus;
  if (exclusive) return node->whole;
  const game::NodePart part = game::dominant_part(amounts(held), amounts(*node));
  // Never zero: a share without processors would not be in the books at all.
  return std::max(ProcessorMillionths{1}, std::min(node->whole, times(node->whole, part)));
}

std::vector<Share> Charging::shares_of(const protocol::JobUpdate& job, const KindLookup& nodes) const {
  std::map<std::string, Share> held = shares_by_node(job);
  if (weighting_) {
    for (const Share& share : weighting_->shares_of(job)) held[share.node].charge = share.charge;
    fit_to_worth(held, nodes);
    // Slurm cuts a job's billing to a whole number. A run of which nothing is left is in the books nevertheless.
    if (charge_ == Charge::billing) {
      for (auto& [node, share] : held) {
        if (share.cpus > 0) share.charge = std::max(ProcessorMillionths{1}, share.charge);
      }
    }
  } else {
    for (auto& [name, share] : held) {
      if (share.cpus == 0) continue;
      const std::optional<NodeKind> node = nodes(name);
      share.charge = charge_of(share, job.exclusive, node ? &*node : nullptr);
    }
  }
  std::vector<Share> shares;
  Int128 sum = 0;
  for (auto& [node, share] : held) {
    sum += share.charge.value;
    if (share.charge.value > 0) shares.push_back(std::move(share));
  }
  // The books refuse larger runs, which weights may produce for a large job. It is charged as much as they accept.
  if (sum > k_max_weighted.value) {
    for (Share& share : shares) {
      const Int128 part = static_cast<Int128>(share.charge.value) * k_max_weighted.value / sum;
      share.charge = {std::max<std::int64_t>(1, static_cast<std::int64_t>(part))};
    }
    std::int64_t over = -k_max_weighted.value;
    for (const Share& share : shares) over += share.charge.value;
    if (over > 0) shares.front().charge.value -= over;
  }
  return shares;
}

Request Charging::request_of(const protocol::JobUpdate& job) const {
  // The record of a started job has its nodes, and no longer the requested number.
  Request request{.cpus = job.requested_cpus,
                  .memory = count_of(job.requested_memory),
                  .gres = {},
                  .nodes = std::max<std::int64_t>(job.requested_nodes, static_cast<std::int64_t>(job.nodes.size())),
                  .exclusive = job.exclusive,
                  .others = weighting_ ? weighting_->others_of(job.tres) : ProcessorMillionths{}};
  if (job.start_time == 0) {
    request.gres = resources_of(job.requested_gres);
    return request;
  }
  std::vector<protocol::Tres> gres;
  for (const protocol::NodeHolding& h : job.nodes) gres.insert(gres.end(), h.gres.begin(), h.gres.end());
  request.gres = resources_of(gres);
  const bool holds_memory =
      std::any_of(job.nodes.begin(), job.nodes.end(), [](const protocol::NodeHolding& h) { return h.memory > 0; });
  request.memory = holds_memory ? count_of(tres_count(job, "mem")) : 0;
  return request;
}

ProcessorMillionths Charging::charge_of(const Request& request, const NodeKind& node) const {
  const std::int64_t cpus = held_cpus(request, node);
  if (weighting_)
    return bounded(static_cast<Int128>(weighting_->cpus(static_cast<std::uint64_t>(cpus)).value) +
                   request.others.value);
  return times(node.whole, charge_ == Charge::cpu ? game::NodePart{cpus, node.cpus} : part_of(request, node));
}

std::optional<Measure> Charging::least_of(const Request& request, std::span<const NodeKind> kinds) const {
  std::optional<Measure> least;
  for (const NodeKind& node : kinds) {
    if (!has_what_it_needs(node, request.gres)) continue;
    const std::int64_t charge = charge_of(request, node).value;
    const std::int64_t blocked = times(bounded(static_cast<Int128>(node.cpus) * k_micro), part_of(request, node)).value;
    if (!least) least = Measure{charge, blocked};
    *least = {std::min(least->charge, charge), std::min(least->blocked, blocked)};
  }
  return least;
}

Measure Charging::task_of(const Request& request, const Kinds& kinds) const {
  std::optional<Measure> least = least_of(request, kinds.usable);
  if (!least) least = least_of(request, kinds.fitting);
  if (!least) least = least_of(request, kinds.all);
  if (!least) {
    const std::int64_t cpus = bounded(static_cast<Int128>(request.cpus) * k_micro).value;
    const auto sum = [&] {
      return bounded(static_cast<Int128>(weighting_->cpus(static_cast<std::uint64_t>(request.cpus)).value) +
                     request.others.value);
    };
    least = Measure{weighting_ ? sum().value : cpus, cpus};
  }
  if (charge_ == Charge::billing && request.cpus > 0) least->charge = std::max<std::int64_t>(1, least->charge);
  least->blocked = std::max<std::int64_t>(1, least->blocked);
  return *least;
}

std::vector<Share> holdings_of(const protocol::JobUpdate& job) {
  std::vector<Share> holdings;
  holdings.reserve(job.nodes.size());
  for (auto& [node, share] : shares_by_node(job)) holdings.push_back(std::move(share));
  return holdings;
}

std::int64_t blocked_by(const Share& held, bool exclusive, const NodeKind* node) {
  if (node == nullptr || node->cpus == 0) return std::max<std::int64_t>(1, held.cpus * k_micro);
  return game::blocked(amounts(held), amounts(*node), exclusive).value;
}

std::int64_t free_beside(const Share& held, bool exclusive, const NodeKind& node) {
  if (exclusive || node.cpus == 0) return 0;
  const ProcessorMillionths all{std::int64_t{node.cpus} * k_micro};
  return std::max<std::int64_t>(0, all.value - times(all, game::dominant_part(amounts(held), amounts(node))).value);
}

std::int64_t room_for(const LeastPart& least, bool whole_node, std::int64_t free, const NodeKind& node) {
  if (node.cpus == 0) return 0;
  if (whole_node) return free == std::int64_t{node.cpus} * k_micro ? free : 0;
  const std::int64_t unit = node.allocation_unit;
  const std::int64_t cpus = (least.cpus + unit - 1) / unit * unit;
  const game::NodePart part = game::dominant_part(amounts(cpus, least.memory, least.gres), amounts(node));
  if (part.of > part.whole) return 0;
  const std::int64_t blocked = times(bounded(static_cast<Int128>(node.cpus) * k_micro), part).value;
  return blocked == 0 ? free : free / blocked * blocked;
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

Weighting::Weighting(std::vector<protocol::Weight> weights) : weights_(std::move(weights)) {
  for (protocol::Weight& w : weights_) w.weight = std::clamp<std::int64_t>(w.weight, 0, k_max_weight);
}

std::int64_t Weighting::weight_of(std::string_view tres) const {
  const auto found =
      std::find_if(weights_.begin(), weights_.end(), [&](const protocol::Weight& w) { return w.name == tres; });
  return found == weights_.end() ? 0 : found->weight;
}

ProcessorMillionths Weighting::cpus(std::uint64_t count) const {
  return bounded(weighted(count, weight_of(k_cpu)));
}

ProcessorMillionths Weighting::others_of(const std::vector<protocol::Tres>& tres) const {
  Int128 sum = 0;
  for (const protocol::Tres& t : tres) {
    if (t.name != k_cpu) sum = std::min<Int128>(k_max_weighted.value, sum + weighted(t.count, weight_of(t.name)));
  }
  return bounded(sum);
}

ProcessorMillionths Weighting::capacity_of(const protocol::NodeRecord& node) const {
  return bounded(static_cast<Int128>(cpus(node.cpus).value) + others_of(node.tres).value);
}

std::vector<Share> Weighting::shares_of(const protocol::JobUpdate& job) const {
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
  std::vector<Share> shares;
  std::vector<Int128> remainders;
  left = spread;
  for (const auto& [node, holding] : holdings) {
    const Int128 exact = static_cast<Int128>(spread) * holding.cpus;  // in units of 1 / all_cpus
    remainders.push_back(exact % all_cpus);
    left -= exact / all_cpus;
    const Int128 sum = weighted(holding.cpus, weight_of(k_cpu)) + holding.others.value + exact / all_cpus;
    shares.push_back({.node = std::string(node), .charge = bounded(sum)});
  }
  std::vector<std::size_t> by_remainder(shares.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) shares[by_remainder[i]].charge.value += 1;
  std::erase_if(shares, [](const Share& s) { return s.charge.value <= 0; });
  return shares;
}

}  // namespace shapley::request
