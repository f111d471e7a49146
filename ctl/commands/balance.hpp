// What organizations are owed over a time that begins with a month (UTC): the balance before it, each of its months,
// and the balance after it, for `shapleyctl statement` and `shapleyctl report`.
//
// In every row, exactly,
//     balance after = balance before + given - got + settled                                    [processor-seconds]
// A balance is counted from the first event of the books on, and carried on where a period begins, whereas a standing
// starts again from zero there. So the balance after a year is the one before the next year.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/output/paper.hpp"
#include "reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

struct BalanceMonth {
  Dated begin = {};
  Dated end = {};
  ledger::Amount given = {};
  ledger::Amount got = {};
  ledger::Amount settled = {};  // given less got
  ledger::Amount after = {};    // the balance at its end

  // "2026-11", or "2026-11 (part)" if it is not the whole month.
  [[nodiscard]] std::string label() const;
};
SHAPLEY_DESCRIBE(BalanceMonth, begin, end, given, got, settled, after);

// Of an organization on one cluster, in processors of that cluster.
struct BalanceRow {
  std::string organization = {};
  std::string cluster = {};  // empty: the only one
  ledger::Amount before = {};
  ledger::Amount given = {};
  ledger::Amount got = {};
  ledger::Amount settled = {};
  ledger::Amount after = {};
  std::vector<BalanceMonth> months = {};
};
SHAPLEY_DESCRIBE(BalanceRow, organization, cluster, before, given, got, settled, after, months);

// Money per hour of the unit of the balances, in millionths.
class Rates {
 public:
  // Of words MONEY, for every cluster that no other word names, or CLUSTER=MONEY. Errc::invalid_argument names the word
  // that is none of these, or the second one for a cluster.
  [[nodiscard]] static Expected<Rates> parse(const std::vector<std::string>& words);
  // `cluster`: empty: the only one. Errc::invalid_argument: there is none for it.
  [[nodiscard]] Expected<Int128> of(const std::string& cluster) const;
  // Errc::invalid_argument: one of them is for a cluster that is not among these.
  [[nodiscard]] Expected<void> check_clusters(const std::vector<std::string>& known) const;

 private:
  std::map<std::string, Int128> rates_;  // by cluster; "": every other one
};

// A balance at its cluster's rate, exact: millionths of processor-seconds times millionths of money per hour.
struct InvoiceRow {
  std::string organization = {};
  std::string cluster = {};
  Int128 rate = 0;
  Int128 before = 0;
  Int128 change = 0;

  [[nodiscard]] Int128 owed() const { return before + change; }
};

struct Balances {
  std::vector<BalanceRow> rows = {};     // those of an organization one after the other
  std::vector<InvoiceRow> invoice = {};  // likewise; empty: no rate was given
  bool by_month = false;                 // with a table of months
  ledger::AmountUnit in = {};            // since the books began

  // Of a table with other amounts too, of a part of the time, which are in `others`.
  [[nodiscard]] const ledger::AmountUnit& unit_beside(const ledger::AmountUnit& others) const {
    return rows.empty() ? others : in;
  }
};

// The options.
struct BalanceArguments {
  std::string year = {};  // "2026"
  bool by_month = false;
  std::vector<std::string> rates = {};

  [[nodiscard]] bool is_asked() const { return is_by_month() || !rates.empty(); }
  [[nodiscard]] bool is_by_month() const { return by_month || !year.empty(); }
};
// REQUIRES: --month, --since and --until were added before.
void add_balance(CLI::App& command, BalanceArguments& arguments);
// Sets --since and --until to the year; does nothing without one.
[[nodiscard]] Expected<void> take_year(const BalanceArguments& arguments, IntervalArguments& interval);

// The balances of the time of a statement, without the invoice; `interval`: what it was asked of.
// Errc::invalid_argument: that time does not begin with a month.
[[nodiscard]] Expected<Balances> balance_rows(const ledger::IntervalHeading& of, IntervalArguments interval,
                                              const Endpoint& endpoint);
// Errc::invalid_argument: balances are in several units, of which a rate is of one only.
[[nodiscard]] Expected<void> check_rate_unit(const ledger::AmountUnit& in);
[[nodiscard]] Expected<std::vector<InvoiceRow>> invoice_rows(const std::vector<BalanceRow>& rows, const Rates& rates);
// Both, of one cluster.
[[nodiscard]] Expected<Balances> balances_of(const BalanceArguments& arguments, const ledger::IntervalHeading& of,
                                             const IntervalArguments& interval, const Endpoint& endpoint);

// The largest amount of them, without regard to sign, for the number of decimals.
[[nodiscard]] CpuTime largest_amount_of(const std::vector<BalanceRow>& rows);

// As people read them. A line for each organization, and their sum; of one cluster.
[[nodiscard]] tables::Table balance_table(const std::vector<BalanceRow>& rows, const PaperAmounts& amounts);
// For each row its balance before, a line for each month, what rounding leaves of their sums, and the sums with the
// balance after.
[[nodiscard]] tables::Table months_table(const std::vector<BalanceRow>& rows, const PaperAmounts& amounts);
// In money, each amount rounded to a hundredth once. `with_sums`: sums over clusters, and over organizations.
[[nodiscard]] tables::Table invoice_table(const std::vector<InvoiceRow>& rows, bool with_sums);
// The tables, with what they mean. `balance`: balance_table() or that of several clusters.
[[nodiscard]] std::string balance_text(const Balances& balances, const tables::Table& balance,
                                       const PaperAmounts& amounts, bool with_sums);

// As programs read them: rows for the columns of a statement's CSV, and members of its JSON.
[[nodiscard]] nlohmann::json exact_balances(const Balances& balances, const ledger::IntervalHeading& of);
void add_balances(nlohmann::json& report, const Balances& balances);

}  // namespace shapley::ctl
