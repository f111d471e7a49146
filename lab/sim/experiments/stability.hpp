// `experiment stability`: its cases, rules and measures (stability_cases.cpp); further parts, an old debt and a weekly
// maintenance (stability_disturbances.cpp); its results for people and programs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"
#include "sim/comparison.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/json.hpp"
#include "sim/results.hpp"

namespace shapley::sim {

// The cases of `experiment stability`: machines on which jobs wait for long, and whole years of traces.
//
// The synthetic cases last 40 weeks, head_start 80, on 16 processors for each organization. Run times are lognormal
// with a median of 2 h, at most 24 h; their mean residual run time E[d^2] / 2 E[d] is about 5 h. Same seed, same jobs,
// on any machine.
struct StabilityCase {
  std::string name;   // "load_1.05", "LPC-EGEE_0.95": also a part of its plots' file names
  std::string about;  // one line
  scheduling::Instance instance;
};

// saturated   two equal organizations, each of which sends more than the processors of both can do
// load_1.05   four equal organizations, each of which sends 1.05 times what its processors can do
// bursty      four equal organizations, each of which sends .95 times that, as 20 bursts of an hour
// head_start  as saturated, but the first was alone for 30 days
[[nodiscard]] std::vector<StabilityCase> made_cases(std::uint64_t seed);

// Adds jobs of the organization, released at random instants of [begin, end), until their sum is `work` processor
// seconds, and orders all jobs by release.
void add_made_jobs(scheduling::Instance& instance, std::uint32_t organization, Instant begin, Instant end, double work,
                   Rng& rng);

// Two equal organizations, always busy for `length`, after the first was alone for the first `alone` of it.
[[nodiscard]] StabilityCase head_start(Duration alone, Duration length, std::uint64_t seed);

// The first year (all of it, if it is shorter) of each trace at loads .8, .95 and 1.05: users assigned at random to
// five organizations, equal processors, as many as result in that load; parallel jobs as copies. Empty if there is no
// trace.
[[nodiscard]] Expected<std::vector<StabilityCase>> year_cases(const ExperimentArguments& arguments);

// The effects of a schedule on members of a consortium: shares of the machine over time, and waiting.
struct StabilityMeasures {
  // From release to start; for a job that does not start, to the instance's end.
  Duration longest_wait;
  // The longest time for which an organization had a job waiting and none started: starvation.
  Duration longest_without_start;
  // Standard deviation of an organization's shares, the greatest of all organizations', over the last third of the
  // slices, and over all slices.
  double deviation_late = 0;
  double deviation = 0;
  std::vector<double> mean_wait_s;  // by organization; 0 without jobs
  // By organization and slice: the part of the machine's processor seconds that its jobs used. Whole slices only.
  std::vector<std::vector<double>> shares;
};
constexpr auto description_of(std::type_identity<StabilityMeasures>) {
  using M = StabilityMeasures;
  return describe(member("longest_wait_s", &M::longest_wait),
                  member("longest_without_start_s", &M::longest_without_start),
                  member("deviation_late", &M::deviation_late), member("deviation", &M::deviation),
                  member("mean_wait_s", &M::mean_wait_s), member("weekly_shares", &M::shares));
}

// Standard deviation with n; 0 without values.
[[nodiscard]] double deviation_of(std::span<const double> values);

// REQUIRES: a schedule of this instance in which each organization's jobs start in the order of (release, position);
// slice >= 1 s.
[[nodiscard]] StabilityMeasures measure_stability(const scheduling::Instance& instance,
                                                  std::span<const scheduling::Start> schedule, Duration slice);

// The rules that `experiment stability` compares, by the names that the registry reads.
//
// 0, 1 h, 6 h, 1 d, 7 d, 30 d; 0, .5, .8.
[[nodiscard]] std::vector<Duration> stability_horizons();
[[nodiscard]] std::vector<game::Guarantee> stability_guarantees();

// Every policy under every horizon and guarantee, the published rule first; then, with the default's horizon and
// guarantee, weights of what runs, and organizations ordered once a pass (except ref); with other horizons the
// default's weight.
[[nodiscard]] std::vector<std::string> rules_of(const std::vector<std::string>& policies);

// The rules for a weekly maintenance (stability_disturbances.cpp): every policy under 7 d and 30 d, without a guarantee
// and with the default's, once a pass and with weights 0 to 1 of what runs; the default once a pass; fair_share after
// every start and once a pass.
[[nodiscard]] std::vector<std::string> rules_after_maintenance(const std::vector<std::string>& policies);

// The baseline of the criteria, the policy whose unfairness is the measure, and the limit of members' waiting.
inline constexpr const char* k_fair_share = "fair_share";
inline constexpr const char* k_measure = "direct_contr";
inline constexpr double k_wait_factor = 1.5;
inline constexpr double k_deviation_factor = 1.2;
inline constexpr double k_deviation_margin = 0.01;  // of the machine
inline constexpr double k_unfairness_factor = 1.3;

struct RuleMeasures {
  std::string rule;             // as the registry reads it
  double deviation_hourly = 0;  // as deviation_late, of hours
  StabilityMeasures measures;   // of weeks
};
constexpr auto description_of(std::type_identity<RuleMeasures>) {
  using R = RuleMeasures;
  return describe(member("rule", &R::rule), member("deviation_hourly", &R::deviation_hourly), flattened(&R::measures));
}
struct CaseResult {
  std::string name;
  std::string about;
  std::vector<RuleMeasures> rules;  // fair_share is one of them
};
constexpr auto description_of(std::type_identity<CaseResult>) {
  return describe(member("case", &CaseResult::name), member("about", &CaseResult::about),
                  member("rules", &CaseResult::rules));
}

// Windows of one length of one trace, against one reference.
struct WindowsResult {
  std::string trace;
  ComparisonSettings settings;
  std::size_t windows = 0;
  std::vector<PolicySummary> summaries;
};
[[nodiscard]] Json json_value(const WindowsResult& result);

inline constexpr const char* k_wait = "longest wait (days)";
inline constexpr const char* k_deviation = "deviation of shares (points)";
inline constexpr const char* k_unfairness = "unfairness (s)";

// One line of the result of the criteria.
struct Criterion {
  std::string what;  // k_wait, k_deviation or k_unfairness
  std::string where;
  std::string rule;
  double found = 0;
  double allowed = 0;
  [[nodiscard]] bool holds() const { return found <= allowed; }
};
[[nodiscard]] Json json_value(const Criterion& criterion);
// Whether the `rules` satisfy the criteria of experiment_stability, rule by rule. Windows with a reference other than
// ref are left out.
[[nodiscard]] std::vector<Criterion> judge(const std::vector<std::string>& rules, const std::vector<CaseResult>& cases,
                                           const std::vector<WindowsResult>& windows);

void print_case(const CaseResult& result, std::ostream& out);
void print_windows(const WindowsResult& result, std::ostream& out);
// Prints the criteria of the rules that are the default of some policy, one by one; for every rule, how many fail.
void print_criteria(const std::vector<Criterion>& criteria, std::ostream& out);

// Weekly shares of the organization whose share varies most under the first of `rules`, a line for each of them.
[[nodiscard]] Expected<void> plot_case(const std::filesystem::path& file, const CaseResult& result,
                                       const std::vector<std::string>& rules);

// How long it takes to pay back an old debt, by its age: the first of two equal organizations that are always busy was
// alone for some days; from then on, weeks until both permanently have half of the machine.
struct DebtResult {
  std::string rule;  // as the registry reads it
  std::vector<std::int64_t> days_alone;
  std::vector<std::optional<double>> weeks;  // until settled; nullopt: not within 120 weeks
};
constexpr auto description_of(std::type_identity<DebtResult>) {
  return describe(member("rule", &DebtResult::rule), member("days_alone", &DebtResult::days_alone),
                  member("weeks", &DebtResult::weeks));
}

// The weeks from `begin` (in weeks) after which every share stays within 5 points of a half; nullopt if the last one
// does not.
[[nodiscard]] std::optional<double> weeks_to_settle(const std::vector<double>& weekly_shares, double begin);

// For one rule and number of days: as in DebtResult.
struct Settled {
  std::optional<double> weeks;
};
constexpr auto description_of(std::type_identity<Settled>) {
  return describe(member("weeks", &Settled::weeks));
}

// Units in this order: all numbers of days under the first rule, then under the next one.
[[nodiscard]] Expected<Units<Settled>> run_debts(const std::vector<std::string>& rules,
                                                 const ExperimentArguments& arguments);
// In the order of `rules`; those that were run with all numbers of days. Errc::corrupt: units of other rules.
[[nodiscard]] Expected<std::vector<DebtResult>> debts_of(const std::vector<std::string>& rules,
                                                         const Units<Settled>& settled);

void print_debts(const std::vector<DebtResult>& results, std::ostream& out);

// A machine that is drained once a week, so that everything becomes free at once: what each organization gets then, by
// the rule that ranks, and by whether organizations are ranked again after every start or once a pass.
//
// Three organizations of 32, 16 and 16 processors, each of which sends 1.05 times what its processors can do in the
// time in which jobs may start, as jobs of one processor (run times as in the cases), over 40 weeks. From the
// sixth day of each week on no job starts for 30 hours; what runs goes on, for 24 hours at most. Then all waiting
// jobs may start. Processors count as not offered meanwhile; of what still runs on them shapley_rate knows no giver.
// The schedule is EASY's (scheduling/easy.hpp), which with jobs of one processor starts the first one as long as
// anything is free.

inline constexpr std::size_t k_maintained_organizations = 3;

// In [from, to) no job starts.
struct Maintenance {
  Instant from;
  Instant to;
};
struct MaintainedMachine {
  scheduling::EasyInstance instance;
  std::vector<Maintenance> maintenances;
  Instant end;  // of what is measured; jobs are released before it
};
[[nodiscard]] MaintainedMachine maintained_machine(std::uint64_t seed);

// Processors by organization.
using Handful = std::array<std::int64_t, k_maintained_organizations>;
struct MaintenanceResult {
  std::string rule;              // as the registry reads it
  std::vector<Handful> at_once;  // by maintenance: what started in the first minute after it
  // Maintenances after which one organization got everything that started in that minute; and after which one got less
  // than half of its own processors although it waited for as many.
  std::size_t all_to_one = 0;
  std::size_t below_half = 0;
  // Standard deviation of hourly shares, the greatest of all organizations', over the last third of the hours that no
  // maintenance touches.
  double deviation_hourly = 0;
  Duration longest_wait;  // to the end at most
};
constexpr auto description_of(std::type_identity<MaintenanceResult>) {
  using R = MaintenanceResult;
  return describe(member("rule", &R::rule), member("first_minute", &R::at_once), member("all_to_one", &R::all_to_one),
                  member("below_half", &R::below_half), member("deviation_hourly", &R::deviation_hourly),
                  member("longest_wait_s", &R::longest_wait));
}
[[nodiscard]] MaintenanceResult measure_maintenance(const MaintainedMachine& machine, std::string rule,
                                                    const scheduling::EasySchedule& schedule);

// direct_contr and shapley_rate under the rules of rules_after_maintenance, and fair_share.
[[nodiscard]] Expected<Units<MaintenanceResult>> run_maintenance(const ExperimentArguments& arguments);

void print_maintenance(const std::vector<MaintenanceResult>& results, std::ostream& out);

}  // namespace shapley::sim
