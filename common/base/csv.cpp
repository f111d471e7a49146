#include "base/csv.hpp"

namespace shapley {

namespace {

// "-3", "+0.25", "-1.5e-07": all of it.
bool is_number(std::string_view text) {
  const auto skip_digits = [&] {
    const std::size_t before = text.size();
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
    return text.size() < before;
  };
  const auto skip = [&](std::string_view any_of) {
    const bool found = !text.empty() && any_of.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  skip("+-");
  if (!skip_digits()) return false;
  if (skip(".") && !skip_digits()) return false;
  if (!skip("eE")) return text.empty();
  skip("+-");
  return skip_digits() && text.empty();
}

bool needs_apostrophe(std::string_view text) {
  constexpr std::string_view k_beginnings("=+-@\t\r'");
  return !text.empty() && k_beginnings.find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell = needs_apostrophe(text) ? "'" : "";
  cell += text;
  // Spreadsheets of some languages separate cells by semicolons.
  if (cell.find_first_of(",;\"\r\n\t") == std::string::npos) return cell;
  for (std::size_t at = cell.find('"'); at != std::string::npos; at = cell.find('"', at + 2)) cell.insert(at, 1, '"');
  return '"' + cell + '"';
}

}  // namespace shapley
