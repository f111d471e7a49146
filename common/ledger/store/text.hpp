// Bytes as text: what JSON can hold and what it cannot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shapley::ledger {

// Well-formed UTF-8 (base/utf8.hpp).
[[nodiscard]] bool is_utf8(std::string_view bytes);

// Two lower-case digits a byte, and back; nullopt on an odd length or another character.
[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

}  // namespace shapley::ledger
