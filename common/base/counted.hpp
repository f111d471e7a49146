// Counts in sentences: the noun, and what goes with it, in the singular or the plural.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace shapley {

// "1 run", "3 runs": of a noun that takes an s.
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

// "1 run was left out", "3 runs were left out" of "run[|s] [was|were] left out": in brackets what one and many ask for.
[[nodiscard]] std::string counted_as(std::int64_t count, std::string_view text);

}  // namespace shapley
