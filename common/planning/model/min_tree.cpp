#include "planning/model/min_tree.hpp"

#include <algorithm>

namespace shapley::planning {

namespace {
// Above every length and width in ticks, see validate(Grid).
constexpr Int128 k_taken = Int128{1} << 126;
}  // namespace

MinTree::MinTree(const std::vector<Int128>& values) : remaining_(values.size()) {
  while (leaves_ < values.size()) leaves_ *= 2;
  minima_.assign(2 * leaves_, k_taken);
  std::copy(values.begin(), values.end(), minima_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t i = leaves_ - 1; i >= 1; --i) minima_[i] = std::min(minima_[2 * i], minima_[2 * i + 1]);
}

std::optional<std::size_t> MinTree::first_at_most(std::size_t from, Int128 limit) const {
  if (from >= leaves_ || limit >= k_taken) return std::nullopt;
  // Up from the leaf: the subtrees to the right of the path hold the entries at or after `from`.
  std::size_t i = leaves_ + from;
  while (minima_[i] > limit) {
    while (i % 2 == 1) i /= 2;  // from a right child on, an ancestor has the next subtree
    if (i == 0) return std::nullopt;
    ++i;
  }
  while (i < leaves_) i = minima_[2 * i] <= limit ? 2 * i : 2 * i + 1;
  return i - leaves_;
}

void MinTree::take(std::size_t place) {
  std::size_t i = leaves_ + place;
  minima_[i] = k_taken;
  --remaining_;
  for (i /= 2; i >= 1; i /= 2) minima_[i] = std::min(minima_[2 * i], minima_[2 * i + 1]);
}

}  // namespace shapley::planning
