#include "ctl/output/paper.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/contract.hpp"
#include "base/text.hpp"

namespace shapley::ctl {

namespace {

using ledger::AccountReport;
using ledger::AccountRow;
using ledger::Amount;

constexpr std::array<std::int64_t, 4> k_powers = {1, 10, 100, 1000};

int decimals_of(const AccountReport& report) {
  double largest = 0;
  const auto see = [&](const Amount& amount) { largest = std::max(largest, std::fabs(amount.core_hours())); };
  for (const ledger::PeriodPart& part : report.periods) {
    for (const ledger::PeriodRow& row : part.organizations)
      for (const Amount& amount : {row.opening.difference, row.given, row.got, row.settled, row.closing.difference})
        see(amount);
  }
  for (const AccountRow& row : report.organizations) see(row.got);
  return largest >= 100 ? 1 : largest >= 1 ? 2 : 3;
}

// What organizations lent to each other: pairs are cells, whose units are moved until each organization's lent less
// borrowed equals the change of its difference.
class Pairs {
 public:
  Pairs(const AccountReport& report, double unit) {
    for (const AccountRow& row : report.organizations) {
      listed_.insert(row.name);
      for (const ledger::LentPair& pair : row.lent_to) add(row.name, pair.organization, pair, unit);
      for (const ledger::LentPair& pair : row.borrowed_from) add(pair.organization, row.name, pair, unit);
    }
  }

  [[nodiscard]] std::int64_t lent(const std::string& name) const {
    std::int64_t sum = 0;
    for (const auto& [pair, units] : cells_) sum += pair.first == name ? units : 0;
    return sum;
  }
  [[nodiscard]] std::int64_t borrowed(const std::string& name) const {
    std::int64_t sum = 0;
    for (const auto& [pair, units] : cells_) sum += pair.second == name ? units : 0;
    return sum;
  }

  // `net`: what lent less borrowed is to be of each listed organization. What cannot be reached by the pairs that there
  // are becomes pairs with k_rounding.
  void balance(const std::map<std::string, std::int64_t>& net) {
    std::map<std::string, std::int64_t> rest;
    for (const auto& [name, wanted] : net) rest[name] = wanted - (lent(name) - borrowed(name));
    for (auto& [name, units] : rest) {
      while (units != 0 && move_unit(name, units > 0, rest)) units += units > 0 ? -1 : 1;
    }
    for (const auto& [name, units] : rest) {
      if (units > 0) cells_[{name, k_rounding}] += units;
      if (units < 0) cells_[{k_rounding, name}] -= units;
    }
  }

  [[nodiscard]] std::vector<PrintedPair> in_order(const AccountReport& report) const {
    std::vector<PrintedPair> pairs;
    std::set<std::pair<std::string, std::string>> taken;
    const auto take = [&](const std::string& owner, const std::string& borrower) {
      const auto cell = cells_.find({owner, borrower});
      if (cell == cells_.end() || !taken.insert(cell->first).second) return;
      pairs.push_back({owner, borrower, cell->second});
    };
    for (const AccountRow& row : report.organizations) {
      for (const ledger::LentPair& pair : row.lent_to) take(row.name, pair.organization);
      take(row.name, k_rounding);
    }
    for (const AccountRow& row : report.organizations) {
      for (const ledger::LentPair& pair : row.borrowed_from) take(pair.organization, row.name);
      take(k_rounding, row.name);
    }
    return pairs;
  }

 private:
  using Cell = std::pair<std::string, std::string>;  // owner, borrower

  void add(const std::string& owner, const std::string& borrower, const ledger::LentPair& pair, double unit) {
    cells_[{owner, borrower}] = std::llround(pair.core_hours * unit);
  }

  // Raises (or lowers) the organization's net by a unit and lowers (raises) another's that has too much (too little),
  // or that is not listed; over as few pairs as possible. False: no other organization can be reached.
  bool move_unit(const std::string& from, bool raise, std::map<std::string, std::int64_t>& rest) {
    std::map<std::string, std::pair<std::string, Cell>> reached{{from, {}}};
    std::deque<std::string> next{from};
    while (!next.empty()) {
      const std::string here = next.front();
      next.pop_front();
      const auto other = rest.find(here);
      const bool takes =
          !listed_.contains(here) || (other != rest.end() && (raise ? other->second < 0 : other->second > 0));
      if (here != from && takes) {
        if (other != rest.end()) other->second += raise ? 1 : -1;
        apply(here, raise, reached);
        return true;
      }
      for (const auto& [cell, units] : cells_) {
        // More in (here, x) raises here and lowers x; less in (x, here) does, too.
        const bool grows = cell.first == here ? raise : !raise;
        const std::string& neighbour = cell.first == here ? cell.second : cell.first;
        if (cell.first != here && cell.second != here) continue;
        if ((!grows && units == 0) || reached.contains(neighbour)) continue;
        reached[neighbour] = {here, cell};
        next.push_back(neighbour);
      }
    }
    return false;
  }

  void apply(const std::string& to, bool raise, const std::map<std::string, std::pair<std::string, Cell>>& reached) {
    for (auto step = reached.find(to); !step->second.first.empty(); step = reached.find(step->second.first)) {
      const auto& [before, cell] = step->second;
      const bool grows = cell.first == before ? raise : !raise;
      cells_[cell] += grows ? 1 : -1;
    }
  }

  std::map<Cell, std::int64_t> cells_;
  std::set<std::string> listed_;
};

// Whether the books say given = own + lent.
bool is_lent_work(const AccountReport& report) {
  return std::ranges::all_of(report.organizations,
                             [](const AccountRow& row) { return row.given.work == row.own.work + row.lent.work; });
}

class Printing {
 public:
  explicit Printing(const AccountReport& report)
      : report_(report),
        printed_{.decimals = decimals_of(report)},
        unit_(static_cast<double>(k_powers.at(static_cast<std::size_t>(printed_.decimals)))),
        pairs_(report, unit_) {}

  PrintedStatement make() && {
    for (const ledger::PeriodPart& part : report_.periods) round_ends(part);
    if (is_lent_work(report_)) balance_pairs();
    for (const AccountRow& row : report_.organizations) add(row);
    for (const AccountRow& row : report_.organizations) share_among_parts(row);
    printed_.pairs = pairs_.in_order(report_);
    return std::move(printed_);
  }

 private:
  [[nodiscard]] double exact(const Amount& amount) const { return amount.core_hours() * unit_; }
  [[nodiscard]] std::int64_t nearest(double core_hours) const { return std::llround(core_hours * unit_); }

  void round_ends(const ledger::PeriodPart& part) {
    std::vector<PrintedPeriodRow>& rows = printed_.parts.emplace_back();
    for (const ledger::PeriodRow& row : part.organizations) {
      rows.push_back({.before = nearest(row.opening.difference.core_hours()),
                      .settled = nearest(row.settled.core_hours()),
                      .after = nearest(row.closing.difference.core_hours()),
                      .standing_before = nearest(row.opening.standing_core_hours),
                      .standing_after = nearest(row.closing.standing_core_hours)});
    }
  }

  // Given less got.
  static std::int64_t moved_by_jobs(const PrintedPeriodRow& row) { return row.after - row.before - row.settled; }

  void balance_pairs() {
    std::map<std::string, std::int64_t> net;
    for (const AccountRow& row : report_.organizations) net[row.name] = 0;
    for (std::size_t i = 0; i < report_.periods.size(); ++i) {
      const auto& rows = report_.periods[i].organizations;
      for (std::size_t k = 0; k < rows.size(); ++k) net[rows[k].name] += moved_by_jobs(printed_.parts[i][k]);
    }
    pairs_.balance(net);
  }

  void add(const AccountRow& row) {
    PrintedAccount account{.own = nearest(row.own.core_hours()),
                           .borrowed = pairs_.borrowed(row.name),
                           .lent = pairs_.lent(row.name),
                           .waited = nearest(row.waited.core_hours())};
    account.got = account.own + account.borrowed;
    std::vector<double> own;
    std::vector<double> borrowed;
    for (const ledger::UserRow& user : row.users) {
      own.push_back(exact(user.own));
      borrowed.push_back(exact(user.borrowed));
    }
    const auto owns = apportioned(own, account.own);
    const auto borrows = apportioned(borrowed, account.borrowed);
    for (std::size_t i = 0; i < row.users.size(); ++i)
      account.users.push_back({.got = owns[i] + borrows[i], .own = owns[i], .borrowed = borrows[i]});
    printed_.organizations.push_back(std::move(account));
  }

  // What the organization got in the whole time, over the parts of periods; what it gave follows.
  void share_among_parts(const AccountRow& account) {
    const auto index = static_cast<std::size_t>(&account - report_.organizations.data());
    std::vector<PrintedPeriodRow*> rows;
    std::vector<double> got;
    for (std::size_t i = 0; i < report_.periods.size(); ++i) {
      const auto& part = report_.periods[i].organizations;
      const auto row = std::ranges::find(part, account.name, &ledger::PeriodRow::name);
      if (row == part.end()) continue;
      rows.push_back(&printed_.parts[i][static_cast<std::size_t>(row - part.begin())]);
      got.push_back(exact(row->got));
    }
    const auto shares = apportioned(got, printed_.organizations[index].got);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i]->got = shares[i];
      rows[i]->given = moved_by_jobs(*rows[i]) + rows[i]->got;
    }
  }

  const AccountReport& report_;
  PrintedStatement printed_;
  double unit_;  // an amount of one core-hour, in units
  Pairs pairs_;
};

}  // namespace

std::vector<std::int64_t> apportioned(const std::vector<double>& values, std::int64_t total) {
  std::vector<std::int64_t> shares;
  for (const double value : values) shares.push_back(static_cast<std::int64_t>(std::floor(std::max(0.0, value))));
  std::int64_t rest = total - std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
    const double over = values[i] - std::floor(values[i]);
    return std::pair(rest > 0 ? over : -over, values[i]);
  });
  // Once around is enough where `total` is the rounded sum; a value of nothing gets nothing.
  for (std::size_t turn = 0; rest != 0 && !order.empty(); ++turn) {
    const std::size_t i = order[turn % order.size()];
    const bool last_resort = turn >= order.size() * 2;
    if (rest > 0 && (values[i] > 0 || last_resort)) {
      ++shares[i];
      --rest;
    } else if (rest < 0 && (shares[i] > 0 || last_resort)) {
      --shares[i];
      ++rest;
    }
  }
  return shares;
}

PrintedStatement printed_statement(const AccountReport& report) {
  return Printing(report).make();
}

std::string unit_text(std::int64_t units, int decimals) {
  SHAPLEY_REQUIRE(decimals >= 1 && decimals < static_cast<int>(k_powers.size()));
  const std::int64_t one = k_powers.at(static_cast<std::size_t>(decimals));
  const std::int64_t amount = std::llabs(units);
  return grouped(amount / one) + '.' + std::to_string(one + amount % one).substr(1);  // with the zeros in front
}

std::string signed_unit_text(std::int64_t units, int decimals) {
  return (units > 0 ? "+" : units < 0 ? "-" : "") + unit_text(units, decimals);
}

}  // namespace shapley::ctl
