// The known word that a misspelt one most likely was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shapley {

// Upper and lower case (A to Z) count as equal. Empty when none is near: when more than a third of the letters of
// `word` would have to change, or `word` has more than 64 bytes. Of several that are equally near, the first.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// " (did you mean physics?)" for a message that names `word`; "" when none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace shapley
