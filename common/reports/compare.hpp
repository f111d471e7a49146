// Which of two goes first and why, since when, and what would change it. docs/reference/shapleyctl.md lists every
// member; ledger/reports/compare_report.hpp makes it.
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
constexpr auto description_of(std::type_identity<SideReport>) {
  return describe(member("organization", &SideReport::organization), member("job", &SideReport::job),
                  member("rank", &SideReport::rank), member("standing_core_hours", &SideReport::standing_core_hours),
                  member("sentence", &SideReport::sentence), member("key", &SideReport::key),
                  member("key_core_hours", &SideReport::key_core_hours),
                  member("below_guarantee", &SideReport::below_guarantee), member("lacking", &SideReport::lacking),
                  member("gives", &SideReport::gives), member("owned", &SideReport::owned),
                  member("used", &SideReport::used), member("lent", &SideReport::lent),
                  member("borrowed", &SideReport::borrowed), member("waiting", &SideReport::waiting),
                  member("running_jobs", &SideReport::running_jobs), member("waiting_jobs", &SideReport::waiting_jobs));
}

// From this instant on `first` goes first.
struct PairTurn {
  std::string first = {};
  Dated at = {};
};
constexpr auto description_of(std::type_identity<PairTurn>) {
  return describe(member("first", &PairTurn::first), member("at", &PairTurn::at));
}

struct PairSince {
  Dated order = {};
  Dated keys = {};
};
constexpr auto description_of(std::type_identity<PairSince>) {
  return describe(member("order", &PairSince::order), member("keys", &PairSince::keys));
}

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
  std::optional<bool> by_other_clusters = {};  // only in a consortium of several clusters
  std::optional<Utility> difference = {};
  std::optional<double> difference_core_hours = {};
  std::optional<std::int64_t> turning_processors = {};
  std::optional<double> turning_core_hours = {};
  std::vector<PairTurn> turns = {};
  std::optional<PairSince> since = {};
  std::optional<std::string> since_unknown = {};  // why `since` is not known
  std::optional<Priorities> priorities = {};      // of a daemon, about the present

  [[nodiscard]] const SideReport& ahead() const { return sides[first == sides[0].organization ? 0 : 1]; }
  [[nodiscard]] const SideReport& behind() const { return sides[first == sides[0].organization ? 1 : 0]; }
};
constexpr auto description_of(std::type_identity<CompareReport>) {
  return describe(
      member("report_version", &CompareReport::report_version), member("at", &CompareReport::at),
      flattened(&CompareReport::limit), member("contribution", &CompareReport::contribution),
      member("ranked_by", &CompareReport::ranked_by), member("ranking", &CompareReport::ranking),
      supplement("clusters", &CompareReport::clusters), member("past", &CompareReport::past),
      member("sides", &CompareReport::sides), member("same_organization", &CompareReport::same_organization),
      member("period_begin", &CompareReport::period_begin), member("first", &CompareReport::first),
      member("because", &CompareReport::because), member("by_what_runs", &CompareReport::by_what_runs),
      supplement("by_other_clusters", &CompareReport::by_other_clusters),
      member("difference", &CompareReport::difference),
      member("difference_core_hours", &CompareReport::difference_core_hours),
      member("turning_processors", &CompareReport::turning_processors),
      member("turning_core_hours", &CompareReport::turning_core_hours), member("turns", &CompareReport::turns),
      member("since", &CompareReport::since), member("since_unknown", &CompareReport::since_unknown),
      member("priorities", &CompareReport::priorities));
}

}  // namespace shapley::ledger
