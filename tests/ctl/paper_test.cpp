// A printed statement, recomputed with a pocket calculator: the text of random books is read as a person reads it, and
// its amounts are added up.
#include "ctl/output/paper.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ctl/commands/interval.hpp"

namespace shapley::ctl {
namespace {

using ledger::AccountReport;

// Books of a month in which organizations lent to each other; what was given is what was lent and used on own
// processors, unless `given` comes from another estimator.
struct Books {
  std::mt19937_64 random;
  std::size_t organizations;
  std::int64_t scale;  // processor-seconds
  bool direct = true;
  std::size_t parts = 1;
  bool settled = false;

  CpuTime work() {
    if (random() % 3 == 0) return {};
    return {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(scale * k_micro))};
  }
  static std::string name(std::size_t i) { return "organization" + std::to_string(i); }

  AccountReport make() {
    AccountReport report;
    report.of.contribution = direct ? "direct_contr" : "hindsight";
    report.organizations.resize(organizations);
    for (std::size_t i = 0; i < organizations; ++i) report.organizations[i].name = name(i);
    for (std::size_t part = 0; part < parts; ++part) add_part(report);
    for (auto& row : report.organizations) {
      row.got.work = row.own.work + row.borrowed.work;
      share(row);
    }
    return report;
  }

  void add_part(AccountReport& report) {
    std::vector<std::vector<CpuTime>> lent(organizations, std::vector<CpuTime>(organizations));
    ledger::PeriodPart& part = report.periods.emplace_back();
    for (std::size_t i = 0; i < organizations; ++i) part.organizations.push_back({.name = name(i)});
    Int128 all = 0;
    for (std::size_t i = 0; i < organizations; ++i) {
      auto& row = report.organizations[i];
      ledger::PeriodRow& here = part.organizations[i];
      // Differences add up to nothing.
      here.opening.difference.work = i + 1 == organizations ? CpuTime{-all} : work() - work();
      all += here.opening.difference.work.value;
      const CpuTime own = work();
      row.own.work += own;
      here.got.work += own;
      here.given.work += own;
      for (std::size_t k = 0; k < organizations; ++k) {
        if (k == i) continue;
        const CpuTime amount = work();
        if (amount == CpuTime{}) continue;
        row.lent.work += amount;
        report.organizations[k].borrowed.work += amount;
        here.given.work += amount;
        part.organizations[k].got.work += amount;
        add_pair(row.lent_to, name(k), amount);
        add_pair(report.organizations[k].borrowed_from, name(i), amount);
      }
    }
    if (!direct) shift_given(part);
    if (settled) settle(report, part);
    for (std::size_t i = 0; i < organizations; ++i) {
      ledger::PeriodRow& here = part.organizations[i];
      report.organizations[i].given.work += here.given.work;
      here.closing.difference.work = here.opening.difference.work + here.given.work - here.got.work + here.settled.work;
      here.closing.standing_core_hours = here.closing.difference.core_hours() / 2;
    }
  }
  static void add_pair(std::vector<ledger::LentPair>& pairs, const std::string& other, CpuTime amount) {
    for (ledger::LentPair& pair : pairs) {
      if (pair.organization != other) continue;
      pair.work += amount;
      pair.core_hours = ledger::core_hours(pair.work);
      return;
    }
    pairs.push_back({other, ledger::core_hours(amount), amount});
  }
  // From each to the one after it.
  void settle(AccountReport& report, ledger::PeriodPart& part) {
    for (std::size_t i = 0; i + 1 < organizations; ++i) {
      const CpuTime amount = work() + CpuTime{1};
      for (const auto& [index, by] : {std::pair(i, -amount), std::pair(i + 1, amount)}) {
        part.organizations[index].settled.work += by;
        report.organizations[index].settled.work += by;
      }
    }
  }
  void shift_given(ledger::PeriodPart& part) {
    for (std::size_t i = 0; i + 1 < organizations; ++i) {
      const CpuTime moved = work();
      part.organizations[i].given.work += moved;
      part.organizations[i + 1].given.work -= moved;
    }
  }
  void share(ledger::AccountRow& row) {
    const std::size_t users = 1 + random() % 4;
    CpuTime own = row.own.work;
    CpuTime borrowed = row.borrowed.work;
    for (std::size_t i = 0; i < users; ++i) {
      ledger::UserRow& user = row.users.emplace_back();
      user.account = "account";
      user.user = "user" + std::to_string(i);
      const bool last = i + 1 == users;
      user.own.work = {last ? own.value : own.value / 3};
      user.borrowed.work = {last ? borrowed.value : borrowed.value / 2};
      user.got.work = user.own.work + user.borrowed.work;
      own -= user.own.work;
      borrowed -= user.borrowed.work;
    }
  }
};

// The words of the lines below the header that begins with `first`, up to the next empty line, or without `first` of
// those of all tables with it.
std::vector<std::vector<std::string>> table(const std::string& text, const std::string& header) {
  std::istringstream lines(text);
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    std::string joined;
    for (const std::string& word : row) joined += (joined.empty() ? "" : " ") + word;
    if (joined == header) {
      inside = true;
      std::getline(lines, line);  // the rule below it
    } else if (row.empty()) {
      inside = false;
    } else if (inside) {
      rows.push_back(row);
    }
  }
  return rows;
}

// A printed amount in units of the last decimal that any amount can have.
std::int64_t units(std::string text) {
  std::erase(text, ',');
  return std::llround(std::strtod(text.c_str(), nullptr) * 1000);
}

void expect_adds_up(const AccountReport& report, bool is_direct) {
  const std::string text = render_statement(report);
  std::map<std::string, std::int64_t> given;
  std::map<std::string, std::int64_t> got;
  for (const bool settled : {false, true}) {
    const std::string columns = settled ? "Got Settled After" : "Got After";
    for (const auto& row : table(text, "Organization Before Given " + columns + " StandingBefore StandingAfter")) {
      const std::int64_t after = units(row[1]) + units(row[2]) - units(row[3]) + (settled ? units(row[4]) : 0);
      EXPECT_EQ(after, units(row[settled ? 5 : 4])) << text;
      given[row[0]] += units(row[2]);
      got[row[0]] += units(row[3]);
    }
  }
  std::map<std::string, std::int64_t> lent;
  std::map<std::string, std::int64_t> borrowed;
  for (auto row : table(text, "Lent by Borrowed by CoreHours")) {
    lent[row[0]] += units(row[2]);
    borrowed[row[1]] += units(row[2]);
  }
  std::map<std::string, std::int64_t> users_own;
  std::map<std::string, std::int64_t> users_borrowed;
  for (const auto& row : table(text, "Organization Account User Got Own Borrowed")) {
    EXPECT_EQ(units(row[3]), units(row[4]) + units(row[5])) << text;
    users_own[row[0]] += units(row[4]);
    users_borrowed[row[0]] += units(row[5]);
  }
  for (const auto& row : table(text, "Organization Got Own Borrowed Lent Waited")) {
    const std::string& name = row[0];
    EXPECT_EQ(units(row[1]), units(row[2]) + units(row[3])) << text;
    EXPECT_EQ(units(row[1]), got[name]) << text;
    EXPECT_EQ(units(row[2]), users_own[name]) << text;
    EXPECT_EQ(units(row[3]), users_borrowed[name]) << text;
    EXPECT_EQ(units(row[3]), borrowed[name]) << name << '\n' << text;
    EXPECT_EQ(units(row[4]), lent[name]) << name << '\n' << text;
    if (is_direct) {
      EXPECT_EQ(given[name], units(row[2]) + units(row[4])) << name << '\n' << text;
    }
  }
}

// Each printed amount is within some units of the last decimal of the one in the books.
void expect_near(const AccountReport& report) {
  const PrintedStatement printed = printed_statement(report);
  const double unit = std::pow(10, printed.decimals);
  const double most = 2 + static_cast<double>(report.organizations.size() * report.periods.size());
  const auto near = [&](std::int64_t units, double core_hours, double within) {
    EXPECT_NEAR(static_cast<double>(units), core_hours * unit, within);
  };
  for (std::size_t i = 0; i < report.organizations.size(); ++i) {
    const auto& row = report.organizations[i];
    near(printed.organizations[i].own, row.own.core_hours(), 0.5001);
    near(printed.organizations[i].borrowed, row.borrowed.core_hours(), most);
    near(printed.organizations[i].lent, row.lent.core_hours(), most);
    for (std::size_t k = 0; k < row.users.size(); ++k)
      near(printed.organizations[i].users[k].own, row.users[k].own.core_hours(), 1.0001);
  }
  for (std::size_t part = 0; part < report.periods.size(); ++part) {
    const auto& rows = report.periods[part].organizations;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      near(printed.parts[part][i].before, rows[i].opening.difference.core_hours(), 0.5001);
      near(printed.parts[part][i].after, rows[i].closing.difference.core_hours(), 0.5001);
      near(printed.parts[part][i].settled, rows[i].settled.core_hours(), 0.5001);
      near(printed.parts[part][i].got, rows[i].got.core_hours(), most + 1);
      near(printed.parts[part][i].given, rows[i].given.core_hours(), most + 2);
    }
  }
}

RC_GTEST_PROP(Paper, AddsUpWithAPocketCalculator, (std::uint64_t seed)) {
  const std::vector<std::int64_t> scales{100, 10'000, 1'000'000, 1'000'000'000};
  Books books{.random = std::mt19937_64(seed), .organizations = 1 + seed % 9, .scale = scales[seed / 16 % 4]};
  books.direct = seed / 64 % 4 != 0;
  books.parts = 1 + seed / 256 % 3;
  books.settled = seed / 1024 % 3 == 0;
  AccountReport report = books.make();
  expect_adds_up(report, books.direct);
  expect_near(report);
  // A member's own statement adds up, too.
  report.organizations.resize(1);
  for (ledger::PeriodPart& part : report.periods) part.organizations.resize(1);
  expect_adds_up(report, books.direct);
  RC_ASSERT(!testing::Test::HasFailure());
}

// What two organizations borrowed of a third, each rounded on its own, would not be what it lent: 0.049 each.
TEST(Paper, WhatIsLeftOverIsSpread) {
  AccountReport report;
  report.periods.resize(1);
  const auto add = [&](const char* name, double lent, double borrowed) {
    const auto amount = [](double core_hours) {
      return ledger::Amount{{static_cast<std::int64_t>(std::llround(core_hours * 3600 * k_micro))}};
    };
    report.organizations.push_back({.name = name,
                                    .got = amount(borrowed),
                                    .given = amount(lent),
                                    .lent = amount(lent),
                                    .borrowed = amount(borrowed)});
    report.periods[0].organizations.push_back({.name = name,
                                               .got = amount(borrowed),
                                               .given = amount(lent),
                                               .closing = {.difference = amount(lent - borrowed)}});
  };
  add("a", 300.098, 0);
  add("b", 0, 150.049);
  add("c", 0, 150.049);
  for (const std::size_t borrower : {1U, 2U}) {
    const CpuTime work = report.organizations[borrower].borrowed.work;
    report.organizations[0].lent_to.push_back({borrower == 1 ? "b" : "c", ledger::core_hours(work), work});
    report.organizations[borrower].borrowed_from.push_back({"a", ledger::core_hours(work), work});
  }
  const PrintedStatement printed = printed_statement(report);
  EXPECT_EQ(printed.decimals, 1);
  EXPECT_EQ(printed.parts[0][0].after, 3001);
  EXPECT_EQ(printed.parts[0][1].after, -1500);
  EXPECT_EQ(printed.parts[0][2].after, -1500);
  ASSERT_EQ(printed.pairs.size(), 3U) << "the differences add up to .1";
  EXPECT_EQ(printed.pairs[2].borrower, k_rounding);
  EXPECT_EQ(printed.pairs[2].lent, 1);
}

TEST(Paper, RowsWithoutAmountsAreShownOnlyOnRequest) {
  AccountReport report;
  report.periods.resize(1);
  for (const char* name : {"idle", "busy"}) {
    const ledger::Amount got{{std::string_view(name) == "busy" ? 36'000 * k_micro : 0}};
    report.organizations.push_back({.name = name, .got = got, .given = got, .own = got});
    report.periods[0].organizations.push_back({.name = name, .got = got, .given = got});
  }
  EXPECT_EQ(render_statement(report).find("idle"), std::string::npos);
  EXPECT_NE(render_statement(report, true).find("idle"), std::string::npos);
  EXPECT_NE(render_statement(report).find("busy has got as much as it gave"), std::string::npos);
}

TEST(Paper, UnitsAsText) {
  EXPECT_EQ(unit_text(0, 1), "0.0");
  EXPECT_EQ(unit_text(5, 2), "0.05");
  EXPECT_EQ(unit_text(-139'646, 1), "13,964.6");
  EXPECT_EQ(signed_unit_text(-139'646, 1), "-13,964.6");
  EXPECT_EQ(signed_unit_text(1'234'567, 3), "+1,234.567");
  EXPECT_EQ(apportioned({0.4, 0.4, 0.4}, 1), (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(apportioned({0, 1.5, 2.5}, 4), (std::vector<std::int64_t>{0, 1, 3}));
}

}  // namespace
}  // namespace shapley::ctl
