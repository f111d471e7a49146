// A list whose entries are removed one by one, with the query of list scheduling in O(log n): the first entry at or
// after a place whose value is at most x.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/int128.hpp"

namespace shapley::planning {

class MinTree {
 public:
  explicit MinTree(const std::vector<Int128>& values);

  // The first place >= from that still holds a value <= limit.
  [[nodiscard]] std::optional<std::size_t> first_at_most(std::size_t from, Int128 limit) const;
  void take(std::size_t place);
  [[nodiscard]] std::size_t remaining() const { return remaining_; }
  [[nodiscard]] bool empty() const { return remaining_ == 0; }

 private:
  std::size_t leaves_ = 1;      // a power of two
  std::vector<Int128> minima_;  // heap layout, the root at 1
  std::size_t remaining_ = 0;
};

}  // namespace shapley::planning
