#include "ctl/report/sheets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/commands/users.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::amount_column;
using tables::Field;
using tables::left;
using tables::Table;
using tables::text_column;

constexpr Field k_standings_file[] = {{"at_utc"},
                                      {"period_begin_utc"},
                                      {"organization"},
                                      {"contribution"},
                                      {"standing_core_hours_on_average_this_period"}};
constexpr Field k_lending_file[] = {{"since_utc"},         {"until_utc"},  {"owner"},
                                    {"user_organization"}, {"core_hours"}, {"processor_seconds"}};
constexpr Field k_waiting_file[] = {{"since_utc"},
                                    {"until_utc"},
                                    {"organization"},
                                    {"waited_core_hours"},
                                    {"waited_processor_seconds"},
                                    {"waiting_processors_on_average"}};
constexpr Field k_months_file[] = {{"begin_utc"},
                                   {"end_utc"},
                                   {"organization"},
                                   {"contribution"},
                                   {"given_core_hours"},
                                   {"got_core_hours"},
                                   {"given_less_got_core_hours"}};

constexpr Field k_corrections_file[] = {{"number"},     {"at_utc"},           {"author"},     {"what"},
                                        {"reason"},     {"reversed_by"},      {"made_later"}, {"runs"},
                                        {"core_hours"}, {"processor_seconds"}};

// Of what the page shows of the same rows.
constexpr Field k_overview_page[] = {
    left({"organization", "Organization"}),
    left({"title", "Title"}),
    {"standing", "Standing, on average this period"},
    {"given", "Given, by "},
    {"got", "Got"},
    {"own", "Own"},
    {"lent", "Lent"},
    {"borrowed", "Borrowed"},
    {"rounding", k_rounding},
    {"waited", "Waited"},
};

constexpr Field k_waiting_page[] = {
    left({"organization", "Organization"}),
    {"waited", "Waited (core-hours)"},
    {"waiting_processors_on_average", "Processors waiting, on average", {}, {}, core_hours_or_unknown},
};

constexpr Field k_months_page[] = {
    left({"month", "Month (UTC)"}),
    left({"organization", "Organization"}),
    {"given", "Given"},
    {"got", "Got (core-hours)"},
    {"rounding", k_rounding},
    {"given_less_got", "Given - got (core-hours)"},
};

constexpr Field k_corrections_page[] = {
    left({"number", "Number"}), left({"at_utc", "Made (UTC)"}), left({"author", "By"}),  left({"what_became", "What"}),
    left({"reason", "Why"}),    {"runs_moved", "Runs"},         {"moved", "Core-hours"},
};

Sheet sheet_of(const std::string& name, std::span<const Field> page, const std::string& file,
               std::span<const Field> values, json rows) {
  Sheet sheet{{.name = name, .columns = columns_of(page), .rows = std::move(rows)}, file, {}};
  sheet.values = {.columns = columns_of(values), .rows = sheet.table.rows};
  return sheet;
}

// The amounts of the whole time, by name; the standings at its end.
std::map<std::string, const ledger::PeriodRow*> closing_rows(const SiteReport& report) {
  std::map<std::string, const ledger::PeriodRow*> rows;
  if (report.statement.periods.empty()) return rows;
  for (const ledger::PeriodRow& row : report.statement.periods.back().organizations) rows[row.name] = &row;
  return rows;
}

// Reports are meant to be forwarded, so they leave out per-user rows.
ledger::AccountReport without_users(ledger::AccountReport statement) {
  for (ledger::AccountRow& row : statement.organizations) row.users.clear();
  return statement;
}

double span_hours(const SiteReport& report) {
  return static_cast<double>((report.statement.of.until - report.statement.of.since).value) / 3600;
}

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

// A row of the whole time.
json whole_time(const SiteReport& report, const json& cells) {
  json row{{"since_utc", report.statement.of.since.utc()}, {"until_utc", report.statement.of.until.utc()}};
  row.update(cells);
  return row;
}

bool begins(ledger::Interval interval, Instant t) {
  return !ledger::begins_between(interval, t - Duration{1}, t + Duration{1}).empty();
}

std::string held_cell(const Lending& lending, std::size_t owner, std::size_t user, const PaperAmounts& amounts) {
  if (lending.core_hours[owner][user] < 0) return "?";
  const CpuTime work = lending.work[owner][user];
  return work == CpuTime{} ? std::string() : amounts.text(work);
}

std::string rest_cell(Units rest, const PaperAmounts& amounts) {
  return rest == 0 ? std::string() : amounts.signed_text(rest);
}

// Row and column of what rounding leaves, if there is any; the cells of organizations that were not requested are
// empty.
void add_rests(Table& table, const SiteReport& report, const PaperAmounts& amounts) {
  std::vector<PairsLeftOver> rests = pairs_left_over(report.statement, amounts);
  rests.resize(table.rows.size());
  const bool has_lent = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.lent != 0; });
  const bool has_borrowed = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.borrowed != 0; });
  if (has_lent) {
    table.columns.push_back(amount_column(k_rounding));
    for (std::size_t i = 0; i < rests.size(); ++i) table.rows[i].push_back(rest_cell(rests[i].lent, amounts));
  }
  if (!has_borrowed) return;
  json row = json::array({k_rounding});
  for (const PairsLeftOver& rest : rests) row.push_back(rest_cell(rest.borrowed, amounts));
  if (has_lent) row.push_back("");
  table.rows.push_back(std::move(row));
}

}  // namespace

std::vector<std::string> organizations_of(const SiteReport& report) {
  std::vector<std::string> names;
  for (const ledger::AccountRow& row : report.statement.organizations) names.push_back(row.name);
  return names;
}

std::vector<StandingsThen> standings_of(const SiteReport& report) {
  std::vector<StandingsThen> instants;
  if (report.statement.periods.empty()) return instants;
  const ledger::PeriodPart& first = report.statement.periods.front();
  instants.push_back({.at = first.begin.value,
                      .at_utc = first.begin.utc(),
                      .period_begin_utc = first.period_begin.utc(),
                      .period_begin = first.period_begin.value});
  for (const ledger::PeriodRow& row : first.organizations)
    instants.back().standing[row.name] = row.opening.standing_core_hours;
  for (const ledger::HistoryRow& row : report.history.rows) {
    if (instants.back().at != row.end.value) {
      instants.push_back({.at = row.end.value,
                          .at_utc = row.end.utc(),
                          .period_begin_utc = row.period_begin.utc(),
                          .period_begin = row.period_begin.value,
                          .begins_period = row.opens_period});
    }
    instants.back().standing[row.organization] = row.standing_core_hours;
  }
  return instants;
}

Lending lending_of(const SiteReport& report) {
  Lending lending{.names = organizations_of(report)};
  const std::size_t asked = lending.names.size();
  struct Held {
    std::size_t owner, user;
    ledger::Amount amount;
  };
  std::vector<Held> all;
  for (std::size_t i = 0; i < asked; ++i) {
    const ledger::AccountRow& row = report.statement.organizations[i];
    all.push_back({.owner = i, .user = i, .amount = row.own});
    for (const ledger::LentPair& pair : row.lent_to)
      all.push_back({i, index_of(lending.names, pair.organization), pair.amount()});
    for (const ledger::LentPair& pair : row.borrowed_from)
      all.push_back({index_of(lending.names, pair.organization), i, pair.amount()});
  }
  const std::size_t n = lending.names.size();
  lending.core_hours.assign(n, std::vector<double>(n, -1));
  lending.work.assign(n, std::vector<CpuTime>(n));
  for (std::size_t owner = 0; owner < n; ++owner) {
    for (std::size_t user = 0; user < n; ++user) {
      if (owner < asked || user < asked) lending.core_hours[owner][user] = 0;
    }
  }
  for (const Held& held : all) {
    lending.core_hours[held.owner][held.user] = held.amount.core_hours();
    lending.work[held.owner][held.user] = held.amount.work;
  }
  return lending;
}

std::string short_instant(const std::string& utc) {
  constexpr std::string_view k_midnight = "T00:00:00Z";
  return utc.ends_with(k_midnight) ? utc.substr(0, utc.size() - k_midnight.size()) : utc;
}

std::string month_label(const ledger::HistoryRow& row) {
  const std::string month = row.begin.utc().substr(0, 7);
  const auto first = parse_instant(month + "-01");
  const bool whole = first && *first == row.begin && period_end(Period::monthly, *first) == row.end;
  return month + (whole ? "" : " (part)");
}

Sheet overview_sheet(const SiteReport& report) {
  const auto closing = closing_rows(report);
  const PaperAmounts amounts(report.statement);
  Table table{.name = "Every organization", .columns = columns_of(k_overview_page)};
  std::ranges::find(table.columns, "given", &tables::Column::name)->title += report.statement.of.contribution;
  if (report.titles.empty()) drop_column(table, "title");
  bool has_rest = false;
  for (const ledger::AccountRow& row : report.statement.organizations) {
    const auto title = report.titles.find(row.name);
    const auto then = closing.find(row.name);
    const Units rest = amounts.left_over(std::array{row.own.work, row.borrowed.work});
    has_rest = has_rest || rest != 0;
    table.rows.push_back(
        {{"organization", row.name},
         {"title", title == report.titles.end() ? "" : title->second},
         {"standing", then == closing.end()
                          ? json()
                          : json(amounts.signed_text(work_of(then->second->closing.standing_core_hours)))},
         {"given", amounts.text(row.given.work)},
         {"got", amounts.text(row.got.work)},
         {"own", amounts.text(row.own.work)},
         {"lent", amounts.text(row.lent.work)},
         {"borrowed", amounts.text(row.borrowed.work)},
         {"rounding", amounts.signed_text(rest)},
         {"waited", amounts.text(row.waited.work)}});
  }
  if (!has_rest) drop_column(table, "rounding");
  return {std::move(table), "statement.csv", exact_statement(without_users(report.statement))};
}

Sheet standings_sheet(const SiteReport& report) {
  const PaperAmounts amounts(report.statement);
  Table table{.name = "Standings over time", .columns = {text_column("At (UTC)"), text_column("Period since (UTC)")}};
  Table values{.columns = columns_of(k_standings_file)};
  const std::vector<std::string> names = organizations_of(report);
  for (const std::string& name : names) table.columns.push_back(amount_column(name));
  const std::vector<StandingsThen> instants = standings_of(report);
  for (const StandingsThen& then : instants) {
    const bool is_end = &then == &instants.front() || &then == &instants.back();
    if (!is_end && !begins(report.rows_by, {then.at})) continue;
    json cells = json::array({short_instant(then.at_utc), short_instant(then.period_begin_utc)});
    for (const std::string& name : names) {
      const auto standing = then.standing.find(name);
      cells.push_back(standing == then.standing.end() ? "" : amounts.signed_text(work_of(standing->second)));
      if (standing == then.standing.end()) continue;
      values.rows.push_back({{"at_utc", then.at_utc},
                             {"period_begin_utc", then.period_begin_utc},
                             {"organization", name},
                             {"contribution", report.statement.of.contribution},
                             {"standing_core_hours_on_average_this_period", standing->second}});
    }
    table.rows.push_back(std::move(cells));
  }
  return {std::move(table), "standings.csv", std::move(values)};
}

Sheet lending_sheet(const SiteReport& report) {
  const Lending lending = lending_of(report);
  const PaperAmounts amounts(report.statement);
  Table table{.name = "Lending between organizations", .columns = {text_column("Owner")}};
  Table values{.columns = columns_of(k_lending_file)};
  for (const std::string& name : lending.names) table.columns.push_back(amount_column(name));
  for (std::size_t owner = 0; owner < lending.names.size(); ++owner) {
    json cells = json::array({lending.names[owner]});
    for (std::size_t user = 0; user < lending.names.size(); ++user) {
      const double core_hours = lending.core_hours[owner][user];
      cells.push_back(held_cell(lending, owner, user, amounts));
      if (core_hours <= 0) continue;
      values.rows.push_back(whole_time(report, {{"owner", lending.names[owner]},
                                                {"user_organization", lending.names[user]},
                                                {"core_hours", core_hours},
                                                {"processor_seconds", format_micro(lending.work[owner][user].value)}}));
    }
    table.rows.push_back(std::move(cells));
  }
  add_rests(table, report, amounts);
  return {std::move(table), "lending.csv", std::move(values)};
}

Sheet waiting_sheet(const SiteReport& report) {
  const PaperAmounts amounts(report.statement);
  json rows = json::array();
  for (const ledger::AccountRow& organization : report.statement.organizations) {
    const double waited = organization.waited.core_hours();
    const double processors = waited / span_hours(report);
    rows.push_back(whole_time(report, {{"organization", organization.name},
                                       {"waited", amounts.text(organization.waited.work)},
                                       {"waited_core_hours", waited},
                                       {"waited_processor_seconds", format_micro(organization.waited.work.value)},
                                       {"waiting_processors_on_average", processors}}));
  }
  return sheet_of("Waiting by organization", k_waiting_page, "waiting.csv", k_waiting_file, std::move(rows));
}

Sheet months_sheet(const SiteReport& report) {
  const PaperAmounts amounts(report.statement);
  bool has_rest = false;
  json rows = json::array();
  for (const ledger::HistoryRow& interval : report.months.rows) {
    const double given = interval.given_core_hours;
    const double got = interval.got_core_hours;
    const CpuTime given_work = work_of(given);
    const CpuTime got_work = work_of(got);
    const Units rest = amounts.left_over(std::array{given_work, -got_work});
    has_rest = has_rest || rest != 0;
    rows.push_back({{"month", month_label(interval)},
                    {"begin_utc", interval.begin.utc()},
                    {"end_utc", interval.end.utc()},
                    {"organization", interval.organization},
                    {"contribution", report.months.of.contribution},
                    {"given", amounts.text(given_work)},
                    {"got", amounts.text(got_work)},
                    {"rounding", amounts.signed_text(rest)},
                    {"given_less_got", amounts.signed_text(given_work - got_work)},
                    {"given_core_hours", given},
                    {"got_core_hours", got},
                    {"given_less_got_core_hours", given - got}});
  }
  Sheet sheet = sheet_of("Given and got by month", k_months_page, "months.csv", k_months_file, std::move(rows));
  std::ranges::find(sheet.table.columns, "given", &tables::Column::name)->title =
      "Given, by " + report.months.of.contribution + " (core-hours)";
  if (!has_rest) drop_column(sheet.table, "rounding");
  return sheet;
}

Sheet corrections_sheet(const SiteReport& report) {
  const PaperAmounts amounts(report.statement);
  json rows = json::array();
  for (const ledger::ListedAdjustment& adjustment : report.statement.adjustments) {
    const ledger::AdjustmentRow& is = adjustment.is;
    const std::string what = printable(is.sentence());
    const std::string reversed =
        adjustment.reversed_by ? " (reversed by " + std::to_string(*adjustment.reversed_by) + ")" : "";
    const std::optional<ledger::Amount> work = adjustment.work.value_or(std::nullopt);
    rows.push_back({{"number", is.number},
                    {"at_utc", is.at.utc()},
                    {"author", is.author},
                    {"what", what},
                    {"what_became", what + reversed},
                    {"reason", is.reason},
                    {"reversed_by", json_of(adjustment.reversed_by)},
                    {"made_later", adjustment.later.value_or(false)},
                    {"runs", is.runs},
                    {"runs_moved", work ? std::to_string(is.runs) : ""},
                    {"moved", work ? amounts.text(work->work) : ""},
                    {"core_hours", work ? json(work->core_hours()) : json()},
                    {"processor_seconds", work ? json(format_micro(work->work.value)) : json()}});
  }
  return sheet_of("Corrections of the books", k_corrections_page, "corrections.csv", k_corrections_file,
                  std::move(rows));
}

Sheet users_sheet(const SiteReport& report) {
  return {printed_users(report.statement), std::string(k_users_file), exact_users(report.statement)};
}

std::vector<Sheet> all_sheets(const SiteReport& report) {
  std::vector<Sheet> sheets{overview_sheet(report), standings_sheet(report), lending_sheet(report),
                            waiting_sheet(report),  months_sheet(report),    corrections_sheet(report)};
  if (report.users) sheets.push_back(users_sheet(report));
  return sheets;
}

bool Proof::clean() const {
  return signature != SignatureState::bad &&
         (!audit || std::ranges::all_of(audit->examinations, [](const Examination& e) { return e.report.clean(); }));
}

bool Proof::is_complete() const {
  return !audit || (!audit->missing && std::ranges::all_of(audit->examinations, [](const Examination& e) {
    return e.report.missing.empty();
  }));
}

bool SiteReport::exact() const {
  return statement.exact && history.exact && months.exact;
}

}  // namespace shapley::ctl
