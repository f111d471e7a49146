// The books at one instant, as far as answers about ranks need them: explain_report.hpp, compare_report.hpp.
//
// A moment is a copy: an answer can be made from it in another thread, together with the ledger's tables.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/readers/books_then.hpp"
#include "ledger/reports/other_clusters.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct Moment {
  Instant at;
  bool is_past = false;  // a past instant was asked for; else the present, or a ledger's last recording
  StatusReport status;
  accounting::Outlook outlook;
  std::vector<ShareElsewhere> elsewhere;  // what other clusters contribute to the rows of `outlook`
  // Of organizations, by OrgId: of the row that has its figures, where it was renamed or merged.
  std::vector<std::string> names;
  std::map<std::string, std::string, std::less<>> former;  // former names -> name of the row
  std::vector<accounting::AdjustmentMade> adjustments;     // ascending by number
  std::vector<OpenSegment> open;                           // ascending by job
  StartableTasks tasks;
  accounting::UserNames users;
  std::vector<accounting::SegmentOpened> next_starts;  // of the past only: runs that began after it, by begin

  // An organization's row of `status`; nullptr: no row has that name.
  [[nodiscard]] const RankedRow* row(const std::string& organization) const;
  // The name of the row that has the figures of an organization, which is named as in events.
  [[nodiscard]] std::string row_name(const std::string& organization) const;
  // Its index in outlook.rows; past the end: it has no rank.
  [[nodiscard]] std::size_t rank_row(const std::string& organization) const;
  // The outlook if what runs now did not count.
  [[nodiscard]] accounting::Outlook without_what_runs() const;
};

// The estimator of the rule of ranks in force.
[[nodiscard]] accounting::EstimatorId ranking_estimator(const accounting::State& state);

// The moment at max(t, state.now()). Walks over all remembered jobs.
[[nodiscard]] Moment moment_of(accounting::State& state, Instant t, accounting::EstimatorId wanted);
// The same with the estimators that are able (status_report).
[[nodiscard]] Moment moment_of(accounting::State& state, Instant t, accounting::EstimatorId wanted,
                               const accounting::EstimatorSet& able, const StartableTasks& tasks = {});

// A past moment from books_then(), by the estimator that ranked then.
[[nodiscard]] Expected<Moment> past_moment(const Ledger& ledger, const PastQuestion& question);

}  // namespace shapley::ledger
