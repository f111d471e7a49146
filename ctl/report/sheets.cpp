#include "ctl/report/sheets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/commands/users.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr Field k_standings_columns[] = {{"at_utc"},
                                         {"period_begin_utc"},
                                         {"organization"},
                                         {"contribution"},
                                         {"standing_core_hours_on_average_this_period"}};
constexpr Field k_lending_columns[] = {{"since_utc"},         {"until_utc"},  {"owner"},
                                       {"user_organization"}, {"core_hours"}, {"processor_seconds"}};
constexpr Field k_waiting_columns[] = {{"since_utc"},
                                       {"until_utc"},
                                       {"organization"},
                                       {"waited_core_hours"},
                                       {"waited_processor_seconds"},
                                       {"waiting_processors_on_average"}};
constexpr Field k_months_columns[] = {{"begin_utc"},
                                      {"end_utc"},
                                      {"organization"},
                                      {"contribution"},
                                      {"given_core_hours"},
                                      {"got_core_hours"},
                                      {"given_less_got_core_hours"}};

constexpr Field k_corrections_columns[] = {{"number"},     {"at_utc"},           {"author"},     {"what"},
                                           {"reason"},     {"reversed_by"},      {"made_later"}, {"runs"},
                                           {"core_hours"}, {"processor_seconds"}};

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
void add_rests(charts::Table& table, const SiteReport& report, const PaperAmounts& amounts) {
  std::vector<PairsLeftOver> rests = pairs_left_over(report.statement, amounts);
  rests.resize(table.rows.size());
  const bool has_lent = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.lent != 0; });
  const bool has_borrowed = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.borrowed != 0; });
  if (has_lent) {
    table.head.emplace_back(k_rounding);
    for (std::size_t i = 0; i < rests.size(); ++i) table.rows[i].push_back(rest_cell(rests[i].lent, amounts));
  }
  if (!has_borrowed) return;
  std::vector<std::string> row{k_rounding};
  for (const PairsLeftOver& rest : rests) row.push_back(rest_cell(rest.borrowed, amounts));
  row.resize(table.head.size());
  table.rows.push_back(std::move(row));
}

// Takes a column out.
void drop_column(charts::Table& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.head.erase(table.head.begin() + at);
  for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + at);
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
  const std::string by = "by " + report.statement.of.contribution;
  Sheet sheet{.table = {.name = "Every organization",
                        .head = {"Organization", "Standing, on average this period", "Given, " + by, "Got", "Own",
                                 "Lent", "Borrowed", k_rounding, "Waited"}},
              .file = "statement.csv",
              .csv = statement_csv(without_users(report.statement))};
  if (!report.titles.empty()) {
    sheet.table.head.insert(sheet.table.head.begin() + 1, "Title");
    sheet.table.text_columns = 2;
  }
  bool has_rest = false;
  for (const ledger::AccountRow& row : report.statement.organizations) {
    std::vector<std::string>& cells = sheet.table.rows.emplace_back(std::vector{row.name});
    const auto title = report.titles.find(row.name);
    if (!report.titles.empty()) cells.push_back(title == report.titles.end() ? "" : title->second);
    const auto then = closing.find(row.name);
    cells.push_back(then == closing.end() ? "-" : signed_core_hours(then->second->closing.standing_core_hours));
    const Units rest = amounts.left_over(std::array{row.own.work, row.borrowed.work});
    has_rest = has_rest || rest != 0;
    for (const ledger::Amount& amount : {row.given, row.got, row.own, row.lent, row.borrowed})
      cells.push_back(amounts.text(amount.work));
    cells.push_back(amounts.signed_text(rest));
    cells.push_back(amounts.text(row.waited.work));
  }
  if (!has_rest) drop_column(sheet.table, sheet.table.head.size() - 2);
  return sheet;
}

Sheet standings_sheet(const SiteReport& report) {
  Sheet sheet{.table = {.name = "Standings over time", .head = {"At (UTC)", "Period since (UTC)"}, .text_columns = 2},
              .file = "standings.csv"};
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
                      {"contribution", report.statement.of.contribution},
                      {"standing_core_hours_on_average_this_period", standing->second}});
    }
  }
  sheet.csv = render_csv(k_standings_columns, rows);
  return sheet;
}

Sheet lending_sheet(const SiteReport& report) {
  const Lending lending = lending_of(report);
  const PaperAmounts amounts(report.statement);
  Sheet sheet{.table = {.name = "Lending between organizations", .head = {"Owner"}}, .file = "lending.csv"};
  sheet.table.head.insert(sheet.table.head.end(), lending.names.begin(), lending.names.end());
  json rows = json::array();
  for (std::size_t owner = 0; owner < lending.names.size(); ++owner) {
    std::vector<std::string>& cells = sheet.table.rows.emplace_back(std::vector{lending.names[owner]});
    for (std::size_t user = 0; user < lending.names.size(); ++user) {
      const double core_hours = lending.core_hours[owner][user];
      cells.push_back(held_cell(lending, owner, user, amounts));
      if (core_hours <= 0) continue;
      rows.push_back(whole_time(report, {{"owner", lending.names[owner]},
                                         {"user_organization", lending.names[user]},
                                         {"core_hours", core_hours},
                                         {"processor_seconds", format_micro(lending.work[owner][user].value)}}));
    }
  }
  add_rests(sheet.table, report, amounts);
  sheet.csv = render_csv(k_lending_columns, rows);
  return sheet;
}

Sheet waiting_sheet(const SiteReport& report) {
  const PaperAmounts amounts(report.statement);
  Sheet sheet{.table = {.name = "Waiting by organization",
                        .head = {"Organization", "Waited (core-hours)", "Processors waiting, on average"}},
              .file = "waiting.csv"};
  json rows = json::array();
  for (const ledger::AccountRow& organization : report.statement.organizations) {
    const double waited = organization.waited.core_hours();
    const double processors = waited / span_hours(report);
    sheet.table.rows.push_back(
        {organization.name, amounts.text(organization.waited.work), unsigned_core_hours(processors)});
    rows.push_back(whole_time(report, {{"organization", organization.name},
                                       {"waited_core_hours", waited},
                                       {"waited_processor_seconds", format_micro(organization.waited.work.value)},
                                       {"waiting_processors_on_average", processors}}));
  }
  sheet.csv = render_csv(k_waiting_columns, rows);
  return sheet;
}

Sheet months_sheet(const SiteReport& report) {
  const std::string by = "by " + report.months.of.contribution;
  Sheet sheet{.table = {.name = "Given and got by month",
                        .head = {"Month (UTC)", "Organization", "Given, " + by + " (core-hours)", "Got (core-hours)",
                                 k_rounding, "Given - got (core-hours)"},
                        .text_columns = 2},
              .file = "months.csv"};
  CpuTime largest;
  for (const ledger::HistoryRow& interval : report.months.rows) {
    for (const double amount : {interval.given_core_hours, interval.got_core_hours})
      largest = std::max(largest, work_of(std::fabs(amount)));
  }
  const PaperAmounts amounts(largest);
  bool has_rest = false;
  json rows = json::array();
  for (const ledger::HistoryRow& interval : report.months.rows) {
    const double given = interval.given_core_hours;
    const double got = interval.got_core_hours;
    const CpuTime given_work = work_of(given);
    const CpuTime got_work = work_of(got);
    const Units rest = amounts.left_over(std::array{given_work, -got_work});
    has_rest = has_rest || rest != 0;
    sheet.table.rows.push_back({month_label(interval), interval.organization, amounts.text(given_work),
                                amounts.text(got_work), amounts.signed_text(rest),
                                amounts.signed_text(given_work - got_work)});
    rows.push_back({{"begin_utc", interval.begin.utc()},
                    {"end_utc", interval.end.utc()},
                    {"organization", interval.organization},
                    {"contribution", report.months.of.contribution},
                    {"given_core_hours", given},
                    {"got_core_hours", got},
                    {"given_less_got_core_hours", given - got}});
  }
  if (!has_rest) drop_column(sheet.table, 4);
  sheet.csv = render_csv(k_months_columns, rows);
  return sheet;
}

Sheet corrections_sheet(const SiteReport& report) {
  Sheet sheet{.table = {.name = "Corrections of the books",
                        .head = {"Number", "Made (UTC)", "By", "What", "Why", "Runs", "Core-hours"},
                        .text_columns = 5},
              .file = "corrections.csv"};
  json rows = json::array();
  for (const ledger::ListedAdjustment& adjustment : report.statement.adjustments) {
    const ledger::AdjustmentRow& is = adjustment.is;
    const std::string number = std::to_string(is.number);
    const std::string what = printable(is.sentence());
    const std::string reversed =
        adjustment.reversed_by ? " (reversed by " + std::to_string(*adjustment.reversed_by) + ")" : "";
    const std::optional<ledger::Amount> work = adjustment.work.value_or(std::nullopt);
    sheet.table.rows.push_back({number, is.at.utc(), is.author, what + reversed, is.reason,
                                work ? std::to_string(is.runs) : "",
                                work ? unsigned_core_hours(work->core_hours()) : ""});
    rows.push_back({{"number", is.number},
                    {"at_utc", is.at.utc()},
                    {"author", is.author},
                    {"what", what},
                    {"reason", is.reason},
                    {"reversed_by", json_of(adjustment.reversed_by)},
                    {"made_later", adjustment.later.value_or(false)},
                    {"runs", is.runs},
                    {"core_hours", work ? json(work->core_hours()) : json()},
                    {"processor_seconds", work ? json(format_micro(work->work.value)) : json()}});
  }
  sheet.csv = render_csv(k_corrections_columns, rows);
  return sheet;
}

Sheet users_sheet(const SiteReport& report) {
  return {.table = {.name = "Users of each organization",
                    .head = {"Organization", "Account", "User", "Got (core-hours)", "Part of its organization (%)"},
                    .rows = printed_users(report.statement),
                    .text_columns = 3},
          .file = std::string(k_users_file),
          .csv = users_csv(report.statement)};
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
