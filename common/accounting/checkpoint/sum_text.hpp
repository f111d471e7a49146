// A UtilitySum as words of a checkpoint's line.
#pragma once

#include "accounting/checkpoint/text_format.hpp"
#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

void write_sum(TextWriter& out, const game::UtilitySum& sum);
// Of at most so many running processors, and coefficients that real segments can have (utility.hpp).
[[nodiscard]] game::UtilitySum read_sum(TextReader& in, MicroProcessors most_running);

}  // namespace shapley::accounting
