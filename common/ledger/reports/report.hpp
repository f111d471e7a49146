// The standings: how much each organization is owed, which is served first, and why. For `shapleyctl status`, the
// daemon's answers, and offline reading of a ledger, so that all of them agree. docs/reference/shapleyctl.md lists
// every member.
//
// Ranks go by the key (game/braking.hpp, game/serving_order.hpp). It is of H seconds ahead, the mean residual run time
// by a rule that brakes, and is shown in core-hours as a standing of that time (amounts.hpp):
//     key / (t + H - period begin) / 3600     [core-hours]
//
// Pure functions of the books and of t; they read no clock and own nothing.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/amounts.hpp"
#include "ledger/reports/forecast_report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "protocol/self_report.hpp"

namespace shapley::ledger {

// Raised when a member of a report changes its meaning or is removed; new members do not raise it.
inline constexpr int k_report_version = 2;

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
constexpr auto description_of(std::type_identity<BrakingRow>) {
  return describe(member("balance_ahead", &BrakingRow::balance_ahead), member("work_ahead", &BrakingRow::work_ahead),
                  member("doubled_turn", &BrakingRow::doubled_turn), member("residual_s", &BrakingRow::residual_s),
                  member("owed_core_hours", &BrakingRow::owed_core_hours),
                  member("stopping_core_hours", &BrakingRow::stopping_core_hours));
}

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
  std::int64_t running_jobs = 0;
  std::int64_t waiting_jobs = 0;
  // Since when it has had a startable job and no start. Null: it has no startable job.
  std::optional<Instant> no_start_since = {};
};
constexpr auto description_of(std::type_identity<RankedRow>) {
  return describe(member("name", &RankedRow::name), member("rank", &RankedRow::rank),
                  member("key_core_hours", &RankedRow::key_core_hours),
                  member("running_core_hours", &RankedRow::running_core_hours), member("lead", &RankedRow::lead),
                  member("lacking", &RankedRow::lacking), member("guarantee", &RankedRow::guarantee),
                  member("below_guarantee", &RankedRow::below_guarantee), supplement("last", &RankedRow::last),
                  supplement("braking", &RankedRow::braking), supplement("settled_in_s", &RankedRow::settled_in_s),
                  member("standing_core_hours", &RankedRow::standing_core_hours),
                  member("sentence", &RankedRow::sentence), member("gives", &RankedRow::gives),
                  supplement("charged", &RankedRow::charged), member("owned", &RankedRow::owned),
                  member("used", &RankedRow::used), member("lent", &RankedRow::lent),
                  member("borrowed", &RankedRow::borrowed), member("waiting", &RankedRow::waiting),
                  member("running_jobs", &RankedRow::running_jobs), member("waiting_jobs", &RankedRow::waiting_jobs),
                  member("no_start_since", &RankedRow::no_start_since));
}

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
constexpr auto description_of(std::type_identity<OrganizationRow>) {
  return describe(flattened(&OrganizationRow::is), member("title", &OrganizationRow::title),
                  member("key", &OrganizationRow::key), member("psi", &OrganizationRow::psi),
                  member("phi", &OrganizationRow::phi), member("phi", &OrganizationRow::phi_by),
                  member("got_core_hours", &OrganizationRow::got_core_hours),
                  member("given_core_hours", &OrganizationRow::given_core_hours),
                  member("got_processor_seconds", &OrganizationRow::got),
                  member("given_processor_seconds", &OrganizationRow::given),
                  supplement("would_rank", &OrganizationRow::would_rank));
}

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
constexpr auto description_of(std::type_identity<RankingReport>) {
  return describe(
      supplement("rule", &RankingReport::rule), member("horizon_s", &RankingReport::horizon_s),
      member("guarantee", &RankingReport::guarantee), member("running_weight", &RankingReport::running_weight),
      member("residual_s", &RankingReport::residual_s), member("residual_assumed", &RankingReport::residual_assumed),
      member("running_factor", &RankingReport::running_factor), member("guests", &RankingReport::guests),
      member("sentences", &RankingReport::sentences));
}

struct Conservation {
  Utility sum_psi = {};
  ByEstimator sum_phi = {};
  bool holds = true;
};
constexpr auto description_of(std::type_identity<Conservation>) {
  return describe(member("sum_psi", &Conservation::sum_psi), member("sum_phi", &Conservation::sum_phi),
                  member("holds", &Conservation::holds));
}

// If the memory of hindsight is bounded: what it keeps, and why.
struct HindsightBound {
  accounting::Coalitions coalitions = accounting::Coalitions::pairs;
  Instant since = {};
  std::int64_t needed_bytes = 0;
  std::int64_t bound_bytes = 0;
};
constexpr auto description_of(std::type_identity<HindsightBound>) {
  return describe(member("coalitions", &HindsightBound::coalitions), member("since", &HindsightBound::since),
                  member("needed_bytes", &HindsightBound::needed_bytes),
                  member("bound_bytes", &HindsightBound::bound_bytes));
}

struct PeriodReport {
  Period name = Period::none;
  Dated begin = {};  // unknown before the first event
};
constexpr auto description_of(std::type_identity<PeriodReport>) {
  return describe(member("name", &PeriodReport::name), member("begin", &PeriodReport::begin));
}

// What an organization is owed (> 0) or owes on another cluster of the consortium, as far as ranks here count it.
struct OwedElsewhere {
  std::string organization = {};  // its name here
  double core_hours = 0;          // given less got there, of processors of this cluster
  friend bool operator==(const OwedElsewhere&, const OwedElsewhere&) = default;
};
constexpr auto description_of(std::type_identity<OwedElsewhere>) {
  return describe(member("organization", &OwedElsewhere::organization),
                  member("core_hours", &OwedElsewhere::core_hours));
}

struct OtherClusterReport {
  std::string cluster = {};
  Dated stated_at = {};     // the time of the statement that ranks are made by; null: none was recorded yet
  Dated stands_still = {};  // from when on its figures are carried on no more
  bool is_stale = false;    // they stand still now
  std::vector<OwedElsewhere> organizations = {};  // of those that the books here have; ascending by name
  std::vector<std::string> uncounted = {};        // that state something and have no row here: ranks do not count them
  // What the daemon adds.
  std::string fault = {};                     // why the last answer did not count; empty: it did
  bool is_refused = false;                    // a statement came and does not count; else none came
  std::optional<std::uint64_t> refused = {};  // such statements since the start of shapleyd
  std::optional<Duration> ahead = {};         // its newest signed statement was of a time so far ahead when it came
  std::string jump = {};  // within the last day: what it cannot have done between two statements; empty: nothing
  friend bool operator==(const OtherClusterReport&, const OtherClusterReport&) = default;
};
constexpr auto description_of(std::type_identity<OtherClusterReport>) {
  return describe(
      member("cluster", &OtherClusterReport::cluster), member("stated_at", &OtherClusterReport::stated_at),
      member("stands_still", &OtherClusterReport::stands_still), member("is_stale", &OtherClusterReport::is_stale),
      member("organizations", &OtherClusterReport::organizations),
      supplement("uncounted", &OtherClusterReport::uncounted), supplement("fault", &OtherClusterReport::fault),
      supplement("is_refused", &OtherClusterReport::is_refused), supplement("refused", &OtherClusterReport::refused),
      supplement("ahead_s", &OtherClusterReport::ahead), supplement("jump", &OtherClusterReport::jump));
}

// What changes when another line of a cluster's ledger is accepted (accounting::LedgerReplaced).
struct OwedByLine {
  std::string organization = {};
  double before = 0;  // core-hours as in OwedElsewhere, by what ranks count now
  double after = 0;   // and by the first statement of the other line
};
constexpr auto description_of(std::type_identity<OwedByLine>) {
  return describe(member("organization", &OwedByLine::organization), member("core_hours_before", &OwedByLine::before),
                  member("core_hours_after", &OwedByLine::after));
}

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
};
constexpr auto description_of(std::type_identity<LineReport>) {
  return describe(member("cluster", &LineReport::cluster), member("former_ledger", &LineReport::former_ledger),
                  member("former_event", &LineReport::former_event), member("former_time", &LineReport::former_time),
                  member("ledger", &LineReport::ledger), member("event", &LineReport::event),
                  member("time", &LineReport::time), member("author", &LineReport::author),
                  member("reason", &LineReport::reason), member("organizations", &LineReport::organizations),
                  member("booked", &LineReport::booked), supplement("alone", &LineReport::alone));
}

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

  // The row of this name; nullptr: no row has it.
  [[nodiscard]] const OrganizationRow* find(const std::string& organization) const;
};
constexpr auto description_of(std::type_identity<StatusReport>) {
  return describe(member("report_version", &StatusReport::report_version), member("at", &StatusReport::at),
                  member("period", &StatusReport::period), member("contribution", &StatusReport::contribution),
                  member("ranked_by", &StatusReport::ranked_by), member("behind", &StatusReport::behind),
                  member("not_kept", &StatusReport::not_kept),
                  member("hindsight_bounded", &StatusReport::hindsight_bounded),
                  member("ranking", &StatusReport::ranking), member("organizations", &StatusReport::organizations),
                  member("conservation", &StatusReport::conservation), supplement("worth", &StatusReport::worth),
                  supplement("forecast", &StatusReport::forecast), supplement("clusters", &StatusReport::clusters),
                  supplement("ranks_act", &StatusReport::ranks_act), supplement("daemon", &StatusReport::daemon),
                  supplement("plugin", &StatusReport::plugin));
}

// The books at max(t, state.now()). Figures are by `wanted` ("contribution"), or, if it is not in `able`, by its
// stand-in ("ranked_by"); `able`: those of State::catch_up at t, else all that are kept. phi by other estimators is
// not known.
[[nodiscard]] StatusReport status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted);
[[nodiscard]] StatusReport status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted,
                                         const accounting::EstimatorSet& able);

// What ranks count of a cluster now, and what they would by `first`, once `accepted` is in the books.
[[nodiscard]] LineReport line_report(const accounting::State& state, const accounting::LedgerReplaced& accepted,
                                     const accounting::StandingReceived& first);

// Sets the title, the name for people, in every row whose organization has one.
void set_titles(StatusReport& report, const std::map<std::string, std::string>& titles);

// How many whole processors `other` may start before the key of `own` after `cum` processors, which its own jobs take
// before, is as great; 0 or more. Of rows that have a rank.
[[nodiscard]] std::int64_t startable_before(const RankedRow& other, const RankedRow& own, std::int64_t cum);

// The organizations with startable jobs that are kept waiting, in the configuration's order, and since when
// (no_start_since above). `only`: these organizations; empty: all.
struct NoStart {
  std::string organization = {};
  std::optional<Instant> since = {};
};
constexpr auto description_of(std::type_identity<NoStart>) {
  return describe(member("organization", &NoStart::organization), member("since", &NoStart::since));
}
[[nodiscard]] std::vector<NoStart> no_start_report(const accounting::State& state,
                                                   const std::vector<std::string>& only = {});

// Errc::invalid_argument, with the names of the books' organizations, unless every name is one of these.
[[nodiscard]] Expected<void> check_organizations(const accounting::State& state, const std::vector<std::string>& names);

[[nodiscard]] tl::unexpected<Error> unknown_organization(const std::string& name,
                                                         const std::vector<std::string>& known);

// A job that runs or could start.
struct OpenSegment {
  JobId job;
  accounting::SegmentKind kind = accounting::SegmentKind::wait;
  OrgId organization;
  Instant since;  // the run's start, or when the present stretch of waiting began
  ProcessorMillionths processors;
};

// Calls visit(OpenSegment) for each, ascending by job; a job has at most an open run and a wait.
template <typename Visit>
void for_each_open_segment(const accounting::State& state, Visit&& visit) {
  for (const JobId id : state.jobs_with_open_segments()) {
    const accounting::JobMemory* job = state.find_job(id);
    if (job == nullptr) continue;
    for (const accounting::SegmentKey& key : job->segments) {
      const accounting::LiveSegment* segment = state.find_segment(key);
      if (segment == nullptr || segment->end) continue;
      const std::optional<OrgId> organization = state.find_organization(segment->opened.organization);
      if (!organization) continue;
      visit(OpenSegment{.job = id,
                        .kind = key.kind,
                        .organization = *organization,
                        .since = key.anchor,
                        .processors = segment->opened.processors});
    }
  }
}

}  // namespace shapley::ledger
