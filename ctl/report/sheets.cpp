#include "ctl/report/sheets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/commands/users.hpp"
#include "ctl/commands/utilization.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/output/summed.hpp"
#include "tables/instants.hpp"

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
                                   {"given_less_got_core_hours"},
                                   {"settled_core_hours"},
                                   {"given_processor_seconds"},
                                   {"got_processor_seconds"},
                                   {"settled_processor_seconds"}};

constexpr Field k_balances_file[] = {{"begin_utc"},    {"end_utc"},    {"organization"}, {"cluster"}, {"item"},
                                     {"contribution"}, {"core_hours"}, {"exact"},        {"unit"}};
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
    {"settled", "Settled"},
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
    {"settled", "Settled (core-hours)"},
    {"rounding", k_rounding},
    {"difference", "Difference (core-hours)"},
};

constexpr AmountField k_overview_amounts[] = {
    {"standing", true}, {"given"},          {"got"},   {"settled", true}, {"own"}, {"lent"},
    {"borrowed"},       {"rounding", true}, {"waited"}};
constexpr AmountField k_waiting_amounts[] = {{"waited"}};
constexpr AmountField k_month_amounts[] = {
    {"given"}, {"got"}, {"settled", true}, {"rounding", true}, {"difference", true}};

constexpr Field k_corrections_page[] = {
    left({"number", "Number"}), left({"at_utc", "Made"}), left({"author", "By"}),  left({"what_became", "What"}),
    left({"reason", "Why"}),    {"runs_moved", "Runs"},   {"moved", "Core-hours"},
};

Sheet sheet_of(const std::string& name, std::span<const Field> page, const std::string& file,
               std::span<const Field> values, json page_rows, json file_rows) {
  return {{.name = name, .columns = columns_of(page), .rows = std::move(page_rows)},
          file,
          {.columns = columns_of(values), .rows = std::move(file_rows)}};
}

// With the unit of the report's amounts.
Sheet in_unit(Sheet sheet, const SiteReport& report) {
  name_unit(sheet.table, report.statement.of.in);
  name_unit(sheet.values, report.statement.of.in);
  return sheet;
}

// One number of decimals for all tables of the page.
PaperAmounts paper_amounts(const SiteReport& report) {
  return PaperAmounts(report.statement, largest_amount_of(report.balances.rows));
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

// Row and column of what each lent and borrowed, before them what rounding leaves of it, if there is any; the cells of
// organizations that were not requested are empty.
void add_sums(Table& table, const SiteReport& report, const PaperAmounts& amounts) {
  const std::vector<ledger::AccountRow>& organizations = report.statement.organizations;
  std::vector<PairsLeftOver> rests = pairs_left_over(report.statement, amounts);
  rests.resize(table.rows.size());
  const bool has_lent = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.lent != 0; });
  const bool has_borrowed = std::ranges::any_of(rests, [](const PairsLeftOver& rest) { return rest.borrowed != 0; });
  if (has_lent) {
    table.columns.push_back(amount_column(k_rounding));
    for (std::size_t i = 0; i < rests.size(); ++i) table.rows[i].push_back(rest_cell(rests[i].lent, amounts));
  }
  table.columns.push_back(amount_column("(lent)"));
  CpuTime all;
  Units lent = 0;
  Units borrowed = 0;
  json sums = json::array({"(borrowed)"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool is_asked = i < organizations.size();
    table.rows[i].push_back(is_asked ? amounts.text(organizations[i].lent.work) : "");
    sums.push_back(is_asked ? amounts.text(organizations[i].borrowed.work) : "");
    if (!is_asked) continue;
    all += organizations[i].lent.work;
    lent += amounts.nearest(organizations[i].lent.work);
    borrowed += amounts.nearest(organizations[i].borrowed.work);
  }
  // What those who were not requested lent to each other is not known.
  const bool is_whole = organizations.size() == table.rows.size();
  const Units lent_rest = is_whole ? amounts.nearest(all) - lent : 0;
  if (has_borrowed || lent_rest != 0) {
    json row = json::array({k_rounding});
    for (const PairsLeftOver& rest : rests) row.push_back(rest_cell(rest.borrowed, amounts));
    if (has_lent) row.push_back("");
    row.push_back(rest_cell(lent_rest, amounts));
    table.rows.push_back(std::move(row));
  }
  if (has_lent) sums.push_back(is_whole ? rest_cell(amounts.nearest(all) - borrowed, amounts) : "");
  sums.push_back(is_whole ? amounts.text(all) : "");
  table.rows.push_back(std::move(sums));
}

// An organization's line of the page's first table, or that of all.
struct OverviewWorks {
  CpuTime standing, given, got, settled, own, lent, borrowed, waited;
};
SHAPLEY_DESCRIBE(OverviewWorks, standing, given, got, settled, own, lent, borrowed, waited);

std::array<Units, 9> overview_line(const OverviewWorks& works, const PaperAmounts& amounts) {
  return {amounts.nearest(works.standing), amounts.nearest(works.given),
          amounts.nearest(works.got),      amounts.nearest(works.settled),
          amounts.nearest(works.own),      amounts.nearest(works.lent),
          amounts.nearest(works.borrowed), amounts.left_over(std::array{works.own, works.borrowed}),
          amounts.nearest(works.waited)};
}

// What an organization gave and got in a month, in all months, or all organizations.
struct MonthWorks {
  CpuTime given, got, settled;
};
SHAPLEY_DESCRIBE(MonthWorks, given, got, settled);

std::array<Units, 5> month_line(const MonthWorks& works, const PaperAmounts& amounts) {
  return {amounts.nearest(works.given), amounts.nearest(works.got), amounts.nearest(works.settled),
          amounts.left_over(std::array{works.given, -works.got, works.settled}),
          amounts.nearest(works.given - works.got + works.settled)};
}

// A line for each row of the history; if there are several months, then for each organization what they come to; last
// what all organizations do.
AmountRows month_rows(const SiteReport& report, const PaperAmounts& amounts) {
  AmountRows rows(amounts, k_month_amounts);
  std::vector<std::string> names;
  std::map<std::string, std::pair<MonthWorks, ColumnSums>> organizations;
  std::set<std::string> months;
  MonthWorks all;
  const auto words = [](const std::string& month, const std::string& organization) {
    return json{{"month", month}, {"organization", organization}};
  };
  for (const ledger::HistoryRow& interval : report.months.rows) {
    const MonthWorks works{interval.given, interval.got, interval.settled};
    const auto line = month_line(works, amounts);
    rows.note(words(month_label(interval), interval.organization), line);
    index_of(names, interval.organization);
    months.insert(month_label(interval));
    auto& [sum, printed] = organizations[interval.organization];
    sum += works;
    printed.add(line);
    all += works;
  }
  ColumnSums printed_sums;
  for (const std::string& name : names) {
    const auto& [sum, printed] = organizations[name];
    const auto line = month_line(sum, amounts);
    printed_sums.add(line);
    if (months.size() < 2) continue;
    rows.note_rest(words(k_rounding, name), printed.rest(line));
    rows.note(words(k_sum, name), line);
  }
  if (names.size() < 2) return rows;
  const auto line = month_line(all, amounts);
  rows.note_rest(words(k_sum, k_rounding), printed_sums.rest(line));
  rows.note(words(k_sum, k_sum), line);
  return rows;
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
  const auto t = parse_instant(utc);
  return t && utc.ends_with(k_midnight) ? tables::date_in_words(*t) : utc;
}

std::string month_label(const ledger::HistoryRow& row) {
  const std::string month = row.begin.utc().substr(0, 7);
  const auto first = parse_instant(month + "-01");
  const bool whole = first && *first == row.begin && period_end(Period::monthly, *first) == row.end;
  return month + (whole ? "" : " (part)");
}

Sheet overview_sheet(const SiteReport& report) {
  const auto closing = closing_rows(report);
  const PaperAmounts amounts = paper_amounts(report);
  Table table{.name = "Every organization", .columns = columns_of(k_overview_page)};
  std::ranges::find(table.columns, "given", &tables::Column::name)->title += report.statement.of.contribution;
  if (report.titles.empty()) drop_column(table, "title");
  AmountRows rows(amounts, k_overview_amounts);
  OverviewWorks all;
  for (const ledger::AccountRow& row : report.statement.organizations) {
    const auto title = report.titles.find(row.name);
    const auto then = closing.find(row.name);
    const OverviewWorks works{
        .standing = then == closing.end() ? CpuTime{} : work_of(then->second->closing.standing_core_hours),
        .given = row.given.work,
        .got = row.got.work,
        .settled = row.settled.work,
        .own = row.own.work,
        .lent = row.lent.work,
        .borrowed = row.borrowed.work,
        .waited = row.waited.work};
    all += works;
    rows.add({{"organization", row.name}, {"title", title == report.titles.end() ? "" : title->second}},
             overview_line(works, amounts));
  }
  rows.finish({{"organization", k_rounding}, {"title", ""}}, {{"organization", k_sum}, {"title", ""}},
              overview_line(all, amounts));
  for (const char* only_if_any : {"settled", "rounding"}) {
    if (!rows.has(only_if_any)) drop_column(table, only_if_any);
  }
  table.rows = std::move(rows).take();
  return {std::move(table), "statement.csv", exact_statement(without_users(report.statement))};
}

Sheet standings_sheet(const SiteReport& report) {
  const PaperAmounts amounts = paper_amounts(report);
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
  return in_unit({std::move(table), "standings.csv", std::move(values)}, report);
}

Sheet lending_sheet(const SiteReport& report) {
  const Lending lending = lending_of(report);
  const PaperAmounts amounts = paper_amounts(report);
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
  add_sums(table, report, amounts);
  return in_unit({std::move(table), "lending.csv", std::move(values)}, report);
}

Sheet waiting_sheet(const SiteReport& report) {
  const PaperAmounts amounts = paper_amounts(report);
  AmountRows rows(amounts, k_waiting_amounts);
  json values = json::array();
  CpuTime all;
  const auto words = [&report](const std::string& name, CpuTime waited) {
    const double core_hours = ledger::core_hours(waited);
    return whole_time(report, {{"organization", name},
                               {"waited_core_hours", core_hours},
                               {"waited_processor_seconds", format_micro(waited.value)},
                               {"waiting_processors_on_average", core_hours / span_hours(report)}});
  };
  for (const ledger::AccountRow& organization : report.statement.organizations) {
    const CpuTime waited = organization.waited.work;
    all += waited;
    values.push_back(words(organization.name, waited));
    rows.add(values.back(), std::array{amounts.nearest(waited)});
  }
  json rest{{"organization", k_rounding}, {"waiting_processors_on_average", ""}};
  rows.finish(rest, words(k_sum, all), std::array{amounts.nearest(all)});
  return in_unit(sheet_of("Waiting by organization", k_waiting_page, "waiting.csv", k_waiting_file,
                          std::move(rows).take(), std::move(values)),
                 report);
}

Sheet months_sheet(const SiteReport& report) {
  const PaperAmounts amounts = paper_amounts(report);
  json values = json::array();
  for (const ledger::HistoryRow& interval : report.months.rows) {
    const MonthWorks works{interval.given, interval.got, interval.settled};
    values.push_back({{"begin_utc", interval.begin.utc()},
                      {"end_utc", interval.end.utc()},
                      {"organization", interval.organization},
                      {"contribution", report.months.of.contribution},
                      {"given_core_hours", ledger::core_hours(works.given)},
                      {"got_core_hours", ledger::core_hours(works.got)},
                      {"settled_core_hours", ledger::core_hours(works.settled)},
                      {"given_less_got_core_hours", ledger::core_hours(works.given - works.got + works.settled)},
                      {"given_processor_seconds", format_micro(works.given.value)},
                      {"got_processor_seconds", format_micro(works.got.value)},
                      {"settled_processor_seconds", format_micro(works.settled.value)}});
  }
  AmountRows rows = month_rows(report, amounts);
  const bool has_settled = rows.has("settled");
  const bool has_rest = rows.has("rounding");
  Sheet sheet = sheet_of("Given and got by month", k_months_page, "months.csv", k_months_file, std::move(rows).take(),
                         std::move(values));
  std::ranges::find(sheet.table.columns, "given", &tables::Column::name)->title =
      fmt::format("Given, by {} (core-hours)", report.months.of.contribution);
  if (!has_settled) drop_column(sheet.table, "settled");
  if (!has_rest) drop_column(sheet.table, "rounding");
  return in_unit(std::move(sheet), report);
}

std::vector<Sheet> balance_sheets(const Balances& balances, const Table& balance, const PaperAmounts& amounts,
                                  const ledger::IntervalHeading& of, bool with_sums) {
  std::vector<Sheet> sheets;
  if (balances.rows.empty()) return sheets;
  const auto add = [&](Table table, const std::string& file, const Balances& part) {
    Table values{.columns = columns_of(k_balances_file), .rows = exact_balances(part, of)};
    if (std::ranges::all_of(part.rows, [](const BalanceRow& row) { return row.cluster.empty(); }) &&
        std::ranges::all_of(part.invoice, [](const InvoiceRow& row) { return row.cluster.empty(); }))
      drop_column(values, "cluster");
    name_unit(values, balances.in);
    sheets.push_back({std::move(table), file, std::move(values)});
  };
  add(balance, std::string(k_balances_file_name), {.rows = balances.rows});
  if (balances.by_month)
    add(months_table(balances.rows, amounts), std::string(k_months_file_name),
        {.rows = balances.rows, .by_month = true});
  if (!balances.invoice.empty())
    add(invoice_table(balances.invoice, with_sums), std::string(k_invoice_file), {.invoice = balances.invoice});
  return sheets;
}

std::vector<Sheet> balance_sheets(const SiteReport& report) {
  const PaperAmounts amounts = paper_amounts(report);
  return balance_sheets(report.balances, balance_table(report.balances.rows, amounts), amounts, report.statement.of,
                        true);
}

Sheet corrections_sheet(const SiteReport& report) {
  const PaperAmounts amounts = paper_amounts(report);
  json rows = json::array();
  for (const ledger::ListedAdjustment& adjustment : report.statement.adjustments) {
    const ledger::AdjustmentRow& is = adjustment.is;
    const std::string what = printable(is.sentence());
    const std::string reversed =
        adjustment.reversed_by ? fmt::format(" (reversed by {})", *adjustment.reversed_by) : "";
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
  return in_unit(
      sheet_of("Corrections of the books", k_corrections_page, "corrections.csv", k_corrections_file, rows, rows),
      report);
}

Sheet users_sheet(const SiteReport& report) {
  return {printed_users(report.statement, paper_amounts(report)), std::string(k_users_file),
          exact_users(report.statement)};
}

std::vector<Sheet> utilization_sheets(const SiteReport& report) {
  std::vector<Sheet> sheets;
  if (!report.months.utilization) return sheets;
  for (UtilizationView& view : utilization_views(report.months))
    sheets.push_back({std::move(view.table), view.name + ".csv", std::move(view.values)});
  return sheets;
}

std::vector<Sheet> all_sheets(const SiteReport& report) {
  std::vector<Sheet> sheets{overview_sheet(report), standings_sheet(report), lending_sheet(report),
                            waiting_sheet(report),  months_sheet(report),    corrections_sheet(report)};
  if (report.users) sheets.push_back(users_sheet(report));
  for (Sheet& sheet : balance_sheets(report)) sheets.push_back(std::move(sheet));
  for (Sheet& sheet : utilization_sheets(report)) sheets.push_back(std::move(sheet));
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
