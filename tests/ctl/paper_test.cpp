// A printed statement, recomputed with a pocket calculator: the text of random books is read as a person reads it, each
// amount is compared with the exact one, and what is printed is added up.
#include "ctl/output/paper.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ctl/commands/statement.hpp"
#include "ctl/commands/users.hpp"
#include "paper_books.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

constexpr Int128 k_hour = Int128{3600} * k_micro;

ledger::Amount hours(double core_hours) {
  return {work_of(core_hours)};
}

PaperAmounts paper_of(Int128 largest) {
  return PaperAmounts(CpuTime{largest});
}

void expect_nearest(const PrintedRow& row, const std::string& column, CpuTime exact) {
  ASSERT_TRUE(row.has(column)) << column;
  EXPECT_EQ(row[column], nearest_like(row.cells.at(column), exact)) << column;
}

// Without those of what rounding leaves, and of sums.
std::vector<PrintedRow> rows_of_names(const std::string& text, const std::string& first, std::size_t texts) {
  std::vector<PrintedRow> rows = printed_rows(text, first, texts);
  std::erase_if(rows, [](const PrintedRow& row) { return row.words[0] == k_rounding || row.words[0] == k_sum; });
  return rows;
}

// Each amount of the periods' tables is the nearest to the exact one.
void expect_periods_are_nearest(const AccountReport& report, const std::string& text) {
  const auto rows = rows_of_names(text, "Organization Before", 1);
  auto row = rows.begin();
  for (const ledger::PeriodPart& part : report.periods) {
    for (const ledger::PeriodRow& is : part.organizations) {
      ASSERT_NE(row, rows.end()) << text;
      ASSERT_EQ(row->words, std::vector{is.name});
      expect_nearest(*row, "Before", is.opening.difference.work);
      expect_nearest(*row, "Given", is.given.work);
      expect_nearest(*row, "Got", is.got.work);
      if (row->has("Settled")) expect_nearest(*row, "Settled", is.settled.work);
      expect_nearest(*row, "After", is.closing.difference.work);
      ++row;
    }
  }
  EXPECT_EQ(row, rows.end());
}

// So is each amount of the whole time.
void expect_whole_time_is_nearest(const AccountReport& report, const std::string& text) {
  const auto held = rows_of_names(text, "Organization Got Own", 1);
  std::map<std::pair<std::string, std::string>, const PrintedRow*> pairs;
  std::map<std::pair<std::string, std::string>, const PrintedRow*> users;
  const auto lent = rows_of_names(text, "Lent by", 4);
  const auto used = printed_rows(text, "Organization Account", 3);
  for (const PrintedRow& row : lent) pairs[{row.words[0], row.words[1]}] = &row;
  for (const PrintedRow& row : used) users[{row.words[0], row.words.back()}] = &row;
  ASSERT_EQ(held.size(), report.organizations.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const ledger::AccountRow& is = report.organizations[i];
    const std::map<std::string, ledger::Amount> amounts{
        {"Got", is.got}, {"Own", is.own}, {"Borrowed", is.borrowed}, {"Lent", is.lent}, {"Waited", is.waited}};
    for (const auto& [column, amount] : amounts) expect_nearest(held[i], column, amount.work);
    for (const ledger::LentPair& pair : is.lent_to)
      expect_nearest(*pairs.at({is.name, pair.organization}), "CoreHours", pair.work);
    for (const ledger::LentPair& pair : is.borrowed_from)
      expect_nearest(*pairs.at({pair.organization, is.name}), "CoreHours", pair.work);
    for (const ledger::UserRow& user : is.users) {
      const PrintedRow& row = *users.at({is.name, user.user});
      expect_nearest(row, "Got", user.got.work);
      expect_nearest(row, "Own", user.own.work);
      expect_nearest(row, "Borrowed", user.borrowed.work);
    }
  }
}

// With pairs and users.
std::string whole_text(const AccountReport& report, bool all = false) {
  return render_statement(report, {.all = all, .pairs = true, .users = true});
}

// With a pocket calculator, rows and columns of `(rounding)` included.
void expect_adds_up(const std::string& text) {
  for (const PrintedRow& row : printed_rows(text, "Organization Before", 1)) {
    EXPECT_EQ(row["Before"] + row["Given"] - row["Got"] + row["Settled"] + row[k_rounding], row["After"]) << text;
  }
  std::map<std::string, std::int64_t> lent;
  std::map<std::string, std::int64_t> borrowed;
  for (const PrintedRow& row : printed_rows(text, "Lent by", 4)) {
    if (row.words[0] == k_sum) continue;
    lent[row.words[0]] += row["CoreHours"];
    borrowed[row.words[1]] += row["CoreHours"];
  }
  std::map<std::string, std::map<std::string, std::int64_t>> users;
  for (const PrintedRow& row : printed_rows(text, "Organization Account", 3)) {
    EXPECT_EQ(row["Own"] + row["Borrowed"] + row[k_rounding], row["Got"]) << text;
    for (const char* column : {"Got", "Own", "Borrowed", k_rounding}) users[row.words[0]][column] += row[column];
  }
  for (const PrintedRow& row : rows_of_names(text, "Organization Got Own", 1)) {
    const std::string& name = row.words[0];
    EXPECT_EQ(row["Own"] + row["Borrowed"] + row[k_rounding], row["Got"]) << text;
    EXPECT_EQ(row["Lent"], lent[name]) << name << '\n' << text;
    EXPECT_EQ(row["Borrowed"], borrowed[name]) << name << '\n' << text;
    for (const char* column : {"Got", "Own", "Borrowed", k_rounding})
      EXPECT_EQ(row[column], users[name][column]) << name << ' ' << column << '\n' << text;
  }
}

Books books_of(std::uint64_t seed) {
  const std::vector<std::int64_t> scales{100, 10'000, 1'000'000, 1'000'000'000};
  Books books{.random = std::mt19937_64(seed), .organizations = 1 + seed % 9, .scale = scales[seed / 16 % 4]};
  books.direct = seed / 64 % 4 != 0;
  books.parts = 1 + seed / 256 % 3;
  books.settled = seed / 1024 % 3 == 0;
  return books;
}

RC_GTEST_PROP(Paper, HasTheNearestAmountsAndAddsUp, (std::uint64_t seed)) {
  AccountReport report = books_of(seed).make();
  for (const bool all : {true, false}) expect_adds_up(whole_text(report, all));
  const std::string text = whole_text(report, true);
  expect_periods_are_nearest(report, text);
  expect_whole_time_is_nearest(report, text);
  // A member's own statement adds up, too.
  report.organizations.resize(1);
  for (ledger::PeriodPart& part : report.periods) part.organizations.resize(1);
  expect_adds_up(whole_text(report));
  RC_ASSERT(!testing::Test::HasFailure());
}

// Users as `status --users` and the report print them: amounts and parts.
RC_GTEST_PROP(Paper, HasUsersThatAddUpToTheirOrganization, (std::uint64_t seed)) {
  const AccountReport statement = books_of(seed).make();
  const std::string text = render_users(users_report(statement, {}, fail(Errc::unavailable, "")), statement, true);
  std::map<std::pair<std::string, std::string>, std::pair<ledger::Amount, double>> exact;
  for (const ledger::AccountRow& row : statement.organizations) {
    for (const ledger::UserRow& user : row.users)
      exact[{row.name, user.user}] = {user.got, 100 * user.got.core_hours() / row.got.core_hours()};
  }
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
  for (const std::vector<std::string>& row : PrintedTable(printed_users(statement, PaperAmounts(statement))).rows) {
    if (row[0].starts_with('(') || row[2] == k_sum) continue;
    if (row[2] != k_rounding) {
      const auto& [got, part] = exact.at({row[0], row[2]});
      EXPECT_EQ(thousandths(row[3]), nearest_like(row[3], got.work)) << text;
      EXPECT_NEAR(static_cast<double>(thousandths(row[4])) / 1000, part, 0.05001) << text;
    }
    sums[row[0]].first += thousandths(row[3]);
    sums[row[0]].second += thousandths(row[4]);
  }
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> seen;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 4 || !words[0].starts_with("organization")) continue;
    const bool has_account = words[1] == "account";
    const std::pair amounts{thousandths(words[has_account ? 3 : 2]), thousandths(words[has_account ? 4 : 3])};
    if (words[1] == "(all)") {
      all[words[0]] = amounts;
    } else {
      seen[words[0]].first += amounts.first;
      seen[words[0]].second += amounts.second;
    }
  }
  EXPECT_EQ(seen, all) << text;
  EXPECT_EQ(seen, sums) << "the report's table";
  for (const auto& [name, amounts] : all) EXPECT_EQ(amounts.second, 100'000) << name;
  for (const ledger::AccountRow& row : statement.organizations)
    EXPECT_EQ(all.contains(row.name), row.got.work.value > 0);
  RC_ASSERT(!testing::Test::HasFailure());
}

// An owner, and what each other one borrowed of it.
AccountReport lender(const std::vector<double>& borrowed) {
  AccountReport report;
  report.periods.resize(1);
  CpuTime lent;
  for (const double amount : borrowed) lent += work_of(amount);
  const auto add = [&](const std::string& name, CpuTime given, CpuTime got) {
    report.organizations.push_back({.name = name, .got = {got}, .given = {given}, .lent = {given}, .borrowed = {got}});
    if (got != CpuTime{}) report.organizations.back().users.push_back({.got = {got}, .borrowed = {got}, .user = "u"});
    report.periods[0].organizations.push_back(
        {.name = name, .got = {got}, .given = {given}, .closing = {.difference = {given - got}}});
  };
  add("a", lent, {});
  for (std::size_t i = 0; i < borrowed.size(); ++i) {
    const std::string name = "b" + std::to_string(i);
    const CpuTime work = work_of(borrowed[i]);
    add(name, {}, work);
    report.organizations[0].lent_to.push_back({name, borrowed[i], work});
    report.organizations.back().borrowed_from.push_back({"a", borrowed[i], work});
  }
  return report;
}

TEST(Paper, WhatIsLeftIsARow) {
  // 150.049 twice are 300.098.
  const std::string text = whole_text(lender({150.049, 150.049}));
  EXPECT_PRED2(contains, text,
               "Lent by Borrowed by CoreHours\n"
               "------- ----------- ---------\n"
               "a       b0              150.0\n"
               "a       b1              150.0\n"
               "a       (rounding)       +0.1\n"
               "(sum)   (rounding)       +0.1\n"
               "(sum)                   300.1\n\n");
  EXPECT_PRED2(contains, text, "a               0.0 300.1   0.0 +300.1");
  EXPECT_PRED2(contains, text, "Before + Given - Got = After");
  // Nothing is left of amounts that are printed in full.
  EXPECT_PRED2(lacks, whole_text(lender({150, 150.5})), k_rounding);
}

TEST(Paper, WhatALineLacksIsAColumn) {
  AccountReport report = lender({});
  report.periods[0].organizations = {
      {.name = "a",
       .opening = {.difference = hours(100.04)},
       .got = hours(0),
       .given = hours(0.04),
       .closing = {.difference = hours(100.08)}},
      {.name = "b", .opening = {.difference = hours(-3)}, .closing = {.difference = hours(-3)}}};
  report.organizations[0].own = hours(100.04);
  report.organizations[0].borrowed = hours(0.04);
  report.organizations[0].got = hours(100.08);
  const std::string text = whole_text(report);
  EXPECT_PRED2(contains, text,
               "Organization Before Given Got (rounding)  After StandingBefore StandingAfter\n"
               "------------ ------ ----- --- ---------- ------ -------------- -------------\n"
               "a            +100.0   0.0 0.0       +0.1 +100.1            0.0           0.0\n"
               "b              -3.0   0.0 0.0        0.0   -3.0            0.0           0.0\n"
               "(sum)         +97.0   0.0 0.0       +0.1  +97.1            0.0           0.0\n");
  EXPECT_PRED2(contains, text, "Before + Given - Got + (rounding) = After");
  EXPECT_PRED2(contains, text,
               "Organization   Got   Own Borrowed (rounding) Lent Waited\n"
               "------------ ----- ----- -------- ---------- ---- ------\n"
               "a            100.1 100.0      0.0       +0.1  0.0    0.0\n");
}

TEST(Paper, ZeroStaysZeroAndHalvesGoAwayFromIt) {
  const PaperAmounts tenths = paper_of(100 * k_hour);
  const auto text = [&](Int128 work) { return tenths.signed_text(CpuTime{work}); };
  EXPECT_EQ(text(0), "0.0");
  EXPECT_EQ(text(1), "0.0");
  EXPECT_EQ(text(-1), "0.0");
  EXPECT_EQ(text(k_hour / 20 - 1), "0.0");
  EXPECT_EQ(text(k_hour / 20), "+0.1");
  EXPECT_EQ(text(-k_hour / 20), "-0.1");
  EXPECT_EQ(text(-k_hour / 20 + 1), "0.0");
  EXPECT_EQ(text(3 * k_hour / 20), "+0.2");
  EXPECT_EQ(text(-3 * k_hour / 20), "-0.2");
  // 1.005 is no double, 3,618 processor-seconds are exact.
  EXPECT_EQ(paper_of(k_hour).text(work_of(1.005)), "1.01");
  // Of three halves one is too many; who got nothing has nothing of it.
  const std::string halves = whole_text(lender({100.05, 100.05, 100.05, 0}), true);
  EXPECT_PRED2(contains, halves,
               "a       b0              100.1\n"
               "a       b1              100.1\n"
               "a       b2              100.1\n"
               "a       b3                0.0\n"
               "a       (rounding)       -0.1\n"
               "(sum)   (rounding)       -0.1\n"
               "(sum)                   300.2\n\n");
}

TEST(Paper, HasAsManyDecimalsAsItsLargestAmountNeeds) {
  EXPECT_EQ(paper_of(0).text(CpuTime{0}), "0.000");
  EXPECT_EQ(paper_of(k_hour - 1).text(CpuTime{k_hour / 2}), "0.500");
  EXPECT_EQ(paper_of(-k_hour).text(CpuTime{k_hour / 2}), "0.50");
  EXPECT_EQ(paper_of(100 * k_hour - 1).text(CpuTime{k_hour / 2}), "0.50");
  EXPECT_EQ(paper_of(-100 * k_hour).text(CpuTime{k_hour / 2}), "0.5");
  // Digits beyond those of a double, and of 64 bits.
  const PaperAmounts huge = paper_of(1'000'000'000'000'000 * k_hour);
  EXPECT_EQ(huge.text(CpuTime{1'000'000'000'000'000 * k_hour + k_hour / 5}), "1,000,000,000,000,000.2");
  EXPECT_EQ(huge.signed_text(CpuTime{-Int128{10'000'000'000} * 1'000'000'000'000 * k_hour}),
            "-10,000,000,000,000,000,000,000.0");
  EXPECT_EQ(huge.text(work_of(-1e300)), huge.text(work_of(-1e24)));
  EXPECT_EQ(work_of(std::nan("")), CpuTime{});
}

TEST(Paper, OfHugeAmountsAddsUp) {
  Books books{.random = std::mt19937_64(7), .organizations = 3, .scale = 1};
  books.settled = true;
  AccountReport report = books.make();
  // Each amount of the books 10^15 core-hours times itself, and some more; what adds up still does.
  const Int128 times = 1'000'000'000'000'000 * k_hour / k_micro + 7;
  const auto grow = [&](ledger::Amount& amount) { amount.work.value *= times; };
  for (ledger::PeriodPart& part : report.periods) {
    for (ledger::PeriodRow& row : part.organizations) {
      for (ledger::Amount* amount :
           {&row.opening.difference, &row.got, &row.given, &row.settled, &row.closing.difference})
        grow(*amount);
    }
  }
  for (ledger::AccountRow& row : report.organizations) {
    for (ledger::Amount* amount : {&row.got, &row.given, &row.settled, &row.own, &row.lent, &row.borrowed})
      grow(*amount);
    for (auto* pairs : {&row.lent_to, &row.borrowed_from}) {
      for (ledger::LentPair& pair : *pairs) pair.work.value *= times;
    }
    for (ledger::UserRow& user : row.users) {
      for (ledger::Amount* amount : {&user.got, &user.own, &user.borrowed}) grow(*amount);
    }
  }
  const std::string text = whole_text(report, true);
  expect_adds_up(text);
  std::int64_t largest = 0;
  for (const PrintedRow& row : printed_rows(text, "Organization Before", 1)) largest = std::max(largest, row["Got"]);
  EXPECT_GT(largest, 100'000'000'000'000'000) << "thousandths of a core-hour";
}

TEST(Paper, OfNothingHasNoRounding) {
  EXPECT_PRED2(lacks, whole_text(AccountReport{}, true), k_rounding);
  AccountReport report = lender({0, 0});
  const std::string text = whole_text(report, true);
  EXPECT_PRED2(lacks, text, k_rounding);
  EXPECT_PRED2(contains, text, "b1            0.000 0.000 0.000 0.000");
  EXPECT_PRED2(lacks, text, "-0.000");
  EXPECT_PRED2(lacks, text, "+0.000");
}

// Amounts that do not add up because the books are not exact are not called rounding.
TEST(Paper, RoundingDoesNotHideWhatIsNotExact) {
  AccountReport report = lender({150, 150});
  report.exact = false;
  report.periods[0].organizations[0].closing.difference = hours(310);
  report.organizations[0].lent = hours(310);
  report.organizations[1].users[0].got = hours(140);
  report.organizations[1].users[0].borrowed = hours(140);
  const std::string text = whole_text(report);
  EXPECT_PRED2(lacks, text, k_rounding);
  EXPECT_PRED2(contains, text, "NOT EXACT");
}

TEST(Paper, RowsWithoutAmountsAreShownOnlyOnRequest) {
  AccountReport report;
  report.periods.resize(1);
  for (const char* name : {"idle", "busy"}) {
    const ledger::Amount got{{std::string_view(name) == "busy" ? 36'000 * k_micro : 0}};
    report.organizations.push_back({.name = name, .got = got, .given = got, .own = got});
    report.periods[0].organizations.push_back({.name = name, .got = got, .given = got});
  }
  EXPECT_EQ(whole_text(report).find("idle"), std::string::npos);
  EXPECT_NE(whole_text(report, true).find("idle"), std::string::npos);
  EXPECT_NE(whole_text(report).find("busy has got as much as it gave"), std::string::npos);
}

// Jobs may have an empty account, and users that the asker may not see have none.
TEST(Paper, HasALineForRunsWithoutAnAccount) {
  const std::vector<UsersOf> users{{"physics",
                                    {{.account = "", .own = hours(2), .user = "maya"},
                                     {.account = std::nullopt, .own = hours(1), .user = "(others)"},
                                     {.account = "lab", .own = hours(3), .user = "karl"}}}};
  std::map<std::string, CpuTime> own;
  for (const AccountSubtotal& account : account_subtotals(users, {{"lab", "physics"}}))
    own[account.account] = account.own.work;
  EXPECT_EQ(
      own,
      (std::map<std::string, CpuTime>{
          {"(none)", hours(2).work}, {"(others)", hours(1).work}, {"lab", hours(3).work}, {"physics", hours(3).work}}));
}

// What prints as zero is a part of the sum nevertheless.
TEST(Paper, AccountsOfZerosCountInTheSum) {
  std::vector<AccountSubtotal> accounts;
  for (const auto& [organization, work] :
       std::map<std::string, double>{{"a", 100}, {"b", 200}, {"c", 0.04}, {"d", 0.04}})
    accounts.push_back({.organization = organization, .account = "lab", .own = hours(work), .itself_own = hours(work)});
  const tables::Table table = accounts_table(accounts, PaperAmounts(hours(200).work));
  EXPECT_EQ(table.rows.back()["organization"], k_sum);
  EXPECT_EQ(table.rows.back()["got"], "300.1");
}

TEST(Paper, UnitsAsText) {
  EXPECT_EQ(unit_text(0, 1), "0.0");
  EXPECT_EQ(unit_text(5, 2), "0.05");
  EXPECT_EQ(unit_text(-139'646, 1), "-13,964.6");
  EXPECT_EQ(signed_unit_text(-139'646, 1), "-13,964.6");
  EXPECT_EQ(signed_unit_text(1'234'567, 3), "+1,234.567");
}

}  // namespace
}  // namespace shapley::ctl
