#include "naive_shapley.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace shapley::game::naive {

namespace {

// What those of `order` before `end` are worth together.
Int128 value_of(const Players& players, const std::vector<Players>& placements, const std::vector<std::size_t>& order,
                std::size_t end) {
  const auto sums = [&](const Players& of) {
    std::pair<Int128, Int128> sum{0, 0};
    for (std::size_t i = 0; i < end; ++i) {
      sum.first += of[order[i]].first;
      sum.second += of[order[i]].second;
    }
    return sum;
  };
  auto [served, owned] = sums(players);
  for (const Players& placement : placements) {
    const auto [demand, usable] = sums(placement);
    served += std::min(demand, usable);
  }
  return std::min(served, owned);
}

}  // namespace

std::vector<Int128> shapley_by_orders(const Players& players, const std::vector<Players>& placements) {
  std::vector<Int128> sums(players.size());
  std::vector<std::size_t> order(players.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    for (std::size_t i = 0; i < order.size(); ++i) {
      sums[order[i]] += value_of(players, placements, order, i + 1) - value_of(players, placements, order, i);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return sums;
}

std::vector<std::int64_t> apportion_by_remainders(std::int64_t total, const std::vector<Int128>& weights) {
  std::vector<std::int64_t> parts(weights.size());
  Int128 sum = 0;
  for (const Int128 weight : weights) sum += weight;
  if (total == 0 || sum == 0) return parts;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts[i] = static_cast<std::int64_t>(weights[i] * total / sum);
    given += parts[i];
  }
  std::set<std::size_t> served;
  for (; given < total; ++given) {
    std::size_t best = weights.size();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (served.contains(i)) continue;
      if (best == weights.size() || weights[i] * total % sum > weights[best] * total % sum) best = i;
    }
    served.insert(best);
    ++parts[best];
  }
  return parts;
}

}  // namespace shapley::game::naive
