#include "fairness/potential.hpp"

#include <bit>

namespace shapley::fairness {

std::int64_t factorial(std::size_t n) {
  std::int64_t product = 1;
  for (std::size_t i = 2; i <= n; ++i) product *= static_cast<std::int64_t>(i);
  return product;
}

void scaled_potentials(std::span<const std::int64_t> values, std::span<Int128> q) {
  q[0] = 0;
  for (Coalition c = 1; c < values.size(); ++c) {
    Int128 sum = static_cast<Int128>(factorial(static_cast<std::size_t>(std::popcount(c)) - 1)) * values[c];
    for (Coalition rest = c; rest != 0; rest &= rest - 1) sum += q[c ^ (rest & (~rest + 1))];
    q[c] = sum;
  }
}

Int128 scaled_shapley(std::span<const Int128> q, Coalition coalition, std::size_t organization) {
  return q[coalition] - std::popcount(coalition) * scaled_potential_without(q, coalition, organization);
}

}  // namespace shapley::fairness
