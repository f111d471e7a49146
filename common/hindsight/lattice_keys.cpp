#include "hindsight/lattice_keys.hpp"

#include <bit>

#include "base/contract.hpp"

namespace shapley::hindsight {

Width width_for(Int128 greatest, std::size_t k) {
  const auto bound = Int256(greatest) * 6 * game::factorial(k);
  if (bound < (Int256(1) << 63U)) return Width::bits_64;
  return bound < (Int256(1) << 127U) ? Width::bits_128 : Width::bits_256;
}

LatticeKeys::LatticeKeys(std::size_t k) : organizations_(k), weights_(std::size_t{1} << k) {
  SHAPLEY_REQUIRE(1 <= k && k <= game::k_max_lattice_organizations);
  for (Coalition c = 1; c < game::grand_coalition(k); ++c) {
    const auto size = static_cast<std::size_t>(std::popcount(c));
    weights_[c] = game::factorial(size - 1) * game::factorial(k - 1 - size);
  }
}

template <typename Sum, typename Value>
void LatticeKeys::keys(std::span<const Value> values, std::span<const Value> psi, std::span<Sum> keys) const {
  const std::size_t low = organizations_ / 2;
  const std::size_t columns = std::size_t{1} << low;
  const std::size_t rows = std::size_t{1} << (organizations_ - low);
  std::vector<Sum> of_column(columns);
  std::vector<Sum> of_row(rows);
  Sum all = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    Sum sum = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t coalition = row * columns + column;
      const Sum weighted = static_cast<Sum>(values[coalition]) * weights_[coalition];
      of_column[column] += weighted;
      sum += weighted;
    }
    of_row[row] = sum;
    all += sum;
  }
  const auto of_holders = [](const std::vector<Sum>& sums, std::size_t member) {
    Sum sum = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if ((i >> member & 1U) != 0) sum += sums[i];
    }
    return sum;
  };
  const Sum scale = static_cast<Sum>(game::factorial(organizations_ - 1));
  for (std::size_t u = 0; u < organizations_; ++u) {
    keys[u] =
        all - (u < low ? of_holders(of_column, u) : of_holders(of_row, u - low)) + scale * static_cast<Sum>(psi[u]);
  }
}

// k! phi[u] = Q(N) - k Q(N\u),  Q(N) = (k-1)! v(N) + sum over i of Q(N\i).
template <typename Sum, typename Value>
void LatticeKeys::scaled_contributions(std::span<const Sum> keys, std::span<const Value> psi,
                                       std::span<Sum> phi) const {
  const Sum scale = static_cast<Sum>(game::factorial(organizations_ - 1));
  // The sum of the keys has (k-1)! v(N) in it already.
  Sum of_grand = 0;
  for (const Sum& key : keys) of_grand += key;
  const auto count = static_cast<Sum>(static_cast<std::int64_t>(organizations_));
  for (std::size_t u = 0; u < organizations_; ++u)
    phi[u] = of_grand - count * (keys[u] - scale * static_cast<Sum>(psi[u]));
}

using std::span;
template void LatticeKeys::keys(span<const std::int64_t>, span<const std::int64_t>, span<std::int64_t>) const;
template void LatticeKeys::keys(span<const std::int64_t>, span<const std::int64_t>, span<Int128>) const;
template void LatticeKeys::keys(span<const Int128>, span<const Int128>, span<Int128>) const;
template void LatticeKeys::keys(span<const Int128>, span<const Int128>, span<Int256>) const;
template void LatticeKeys::scaled_contributions(span<const std::int64_t>, span<const std::int64_t>,
                                                span<std::int64_t>) const;
template void LatticeKeys::scaled_contributions(span<const Int128>, span<const std::int64_t>, span<Int128>) const;
template void LatticeKeys::scaled_contributions(span<const Int128>, span<const Int128>, span<Int128>) const;
template void LatticeKeys::scaled_contributions(span<const Int256>, span<const Int128>, span<Int256>) const;

}  // namespace shapley::hindsight
