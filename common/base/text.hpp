// Small operations on text, alike in every locale: ASCII, UTF-8, counts in sentences, cells of CSV, hashes, numbers for
// names.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/contract.hpp"
#include "base/types.hpp"

namespace shapley {

// The parts between the separators, empty ones too: one more than there are separators. Valid as long as `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Without spaces, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Lower case of A to Z, as Slurm keeps the names of accounts and QOS.
[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string lower(std::string_view text);

// Two lower-case hexadecimal digits for each byte, and back; nullopt on an odd length or another character.
[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);
// Whether it consists of exactly `digits` lower-case hexadecimal digits.
[[nodiscard]] bool is_hex(std::string_view text, std::size_t digits);

// UTF-8, one character at a time (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
struct Utf8Character {
  enum class Kind {
    whole,
    broken,   // no character begins with this byte, or it is followed by one that does not belong to it
    unended,  // the text ends within it: more bytes could make it whole
  };
  Kind kind = Kind::broken;
  std::size_t bytes = 1;    // whole: 1 to 4; broken: 1, the next byte may begin a character; unended: all that is left
  char32_t code_point = 0;  // of a whole one
};

// REQUIRES: text is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

// Counts in sentences, with the noun in the singular or the plural.
// "1 run", "3 runs": for a noun that takes an s.
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

// "1 run was left out", "3 runs were left out" from "run[|s] [was|were] left out": brackets hold singular|plural.
[[nodiscard]] std::string counted_as(std::int64_t count, std::string_view text);

// "1,204,311".
[[nodiscard]] std::string grouped(Int128 count);
// "1 run", "1,204 runs", for nouns whose plural ends with s.
[[nodiscard]] std::string grouped(std::int64_t count, std::string_view noun);

// A cell of comma-separated values (RFC 4180), for spreadsheets.
//
// Quoted where it must be. A spreadsheet takes a cell that begins with =, +, -, @, a tab or a carriage return for a
// formula, and calculates it: the author of an organization's name or of a reason would choose what it does. Such a
// cell, unless it is a number, is written behind an apostrophe, by which spreadsheets know text; so is one that begins
// with an apostrophe. Without the first apostrophe, if there is one, it is what it was.
[[nodiscard]] std::string csv_cell(std::string_view text);

// FNV-1a, 64 bits: detects damage and repetition. No protection against deliberate collisions.
inline constexpr std::uint64_t k_fnv1a_basis = 0xcbf29ce484222325ULL;

[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = k_fnv1a_basis) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// Names as small numbers: a trace or a ledger of years repeats a few names millions of times.
// Dense numbers, from 0, in the order of the names' first appearance.
class NameIndex {
 public:
  std::uint32_t number_of(const std::string& name) {
    const auto [entry, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  // REQUIRES: number < size()
  [[nodiscard]] const std::string& name_of(std::uint32_t number) const {
    SHAPLEY_REQUIRE(number < size());
    return names_[number];
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace shapley
