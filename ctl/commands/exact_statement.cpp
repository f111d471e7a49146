#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/output/amounts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::Table;

constexpr Field k_exact_statement_fields[] = {{"begin_utc"},    {"end_utc"}, {"organization"}, {"item"},
                                              {"contribution"}, {"other"},   {"account"},      {"user"},
                                              {"core_hours"},   {"exact"},   {"unit"}};

class ExactRows {
 public:
  explicit ExactRows(const ledger::AccountReport& report) : report_(report) {}

  json make() && {
    for (const ledger::PeriodPart& part : report_.periods) {
      begin_ = part.begin.utc();
      end_ = part.end.utc();
      add_part(part);
    }
    begin_ = report_.of.since.utc();
    end_ = report_.of.until.utc();
    for (const ledger::AccountRow& row : report_.organizations) add_whole(row);
    return std::move(rows_);
  }

 private:
  void add(const std::string& name, std::string_view item, double core_hours, const std::string& exact,
           const json& more) {
    json row{{"begin_utc", begin_},
             {"end_utc", end_},
             {"organization", name},
             {"item", item},
             {"contribution", report_.of.contribution},
             {"core_hours", core_hours},
             {"exact", exact},
             {"unit", "processor_seconds"}};
    row.update(more);
    rows_.push_back(std::move(row));
  }

  void add(const std::string& name, std::string_view item, const ledger::Amount& amount,
           const json& more = json::object()) {
    add(name, item, amount.core_hours(), format_micro(amount.work.value), more);
  }

  void add_utility(const std::string& name, std::string_view item, double core_hours, Utility exact,
                   json more = json::object()) {
    more.update({{"unit", "processor_seconds_squared"}});
    add(name, item, core_hours, format_micro(exact.value), more);
  }

  void add_part(const ledger::PeriodPart& part) {
    for (const ledger::PeriodRow& row : part.organizations) {
      const auto& [name, opening, got, given, settled, closing, sentence] = row;
      add_utility(name, "standing_before", opening.standing_core_hours, opening.phi_minus_psi);
      add(name, "difference_before", opening.difference);
      add(name, "given", given);
      add(name, "got", got);
      if (settled.work.value != 0) add(name, "settled", settled);
      add(name, "difference_after", closing.difference);
      add_utility(name, "standing_after", closing.standing_core_hours, closing.phi_minus_psi);
    }
    if (part.worth) add_worth(*part.worth);
  }

  void add_worth(const ledger::WorthReport& worth) {
    for (const ledger::WorthRow& row : worth.organizations) {
      add_utility(row.name, "psi", row.is.psi_core_hours, row.is.psi);
      add_utility(row.name, "alone", row.is.alone_core_hours, row.is.alone);
      if (const auto& bounds = row.is.bounds)
        add_utility(row.name, "alone_if_ended", bounds->end_now_core_hours, bounds->end_now);
    }
    for (const ledger::WorthPair& pair : worth.pairs) {
      const json other{{"other", pair.organizations.at(1)}};
      const std::string& name = pair.organizations.front();
      add_utility(name, "pair_psi", pair.is.psi_core_hours, pair.is.psi, other);
      add_utility(name, "pair_alone", pair.is.alone_core_hours, pair.is.alone, other);
    }
  }

  void add_whole(const ledger::AccountRow& row) {
    add(row.name, "own", row.own);
    add(row.name, "borrowed", row.borrowed);
    add(row.name, "lent", row.lent);
    add(row.name, "waited", row.waited);
    add(row.name, "capacity", row.capacity);
    add(row.name, "idle_wanted", row.idle_wanted);
    add(row.name, "idle_unwanted", row.idle_unwanted);
    for (const ledger::LentPair& pair : row.lent_to)
      add(row.name, "lent_to", pair.amount(), {{"other", pair.organization}});
    for (const ledger::LentPair& pair : row.borrowed_from)
      add(row.name, "borrowed_from", pair.amount(), {{"other", pair.organization}});
    for (const ledger::UserRow& user : row.users) {
      const json who{{"account", json_of(user.account)}, {"user", user.user}};
      add(row.name, "user_own", user.own, who);
      add(row.name, "user_borrowed", user.borrowed, who);
    }
  }

  const ledger::AccountReport& report_;
  std::string begin_, end_;
  json rows_ = json::array();
};

}  // namespace

Table exact_statement(const ledger::AccountReport& report, const StatementAdditions& additions) {
  Table table{.columns = columns_of(k_exact_statement_fields), .rows = ExactRows(report).make()};
  for (const json& rows :
       {exact_balances(additions.balances, report.of), exact_accounts(additions.accounts, report.of)})
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  name_unit(table, additions.balances.unit_beside(report.of.in));
  return table;
}

void add_to_json(json& report, const StatementAdditions& additions) {
  if (!additions.balances.rows.empty()) add_balances(report, additions.balances);
  if (!additions.accounts.empty()) report["accounts"] = json_of(additions.accounts);
}

}  // namespace shapley::ctl
