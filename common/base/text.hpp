// Small operations on text in ASCII, alike in every locale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shapley {

// What stands between the separators, empty parts too: one more than there are separators. Valid as long as `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Without spaces, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Lower case of A to Z, as Slurm keeps the names of accounts and QOS.
[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace shapley
