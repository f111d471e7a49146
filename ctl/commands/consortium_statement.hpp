// `shapleyctl statement --consortium`: what the members of a consortium got, gave and lent to each other on each of its
// clusters, and in sum. The page of `shapleyctl report --consortium` is of the same figures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "accounting/state/consortium.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/output/paper.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

// What a member got and gave on one cluster, in that cluster's processors; or on all, in those of the first.
struct MemberOnCluster {
  std::string organization;
  std::string cluster;  // empty: the sum over clusters
  ledger::Amount got;
  ledger::Amount given;
  ledger::Amount difference;  // given - got
};
SHAPLEY_DESCRIBE(MemberOnCluster, organization, cluster, got, given, difference);

struct LentOnCluster {
  std::string owner;
  std::string borrower;
  std::string cluster;
  ledger::Amount amount;
};
SHAPLEY_DESCRIBE(LentOnCluster, owner, borrower, cluster, amount);

struct ConsortiumStatement {
  std::string consortium;
  std::vector<accounting::ClusterWeight> clusters;  // in the order of the files; not empty
  std::vector<ledger::IntervalHeading> of;          // of each cluster's books
  std::vector<MemberOnCluster> members;             // by organization; its clusters, then their sum
  std::vector<LentOnCluster> lent;                  // by owner, borrower, cluster
  // Of its tables: those of the members' statements on each cluster, the fewest of them.
  int decimals = k_most_decimals;
  bool exact = true;

  // Work on the cluster of this number, in processors of the first one; rounded down to the unit.
  [[nodiscard]] CpuTime in_first(CpuTime work, std::size_t cluster) const {
    return accounting::weighted({{}, work, {}}, clusters[cluster].weight, clusters.front().weight).given_less_got;
  }
  // The sum of printed amounts, one of each cluster, likewise; to the nearest unit.
  [[nodiscard]] Units sum_in_first(std::span<const Units> of_clusters) const;
};
SHAPLEY_DESCRIBE(ConsortiumStatement, consortium, clusters, of, members, lent, decimals, exact);

// From a ledger of each cluster, or a copy; `interval` says the time and the members to show, by their names in the
// first ledger. What processors of the clusters are worth, and other names there, are as the first ledger declared them
// last. Errc::invalid_argument: the first ledger declares no consortium, or another ledger is of a cluster that is not
// declared in it, or of one that another file was given of. REQUIRES: `ledgers` is not empty.
[[nodiscard]] Expected<ConsortiumStatement> consortium_statement(const std::vector<std::string>& ledgers,
                                                                 IntervalArguments interval, bool as_of_now);

// The number of a cluster among those of the statement. REQUIRES: it is one of them.
[[nodiscard]] std::size_t cluster_number(const ConsortiumStatement& statement, const std::string& cluster);

// Whether jobs of guests got anything: what they are is said then.
[[nodiscard]] bool has_guests(const ConsortiumStatement& statement);

// The amounts of its members, as its tables print them.
[[nodiscard]] PaperAmounts paper_amounts(const ConsortiumStatement& statement);

// Its tables for people.
[[nodiscard]] std::string consortium_text(const ConsortiumStatement& statement);
// A row for each amount, exact.
[[nodiscard]] tables::Table exact_consortium(const ConsortiumStatement& statement);

[[nodiscard]] Expected<ExitCode> run_consortium_statement(const StatementArguments& arguments,
                                                          const Environment& environment);

}  // namespace shapley::ctl
