// Which of two goes first and why, since when, and what would change it. docs/reference/shapleyctl/explain.md lists
// every member; ledger/reports/compare_report.hpp makes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/explain.hpp"

namespace shapley::ledger {

// An organization or a job, with the books' figures of its organization: none if they do not know it.
struct SideReport {
  std::string organization = {};
  std::optional<JobAt> job = {};
  std::optional<std::size_t> rank = {};
  std::optional<double> standing_core_hours = {};
  std::optional<std::string> sentence = {};
  std::optional<Utility> key = {};
  std::optional<double> key_core_hours = {};
  std::optional<bool> below_guarantee = {};
  std::optional<std::int64_t> lacking = {};
  std::optional<Processors> gives = {};
  std::optional<Processors> owned = {};
  std::optional<Processors> used = {};
  std::optional<Processors> lent = {};
  std::optional<Processors> borrowed = {};
  std::optional<Processors> waiting = {};
  std::optional<std::int64_t> running_jobs = {};
  std::optional<std::int64_t> waiting_jobs = {};
};
SHAPLEY_DESCRIBE(SideReport, organization, job, rank, standing_core_hours, sentence, key, key_core_hours,
                 below_guarantee, lacking, gives, owned, used, lent, borrowed, waiting, running_jobs, waiting_jobs);

// From this instant on `first` goes first.
struct PairTurn {
  std::string first = {};
  Dated at = {};
};
SHAPLEY_DESCRIBE(PairTurn, first, at);

struct PairSince {
  Dated order = {};
  Dated keys = {};
};
SHAPLEY_DESCRIBE(PairSince, order, keys);

struct CompareReport {
  int report_version = k_report_version;
  Dated at = {};
  OutlookLimit limit = {};
  std::string contribution = {};
  std::string ranked_by = {};
  RankingReport ranking = {};
  std::vector<OtherClusterReport> clusters = {};  // as of StatusReport, without what the daemon adds
  bool past = false;
  std::array<SideReport, 2> sides = {};
  bool same_organization = false;
  std::optional<Instant> period_begin = {};
  // Empty if both are one organization, or one has no rank.
  std::optional<std::string> first = {};
  std::optional<Because> because = {};
  std::optional<bool> by_what_runs = {};
  std::optional<bool> by_other_clusters = {};       // only in a consortium of several clusters
  std::vector<std::string> deciding_clusters = {};  // then those whose figures decide
  std::optional<Utility> difference = {};
  std::optional<double> difference_core_hours = {};
  std::optional<std::int64_t> turning_processors = {};
  std::optional<double> turning_core_hours = {};
  std::vector<PairTurn> turns = {};
  std::optional<PairSince> since = {};
  std::optional<std::string> since_unknown = {};  // why `since` is not known
  std::optional<Priorities> priorities = {};      // of a daemon, about the present
  AmountUnit in = {};                             // of the period so far

  [[nodiscard]] const SideReport& ahead() const { return sides[first == sides[0].organization ? 0 : 1]; }
  [[nodiscard]] const SideReport& behind() const { return sides[first == sides[0].organization ? 1 : 0]; }
};
SHAPLEY_DESCRIBE(CompareReport, report_version, at, (flattened, limit), contribution, ranked_by, ranking,
                 (supplement, clusters), past, sides, same_organization, period_begin, first, because, by_what_runs,
                 (supplement, by_other_clusters), (supplement, deciding_clusters), difference, difference_core_hours,
                 turning_processors, turning_core_hours, turns, since, since_unknown, priorities, (flattened, in));

}  // namespace shapley::ledger
