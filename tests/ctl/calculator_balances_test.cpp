// Balances by month, invoices, capacity and accounts of random books, as calculator_test.cpp reads the other papers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calculator_fixture.hpp"
#include "ctl/app.hpp"
#include "no_terminal.hpp"

namespace shapley::ctl {
namespace {

// What of the time of the span was offered, and what of it was wanted: in the text and in JSON.
void check_capacity(const ReadTable& table, const nlohmann::json& report, const CalculatorBooks& books,
                    const Span& span) {
  const CalculatorSums sums = books.sums(span.since, span.until);
  const ByName wanted = books.idle_wanted(span.since, span.until);
  const Int128 each = Int128{16 * k_micro} * (span.until - span.since).value;
  for (const CellsByHead& row : table.rows) {
    EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Lent") + printed_in(row, "IdleWanted") +
                  printed_in(row, "IdleNotWanted") + printed_in(row, k_rounding),
              printed_in(row, "Capacity"));
    const std::string& name = row.at("Organization");
    if (!name.starts_with("org")) continue;
    expect_amount(row, "Capacity", each);
    expect_amount(row, "IdleWanted", amount_by(wanted, name));
    expect_amount(row, "IdleNotWanted",
                  each - amount_by(sums.own, name) - amount_by(sums.lent, name) - amount_by(wanted, name));
  }
  expect_columns_add_up(table, "Organization", {"Capacity", "Own", "Lent", "IdleWanted", "IdleNotWanted", k_rounding});
  for (const nlohmann::json& row : report["organizations"])
    EXPECT_EQ(row["idle_wanted"]["processor_seconds"], format_micro(amount_by(wanted, row["name"]))) << row["name"];
}

// A line for each organization: balances since the books began, whatever the period is.
void check_balances(const ReadTable& table, const CalculatorBooks& books, const Span& span) {
  const CalculatorSums sums = books.sums(span.since, span.until);
  const ByName before = books.balances(k_books_begin, span.since);
  const ByName after = books.balances(k_books_begin, span.until);
  ASSERT_EQ(table.rows.size(), books.names.size() + 1 + (table.rows[books.names.size()].at("Organization") != k_sum));
  for (const CellsByHead& row : table.rows) {
    EXPECT_EQ(printed_in(row, "Before") + printed_in(row, "Given") - printed_in(row, "Got") +
                  printed_in(row, "Settled") + printed_in(row, k_rounding),
              printed_in(row, "After"));
    const std::string& name = row.at("Organization");
    if (name == k_rounding || name == k_sum) continue;
    expect_amount(row, "Before", amount_by(before, name));
    expect_amount(row, "Given", amount_by(sums.given, name));
    expect_amount(row, "Got", amount_by(sums.got, name));
    expect_amount(row, "After", amount_by(after, name));
  }
  expect_columns_add_up(table, "Organization", {"Before", "Given", "Got", "Settled", k_rounding, "After"});
}

// The months of each row: every line goes on from the balance before it, and the columns add up. `books_of`: those of
// the cluster.
template <typename BooksOf>
void check_balance_months(const ReadTable& table, const Span& span, const BooksOf& books_of) {
  std::int64_t balance = 0;
  std::map<std::string, std::int64_t> down;
  for (const CellsByHead& row : table.rows) {
    const std::string& month = row.at("Month");
    const auto cluster = row.find("Cluster");
    const CalculatorBooks& books = books_of(cluster == row.end() ? "" : cluster->second);
    const auto balance_at = [&](Instant t) {
      return amount_by(books.balances(k_books_begin, t), row.at("Organization"));
    };
    const std::array<std::string, 4> columns{"Given", "Got", "Settled", k_rounding};
    if (month == "(before)") {
      expect_amount(row, "Balance", balance_at(span.since));
      balance = printed_in(row, "Balance");
      down = {};
      continue;
    }
    if (month == k_sum) {
      for (const std::string& column : {columns[0], columns[1], columns[2]})
        EXPECT_EQ(down[column], printed_in(row, column));
      expect_amount(row, "Balance", balance_at(span.until));
      EXPECT_EQ(printed_in(row, "Balance"), balance) << "the balance of the last month";
      continue;
    }
    for (const std::string& column : columns) down[column] += printed_in(row, column);
    if (month == k_rounding) continue;
    balance +=
        printed_in(row, "Given") - printed_in(row, "Got") + printed_in(row, "Settled") + printed_in(row, k_rounding);
    EXPECT_EQ(balance, printed_in(row, "Balance"));
    const Instant begin = *parse_instant(month.substr(0, 7) + "-01");
    const Instant end = std::min(period_end(Period::monthly, begin), span.until);
    expect_amount(row, "Balance", balance_at(end));
    expect_amount(row, "Got", amount_by(books.sums(std::max(begin, span.since), end).got, row.at("Organization")));
    EXPECT_EQ(month.ends_with("(part)"), begin < span.since || period_end(Period::monthly, begin) > span.until)
        << month;
  }
  EXPECT_FALSE(table.rows.empty());
}

// Thousandths of the money, rounded to hundredths once.
std::int64_t money_of(Int128 work, std::int64_t rate) {
  return static_cast<std::int64_t>(nearest_of_quotient(work * rate, ledger::k_core_hour * k_micro / 100)) * 10;
}

// Lines, and sums over the clusters of each and over all. `rate_of`: millionths of the cluster.
template <typename BooksOf, typename RateOf>
void check_invoice(const ReadTable& table, const Span& span, const BooksOf& books_of, const RateOf& rate_of) {
  const std::vector<std::string> columns{"OwedBefore", "Change", k_rounding, "Owed"};
  const bool has_clusters = table.has("Cluster");
  std::map<std::string, std::int64_t> of_one;
  std::map<std::string, std::int64_t> all;
  for (const CellsByHead& row : table.rows) {
    EXPECT_EQ(printed_in(row, "OwedBefore") + printed_in(row, "Change") + printed_in(row, k_rounding),
              printed_in(row, "Owed"));
    const std::string& name = row.at("Organization");
    const std::string cluster = has_clusters ? row.at("Cluster") : "";
    for (const std::string& column : columns) {
      if (name == k_sum) EXPECT_EQ(all[column], printed_in(row, column)) << column;
      if (cluster == k_sum) EXPECT_EQ(of_one[column], printed_in(row, column)) << name << ' ' << column;
      if (!has_clusters || cluster == k_sum || name == k_rounding) all[column] += printed_in(row, column);
      of_one[column] = cluster == k_sum ? 0 : of_one[column] + printed_in(row, column);
    }
    if (name == k_sum || name == k_rounding || cluster == k_sum || cluster == k_rounding) continue;
    const CalculatorBooks& books = books_of(cluster);
    const std::int64_t rate = rate_of(cluster);
    EXPECT_EQ(printed_in(row, "OwedBefore"),
              money_of(amount_by(books.balances(k_books_begin, span.since), name), rate));
    EXPECT_EQ(printed_in(row, "Owed"), money_of(amount_by(books.balances(k_books_begin, span.until), name), rate));
  }
  ASSERT_FALSE(table.rows.empty());
  EXPECT_EQ(table.rows.back().at("Organization"), k_sum);
}

// Each account's line is what its users and those of the accounts below it got, and the lines below add up to it.
void check_accounts(const ReadTable& table, const CalculatorSums& sums) {
  std::map<std::pair<std::string, std::string>, std::int64_t> below;  // by organization and account
  std::map<std::pair<std::string, std::string>, std::int64_t> got;
  std::map<std::string, Int128> exact;
  for (const auto& [who, works] : sums.users) {
    exact[std::get<1>(who)] += works.first + works.second;
    if (std::get<1>(who).ends_with("_lab")) exact[std::get<0>(who)] += works.first + works.second;
  }
  for (const CellsByHead& row : table.rows) {
    const std::string& name = row.at("Organization");
    const std::string& account = row.at("Account");
    EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Borrowed") + printed_in(row, k_rounding),
              printed_in(row, "Got"));
    if (account.empty()) continue;  // of all organizations
    got[{name, account == k_sum ? "" : account}] = printed_in(row, "Got");
    if (account == k_sum) continue;
    below[{name, row.at("Above")}] += printed_in(row, "Got");
    if (account != k_rounding && account != "(itself)") expect_amount(row, "Got", exact[account]);
  }
  EXPECT_FALSE(below.empty());
  for (const auto& [key, sum] : below) EXPECT_EQ(sum, (got[key])) << key.first << ' ' << key.second;
}

// Each member's balance on each cluster, and their sums in processors of the first.
void check_member_balances(const ReadTable& table, const TwoClusters& clusters, const Span& span) {
  std::map<std::string, std::map<std::string, std::int64_t>> down;  // by cluster or sum, then by column
  for (const CellsByHead& row : table.rows) {
    const std::string& name = row.at("Organization");
    const std::string& cluster = row.at("Cluster");
    for (const std::string column : {"Before", "Given", "Got", "Settled", "After"}) {
      if (name == k_sum && cluster != k_rounding) EXPECT_EQ(down[cluster][column], printed_in(row, column)) << column;
      down[cluster][column] += printed_in(row, column);
    }
    if (name == k_sum || name == k_rounding || cluster == k_rounding) continue;
    EXPECT_EQ(printed_in(row, "Before") + printed_in(row, "Given") - printed_in(row, "Got") +
                  printed_in(row, "Settled") + printed_in(row, k_rounding),
              printed_in(row, "After"));
    const auto after = [&](std::size_t number) {
      return amount_by(clusters.sites.at(number).books.balances(k_books_begin, span.until), name);
    };
    if (cluster != k_sum) expect_amount(row, "After", after(cluster == "north" ? 0 : 1));
  }
  EXPECT_FALSE(table.rows.empty());
}

class CalculatorBalances : public Calculator {
 protected:
  // In the text, in CSV and JSON, and on the page.
  void check_cluster(const std::string& of_ledger, const CalculatorBooks& books, const Span& span) const {
    constexpr std::int64_t k_rate = 12'500;
    const std::string asked = " --by-month --rate 0.0125" + of_ledger;
    const auto books_of = [&](const std::string&) -> const CalculatorBooks& { return books; };
    const auto tables = text_tables(shown("statement" + asked));
    const ReadTable balances = with_head(tables, {"Organization", "Before"});
    const ReadTable months = with_head(tables, {"Organization", "Month"});
    const ReadTable invoice = with_head(tables, {"Organization", "Rate"});
    check_balances(balances, books, span);
    check_balance_months(months, span, books_of);
    check_invoice(invoice, span, books_of, [](const std::string&) { return k_rate; });
    const std::string out = page(asked, "balances");
    EXPECT_EQ(page_table(out, "Balance of every organization").rows, balances.rows);
    EXPECT_EQ(page_table(out, "Balance by month").rows, months.rows);
    EXPECT_EQ(page_table(out, "Invoice").rows, invoice.rows);
    // A report without them does not leave those of an earlier one.
    (void)page(of_ledger, "balances");
    for (const char* name : {"balances.csv", "balances_by_month.csv", "invoice.csv"})
      EXPECT_FALSE(std::filesystem::exists(file("balances") + '/' + name)) << name;
    const ByName after = books.balances(k_books_begin, span.until);
    const auto exact = parsed_csv(shown("statement --csv" + asked));
    expect_same(exact_of(exact, "balance_after"), after, "balance after");
    expect_same(exact_of(exact, "balance_before"), books.balances(k_books_begin, span.since), "balance before");
    expect_same(exact_of(exact, "month_got"), books.sums(span.since, span.until).got, "months");
    const auto report = nlohmann::json::parse(shown("statement --json" + asked));
    for (std::size_t i = 0; i < books.names.size(); ++i) {
      const std::string name = report["balances"][i]["organization"];
      EXPECT_EQ(report["balances"][i]["after"]["processor_seconds"], format_micro(amount_by(after, name)));
      EXPECT_EQ(report["invoice"][i]["owed"],
                format_micro(money_of(amount_by(after, name), k_rate) * (k_micro / 1000)));
    }
  }

  void check_both(const std::string& of_ledgers, const TwoClusters& clusters, const Span& span) const {
    const std::string asked = " --by-month --rate 0.03 --rate south=0.0125" + of_ledgers;
    const auto books_of = [&](const std::string& cluster) -> const CalculatorBooks& {
      return clusters.sites.at(cluster == "north" ? 0 : 1).books;
    };
    const auto tables = text_tables(shown("statement" + asked));
    const ReadTable balances = with_head(tables, {"Organization", "Cluster", "Before"});
    const ReadTable months = with_head(tables, {"Organization", "Cluster", "Month"});
    const ReadTable invoice = with_head(tables, {"Organization", "Cluster", "Rate"});
    check_member_balances(balances, clusters, span);
    check_balance_months(months, span, books_of);
    check_invoice(invoice, span, books_of,
                  [](const std::string& cluster) { return cluster == "south" ? 12'500 : 30'000; });
    const std::string out = page(asked, "balances");
    EXPECT_EQ(page_table(out, "Balance by cluster").rows, balances.rows);
    EXPECT_EQ(page_table(out, "Balance by month").rows, months.rows);
    EXPECT_EQ(page_table(out, "Invoice").rows, invoice.rows);
  }
};

TEST_F(CalculatorBalances, go_on_where_a_period_begins_on_every_paper_of_a_cluster) {
  for (const Period period : {Period::none, Period::monthly}) {
    SCOPED_TRACE(period == Period::none ? "none" : "monthly");
    CalculatorSite site{.random = std::mt19937_64(9)};
    const CalculatorBooks& books = site.make(4, period);
    const std::string name = file(period == Period::none ? "n" : "m");
    site.write(name, [](const std::string& own) { return own; }, {});
    for (const Span& span : k_spans) {
      SCOPED_TRACE(span.arguments);
      const std::string of_ledger = " --ledger " + name + ' ' + span.arguments;
      check_cluster(of_ledger, books, span);
      const auto tables = text_tables(shown("statement --capacity --accounts " + tree() + of_ledger));
      check_capacity(with_head(tables, {"Organization", "Capacity"}),
                     nlohmann::json::parse(shown("statement --json" + of_ledger)), books, span);
      check_accounts(with_head(tables, {"Organization", "Account"}), books.sums(span.since, span.until));
    }
  }
}

// Of the cluster whose books they are.
TEST_F(CalculatorBalances, have_the_accounts_of_slurm_where_no_file_is_named) {
  CalculatorSite site{.random = std::mt19937_64(14)};
  site.make(3, Period::monthly);
  site.write(file("l"), [](const std::string& own) { return own; },
             {accounting::ClusterNamed{k_books_begin, "newton", "uid 0", ""}});
  std::ostringstream out;
  std::ostringstream err;
  std::vector<std::string> asked;
  Environment environment = no_terminal(out, err);
  const auto statement = [&](std::vector<std::string> more) {
    out.str("");
    err.str("");
    more.insert(more.begin(), {"shapleyctl", "statement", "--month", "2023-08", "--ledger", file("l")});
    std::vector<const char*> words;
    for (const std::string& word : more) words.push_back(word.c_str());
    return run(static_cast<int>(words.size()), words.data(), environment);
  };
  ASSERT_EQ(statement({"--accounts", tree()}), ExitCode::success) << err.str();
  const std::string by_file = out.str();
  EXPECT_EQ(statement({"--accounts"}), ExitCode::unavailable);
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    asked = words;
    return content_of(tree());
  };
  EXPECT_EQ(statement({"--accounts"}), ExitCode::success) << err.str();
  EXPECT_EQ(out.str(), by_file);
  EXPECT_NE(std::ranges::find(asked, "cluster=newton"), asked.end());
  environment.run_program = [&](const std::vector<std::string>&) -> Expected<std::string> { return "a|b\na|c\n"; };
  EXPECT_EQ(statement({"--accounts", "--users"}), ExitCode::usage);
  EXPECT_PRED2(contains, err.str(), "--accounts: line 2: account a has the parent c");
}

// By `charge: billing` the same amounts are billing-hours, and a rate is of one of them; where the rule changed since
// the books began, there is no such rate.
TEST_F(CalculatorBalances, are_billing_hours_by_charge_billing) {
  using accounting::ChargeDeclared;
  CalculatorSite site{.random = std::mt19937_64(13)};
  const CalculatorBooks& books = site.make(3, Period::monthly);
  const auto own_name = [](const std::string& own) { return own; };
  site.write(file("billing"), own_name, {ChargeDeclared{k_books_begin, "billing", {}, {}}});
  for (const Span& span : k_spans) {
    SCOPED_TRACE(span.arguments);
    const std::string of_ledger = " --ledger " + file("billing") + ' ' + span.arguments;
    check_cluster(of_ledger, books, span);
    const std::string text = shown("statement --by-month --rate 1" + of_ledger);
    EXPECT_PRED2(contains, text, "amounts in billing-hours\n");
    EXPECT_PRED2(lacks, text, "core-hours");
  }
  site.write(file("both"), own_name,
             {ChargeDeclared{k_books_begin, "cpu", {}, {}}, ChargeDeclared{k_august, "billing", {}, {}}});
  const std::string late = "statement --month 2023-09 --ledger " + file("both");
  EXPECT_PRED2(contains, shown(late + " --by-month"), "amounts in billing-hours\n");
  const Outcome refused = ends(ExitCode::usage, run_shapleyctl(directory.path(), late + " --rate 1"));
  EXPECT_PRED2(contains, refused.err,
               "--rate: balances since the books began are in charged-hours (core-hours until 2023-08-01T00:00:00Z, "
               "then billing-hours), and a rate is of one unit");
}

TEST_F(CalculatorBalances, go_on_where_a_period_begins_on_every_paper_of_a_consortium) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(10)}, {.random = std::mt19937_64(11)}}};
  clusters.sites[0].make(3, Period::monthly);
  clusters.sites[1].make(3, Period::none);
  clusters.write(file("north"), file("south"));
  for (const Span& span : k_spans) {
    SCOPED_TRACE(span.arguments);
    check_both(" --consortium " + file("north") + ' ' + file("south") + ' ' + span.arguments, clusters, span);
  }
}

// The year before ends with what this one begins with, and the rest is refused in words.
TEST_F(CalculatorBalances, of_a_year_and_what_is_refused) {
  CalculatorSite site{.random = std::mt19937_64(12)};
  const CalculatorBooks& books = site.make(2, Period::monthly);
  site.write(file("l"), [](const std::string& own) { return own; }, {});
  const std::string of_ledger = " --ledger " + file("l");
  EXPECT_EQ(shown("statement --year 2023" + of_ledger),
            shown("statement --by-month -S 2023-01-01 -E 2024-01-01" + of_ledger));
  const auto whole = nlohmann::json::parse(shown("statement --json --year 2023" + of_ledger));
  const auto later = nlohmann::json::parse(shown("statement --json --by-month -S 2023-09-01" + of_ledger));
  for (std::size_t i = 0; i < books.names.size(); ++i)
    EXPECT_EQ(whole["balances"][i]["months"][1]["after"], later["balances"][i]["before"]);
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    EXPECT_PRED2(contains,
                 ends(ExitCode::usage, run_shapleyctl(directory.path(), "statement" + of_ledger + arguments)).err, why);
  };
  refused(" --by-month -S 2023-08-02", "2023-08-02T00:00:00Z is within one");
  for (int i = 0; i <= 1000; ++i) std::ofstream(file("deep"), std::ios::app) << 'a' << i << "|a" << i + 1 << '\n';
  refused(" --accounts " + file("deep"), "/deep: the tree is more than 1000 accounts deep");
  refused(" --year 9999", "--year: '9999' is too late a year");
  for (const char* balances : {" --year 2023", " --month 2023-08 --by-month", " --month 2023-08 --rate 1"})
    refused(std::string(" --as-of now") + balances, "--as-of now does not go with --year, --by-month or --rate");
  refused(" --year 23", "--year: '23' is no year");
  for (const std::string& option : std::vector<std::string>{" --all", " --capacity", " --accounts " + file("deep")}) {
    const Outcome both = run_shapleyctl(directory.path(), "statement --consortium " + file("l") + option);
    EXPECT_PRED2(contains, ends(ExitCode::usage, both).err, "--consortium");
  }
  refused(" --month 2023-08 --rate -1", "'-1' is no money per hour");
  refused(" --month 2023-08 --rate 1e3", "'1e3' is no money per hour");
  refused(" --month 2023-08 --rate 0.0000001", "with at most six decimals");
  refused(" --month 2023-08 --rate 1 --rate 2", "there are two rates");
  refused(" --month 2023-08 --rate north=1", "no ledger here is of the cluster 'north'");
  EXPECT_PRED2(contains, shown("statement --month 2023-08 --rate 1.50" + of_ledger), "  1.5 ");
}

}  // namespace
}  // namespace shapley::ctl
