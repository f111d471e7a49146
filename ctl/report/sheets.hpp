// The tables of the page, each with its numbers as a file of comma-separated values: the table rounded for people, the
// values exact. Amounts that are added up are rounded as on every paper (paper.hpp), with what that leaves. Pure.
//
// There are two kinds of amounts, as in a statement (docs/reference/shapleyctl/statement.md): a standing is an average
// over the period so far, every other amount is a sum over the row's time. Column names contain the kind and the
// estimator.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/commands/audit.hpp"
#include "ctl/commands/balance.hpp"
#include "ctl/output/paper.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

// The content of the page of `shapleyctl report`: reports of ledger/reports/statement.hpp, and the proof of the books.

enum class SignatureState { unchecked, good, bad };

struct Proof {
  std::optional<Examined> audit;
  std::string no_audit;  // why it is missing
  std::optional<ledger::SignedHead> head;
  std::string no_head;  // why it is missing
  SignatureState signature = SignatureState::unchecked;
  std::string signature_fault;  // of a bad one

  // Whether there are no findings; parts that were not checked do not count.
  [[nodiscard]] bool clean() const;
  // Whether the audit, if one was made, had all that it was to compare.
  [[nodiscard]] bool is_complete() const;
};

struct SiteReport {
  std::string heading;
  std::string cluster;     // its name; empty: unknown
  std::string consortium;  // of several clusters, its name; empty: none
  ledger::AccountReport statement;
  bool users = false;                                // with users_sheet; they have names and are ordered (users.hpp)
  ledger::HistoryReport history;                     // of the same time, at intervals for the chart
  ledger::Interval rows_by = ledger::Interval::day;  // the table shows the instants at which such an interval ends
  ledger::HistoryReport months;                      // the same by month
  Balances balances;                                 // of the same time; no rows: they were not asked for
  std::map<std::string, std::string> titles;
  Proof proof;

  // Whether the sums over all parts of all runs equal those of the books.
  [[nodiscard]] bool exact() const;
};

struct Sheet {
  tables::Table table;   // as the page shows it
  std::string file;      // name of the file of values
  tables::Table values;  // what is in that file
};

// A row for each organization, for the whole time, and their sum; its values are those of `shapleyctl statement --csv`,
// except for accounts and users.
[[nodiscard]] Sheet overview_sheet(const SiteReport& report);
// A row for each instant of the history at which an interval of the report's `rows_by` ends, for its begin and its end;
// a column for each organization.
[[nodiscard]] Sheet standings_sheet(const SiteReport& report);
// A row for each owner, a column for each organization whose jobs ran there. An empty cell: nothing; "?": not
// requested. Row and column `(rounding)`: what the printed amounts between organizations lack to what each borrowed and
// lent, which the row and the column behind them show.
[[nodiscard]] Sheet lending_sheet(const SiteReport& report);
[[nodiscard]] Sheet waiting_sheet(const SiteReport& report);
// A row for each month and organization; below them each organization's sum over several months, and all of it.
[[nodiscard]] Sheet months_sheet(const SiteReport& report);
// Where balances were asked for, as a statement has them: of the whole time, by month, and in money.
[[nodiscard]] std::vector<Sheet> balance_sheets(const Balances& balances, const tables::Table& balance,
                                                const PaperAmounts& amounts, const ledger::IntervalHeading& of,
                                                bool with_sums);
[[nodiscard]] std::vector<Sheet> balance_sheets(const SiteReport& report);
inline constexpr std::string_view k_balances_file_name = "balances.csv";
inline constexpr std::string_view k_months_file_name = "balances_by_month.csv";
inline constexpr std::string_view k_invoice_file = "invoice.csv";
// A row for each correction of the books that the statement names.
[[nodiscard]] Sheet corrections_sheet(const SiteReport& report);
// A row for each user of each account, and for what rounding leaves of an organization's users.
inline constexpr std::string_view k_users_file = "users.csv";
[[nodiscard]] Sheet users_sheet(const SiteReport& report);
// Where it was asked for: what nodes were used for, their GPUs, and waits (utilization.hpp).
inline constexpr std::array<std::string_view, 3> k_utilization_files{"utilization.csv", "gpus.csv", "waits.csv"};
[[nodiscard]] std::vector<Sheet> utilization_sheets(const SiteReport& report);
// Of a consortium, its board (board.hpp).
inline constexpr std::array<std::string_view, 3> k_board_files{"standings_before.csv", "decisions.csv", "heard.csv"};
// Those that a report has only where they are asked for.
inline constexpr std::array k_files_on_request{
    k_users_file,           k_balances_file_name,   k_months_file_name, k_invoice_file,   k_utilization_files[0],
    k_utilization_files[1], k_utilization_files[2], k_board_files[0],   k_board_files[1], k_board_files[2]};
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

// core_hours[owner][user]; negative: not requested, because -O leaves out both sides. Names: the requested
// organizations, and those that they lent to or borrowed from.
struct Lending {
  std::vector<std::string> names;
  std::vector<std::vector<double>> core_hours = {};
  std::vector<std::vector<CpuTime>> work = {};  // the same, exact; 0 where it was not requested
};
[[nodiscard]] Lending lending_of(const SiteReport& report);

// "2026-11-21T07:00:00Z", which a page writes in words (tables/instants.hpp); of midnight "21 November 2026".
[[nodiscard]] std::string short_instant(const std::string& utc);

// "2026-11", or "2026-11 (part)" if the row does not cover the whole month.
[[nodiscard]] std::string month_label(const ledger::HistoryRow& row);

}  // namespace shapley::ctl
