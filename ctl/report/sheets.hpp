// The tables of the page, each with its numbers as comma-separated values: the table rounded for people, the values
// exact. Pure.
//
// Two kinds of amounts, as in a statement (docs/reference/shapleyctl.md): a standing is an average over the period so
// far, everything else is a sum over the time that the row is of. Column names say which, and by which estimator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "charts/html.hpp"
#include "ctl/report/site_report.hpp"

namespace shapley::ctl {

struct Sheet {
  charts::Table table;
  std::string file;  // name of the file of values
  std::string csv;
};

// Of the whole time: a row for each organization; its values are those of `shapleyctl statement --csv`, but
// for accounts and users.
[[nodiscard]] Sheet overview_sheet(const SiteReport& report);
// A row for each instant of the history at which an interval of the report's `rows_by` ends, for its begin and its end;
// a column for each organization.
[[nodiscard]] Sheet standings_sheet(const SiteReport& report);
// A row for each owner, a column for each organization whose jobs ran there. An empty cell: nothing; "?": not asked.
[[nodiscard]] Sheet lending_sheet(const SiteReport& report);
[[nodiscard]] Sheet waiting_sheet(const SiteReport& report);
[[nodiscard]] Sheet months_sheet(const SiteReport& report);
// A row for each correction of the books that the statement names.
[[nodiscard]] Sheet corrections_sheet(const SiteReport& report);
[[nodiscard]] std::vector<Sheet> all_sheets(const SiteReport& report);

// Names in the configuration's order, as the statement has them.
[[nodiscard]] std::vector<std::string> organizations_of(const SiteReport& report);

// The standings at one instant.
struct StandingsThen {
  std::int64_t at = 0;
  std::string at_utc;
  std::string period_begin_utc;
  std::int64_t period_begin = 0;
  bool begins_period = false;  // within the interval that ends here
  std::map<std::string, double> standing = {};
};
// At the begin, and at every instant of the history.
[[nodiscard]] std::vector<StandingsThen> standings_of(const SiteReport& report);

// held[owner][user], core-hours; negative: not asked, for -O leaves out both sides. Names: those that are asked, and
// whom they lent to or borrowed from.
struct Lending {
  std::vector<std::string> names;
  std::vector<std::vector<double>> core_hours;
  std::vector<std::vector<std::string>> processor_seconds;  // exact
};
[[nodiscard]] Lending lending_of(const SiteReport& report);

// "2026-11-21T07:00:00Z", and of a midnight the date alone.
[[nodiscard]] std::string short_instant(const std::string& utc);

// "2026-11", or "2026-11 (part)" when the row is not of all of it.
[[nodiscard]] std::string month_label(const nlohmann::json& row);

}  // namespace shapley::ctl
