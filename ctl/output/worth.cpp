#include "ctl/output/worth.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

std::string percent_cell(const json& value) {
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%+.1f", value.get<double>());
  return buffer.data();
}

constexpr Field k_worth_got{"got", "Got", {}, "psi_core_hours", core_hours_or_unknown};
constexpr Field k_worth_alone{"alone", "Alone", {}, "alone_core_hours", core_hours_or_unknown};
constexpr Field k_worth_gain{"gain", "Gain", {}, "gain_core_hours", signed_or_unknown};
constexpr Field k_worth_percent{"percent", "Gain%", {}, "gain_percent", percent_cell};

constexpr Field k_worth_if_ended{"if_ended", "AloneIfEnded", {}, {}, core_hours_or_unknown};

constexpr Field k_worth_fields[] = {left({"organization", "Organization", {}, "name"}),
                                    k_worth_got,
                                    k_worth_alone,
                                    k_worth_gain,
                                    k_worth_percent,
                                    k_worth_if_ended};

constexpr Field k_worth_pair_fields[] = {left({"first", "Of"}), left({"second", "and"}), k_worth_got,     k_worth_alone,
                                         k_worth_gain,          k_worth_percent,         k_worth_if_ended};

// The columns of a comparison that both tables share.
json row_of(const ledger::WorthComparison& is, json whose) {
  json row = json_of(is);
  row.update(whose);
  row.update({{"if_ended", is.bounds ? json(is.bounds->end_now_core_hours) : json(nullptr)}});
  return row;
}

std::string pairs_table(const ledger::WorthReport& worth) {
  if (worth.pairs.empty()) return {};
  json rows = json::array();
  for (const ledger::WorthPair& pair : worth.pairs)
    rows.push_back(row_of(pair.is, {{"first", pair.organizations.at(0)}, {"second", pair.organizations.at(1)}}));
  return '\n' + tables::people_text({.columns = columns_of(k_worth_pair_fields), .rows = std::move(rows)});
}

// "Bounds:  physics alone: 9.3 core-hours if what goes on never ended, 9.1 if it ended now; provisional.".
std::string bounds_line(const std::string& who, const ledger::WorthBounds& bounds, const ledger::AmountUnit& in) {
  return fmt::format("Bounds:  {} alone: {} {} if what goes on never ended, {} if it ended now.\n", who,
                     ledger::format_core_hours(bounds.never_end_core_hours), in.word(),
                     ledger::format_core_hours(bounds.end_now_core_hours));
}

std::string bounds_lines(const ledger::WorthReport& worth, const ledger::AmountUnit& in) {
  std::vector<std::string> lines;
  for (const ledger::WorthRow& row : worth.organizations) {
    if (row.is.bounds) lines.push_back(bounds_line(printable(row.name), *row.is.bounds, in));
  }
  std::string text = first_lines(lines, "Bounds:  ");
  if (const auto& bounds = worth.together.is.bounds; bounds && worth.organizations.size() > 1)
    text += bounds_line("each", *bounds, in);
  if (!worth.leaving || !worth.leaving->is.bounds || worth.leaving->organizations.size() == 1) return text;
  std::string who;
  for (const std::string& name : worth.leaving->organizations) who += (who.empty() ? "" : ", ") + printable(name);
  return text + bounds_line(who, *worth.leaving->is.bounds, in);
}

std::string capitalized(std::string sentence) {
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 32);
  return sentence;
}

// The reason why a report of `status` does not contain it: part of a sentence.
std::string worth_unknown(const ledger::StatusReport& report) {
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    const auto& row = accounting::estimators()[id.value];
    if (!row.of_coalitions) continue;
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, row.name) != names.end();
    };
    const std::string name(row.name);
    if (is_in(report.not_kept))
      return fmt::format("{} is not kept here ({}: off, or too many organizations)", name, name);
    if (is_in(report.behind)) return name + " is behind what happened and catches up by itself; ask again in a minute";
  }
  return "the books are rebuilt at present; shapleyctl status says how far that is";
}

}  // namespace

std::string worth_sentences(const ledger::WorthReport& worth) {
  const auto full_stop = [](const ledger::WorthComparison& is) { return is.provisional ? " (provisional).\n" : ".\n"; };
  std::vector<std::string> lines;
  for (const ledger::WorthRow& row : worth.organizations)
    lines.push_back(fmt::format("{} {}{}", titled(row.name, row.title), printable(row.sentence), full_stop(row.is)));
  std::string text = first_lines(lines, "");
  if (lines.size() > 1) text += capitalized(printable(worth.together.sentence)) + full_stop(worth.together.is);
  if (!worth.leaving) return text;
  std::string sentence = printable(worth.leaving->sentence);
  // The case of names is kept.
  if (worth.leaving->is.gain_core_hours <= 0) sentence = capitalized(std::move(sentence));
  return text + sentence + full_stop(worth.leaving->is);
}

std::string worth_limits(const ledger::WorthReport& worth) {
  return worth.limits.empty() ? std::string() : fmt::format("Limits:  {}.\n", printable(worth.limits));
}

std::string worth_tables(const ledger::WorthReport& worth, const ledger::AmountUnit& in, bool pairs) {
  if (worth.organizations.empty()) return {};
  json rows = json::array();
  for (const ledger::WorthRow& row : worth.organizations) rows.push_back(row_of(row.is, {{"name", row.name}}));
  return tables::people_text({.columns = columns_of(k_worth_fields), .rows = std::move(rows)}) +
         (pairs ? pairs_table(worth) : std::string()) + '\n' + worth_sentences(worth) + bounds_lines(worth, in);
}

std::string render_worth(const ledger::StatusReport& report) {
  if (!report.worth || !*report.worth)
    return fmt::format("What cooperation is worth cannot be said: {}.\n", worth_unknown(report));
  const ledger::WorthReport& worth = **report.worth;
  const std::string tables = worth_tables(worth, report.in);
  const std::string heading = worth.end.utc() + "  what cooperation is worth, ";
  if (tables.empty()) return heading + "of nothing so far\n";
  const std::string limits = worth_limits(worth);
  return fmt::format("{}since {}; {}, on average over that time\n{}{}{}", heading, worth.begin.utc(),
                     report.in.in_full(), tables, limits.empty() ? "" : "\n", limits);
}

}  // namespace shapley::ctl
