#include "ctl/commands/balance.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "ctl/commands/balance_line.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr Field k_balance_fields[] = {
    left({"organization", "Organization"}),
    {"before", "Before"},
    {"given", "Given"},
    {"got", "Got"},
    {"settled", "Settled"},
    {"rounding", k_rounding},
    {"after", "After"},
};
constexpr Field k_balance_month_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    left({"month", "Month"}),
    {"given", "Given"},
    {"got", "Got"},
    {"settled", "Settled"},
    {"rounding", k_rounding},
    {"balance", "Balance"},
};
constexpr Field k_invoice_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    {"rate", "Rate"},
    {"before", "OwedBefore"},
    {"change", "Change"},
    {"rounding", k_rounding},
    {"owed", "Owed"},
};

constexpr const char* k_before = "(before)";
constexpr int k_cents = 2;  // decimals

// Work times rate, of a hundredth of the money: millionths of processor-seconds times millionths per hour.
constexpr Int128 k_hundredth = ledger::k_core_hour * k_micro / 100;

Units cents_of(Int128 money) {
  return nearest_of_quotient(money, k_hundredth);
}

// Whether all of its amounts are zero.
bool is_empty(const BalanceRow& row) {
  return std::ranges::all_of(std::array{row.before, row.given, row.got, row.settled},
                             [](const ledger::Amount& amount) { return amount.work == CpuTime{}; });
}

bool has_clusters(const auto& rows) {
  return std::ranges::any_of(rows, [](const auto& row) { return !row.cluster.empty(); });
}

// The lines of one organization's months, on one cluster.
class MonthLines {
 public:
  MonthLines(const BalanceRow& row, const PaperAmounts& amounts, Table& table)
      : row_(row), amounts_(amounts), table_(table) {}

  void add_all() {
    add(k_before, {}, amounts_.signed_text(row_.before.work));
    CpuTime balance = row_.before.work;
    ColumnSums printed;
    for (const BalanceMonth& month : row_.months) {
      const auto line = balance_line({balance, month.given.work, month.got.work, month.settled.work}, amounts_);
      printed.add(line);
      add(month.label(), line, amounts_.signed_text(line.back()));
      balance = month.after.work;
    }
    const auto sum = balance_line({row_.before.work, row_.given.work, row_.got.work, row_.settled.work}, amounts_);
    std::vector<Units> rest = printed.rest(sum);
    rest.resize(sum.size());
    const std::span columns = std::span(rest).subspan(1, 4);
    if (std::ranges::any_of(columns, [](Units units) { return units != 0; })) add(k_rounding, rest, "", true);
    add(k_sum, sum, amounts_.signed_text(sum.back()));
  }

 private:
  // Given, got, settled and (rounding) of a line; empty: none.
  void add(const std::string& month, std::span<const Units> line, const std::string& balance, bool is_rest = false) {
    const auto cell = [&](std::size_t i, bool is_signed) {
      if (line.empty()) return std::string();
      return is_signed || is_rest ? amounts_.signed_text(line[i]) : amounts_.text(line[i]);
    };
    table_.rows.push_back({{"organization", row_.organization},
                           {"cluster", row_.cluster},
                           {"month", month},
                           {"given", cell(1, false)},
                           {"got", cell(2, false)},
                           {"settled", cell(3, true)},
                           {"rounding", cell(4, true)},
                           {"balance", balance}});
  }

  const BalanceRow& row_;
  const PaperAmounts& amounts_;
  Table& table_;
};

// Whether a column has anything but zeros.
bool has_amounts(const Table& table, const char* column) {
  return std::ranges::any_of(table.rows, [&](const json& row) {
    return row[column].get_ref<const std::string&>().find_first_of("123456789") != std::string::npos;
  });
}

// Money of an invoice's line, in hundredths: before, change, (rounding), owed.
std::array<Units, 4> invoice_line(Int128 before, Int128 change) {
  const Units owed = cents_of(before + change);
  return {cents_of(before), cents_of(change), owed - cents_of(before) - cents_of(change), owed};
}

json invoice_cells(const std::string& organization, const std::string& cluster, const std::string& rate,
                   std::span<const Units> line) {
  return {{"organization", organization},
          {"cluster", cluster},
          {"rate", rate},
          {"before", signed_unit_text(line[0], k_cents)},
          {"change", signed_unit_text(line[1], k_cents)},
          {"rounding", signed_unit_text(line[2], k_cents)},
          {"owed", signed_unit_text(line[3], k_cents)}};
}

// "0.025", "12", "1.50"; up to a thousand million, with six decimals at most.
std::optional<Int128> money_in(std::string text) {
  constexpr Int128 k_most = Int128{1'000'000'000} * k_micro;
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  const auto money = parse_micro(text);
  return money && *money >= 0 && *money <= k_most ? money : std::nullopt;
}

class InvoiceLines {
 public:
  explicit InvoiceLines(Table& table) : table_(table) {}

  void add(const InvoiceRow& row) {
    const auto line = invoice_line(row.before, row.change);
    table_.rows.push_back(invoice_cells(row.organization, row.cluster, format_micro(row.rate), line));
    printed_.add(line);
    before_ += row.before;
    change_ += row.change;
    ++lines_;
  }
  // Of what was added since the last one; nothing if that is one line. Returns the exact sums.
  std::pair<Int128, Int128> end(const std::string& organization, const std::string& rest, const std::string& sum) {
    const auto line = invoice_line(before_, change_);
    if (lines_ > 1) {
      const std::vector<Units> left = printed_.rest(line);
      if (std::ranges::any_of(left, [](Units units) { return units != 0; }))
        table_.rows.push_back(
            invoice_cells(organization.empty() ? rest : organization, organization.empty() ? "" : rest, "", left));
      table_.rows.push_back(
          invoice_cells(organization.empty() ? sum : organization, organization.empty() ? "" : sum, "", line));
    }
    printed_ = {};
    lines_ = 0;
    return {std::exchange(before_, 0), std::exchange(change_, 0)};
  }
  // A subject that has its lines already.
  void count(Int128 before, Int128 change) {
    printed_.add(invoice_line(before, change));
    before_ += before;
    change_ += change;
    ++lines_;
  }

 private:
  Table& table_;
  ColumnSums printed_;
  Int128 before_ = 0;
  Int128 change_ = 0;
  std::size_t lines_ = 0;
};

json exact_balance(const BalanceRow& row, const Dated& begin, const Dated& end, const char* item,
                   const ledger::Amount& amount) {
  return {{"begin_utc", begin.utc()},
          {"end_utc", end.utc()},
          {"organization", row.organization},
          {"cluster", row.cluster},
          {"item", item},
          {"core_hours", amount.core_hours()},
          {"exact", format_micro(amount.work.value)},
          {"unit", "processor_seconds"}};
}

}  // namespace

std::string BalanceMonth::label() const {
  const Instant first = period_begin(Period::monthly, begin);
  const bool is_whole = first == begin && period_end(Period::monthly, begin) == end;
  return begin.utc().substr(0, 7) + (is_whole ? "" : " (part)");
}

Expected<Rates> Rates::parse(const std::vector<std::string>& words) {
  Rates rates;
  for (const std::string& word : words) {
    const std::size_t equals = word.rfind('=');
    const std::string cluster = equals == std::string::npos ? "" : word.substr(0, equals);
    const auto rate = money_in(equals == std::string::npos ? word : word.substr(equals + 1));
    if (!rate || equals == 0) {
      return fail(
          Errc::invalid_argument,
          fmt::format("--rate: '{}' is no money per hour; write 0.025, or CLUSTER=0.025, with at most six decimals",
                      word));
    }
    if (!rates.rates_.emplace(cluster, *rate).second) {
      return fail(Errc::invalid_argument,
                  "--rate: there are two rates" + (cluster.empty() ? std::string() : " of the cluster " + cluster));
    }
  }
  return rates;
}

Expected<Int128> Rates::of(const std::string& cluster) const {
  const auto named = rates_.find(cluster);
  if (named != rates_.end()) return named->second;
  const auto other = rates_.find("");
  if (other != rates_.end()) return other->second;
  if (cluster.empty()) return fail(Errc::invalid_argument, "--rate: CLUSTER=MONEY goes with --consortium; write MONEY");
  return fail(Errc::invalid_argument, fmt::format("--rate: there is none of the cluster '{}'", cluster));
}

Expected<void> Rates::check_clusters(const std::vector<std::string>& known) const {
  for (const auto& [cluster, rate] : rates_) {
    if (!cluster.empty() && std::ranges::find(known, cluster) == known.end())
      return fail(Errc::invalid_argument, fmt::format("--rate: no ledger here is of the cluster '{}'", cluster));
  }
  return {};
}

void add_balance(CLI::App& command, BalanceArguments& arguments) {
  command
      .add_option("--year", arguments.year,
                  "Show this year (UTC), as 2026, with its months as rows and the balances before and after it")
      ->excludes(command.get_option("--month"))
      ->excludes(command.get_option("--since"))
      ->excludes(command.get_option("--until"))
      ->type_name("YEAR");
  command.add_flag("--by-month", arguments.by_month,
                   "Show the months of another time so; it has to begin with a month");
  command
      .add_option("--rate", arguments.rates,
                  "Print an invoice, too, by this money per hour of the amounts' unit, or that of one cluster of a "
                  "consortium; may be given several times")
      ->type_name("[CLUSTER=]MONEY");
}

Expected<void> take_year(const BalanceArguments& arguments, IntervalArguments& interval) {
  if (arguments.year.empty()) return {};
  const bool is_year =
      arguments.year.size() == 4 && arguments.year.find_first_not_of("0123456789") == std::string::npos;
  const auto begin = parse_instant(arguments.year + "-01-01");
  if (!is_year || !begin)
    return fail(Errc::invalid_argument, fmt::format("--year: '{}' is no year; write 2026", arguments.year));
  const auto until = parse_instant(std::to_string(std::stoi(arguments.year) + 1) + "-01-01");
  if (!until) return fail(Errc::invalid_argument, fmt::format("--year: '{}' is too late a year", arguments.year));
  interval.since = format_instant(*begin);
  interval.until = format_instant(*until);
  return {};
}

namespace {

// `since`: the begin of the time; the history begins with the books.
std::vector<BalanceRow> rows_of(const ledger::HistoryReport& history, Instant since) {
  std::vector<BalanceRow> rows;
  for (const ledger::HistoryRow& is : history.rows) {
    auto row = std::ranges::find(rows, is.organization, &BalanceRow::organization);
    if (row == rows.end()) row = rows.insert(row, BalanceRow{.organization = is.organization});
    const CpuTime change = is.given - is.got + is.settled;
    row->after.work += change;
    if (is.begin < since) {
      row->before.work += change;
      continue;
    }
    row->given.work += is.given;
    row->got.work += is.got;
    row->settled.work += is.settled;
    // A period that begins within a month cuts it.
    if (!row->months.empty() && row->months.back().label().substr(0, 7) == is.begin.utc().substr(0, 7)) {
      BalanceMonth& month = row->months.back();
      month.end = is.end;
      month.given.work += is.given;
      month.got.work += is.got;
      month.settled.work += is.settled;
      month.after = row->after;
      continue;
    }
    row->months.push_back({is.begin, is.end, {is.given}, {is.got}, {is.settled}, row->after});
  }
  return rows;
}

}  // namespace

Expected<Balances> balance_rows(const ledger::IntervalHeading& of, IntervalArguments interval,
                                const Endpoint& endpoint) {
  const Instant since = of.since;
  if (period_begin(Period::monthly, since) != since) {
    return fail(
        Errc::invalid_argument,
        fmt::format("balances are of whole months, and {} is within one; begin at the first instant of a month (UTC)",
                    of.since.utc()));
  }
  interval.since = format_instant(Instant{0});
  // Of a file the same end means the same time; a daemon's present advances.
  if (interval.ledger.empty()) interval.until = of.until.utc();
  SHAPLEY_TRY_ASSIGN(const ledger::HistoryReport history,
                     interval_report(interval, endpoint, ledger::HistoryRequest{.by = ledger::Interval::month}));
  return Balances{.rows = rows_of(history, since), .in = history.of.in};
}

Expected<void> check_rate_unit(const ledger::AmountUnit& in) {
  if (in.changes.empty()) return {};
  return fail(Errc::invalid_argument,
              fmt::format("--rate: balances since the books began are in {}, and a rate is of one unit", in.in_full()));
}

Expected<std::vector<InvoiceRow>> invoice_rows(const std::vector<BalanceRow>& rows, const Rates& rates) {
  std::vector<InvoiceRow> invoice;
  for (const BalanceRow& row : rows) {
    SHAPLEY_TRY_ASSIGN(const Int128 rate, rates.of(row.cluster));
    invoice.push_back({.organization = row.organization,
                       .cluster = row.cluster,
                       .rate = rate,
                       .before = row.before.work.value * rate,
                       .change = (row.after.work - row.before.work).value * rate});
  }
  return invoice;
}

Expected<Balances> balances_of(const BalanceArguments& arguments, const ledger::IntervalHeading& of,
                               const IntervalArguments& interval, const Endpoint& endpoint) {
  if (!arguments.is_asked()) return Balances{};
  SHAPLEY_TRY_ASSIGN(const Rates rates, Rates::parse(arguments.rates));
  SHAPLEY_TRY(rates.check_clusters({}));
  SHAPLEY_TRY_ASSIGN(Balances balances, balance_rows(of, interval, endpoint));
  balances.by_month = arguments.is_by_month();
  if (arguments.rates.empty()) return balances;
  SHAPLEY_TRY(check_rate_unit(balances.in));
  SHAPLEY_TRY_ASSIGN(balances.invoice, invoice_rows(balances.rows, rates));
  return balances;
}

CpuTime largest_amount_of(const std::vector<BalanceRow>& rows) {
  Int128 largest = 0;
  const auto see = [&largest](const ledger::Amount& amount) {
    largest = std::max({largest, amount.work.value, -amount.work.value});
  };
  for (const BalanceRow& row : rows) {
    for (const ledger::Amount& amount : {row.before, row.given, row.got, row.settled, row.after}) see(amount);
    for (const BalanceMonth& month : row.months) see(month.after);
  }
  return {largest};
}

Table balance_table(const std::vector<BalanceRow>& rows, const PaperAmounts& amounts) {
  Table table{.name = "Balance of every organization", .columns = columns_of(k_balance_fields)};
  AmountRows lines(amounts, k_balance_amounts);
  BalanceWorks all;
  for (const BalanceRow& row : rows) {
    const BalanceWorks works{row.before.work, row.given.work, row.got.work, row.settled.work};
    lines.add({{"organization", row.organization}}, balance_line(works, amounts));
    all += works;
  }
  lines.finish({{"organization", k_rounding}}, {{"organization", k_sum}}, balance_line(all, amounts));
  for (const char* only_if_any : {"settled", "rounding"}) {
    if (!lines.has(only_if_any)) drop_column(table, only_if_any);
  }
  table.rows = std::move(lines).take();
  return table;
}

Table months_table(const std::vector<BalanceRow>& rows, const PaperAmounts& amounts) {
  Table table{.name = "Balance by month", .columns = columns_of(k_balance_month_fields)};
  for (const BalanceRow& row : rows) {
    if (!is_empty(row)) MonthLines(row, amounts, table).add_all();
  }
  if (!has_clusters(rows)) drop_column(table, "cluster");
  for (const char* only_if_any : {"settled", "rounding"}) {
    if (!has_amounts(table, only_if_any)) drop_column(table, only_if_any);
  }
  return table;
}

Table invoice_table(const std::vector<InvoiceRow>& rows, bool with_sums) {
  Table table{.name = "Invoice", .columns = columns_of(k_invoice_fields)};
  InvoiceLines lines(table);
  InvoiceLines all(table);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lines.add(rows[i]);
    const bool is_last_of_it = i + 1 == rows.size() || rows[i + 1].organization != rows[i].organization;
    if (!is_last_of_it || !with_sums) continue;
    const auto [before, change] = lines.end(rows[i].organization, k_rounding, k_sum);
    all.count(before, change);
  }
  if (with_sums) (void)all.end("", k_rounding, k_sum);
  if (!has_clusters(rows)) drop_column(table, "cluster");
  if (!has_amounts(table, "rounding")) drop_column(table, "rounding");
  return table;
}

std::string balance_text(const Balances& balances, const Table& balance, const PaperAmounts& amounts, bool with_sums) {
  const auto has = [&](const char* name) {
    return std::ranges::find(balance.columns, name, &tables::Column::name) != balance.columns.end();
  };
  std::string text = fmt::format(
      "{}\nBefore + Given - Got{}{} = After: balances since the books began, in {}, carried on where a period "
      "begins.\n",
      people_text(balance), has("settled") ? " + Settled" : "", has("rounding") ? std::string(" + ") + k_rounding : "",
      printable(balances.in.in_full()));
  if (balances.by_month) text += '\n' + people_text(months_table(balances.rows, amounts));
  if (balances.invoice.empty()) return text;
  return fmt::format("{}\nInvoice: balances at the rate, in money per hour; + is to be paid to it, - by it.\n{}", text,
                     people_text(invoice_table(balances.invoice, with_sums)));
}

json exact_balances(const Balances& balances, const ledger::IntervalHeading& of) {
  json rows = json::array();
  for (const BalanceRow& row : balances.rows) {
    rows.push_back(exact_balance(row, of.since, of.until, "balance_before", row.before));
    if (balances.by_month) {
      for (const BalanceMonth& month : row.months) {
        for (const auto& [item, amount] :
             {std::pair("month_given", month.given), std::pair("month_got", month.got),
              std::pair("month_settled", month.settled), std::pair("month_balance_after", month.after)})
          rows.push_back(exact_balance(row, month.begin, month.end, item, amount));
      }
    }
    rows.push_back(exact_balance(row, of.since, of.until, "balance_after", row.after));
  }
  for (const InvoiceRow& row : balances.invoice) {
    const auto money = [&](const char* item, Int128 amount) {
      rows.push_back({{"begin_utc", of.since.utc()},
                      {"end_utc", of.until.utc()},
                      {"organization", row.organization},
                      {"cluster", row.cluster},
                      {"item", item},
                      {"exact", format_micro(cents_of(amount) * (k_micro / 100))},
                      {"unit", "money"}});
    };
    money("owed_before", row.before);
    money("owed", row.owed());
  }
  for (json& row : rows) row["contribution"] = of.contribution;
  return rows;
}

void add_balances(json& report, const Balances& balances) {
  report["balances"] = json_of(balances.rows);
  report["balances_in"] = balances.in.in_full();
  if (balances.invoice.empty()) return;
  json rows = json::array();
  const auto money = [](Int128 amount) { return format_micro(cents_of(amount) * (k_micro / 100)); };
  for (const InvoiceRow& row : balances.invoice) {
    rows.push_back({{"organization", row.organization},
                    {"cluster", row.cluster},
                    {"rate", format_micro(row.rate)},
                    {"owed_before", money(row.before)},
                    {"owed", money(row.owed())}});
  }
  report["invoice"] = std::move(rows);
}

}  // namespace shapley::ctl
