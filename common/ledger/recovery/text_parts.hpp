// A text of lines, cut so that a text that is mostly the same has mostly the same parts.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace shapley::ledger {

// Where a part ends is said by the lines themselves (their hashes), not by how much stands before them: lines that are
// added, removed or changed change the part that they are in, and sometimes its neighbour. A part has `lines` lines in
// the mean; one of more than `most_bytes` ends with the line that it is in. One after the other the parts are the text.
// REQUIRES: lines > 0.
struct PartSize {
  std::size_t lines = 128;
  std::size_t most_bytes = 256U << 10U;
};
[[nodiscard]] std::vector<std::string_view> cut(std::string_view text, PartSize size = {});

}  // namespace shapley::ledger
