// Random books of a month, and what a person reads on a printed paper: amounts as whole numbers of thousandths of a
// core-hour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ledger/reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

using ledger::AccountReport;

// A table as people see it.
struct PrintedTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;

  explicit PrintedTable(const tables::Table& table) : rows(cells_for_people(table)) {
    head = rows.front();
    rows.erase(rows.begin());
  }
};

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

// A printed amount in thousandths of a core-hour, digit by digit; 0 for an empty cell.
inline std::int64_t thousandths(std::string text) {
  std::erase(text, ',');
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  const std::string digits = text.substr(0, point) + (text.substr(point + 1) + "000").substr(0, 3);
  return std::stoll(digits);
}

// The nearest amount with as many decimals as `like` has: thousandths, halves away from zero. Counted up unit by unit
// from the amount's whole core-hours, which is not how the paper does it.
inline std::int64_t nearest_like(const std::string& like, CpuTime work) {
  const std::size_t decimals = like.size() - like.find('.') - 1;
  const std::int64_t step = decimals == 1 ? 100 : decimals == 2 ? 10 : 1;
  const Int128 hour = Int128{3600} * k_micro;
  const Int128 amount = work.value < 0 ? -work.value : work.value;
  std::int64_t printed = static_cast<std::int64_t>(amount / hour) * 1000;
  // As long as the amount is at least half a step above what is printed.
  while (2000 * amount >= hour * (2 * Int128{printed} + step)) printed += step;
  return work.value < 0 ? -printed : printed;
}

// A row of a printed table: its words before the amounts, and its amounts by the heads of their columns.
struct PrintedRow {
  std::vector<std::string> words;
  std::map<std::string, std::string> cells;

  [[nodiscard]] bool has(const std::string& column) const { return cells.contains(column); }
  [[nodiscard]] std::int64_t operator[](const std::string& column) const {
    const auto cell = cells.find(column);
    return cell == cells.end() ? 0 : thousandths(cell->second);
  }
};

// The rows of all tables whose header begins with `first` and whose first `texts` columns are no amounts.
inline std::vector<PrintedRow> printed_rows(const std::string& text, const std::string& first, std::size_t texts) {
  std::istringstream lines(text);
  std::vector<PrintedRow> rows;
  std::vector<std::string> heads;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    std::string joined;
    for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
    if (joined.starts_with(first)) {
      heads.assign(words.begin() + static_cast<std::ptrdiff_t>(texts), words.end());
      std::getline(lines, line);  // the rule below it
    } else if (words.empty()) {
      heads.clear();
    } else if (!heads.empty()) {
      PrintedRow& row = rows.emplace_back();
      const std::size_t before = words.size() - heads.size();
      row.words.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(before));
      for (std::size_t i = 0; i < heads.size(); ++i) row.cells[heads[i]] = words[before + i];
    }
  }
  return rows;
}

}  // namespace shapley::ctl
