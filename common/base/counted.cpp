#include "base/counted.hpp"

#include <algorithm>

namespace shapley {

std::string counted_as(std::int64_t count, std::string_view text) {
  std::string words = std::to_string(count).append(" ");
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('['), text.size());
    const std::size_t bar = std::min(text.find('|', open), text.size());
    const std::size_t close = std::min(text.find(']', bar), text.size());
    words += text.substr(0, open);
    if (close == text.size()) break;
    words += count == 1 ? text.substr(open + 1, bar - open - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return words;
}

}  // namespace shapley
