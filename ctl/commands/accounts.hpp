// Subtotals of a statement by the tree of accounts: of each account what its own users and those of the accounts below
// it got.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "reports/statement.hpp"
#include "site_rules/attribution.hpp"
#include "tables/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

// An organization's users.
struct UsersOf {
  std::string organization = {};
  std::vector<ledger::UserRow> users = {};
};
[[nodiscard]] std::vector<UsersOf> users_of(const ledger::AccountReport& report);

struct AccountSubtotal {
  std::string organization = {};
  std::string account = {};
  std::string above = {};  // its parent here; empty: none but root
  ledger::Amount own = {};
  ledger::Amount borrowed = {};
  // The part of its own users.
  ledger::Amount itself_own = {};
  ledger::Amount itself_borrowed = {};
};
SHAPLEY_DESCRIBE(AccountSubtotal, organization, account, above, own, borrowed, itself_own, itself_borrowed);

// An account before those below it.
[[nodiscard]] std::vector<AccountSubtotal> account_subtotals(const std::vector<UsersOf>& users,
                                                             const site_rules::AccountParents& parents);

// As people read them: the rows of the accounts below an account, `(itself)` and `(rounding)` add up to it.
[[nodiscard]] tables::Table accounts_table(const std::vector<AccountSubtotal>& accounts, const PaperAmounts& amounts);
// Rows for the columns of a statement's CSV.
[[nodiscard]] nlohmann::json exact_accounts(const std::vector<AccountSubtotal>& accounts,
                                            const ledger::IntervalHeading& of);

// The option --accounts: the tree in a file (site_rules::read_account_parents), or, where none is named, of Slurm.
struct AccountsAsked {
  bool is_asked = false;
  std::string file = {};
};
void add_accounts_option(CLI::App& command, AccountsAsked& accounts);
// None where none are asked for. `ledger`: the file that was read, of whose cluster Slurm is asked;
// empty: of this host's. `run`: as of Environment. Errc::invalid_argument: that is no tree, or too deep a one;
// Errc::unavailable: Slurm does not answer.
[[nodiscard]] Expected<std::vector<AccountSubtotal>> subtotals_by(const AccountsAsked& asked,
                                                                  const std::filesystem::path& ledger,
                                                                  const std::vector<UsersOf>& users,
                                                                  const ProgramRunner& run);

}  // namespace shapley::ctl
