#include "ctl/output/worth.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <vector>

#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/table.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string gain_cell(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : std::string("?");
}

// Without anything alone there is no per cent.
std::string percent_cell(const json& value) {
  if (!value.is_number()) return "-";
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%+.1f", value.get<double>());
  return buffer.data();
}

// Of what is final there is no other bound.
std::string bound_cell(const json& value) {
  return value.is_number() ? unsigned_core_hours(value.get<double>()) : std::string("-");
}

constexpr Field k_worth_got{
    .name = "got", .member = "psi_core_hours", .title = "Got", .meaning = {}, .people = core_hours_or_unknown};
constexpr Field k_worth_alone{
    .name = "alone", .member = "alone_core_hours", .title = "Alone", .meaning = {}, .people = core_hours_or_unknown};
constexpr Field k_worth_gain{
    .name = "gain", .member = "gain_core_hours", .title = "Gain", .meaning = {}, .people = gain_cell};
constexpr Field k_worth_percent{
    .name = "percent", .member = "gain_percent", .title = "Gain%", .meaning = {}, .people = percent_cell};

constexpr Field k_worth_if_ended{
    .name = "if_ended", .member = "if_ended", .title = "AloneIfEnded", .meaning = {}, .people = bound_cell};

constexpr std::array k_worth_fields{
    Field{.name = "organization", .member = "name", .title = "Organization", .meaning = {}, .align = Align::left},
    k_worth_got,
    k_worth_alone,
    k_worth_gain,
    k_worth_percent,
    k_worth_if_ended};

constexpr std::array k_worth_pair_fields{
    Field{.name = "first", .member = "first", .title = "Of", .meaning = {}, .align = Align::left},
    Field{.name = "second", .member = "second", .title = "and", .meaning = {}, .align = Align::left},
    k_worth_got,
    k_worth_alone,
    k_worth_gain,
    k_worth_percent,
    k_worth_if_ended};

std::string worth_table(std::span<const Field> fields, json rows) {
  for (json& row : rows)
    row["if_ended"] = row["bounds"].is_null() ? json(nullptr) : row["bounds"]["end_now_core_hours"];
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back({.field = &field, .width = 0, .align = field.align});
  return render_table(columns, rows, {});
}

std::string pairs_table(const json& worth) {
  json pairs = worth["pairs"];
  if (pairs.empty()) return {};
  for (json& pair : pairs) {
    pair["first"] = pair["organizations"][0];
    pair["second"] = pair["organizations"][1];
  }
  return '\n' + worth_table(k_worth_pair_fields, pairs);
}

// "Bounds:  physics alone: 9.3 core-hours if what goes on never ended, 9.1 if it ended now; provisional.".
std::string bounds_line(const std::string& who, const json& of) {
  return "Bounds:  " + who +
         " alone: " + ledger::format_core_hours(of["bounds"]["never_end_core_hours"].get<double>()) +
         " core-hours if what goes on never ended, " +
         ledger::format_core_hours(of["bounds"]["end_now_core_hours"].get<double>()) + " if it ended now.\n";
}

std::string bounds_lines(const json& worth) {
  std::vector<std::string> lines;
  for (const json& row : worth["organizations"]) {
    if (!row["bounds"].is_null()) lines.push_back(bounds_line(member_text(row, "name"), row));
  }
  std::string text = first_lines(lines, "Bounds:  ");
  const json& together = worth["together"];
  if (worth["organizations"].size() > 1 && !together["bounds"].is_null()) text += bounds_line("each", together);
  const json& leaving = worth["leaving"];
  if (leaving.is_null() || leaving["bounds"].is_null() || leaving["organizations"].size() == 1) return text;
  std::string who;
  for (const json& name : leaving["organizations"])
    who += (who.empty() ? "" : ", ") + printable(name.get<std::string>());
  return text + bounds_line(who, leaving);
}

// "physics (Institute of Physics)".
std::string titled(const json& row) {
  const std::string name = member_text(row, "name");
  const std::string title = member_text(row, "title");
  return title.empty() || title == name ? name : name + " (" + title + ')';
}

std::string capitalized(std::string sentence) {
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 32);
  return sentence;
}

}  // namespace

std::string worth_sentences(const json& worth) {
  const auto full_stop = [](const json& of) { return of["provisional"] == true ? " (provisional).\n" : ".\n"; };
  std::vector<std::string> lines;
  for (const json& row : worth["organizations"])
    lines.push_back(titled(row) + ' ' + member_text(row, "sentence") + full_stop(row));
  std::string text = first_lines(lines, "");
  const json& together = worth["together"];
  if (lines.size() > 1) text += capitalized(member_text(together, "sentence")) + full_stop(together);
  const json& leaving = worth["leaving"];
  if (leaving.is_null()) return text;
  std::string sentence = member_text(leaving, "sentence");
  // A name is written as its organization writes it.
  if (leaving["gain_core_hours"].get<double>() <= 0) sentence = capitalized(std::move(sentence));
  return text + sentence + full_stop(leaving);
}

std::string worth_limits(const json& worth) {
  return "Limits:  " + member_text(worth, "limits") + ".\n";
}

std::string worth_tables(const json& worth) {
  const json& rows = worth["organizations"];
  if (rows.empty()) return {};
  return worth_table(k_worth_fields, rows) + pairs_table(worth) + '\n' + worth_sentences(worth) + bounds_lines(worth);
}

std::string worth_unknown(const json& report) {
  const auto lists = [&](const char* member) {
    const json names = report.value(member, json::array());
    return std::find(names.begin(), names.end(), "hindsight") != names.end();
  };
  if (lists("not_kept")) return "hindsight is not kept here (hindsight: off, or too many organizations)";
  if (lists("behind")) return "hindsight is behind what happened and catches up by itself; ask again in a minute";
  return "the books are rebuilt at present; shapleyctl status says how far that is";
}

std::string render_worth(const json& report) {
  const json worth = report.value("worth", json(nullptr));
  if (worth.is_null()) return "What cooperation is worth cannot be said: " + worth_unknown(report) + ".\n";
  const std::string tables = worth_tables(worth);
  const std::string heading = member_text(worth, "end_utc") + "  what cooperation is worth, ";
  if (tables.empty()) return heading + "of nothing so far\n";
  return heading + "since " + member_text(worth, "begin_utc") + "; core-hours, on average over that time\n" + tables +
         '\n' + worth_limits(worth);
}

}  // namespace shapley::ctl
