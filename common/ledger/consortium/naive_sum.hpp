// The figures from which ranks are made (accounting/state/ranking.hpp), computed a second time and in another way: the
// sum over clusters by seconds one after the other, products digit by digit, and by the declared rule which
// organizations are served last. For the audit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

class NaiveClusterSum {
 public:
  void note(const accounting::ConsortiumDeclared& declared) { declared_[declared.at] = declared; }
  void note(const accounting::StandingReceived& statement);
  void note(const accounting::LedgerReplaced& replaced);
  void note(const accounting::RankingDeclared& rule) { rules_[rule.at] = rule; }

  // The declaration of the cluster in force at t; nullptr: it did not belong to the consortium.
  [[nodiscard]] const accounting::OtherCluster* declared(const std::string& cluster, Instant t) const;

  // The rows for ranks at the present of these books, which add their own rows.
  [[nodiscard]] std::vector<accounting::RankRow> rows(accounting::State& books,
                                                      accounting::EstimatorId estimator) const;

  // nullptr: none is.
  [[nodiscard]] const accounting::ConsortiumDeclared* in_force(Instant t) const;

 private:
  std::map<Instant, accounting::ConsortiumDeclared> declared_;
  std::map<Instant, accounting::RankingDeclared> rules_;
  std::map<std::string, accounting::StandingReceived> statements_;  // the newest by cluster
  std::map<std::string, Instant> lines_;  // by cluster: statements of before do not count any more
};

}  // namespace shapley::ledger
