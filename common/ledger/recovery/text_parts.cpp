#include "ledger/recovery/text_parts.hpp"

#include <algorithm>
#include <cstdint>

#include "base/fnv1a.hpp"

namespace shapley::ledger {

std::vector<std::string_view> cut(std::string_view text, PartSize size) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::uint64_t hash = fnv1a(text.substr(at, end - at));
    at = end;
    // The upper bits are the better mixed ones.
    constexpr unsigned k_half = 32;
    if ((hash >> k_half) % size.lines != 0 && at - begin <= size.most_bytes) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace shapley::ledger
