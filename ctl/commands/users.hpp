// The users of each organization's accounts: what each of them got in the open period (`shapleyctl status --users`),
// and Slurm's own fair-share factor beside it. The order within an organization is Slurm's; nothing here acts on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/slurm/fair_share.hpp"
#include "ledger/reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

struct UserShare {
  ledger::UserRow is = {};
  std::optional<double> part = {};         // of what its organization got; nullopt: that is nothing
  std::optional<double> fair_share = {};   // nullopt: unknown
  std::optional<std::int64_t> order = {};  // 1: the greatest factor of its organization's users here
};
SHAPLEY_DESCRIBE(UserShare, (flattened, is), part, fair_share, order);

struct OrganizationUsers {
  std::string name = {};
  ledger::Amount got = {};
  std::vector<UserShare> users = {};
};
SHAPLEY_DESCRIBE(OrganizationUsers, name, got, users);

struct UsersReport {
  bool exact = true;                              // users add up to what was booked
  bool is_private = false;                        // what others used is hidden
  std::optional<std::string> no_fair_share = {};  // why no factor is known
  std::vector<OrganizationUsers> organizations = {};
};
SHAPLEY_DESCRIBE(UsersReport, exact, (supplement, is_private, "private"), no_fair_share, organizations);

// Orders the users of each organization: accounts by name; of an account those that got the most first; last what is
// hidden.
void order_users(ledger::AccountReport& statement);

// REQUIRES: the users of `statement` have names and are ordered. `only`: organizations by name.
[[nodiscard]] UsersReport users_report(const ledger::AccountReport& statement, const std::vector<std::string>& only,
                                       const Expected<FairShares>& shares);

// A line for each user and one for each organization, and one for what rounding leaves of its users' amounts and parts
// (paper.hpp); rows without any amount as printed are left out. `statement`: the one that the report was made of.
[[nodiscard]] std::string render_users(const UsersReport& report, const ledger::AccountReport& statement, bool header);
// For programs: exact values between '|', a line for each user.
[[nodiscard]] std::string parsable_users(const UsersReport& report, bool header);

// The users of a statement as the page of `report` shows them, without factors: a row for each, and for what rounding
// leaves of an organization's; and their exact amounts.
[[nodiscard]] tables::Table printed_users(const ledger::AccountReport& statement, const PaperAmounts& amounts);
[[nodiscard]] tables::Table exact_users(const ledger::AccountReport& statement);

}  // namespace shapley::ctl
