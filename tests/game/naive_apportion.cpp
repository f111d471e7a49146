#include "naive_apportion.hpp"

#include <set>

namespace shapley::game::naive {

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
