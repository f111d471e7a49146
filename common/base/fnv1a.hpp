// FNV-1a, 64 bits: tells damage and repetition from difference. No protection against anybody who means to collide.
#pragma once

#include <cstdint>
#include <string_view>

namespace shapley {

inline constexpr std::uint64_t k_fnv1a_basis = 0xcbf29ce484222325ULL;

[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = k_fnv1a_basis) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace shapley
