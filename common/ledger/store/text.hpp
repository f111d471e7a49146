// Bytes as text: what JSON can hold and what it cannot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shapley::ledger {

// Well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes);

// Two lower-case digits a byte, and back; nullopt on an odd length or another character.
[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

}  // namespace shapley::ledger
