// The standings: how much each organization is owed, which is served first, and why; and what shapleyd adds about
// itself. docs/reference/shapleyctl/status.md lists every member; ledger/reports/report.hpp makes it from the books.
//
// Ranks go by the key (game/braking.hpp, game/serving_order.hpp). It is of H seconds ahead, the mean residual run time
// by a rule that brakes, and is shown in core-hours as a standing of that time (amounts.hpp):
//     key / (t + H - period begin) / 3600     [core-hours]
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/types.hpp"
#include "protocol/self_report.hpp"
#include "reports/amounts.hpp"
#include "reports/forecast.hpp"
#include "reports/worth.hpp"

namespace shapley::ledger {

// Raised when a member of a report changes its meaning or is removed; new members do not raise it.
inline constexpr int k_report_version = 3;

// A figure by every estimator, nullopt for those without one: the members NAME_direct, NAME_rate, ...
struct ByEstimator {
  std::array<std::optional<Utility>, accounting::k_max_estimators> figures = {};

  [[nodiscard]] std::optional<Utility>& operator[](accounting::EstimatorId estimator) {
    return figures[estimator.value];
  }
  [[nodiscard]] const std::optional<Utility>& operator[](accounting::EstimatorId estimator) const {
    return figures[estimator.value];
  }
};
template <typename By, typename Visit>
requires std::same_as<std::remove_const_t<By>, ByEstimator>
void for_each_json_member(std::string_view name, By& by, const Visit& visit) {
  for (const accounting::EstimatorId estimator : accounting::estimator_ids())
    visit(accounting::figure_name(name, estimator), by[estimator]);
}

// What a key is made of by a rule that brakes, and how it falls with what the organization starts (game::FallingKey).
struct BrakingRow {
  Utility balance_ahead = {};             // S'
  CpuTime work_ahead = {};                // R'
  ProcessorMillionths doubled_turn = {};  // 2 U
  std::int64_t residual_s = 0;            // m
  double owed_core_hours = 0;             // S' as a standing, and what is added to it on the way to R' = 0
  double stopping_core_hours = 0;
};
SHAPLEY_DESCRIBE(BrakingRow, balance_ahead, work_ahead, doubled_turn, residual_s, owed_core_hours, stopping_core_hours);

// An organization's turn, and what it holds now. guests and commons have rows, too; commons, which runs nothing, has
// neither rank nor key.
struct RankedRow {
  std::string name = {};
  std::optional<std::size_t> rank = {};  // 1 is served first
  std::optional<double> key_core_hours = {};
  std::optional<double> running_core_hours = {};  // the part of the key that comes from what runs
  std::optional<std::int64_t> lead = {};
  std::optional<std::int64_t> lacking = {};
  std::optional<double> guarantee = {};  // a part of its own processors
  std::optional<bool> below_guarantee = {};
  std::optional<bool> last = {};  // true: it goes after all organizations, by the rule for guests
  // By a rule that brakes: what its key is made of, and, unless it goes last, about when it is even if work waits on
  // all sides.
  std::optional<BrakingRow> braking = {};
  std::optional<std::int64_t> settled_in_s = {};
  double standing_core_hours = 0;
  std::string sentence = {};  // the standing in words
  Processors gives = {};      // by the rule of charge, as `charged` and `waiting`
  // Set if the rule of charge does not charge what runs block: what its jobs are charged now.
  std::optional<Processors> charged = {};
  Processors owned = {};  // in CPUs of nodes, as the next three
  Processors used = {};
  Processors lent = {};
  Processors borrowed = {};
  Processors waiting = {};
  Processors idle_wanted = {};  // of its processors, idle while startable jobs ask for as much
  Processors down = {};         // of its nodes that Slurm has as down or drained, or no longer has; not among `owned`
  std::int64_t running_jobs = 0;
  std::int64_t waiting_jobs = 0;
  // Since when it has had a startable job and no start. Null: it has no startable job.
  std::optional<Instant> no_start_since = {};
};
SHAPLEY_DESCRIBE(RankedRow, name, rank, key_core_hours, running_core_hours, lead, lacking, guarantee, below_guarantee,
                 (supplement, last), (supplement, braking), (supplement, settled_in_s), standing_core_hours, sentence,
                 gives, (supplement, charged), owned, used, lent, borrowed, waiting, (supplement, idle_wanted),
                 (supplement, down), running_jobs, waiting_jobs, no_start_since);

struct OrganizationRow {
  RankedRow is = {};
  std::string title = {};  // the name for people; the name if it has no other
  std::optional<Utility> key = {};
  Utility psi = {};
  Utility phi = {};  // by the estimator that ranks
  ByEstimator phi_by = {};
  double got_core_hours = 0;
  double given_core_hours = 0;
  CpuTime got = {};
  CpuTime given = {};
  std::optional<std::optional<std::size_t>> would_rank = {};  // mode observe: what its rank would be
};
SHAPLEY_DESCRIBE(OrganizationRow, (flattened, is), title, key, psi, phi, (named, phi_by, "phi"), got_core_hours,
                 given_core_hours, (named, got, "got_processor_seconds"), (named, given, "given_processor_seconds"),
                 (supplement, would_rank));

// The rule of ranks in force, and sentences about which organizations go before one that is owed more, and why.
struct RankingReport {
  accounting::KeyRule rule = accounting::KeyRule::horizon;
  std::int64_t horizon_s = 0;
  double guarantee = 0;
  double running_weight = 0;
  std::int64_t residual_s = 0;  // the mean residual run time
  bool residual_assumed = false;
  std::int64_t running_factor = 0;
  accounting::Guests guests = accounting::Guests::ranked;
  std::vector<std::string> sentences = {};
};
SHAPLEY_DESCRIBE(RankingReport, (supplement, rule), horizon_s, guarantee, running_weight, residual_s, residual_assumed,
                 running_factor, guests, sentences);

struct Conservation {
  Utility sum_psi = {};
  ByEstimator sum_phi = {};
  bool holds = true;
};
SHAPLEY_DESCRIBE(Conservation, sum_psi, sum_phi, holds);

// If the memory of hindsight is bounded: what it keeps, and why.
struct HindsightBound {
  accounting::Coalitions coalitions = accounting::Coalitions::pairs;
  Instant since = {};
  std::int64_t needed_bytes = 0;
  std::int64_t bound_bytes = 0;
};
SHAPLEY_DESCRIBE(HindsightBound, coalitions, since, needed_bytes, bound_bytes);

struct PeriodReport {
  Period name = Period::none;
  Dated begin = {};  // unknown before the first event
};
SHAPLEY_DESCRIBE(PeriodReport, name, begin);

// What an organization is owed (> 0) or owes on another cluster of the consortium, as far as ranks here count it.
struct OwedElsewhere {
  std::string organization = {};  // its name here
  double core_hours = 0;          // given less got there, of processors of this cluster
  friend bool operator==(const OwedElsewhere&, const OwedElsewhere&) = default;
};
SHAPLEY_DESCRIBE(OwedElsewhere, organization, core_hours);

struct OtherClusterReport {
  std::string cluster = {};
  Dated stated_at = {};     // the time of the statement that ranks are made by; null: none was recorded yet
  Dated stands_still = {};  // from when on its figures are carried on no more
  bool is_stale = false;    // they stand still now
  std::vector<OwedElsewhere> organizations = {};  // of those that the books here have; ascending by name
  std::vector<std::string> uncounted = {};        // that state something and have no row here: ranks do not count them
  // What the daemon adds.
  Dated heard_at = {};                        // the time of a newer one that came and changes no rank, or the same
  std::string fault = {};                     // why the last answer did not count; empty: it did
  bool is_refused = false;                    // a statement came and does not count; else none came
  std::optional<std::uint64_t> refused = {};  // such statements since the start of shapleyd
  std::optional<Duration> ahead = {};         // its newest signed statement was of a time so far ahead when it came
  std::string jump = {};  // within the last day: what it cannot have done between two statements; empty: nothing

  // Up to when the figures are what the cluster states.
  [[nodiscard]] Instant last_stated() const { return heard_at.is_known() ? heard_at : stated_at; }
  friend bool operator==(const OtherClusterReport&, const OtherClusterReport&) = default;
};
SHAPLEY_DESCRIBE(OtherClusterReport, cluster, stated_at, stands_still, is_stale, organizations, (supplement, uncounted),
                 (supplement, heard_at), (supplement, fault), (supplement, is_refused), (supplement, refused),
                 (supplement, ahead, "ahead_s"), (supplement, jump));

// What changes when another line of a cluster's ledger is accepted (accounting::LedgerReplaced).
struct OwedByLine {
  std::string organization = {};
  double before = 0;  // core-hours as in OwedElsewhere, by what ranks count now
  double after = 0;   // and by the first statement of the other line
};
SHAPLEY_DESCRIBE(OwedByLine, organization, (named, before, "core_hours_before"), (named, after, "core_hours_after"));

struct LineReport {
  std::string cluster = {};
  std::string former_ledger = {};
  std::int64_t former_event = 0;
  Dated former_time = {};  // of the statement that ranks count; null: none does
  std::string ledger = {};
  std::int64_t event = 0;
  Dated time = {};
  std::string author = {};
  std::string reason = {};
  std::vector<OwedByLine> organizations = {};  // ascending by name
  bool booked = false;
  bool alone = false;  // the other one of two controllers does not have it yet
  AmountUnit in = {};
};
SHAPLEY_DESCRIBE(LineReport, cluster, former_ledger, former_event, former_time, ledger, event, time, author, reason,
                 organizations, booked, (supplement, alone), (flattened, in));

struct StatusReport {
  int report_version = k_report_version;
  Dated at = {};
  PeriodReport period = {};
  std::string contribution = {};           // the estimator that is wanted
  std::string ranked_by = {};              // it, or its stand-in
  std::vector<std::string> behind = {};    // estimators that have facts to catch up with
  std::vector<std::string> not_kept = {};  // estimators without figures
  std::optional<HindsightBound> hindsight_bounded = {};
  RankingReport ranking = {};
  std::vector<OrganizationRow> organizations = {};  // in rank order, those without a rank last
  Conservation conservation = {};
  std::optional<std::optional<WorthReport>> worth = {};  // where it was asked for
  std::optional<ForecastReport> forecast = {};           // where it was asked for
  std::vector<OtherClusterReport> clusters = {};         // the others of the consortium; empty: no consortium
  // What the daemon adds about itself and the plugin.
  std::optional<bool> ranks_act = {};  // false in mode observe
  std::optional<protocol::DaemonReport> daemon = {};
  std::optional<protocol::PluginReport> plugin = {};
  AmountUnit in = {};  // of the period so far

  // The row of this name; nullptr: no row has it.
  [[nodiscard]] const OrganizationRow* find(const std::string& organization) const;
};
SHAPLEY_DESCRIBE(StatusReport, report_version, at, period, contribution, ranked_by, behind, not_kept, hindsight_bounded,
                 ranking, organizations, conservation, (supplement, worth), (supplement, forecast),
                 (supplement, clusters), (supplement, ranks_act), (supplement, daemon), (supplement, plugin),
                 (flattened, in));

// The organizations with startable jobs that are kept waiting, in the configuration's order, and since when
// (no_start_since above). `only`: these organizations; empty: all.
struct NoStart {
  std::string organization = {};
  std::optional<Instant> since = {};
};
SHAPLEY_DESCRIBE(NoStart, organization, since);

}  // namespace shapley::ledger
