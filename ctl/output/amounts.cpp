#include "ctl/output/amounts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"

namespace shapley::ctl {

namespace {

constexpr double k_shortened_from = 1e6;

std::string printed(const char* format, double value) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits before the point
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

void replace(std::string& text, std::string_view words, const std::string& others) {
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + others.size()))
    text.replace(at, words.size(), others);
}

}  // namespace

std::string short_utility(std::string_view exact) {
  const std::string text(exact);
  const double value = std::strtod(text.c_str(), nullptr);
  // For people, fractions of a processor-second squared are left out; programs get the full value.
  if (std::fabs(value) < k_shortened_from) return text.find('.') == std::string::npos ? text : printed("%.0f", value);
  // printf's "1.23e+09" with a short exponent: "1.23e9".
  std::string shortened = printed("%.2e", value);
  const std::size_t exponent = shortened.find("e+") + 1;
  shortened.erase(exponent, shortened.find_first_not_of("+0", exponent) - exponent);
  return shortened;
}

std::string signed_core_hours(double core_hours) {
  if (core_hours == 0) return "0.0";
  return (core_hours > 0 ? "+" : "-") + ledger::format_core_hours(core_hours);
}

std::string unsigned_core_hours(double core_hours) {
  return core_hours == 0 ? "0.0" : ledger::format_core_hours(core_hours);
}

std::string plain_core_hours(double core_hours) {
  return (core_hours < 0 ? "-" : "") + unsigned_core_hours(core_hours);
}

std::string core_hours_or_unknown(const nlohmann::json& value) {
  return value.is_number() ? plain_core_hours(value.get<double>()) : "?";
}

std::string signed_or_unknown(const nlohmann::json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : "?";
}

std::string utility_or_unknown(const nlohmann::json& value) {
  return value.is_string() ? short_utility(value.get_ref<const std::string&>()) : "?";
}

std::string capitalized_unit(const ledger::AmountUnit& in) {
  std::string word = in.word();
  word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

std::string amounts_help(std::span<const tables::Field> fields) {
  return field_help(fields) +
         "With charge: billing or weights heads have billing-hours (billing_hours) for core-hours, and charged-hours\n"
         "(charged_hours) where that rule changed; --format takes the names above.\n";
}

void name_unit(tables::Table& table, const ledger::AmountUnit& in) {
  if (in.unit.empty()) return;
  const std::string kind = in.unit.substr(0, in.unit.find('-'));
  const std::string capitals = capitalized_unit(in);
  for (tables::Column& column : table.columns) {
    replace(column.title, "core-hours", in.unit);
    replace(column.title, "Core-hours", capitals);
    replace(column.title, "CoreHours", capitals.substr(0, kind.size()) + "Hours");
    if (column.member.empty()) column.member = column.name;
    replace(column.name, "core_hours", kind + "_hours");
  }
}

std::string processors_or_unknown(const nlohmann::json& value) {
  constexpr double k_thousandths = 1000;
  if (!value.is_number()) return "?";
  if (value.is_number_integer()) return value.dump();
  return tables::plain_number(std::round(value.get<double>() * k_thousandths) / k_thousandths);
}

bool is_worth_a_line(Instant since, Instant at) {
  return at - since >= Duration{60};
}

std::string no_start_line(const std::string& organization, Instant since, Instant at) {
  return fmt::format("Waits:   {} has startable jobs and has had no start since {} ({})\n", printable(organization),
                     format_instant(since), short_duration((at - since).value));
}

std::string first_lines(const std::vector<std::string>& lines, std::string_view word) {
  // "and 1 other" would need the same line that it saves.
  const std::size_t shown = lines.size() <= k_most_lines + 1 ? lines.size() : k_most_lines;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += lines[i];
  if (shown == lines.size()) return text;
  return text.append(word).append("and ").append(std::to_string(lines.size() - shown)).append(" others\n");
}

std::string titled(const std::string& name, const std::string& title) {
  return printable(title.empty() || title == name ? name : fmt::format("{} ({})", name, title));
}

}  // namespace shapley::ctl
