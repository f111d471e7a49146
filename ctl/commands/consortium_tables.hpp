// The tables of a consortium's statement (consortium_statement.hpp), as people and as programs read them. Pure.
#pragma once

#include "ctl/commands/consortium_statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

// Its tables, the same in the text and on the page: a row for each cluster, then, if no ledger is missing, what
// rounding leaves of the sum over clusters, and that sum; last the same of all rows.
[[nodiscard]] tables::Table members_table(const ConsortiumStatement& statement);
// Members' balances. REQUIRES: the statement has them.
[[nodiscard]] tables::Table balance_table(const ConsortiumStatement& statement);
[[nodiscard]] tables::Table lent_table(const ConsortiumStatement& statement);
// Standings at the end of the statement's time, and beside them those at the end of an earlier one; nullptr: no ledger
// has books of that time.
[[nodiscard]] tables::Table standings_table(const ConsortiumStatement& statement, const ConsortiumStatement* earlier);
// By organization and cluster: its users, what rounding leaves of their sum, and the sum.
[[nodiscard]] tables::Table users_table(const ConsortiumStatement& statement);

// A row for each amount, exact; and those of users alone.
[[nodiscard]] tables::Table exact_consortium(const ConsortiumStatement& statement);
[[nodiscard]] tables::Table exact_consortium_users(const ConsortiumStatement& statement);

}  // namespace shapley::ctl
