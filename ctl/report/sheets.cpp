#include "ctl/report/sheets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "base/calendar.hpp"
#include "ctl/commands/adjust.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/csv.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr Field column(std::string_view name) {
  return {.name = name, .member = name, .title = {}, .meaning = {}};
}

constexpr std::array k_standings_columns{column("at_utc"), column("period_begin_utc"), column("organization"),
                                         column("contribution"), column("standing_core_hours_on_average_this_period")};
constexpr std::array k_lending_columns{column("since_utc"),         column("until_utc"),  column("owner"),
                                       column("user_organization"), column("core_hours"), column("processor_seconds")};
constexpr std::array k_waiting_columns{column("since_utc"),
                                       column("until_utc"),
                                       column("organization"),
                                       column("waited_core_hours"),
                                       column("waited_processor_seconds"),
                                       column("waiting_processors_on_average")};
constexpr std::array k_months_columns{column("begin_utc"),
                                      column("end_utc"),
                                      column("organization"),
                                      column("contribution"),
                                      column("given_core_hours"),
                                      column("got_core_hours"),
                                      column("given_less_got_core_hours")};

constexpr std::array k_corrections_columns{
    column("number"),      column("at_utc"),     column("author"), column("what"),       column("reason"),
    column("reversed_by"), column("made_later"), column("runs"),   column("core_hours"), column("processor_seconds")};

double hours(const json& amount) {
  return amount["core_hours"].get<double>();
}

// Of the whole time, by name; the standings at its end.
std::map<std::string, const json*> closing_rows(const SiteReport& report) {
  std::map<std::string, const json*> rows;
  if (report.statement["periods"].empty()) return rows;
  for (const json& row : report.statement["periods"].back()["organizations"]) {
    rows[row["name"].get<std::string>()] = &row;
  }
  return rows;
}

// What is given may be less than nothing, by estimators that correct themselves.
std::string given_text(double core_hours) {
  return (core_hours < 0 ? "-" : "") + unsigned_core_hours(core_hours);
}

// A page goes from hand to hand; what single persons ran is for those who ask.
json without_users(json statement) {
  for (json& row : statement["organizations"]) row["users"] = json::array();
  return statement;
}

double span_hours(const SiteReport& report) {
  return static_cast<double>(report.statement["until"].get<std::int64_t>() -
                             report.statement["since"].get<std::int64_t>()) /
         3600;
}

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

json whole_time(const SiteReport& report) {
  return {{"since_utc", report.statement["since_utc"]}, {"until_utc", report.statement["until_utc"]}};
}

bool begins(ledger::Interval interval, Instant t) {
  return !ledger::begins_between(interval, t - Duration{1}, t + Duration{1}).empty();
}

std::string held_cell(double core_hours) {
  if (core_hours < 0) return "?";
  return core_hours == 0 ? std::string() : unsigned_core_hours(core_hours);
}

}  // namespace

std::vector<std::string> organizations_of(const SiteReport& report) {
  std::vector<std::string> names;
  for (const json& row : report.statement["organizations"]) names.push_back(row["name"].get<std::string>());
  return names;
}

std::vector<StandingsThen> standings_of(const SiteReport& report) {
  std::vector<StandingsThen> instants;
  const json& periods = report.statement["periods"];
  if (periods.empty()) return instants;
  const json& first = periods.front();
  instants.push_back({.at = first["begin"].get<std::int64_t>(),
                      .at_utc = first["begin_utc"].get<std::string>(),
                      .period_begin_utc = first["period_begin_utc"].get<std::string>(),
                      .period_begin = first["period_begin"].get<std::int64_t>()});
  for (const json& row : first["organizations"]) {
    instants.back().standing[row["name"].get<std::string>()] = row["opening"]["standing_core_hours"].get<double>();
  }
  for (const json& row : report.history["rows"]) {
    if (instants.back().at != row["end"].get<std::int64_t>()) {
      instants.push_back({.at = row["end"].get<std::int64_t>(),
                          .at_utc = row["end_utc"].get<std::string>(),
                          .period_begin_utc = row["period_begin_utc"].get<std::string>(),
                          .period_begin = row["period_begin"].get<std::int64_t>(),
                          .begins_period = row["opens_period"].get<bool>()});
    }
    instants.back().standing[row["organization"].get<std::string>()] = row["standing_core_hours"].get<double>();
  }
  return instants;
}

Lending lending_of(const SiteReport& report) {
  Lending lending{.names = organizations_of(report), .core_hours = {}, .processor_seconds = {}};
  const std::size_t asked = lending.names.size();
  struct Held {
    std::size_t owner, user;
    const json* amount;
  };
  std::vector<Held> all;
  const json& rows = report.statement["organizations"];
  for (std::size_t i = 0; i < asked; ++i) {
    all.push_back({.owner = i, .user = i, .amount = &rows[i]["own"]});
    for (const json& pair : rows[i]["lent_to"])
      all.push_back({i, index_of(lending.names, pair["organization"].get<std::string>()), &pair});
    for (const json& pair : rows[i]["borrowed_from"])
      all.push_back({index_of(lending.names, pair["organization"].get<std::string>()), i, &pair});
  }
  const std::size_t n = lending.names.size();
  lending.core_hours.assign(n, std::vector<double>(n, -1));
  lending.processor_seconds.assign(n, std::vector<std::string>(n));
  for (std::size_t owner = 0; owner < n; ++owner) {
    for (std::size_t user = 0; user < n; ++user) {
      if (owner < asked || user < asked) lending.core_hours[owner][user] = 0;
    }
  }
  for (const Held& held : all) {
    lending.core_hours[held.owner][held.user] = hours(*held.amount);
    lending.processor_seconds[held.owner][held.user] = (*held.amount)["processor_seconds"].get<std::string>();
  }
  return lending;
}

std::string short_instant(const std::string& utc) {
  constexpr std::string_view k_midnight = "T00:00:00Z";
  return utc.ends_with(k_midnight) ? utc.substr(0, utc.size() - k_midnight.size()) : utc;
}

std::string month_label(const json& row) {
  const std::string begin = row["begin_utc"].get<std::string>();
  const auto first = parse_instant(begin.substr(0, 7) + "-01");
  const bool whole = first && first->value == row["begin"].get<std::int64_t>() &&
                     period_end(Period::monthly, *first).value == row["end"].get<std::int64_t>();
  return begin.substr(0, 7) + (whole ? "" : " (part)");
}

Sheet overview_sheet(const SiteReport& report) {
  const auto closing = closing_rows(report);
  const std::string by = "by " + report.statement["contribution"].get<std::string>();
  Sheet sheet{.table = {.name = "Every organization",
                        .head = {"Organization", "Standing, on average this period", "Given, " + by, "Got", "Own",
                                 "Lent", "Borrowed", "Waited"},
                        .rows = {}},
              .file = "statement.csv",
              .csv = statement_csv(without_users(report.statement))};
  if (!report.titles.empty()) {
    sheet.table.head.insert(sheet.table.head.begin() + 1, "Title");
    sheet.table.text_columns = 2;
  }
  for (const json& row : report.statement["organizations"]) {
    const std::string name = row["name"].get<std::string>();
    std::vector<std::string>& cells = sheet.table.rows.emplace_back(std::vector{name});
    const auto title = report.titles.find(name);
    if (!report.titles.empty()) cells.push_back(title == report.titles.end() ? "" : title->second);
    const auto then = closing.find(name);
    cells.push_back(then == closing.end()
                        ? "-"
                        : signed_core_hours((*then->second)["closing"]["standing_core_hours"].get<double>()));
    for (const char* member : {"given", "got", "own", "lent", "borrowed", "waited"}) {
      cells.push_back(given_text(hours(row[member])));
    }
  }
  return sheet;
}

Sheet standings_sheet(const SiteReport& report) {
  Sheet sheet{.table = {.name = "Standings over time",
                        .head = {"At (UTC)", "Period since (UTC)"},
                        .rows = {},
                        .text_columns = 2},
              .file = "standings.csv",
              .csv = {}};
  const std::vector<std::string> names = organizations_of(report);
  sheet.table.head.insert(sheet.table.head.end(), names.begin(), names.end());
  json rows = json::array();
  const std::vector<StandingsThen> instants = standings_of(report);
  for (const StandingsThen& then : instants) {
    const bool is_end = &then == &instants.front() || &then == &instants.back();
    if (!is_end && !begins(report.rows_by, {then.at})) continue;
    std::vector<std::string>& cells =
        sheet.table.rows.emplace_back(std::vector{short_instant(then.at_utc), short_instant(then.period_begin_utc)});
    for (const std::string& name : names) {
      const auto standing = then.standing.find(name);
      cells.push_back(standing == then.standing.end() ? "" : signed_core_hours(standing->second));
      if (standing == then.standing.end()) continue;
      rows.push_back({{"at_utc", then.at_utc},
                      {"period_begin_utc", then.period_begin_utc},
                      {"organization", name},
                      {"contribution", report.statement["contribution"]},
                      {"standing_core_hours_on_average_this_period", standing->second}});
    }
  }
  sheet.csv = render_csv(k_standings_columns, rows);
  return sheet;
}

Sheet lending_sheet(const SiteReport& report) {
  const Lending lending = lending_of(report);
  Sheet sheet{.table = {.name = "Who lent to whom", .head = {"Owner"}, .rows = {}}, .file = "lending.csv", .csv = {}};
  sheet.table.head.insert(sheet.table.head.end(), lending.names.begin(), lending.names.end());
  json rows = json::array();
  for (std::size_t owner = 0; owner < lending.names.size(); ++owner) {
    std::vector<std::string>& cells = sheet.table.rows.emplace_back(std::vector{lending.names[owner]});
    for (std::size_t user = 0; user < lending.names.size(); ++user) {
      const double core_hours = lending.core_hours[owner][user];
      cells.push_back(held_cell(core_hours));
      if (core_hours <= 0) continue;
      json row = whole_time(report);
      row["owner"] = lending.names[owner];
      row["user_organization"] = lending.names[user];
      row["core_hours"] = core_hours;
      row["processor_seconds"] = lending.processor_seconds[owner][user];
      rows.push_back(std::move(row));
    }
  }
  sheet.csv = render_csv(k_lending_columns, rows);
  return sheet;
}

Sheet waiting_sheet(const SiteReport& report) {
  Sheet sheet{.table = {.name = "Waiting by organization",
                        .head = {"Organization", "Waited (core-hours)", "Processors waiting, on average"},
                        .rows = {}},
              .file = "waiting.csv",
              .csv = {}};
  json rows = json::array();
  for (const json& organization : report.statement["organizations"]) {
    const double waited = hours(organization["waited"]);
    const double processors = waited / span_hours(report);
    sheet.table.rows.push_back(
        {organization["name"].get<std::string>(), unsigned_core_hours(waited), unsigned_core_hours(processors)});
    json row = whole_time(report);
    row["organization"] = organization["name"];
    row["waited_core_hours"] = waited;
    row["waited_processor_seconds"] = organization["waited"]["processor_seconds"];
    row["waiting_processors_on_average"] = processors;
    rows.push_back(std::move(row));
  }
  sheet.csv = render_csv(k_waiting_columns, rows);
  return sheet;
}

Sheet months_sheet(const SiteReport& report) {
  const std::string by = "by " + report.months["contribution"].get<std::string>();
  Sheet sheet{.table = {.name = "Given and got by month",
                        .head = {"Month (UTC)", "Organization", "Given, " + by + " (core-hours)", "Got (core-hours)",
                                 "Given - got (core-hours)"},
                        .rows = {},
                        .text_columns = 2},
              .file = "months.csv",
              .csv = {}};
  json rows = json::array();
  for (const json& interval : report.months["rows"]) {
    const double given = interval["given_core_hours"].get<double>();
    const double got = interval["got_core_hours"].get<double>();
    sheet.table.rows.push_back({month_label(interval), interval["organization"].get<std::string>(), given_text(given),
                                unsigned_core_hours(got), signed_core_hours(given - got)});
    rows.push_back({{"begin_utc", interval["begin_utc"]},
                    {"end_utc", interval["end_utc"]},
                    {"organization", interval["organization"]},
                    {"contribution", report.months["contribution"]},
                    {"given_core_hours", given},
                    {"got_core_hours", got},
                    {"given_less_got_core_hours", given - got}});
  }
  sheet.csv = render_csv(k_months_columns, rows);
  return sheet;
}

Sheet corrections_sheet(const SiteReport& report) {
  Sheet sheet{.table = {.name = "Corrections of the books",
                        .head = {"Number", "Made (UTC)", "By", "What", "Why", "Runs", "Core-hours"},
                        .rows = {},
                        .text_columns = 5},
              .file = "corrections.csv",
              .csv = {}};
  json rows = json::array();
  for (const json& adjustment : report.statement["adjustments"]) {
    const std::string number = adjustment["number"].dump();
    const std::string what = adjustment_sentence(adjustment);
    const json& reversed = adjustment["reversed_by"];
    const json& work = adjustment["work"];
    sheet.table.rows.push_back(
        {number, adjustment["at_utc"].get<std::string>(), adjustment["author"].get<std::string>(),
         what + (reversed.is_null() ? "" : " (reversed by " + reversed.dump() + ")"),
         adjustment["reason"].get<std::string>(), work.is_null() ? "" : adjustment["runs"].dump(),
         work.is_null() ? "" : unsigned_core_hours(hours(work))});
    json row = adjustment;
    row["what"] = what;
    row["made_later"] = adjustment["later"];
    row["core_hours"] = work.is_null() ? json() : work["core_hours"];
    row["processor_seconds"] = work.is_null() ? json() : work["processor_seconds"];
    rows.push_back(std::move(row));
  }
  sheet.csv = render_csv(k_corrections_columns, rows);
  return sheet;
}

std::vector<Sheet> all_sheets(const SiteReport& report) {
  return {overview_sheet(report), standings_sheet(report), lending_sheet(report),
          waiting_sheet(report),  months_sheet(report),    corrections_sheet(report)};
}

}  // namespace shapley::ctl
