#include "daemon/observer/weighting.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace shapley::daemon {

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
  MicroProcessors others;
};

}  // namespace

MicroProcessors bounded(Int128 micro) {
  return {static_cast<std::int64_t>(std::clamp<Int128>(micro, 0, k_max_weighted.value))};
}

Weighting::Weighting(std::vector<std::pair<std::string, std::int64_t>> weights) : weights_(std::move(weights)) {}

std::int64_t Weighting::weight_of(std::string_view tres) const {
  const auto found = std::find_if(weights_.begin(), weights_.end(), [&](const auto& w) { return w.first == tres; });
  return found == weights_.end() ? 0 : found->second;
}

MicroProcessors Weighting::others_of(const std::vector<protocol::Tres>& tres) const {
  Int128 sum = 0;
  for (const protocol::Tres& t : tres) {
    if (t.name != k_cpu) sum += weighted(t.count, weight_of(t.name));
  }
  return bounded(sum);
}

MicroProcessors Weighting::capacity_of(const protocol::NodeRecord& node) const {
  return bounded(weighted(node.cpus, weight_of(k_cpu)) + others_of(node.tres).value);
}

MicroProcessors Weighting::task_of(const protocol::JobRecord& job) const {
  return bounded(weighted(job.requested_cpus, weight_of(k_cpu)) + others_of(job.tres).value);
}

std::vector<accounting::NodeShare> Weighting::shares_of(const protocol::JobRecord& job) const {
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
  // Where Slurm does not track a resource, a node's own count of it has no worth, and a job's none either.
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
