// `shapleyctl statement --consortium`: what the members of a consortium got, gave and lent to each other on each of its
// clusters, and in sum. The page of `shapleyctl report --consortium` is of the same figures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/state/consortium.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/output/paper.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

// What a member got and gave on one cluster, in that cluster's processors; or on all, in those of the first.
struct MemberOnCluster {
  std::string organization = {};
  std::string cluster = {};  // empty: the sum over clusters
  ledger::Amount got = {};   // of jobs, as `given`
  ledger::Amount given = {};
  ledger::Amount settled = {};     // given less got
  ledger::Amount difference = {};  // given - got + settled
  // At the end of the time. nullopt: the periods of the clusters did not begin at one instant, and averages over
  // different times have no sum.
  std::optional<double> standing_core_hours = {};
  std::optional<Utility> phi_minus_psi = {};
};
SHAPLEY_DESCRIBE(MemberOnCluster, organization, cluster, got, given, settled, difference, standing_core_hours,
                 phi_minus_psi);

struct LentOnCluster {
  std::string owner;
  std::string borrower;
  std::string cluster;
  ledger::Amount amount;
};
SHAPLEY_DESCRIBE(LentOnCluster, owner, borrower, cluster, amount);

struct UserOnCluster {
  std::string organization = {};
  std::string cluster = {};
  ledger::UserRow is = {};
};
SHAPLEY_DESCRIBE(UserOnCluster, organization, cluster, (flattened, is));

struct ConsortiumFigures {
  std::string consortium;
  std::vector<accounting::ClusterWeight> clusters;  // in the order of the files; not empty
  std::vector<ledger::IntervalHeading> of;          // of each cluster's books
  std::vector<MemberOnCluster> members;             // by organization; its clusters, then their sum
  std::vector<LentOnCluster> lent;                  // by owner, borrower, cluster
  std::vector<UserOnCluster> users;                 // by organization, cluster, account
  std::vector<std::string> missing;                 // clusters without a ledger here: then there are no sums
  // Of its tables: those of the members' statements on each cluster, the fewest of them.
  int decimals = k_most_decimals;
  bool exact = true;

  [[nodiscard]] bool has_sums() const { return missing.empty(); }
  // What all amounts are counted in; of clusters that count in different ones, which counts in which.
  [[nodiscard]] ledger::AmountUnit in() const;
  // Work on the cluster of this number, in processors of the first one; rounded down to the unit.
  [[nodiscard]] CpuTime in_first(CpuTime work, std::size_t cluster) const {
    return accounting::weighted({{}, work, {}}, clusters[cluster].weight, clusters.front().weight).given_less_got;
  }
  // The sum of printed amounts, one of each cluster, likewise; to the nearest unit.
  [[nodiscard]] Units sum_in_first(std::span<const Units> of_clusters) const;
};
SHAPLEY_DESCRIBE(ConsortiumFigures, consortium, clusters, of, members, lent, users, missing, decimals, exact);

struct ConsortiumStatement : ConsortiumFigures {
  StatementAdditions additions = {};
};

// From a ledger of each cluster, or a copy; `interval` says the time and the members to show, by their names in the
// first ledger. The time ends where the first of the ledgers does, so that it is the same for all. What processors of
// the clusters are worth, and other names there, are as the first ledger declared them last. Errc::invalid_argument:
// the first ledger declares no consortium, or another ledger is of a cluster that is not declared in it, or of one that
// another file was given of. REQUIRES: `ledgers` is not empty.
[[nodiscard]] Expected<ConsortiumStatement> consortium_statement(const std::vector<std::string>& ledgers,
                                                                 IntervalArguments interval, bool as_of_now,
                                                                 const BalanceArguments& balance = {});
// The same, without balances, of a time of which not all of the ledgers have books: those that have none are missing.
// nullopt: none of them has.
[[nodiscard]] Expected<std::optional<ConsortiumStatement>> earlier_statement(const std::vector<std::string>& ledgers,
                                                                             const IntervalArguments& interval);

// The number of a cluster among those of the statement. REQUIRES: it is one of them.
[[nodiscard]] std::size_t cluster_number(const ConsortiumStatement& statement, const std::string& cluster);

// Whether averages of the clusters have a sum: their periods began at one instant.
[[nodiscard]] bool standings_have_sums(const ConsortiumStatement& statement);
// Whether jobs of guests got anything: what they are is said then.
[[nodiscard]] bool has_guests(const ConsortiumStatement& statement);

// What the missing ledgers are, in words; empty: none is missing.
[[nodiscard]] std::string missing_line(const ConsortiumStatement& statement);

// All of it for people, with the pairs and users that are asked for.
[[nodiscard]] std::string consortium_text(const ConsortiumStatement& statement, const StatementTables& tables);
[[nodiscard]] Expected<ExitCode> run_consortium_statement(const StatementArguments& arguments,
                                                          const Environment& environment);

}  // namespace shapley::ctl
