// `shapleyctl statement`: the core-hours that every organization got and gave in a month or another interval, which
// organization lent to which, and which accounts and users used them.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/accounts.hpp"
#include "ctl/commands/balance.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/environment.hpp"
#include "reports/statement.hpp"
#include "tables/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

// What the text shows besides what each organization got and gave.
struct StatementTables {
  bool all = false;  // rows without any amount, too
  bool pairs = false;
  bool capacity = false;
  bool users = false;
  bool board = false;  // of a consortium (board.hpp)
};

struct StatementArguments {
  IntervalArguments interval;
  std::string month;  // "2026-11"
  BalanceArguments balance = {};
  std::string as_of = "then";  // or "now"
  // Ledgers of the clusters of one consortium; by the first of them clusters are weighed and organizations named.
  std::vector<std::string> consortium = {};
  StatementTables tables = {};
  bool parsable = false;
  bool no_header = false;
  AccountsAsked accounts = {};
};

void add_statement(CLI::App& app, StatementArguments& arguments);

// Sets the name of each user who has none yet, by this host. Users that the asker may not see have neither account nor
// number, and are one row.
void name_users(ledger::AccountReport& report);

[[nodiscard]] Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                               const Environment& environment);

// What is added to a statement where it is asked for.
struct StatementAdditions {
  Balances balances = {};                      // no rows: none
  std::vector<AccountSubtotal> accounts = {};  // likewise
};

// The text for people, and the exact amounts, of a report whose users have names.
[[nodiscard]] std::string render_statement(const ledger::AccountReport& report, const StatementTables& tables = {},
                                           const StatementAdditions& additions = {});
[[nodiscard]] tables::Table exact_statement(const ledger::AccountReport& report,
                                            const StatementAdditions& additions = {});
// Sets the members of a statement's JSON.
void add_to_json(nlohmann::json& report, const StatementAdditions& additions);

}  // namespace shapley::ctl
