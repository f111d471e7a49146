#include "plugin/client/scan/gres.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace shapley::client {

namespace {

using Gres = std::vector<protocol::Tres>;

constexpr std::string_view k_tres_prefix = "gres/";
constexpr std::string_view k_separators = ":=";

struct GresEntry {
  std::string_view name;
  std::uint64_t count = 0;
};

// At most k_max_gres_count; 0 times is once.
std::uint64_t product(std::uint64_t count, std::uint64_t times) {
  const std::uint64_t factor = std::max<std::uint64_t>(times, 1);
  return count > k_max_gres_count / factor ? k_max_gres_count : count * factor;
}

// As Slurm's suffix_mult(): K, KiB: 1024, KB: 1000, and so on to P.
std::optional<std::uint64_t> multiplier_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  std::string lower(suffix.substr(0, 4));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const std::size_t power = std::string_view("kmgtp").find(lower[0]);
  const std::string_view unit = std::string_view(lower).substr(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "ib" || unit == "b")) return std::nullopt;
  std::uint64_t result = 1;
  for (std::size_t i = 0; i <= power; ++i) result *= unit == "b" ? 1000 : 1024;
  return result;
}

// "4", "4K". None: not a number. One that is too large is k_max_gres_count + 1.
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const auto multiplier = multiplier_of(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!multiplier) return std::nullopt;
  const bool too_large = error != std::errc() || digits > k_max_gres_count / *multiplier;
  return too_large ? k_max_gres_count + 1 : digits * *multiplier;
}

// Takes what stands before the first comma outside of parentheses, and that comma, off `rest`.
std::string_view take_entry(std::string_view& rest) {
  std::size_t end = 0;
  for (bool inside = false; end < rest.size() && (inside || rest[end] != ','); ++end) {
    if (rest[end] == '(') inside = true;
    if (rest[end] == ')') inside = false;
  }
  const std::string_view entry = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  return entry;
}

std::optional<std::string_view> without_prefix(std::string_view entry) {
  for (const std::string_view prefix : {std::string_view("gres:"), k_tres_prefix}) {
    if (entry.starts_with(prefix)) return entry.substr(prefix.size());
  }
  return std::nullopt;
}

// NAME[:TYPE][:COUNT][(...)]
std::optional<GresEntry> parse_entry(std::string_view entry) {
  std::string_view note;  // what the parentheses hold
  if (const std::size_t open = entry.find_first_of("()"); open != std::string_view::npos) {
    if (entry[open] != '(' || entry.back() != ')') return std::nullopt;
    note = entry.substr(open + 1, entry.size() - open - 2);
    entry = entry.substr(0, open);
  }
  GresEntry read{.name = entry.substr(0, entry.find_first_of(k_separators)), .count = 1};
  std::string_view fields = entry.substr(read.name.size());
  std::string_view last;
  while (!fields.empty()) {
    fields.remove_prefix(1);  // the separator
    last = fields.substr(0, fields.find_first_of(k_separators));
    if (last.empty() || last == "no_consume") return std::nullopt;
    fields.remove_prefix(last.size());
  }
  constexpr std::string_view k_count_note = "CNT:";
  if (const auto count = number_in(last)) {
    read.count = *count;
  } else if (note.starts_with(k_count_note)) {
    read.count = number_in(note.substr(k_count_note.size())).value_or(0);
  }
  if (read.name.empty() || read.count == 0 || read.count > k_max_gres_count) return std::nullopt;
  return read;
}

// The count of this resource, 0 where it is new. None when there is no room for another.
std::uint64_t* count_of(Gres& gres, std::string_view name) {
  const auto known = std::find_if(gres.begin(), gres.end(), [&](const protocol::Tres& t) {
    return std::string_view(t.name).substr(k_tres_prefix.size()) == name;
  });
  if (known != gres.end()) return &known->count;
  if (gres.size() == k_max_gres_kinds) return nullptr;
  return &gres.emplace_back(protocol::Tres{std::string(k_tres_prefix).append(name), 0}).count;
}

enum class Prefix : bool { optional, required };

Gres read_entries(const char* text, Prefix prefix) {
  Gres result;
  const std::size_t length = text == nullptr ? 0 : ::strnlen(text, k_max_gres_text + 1);
  if (length > k_max_gres_text) return result;
  for (std::string_view rest(text, length); !rest.empty();) {
    const std::string_view whole = take_entry(rest);
    const auto bare = without_prefix(whole);
    if (!bare && prefix == Prefix::required) continue;
    const auto entry = parse_entry(bare.value_or(whole));
    std::uint64_t* const count = entry ? count_of(result, entry->name) : nullptr;
    if (count != nullptr) *count = std::min(k_max_gres_count, *count + entry->count);
  }
  return result;
}

}  // namespace

std::vector<protocol::Tres> read_gres(const char* text) {
  return read_entries(text, Prefix::optional);
}

std::vector<protocol::Tres> requested_gres(const shapley_gres_request_t& request, std::uint32_t nodes,
                                           const std::vector<protocol::Tres>& tres) {
  Gres result;
  const std::pair<const char*, std::uint32_t> texts[] = {
      {request.per_job, 1}, {request.per_node, nodes}, {request.per_socket, nodes}, {request.per_task, request.tasks}};
  for (const auto& [text, times] : texts) {
    // Newer releases list CPUs and licenses in the same text.
    for (const protocol::Tres& t : read_entries(text, Prefix::required)) {
      std::uint64_t* const count = count_of(result, std::string_view(t.name).substr(k_tres_prefix.size()));
      if (count != nullptr) *count = std::max(*count, product(t.count, times));
    }
  }
  for (const protocol::Tres& t : tres) {
    const auto name = t.name.starts_with(k_tres_prefix) ? without_prefix(t.name) : std::nullopt;
    if (!name || t.count == 0 || name->find(':') != std::string_view::npos) continue;
    if (std::uint64_t* const count = count_of(result, *name)) *count = std::min(k_max_gres_count, t.count);
  }
  return result;
}

}  // namespace shapley::client
