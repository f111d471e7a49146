#include "game/coalition_weights.hpp"

namespace shapley::game {

CoalitionWeights pair_weights(std::size_t k) {
  const Coalition grand = grand_coalition(k);
  CoalitionWeights weights(k);
  if (k == 1) {
    weights.add(0, grand, 1);
    return weights;
  }
  // phi * 2k(k-1): the means over w have k-1 terms, which cancels one k-1.
  const auto end = static_cast<std::int64_t>(2 * (k - 1));
  const auto middle = static_cast<std::int64_t>(k - 2);
  for (std::size_t u = 0; u < k; ++u) {
    const Coalition self = Coalition{1} << u;
    weights.add(u, self, end);
    weights.add(u, grand, end);
    weights.add(u, grand ^ self, -end);
    for (std::size_t w = 0; w < k && middle > 0; ++w) {
      if (w == u) continue;
      const Coalition other = Coalition{1} << w;
      weights.add(u, self | other, middle);
      weights.add(u, other, -middle);
      weights.add(u, grand ^ other, middle);
      weights.add(u, grand ^ (self | other), -middle);
    }
  }
  weights.scale = Int128{2} * k * (k - 1);
  return weights;
}

}  // namespace shapley::game
