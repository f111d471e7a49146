// What a node of a standard map takes in memory, about: more rather than less.
#pragma once

#include <cstddef>

namespace shapley::accounting {

// malloc's own part of each piece.
inline constexpr std::size_t k_allocation_bytes = 16;

template <typename Map>
inline constexpr std::size_t node_bytes = sizeof(typename Map::value_type) + 4 * sizeof(void*) + k_allocation_bytes;

}  // namespace shapley::accounting
