// `experiment stability`: its cases, rules and measures (stability_cases.cpp); further parts, an old debt and a weekly
// maintenance (stability_disturbances.cpp), debts of many sizes and kinds (stability_worlds.cpp), members that join and
// leave (stability_members.cpp); its results for people and programs.
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
#include "game/braking.hpp"
#include "game/serving_order.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"
#include "sim/comparison.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/json.hpp"
#include "sim/results.hpp"

namespace shapley::sim {

inline constexpr std::int64_t k_hour_s = 3600;
// Shares are even where they are within this of what is owned, as a part of the machine.
inline constexpr double k_even = 0.02;

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
struct RunTimes {  // lognormal, sigma 1.2
  std::int64_t median_s = 2 * 3600;
  std::int64_t most_s = 24 * 3600;
};
void add_made_jobs(scheduling::Instance& instance, std::uint32_t organization, Instant begin, Instant end, double work,
                   Rng& rng, const RunTimes& runs = {});

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
// default's weight; braking under every guarantee. A name that has a rule (direct_contr@7d) stands for that one alone.
[[nodiscard]] std::vector<std::string> rules_of(const std::vector<std::string>& policies);

// The rules for a weekly maintenance (stability_disturbances.cpp): every policy under 7 d and 30 d, without a guarantee
// and with the default's, once a pass and with weights 0 to 1 of what runs; the default once a pass; braking without a
// guarantee, with the default's, and once a pass; fair_share after
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

// Debts of many sizes and kinds: organization 1 was away while the others used its processors; from `back` on each has
// more work than it can do, or as much as the name says.
struct DebtWorld {
  std::string name;
  scheduling::Instance instance;
  Instant back;
};
// Owners 32/16/16, 56/4/4 and 8/28/28 after 5, 30, 120 and 365 days; and after 30 days run times of other medians, a
// mean residual run time that is three times wrong, loads of 1.05 and 1.6, an organization without processors, eight.
// Of arguments that say how many organizations: so many of two processors after 30 days.
[[nodiscard]] std::vector<DebtWorld> debt_worlds(const ExperimentArguments& arguments);

// Standing: phi - psi of organization 1, by its part of all that ran.
struct DebtMeasures {
  double deviation_weekly = 0;  // of shares, in the last third
  double deviation_hourly = 0;
  double below = 0;                       // the share that organization 1 lacks most in any whole week from `back` on
  double beyond = 0;                      // the standing on the other side, as a part of the greatest
  std::optional<std::int64_t> even{};     // weeks from `back` until all shares stay within 2 points of what is owned
  std::optional<std::int64_t> settled{};  // weeks from `back` until the standing stays below a tenth of the greatest
  Duration longest_wait;
  std::vector<double> shares{};  // of organization 1, by week
};
constexpr auto description_of(std::type_identity<DebtMeasures>) {
  using M = DebtMeasures;
  return describe(member("deviation_weekly", &M::deviation_weekly), member("deviation_hourly", &M::deviation_hourly),
                  member("below", &M::below), member("beyond", &M::beyond), member("even_weeks", &M::even),
                  member("settled_weeks", &M::settled), member("longest_wait_s", &M::longest_wait),
                  member("weekly_shares", &M::shares));
}
[[nodiscard]] DebtMeasures measure_debt(const DebtWorld& world, std::span<const scheduling::Start> schedule);

// Every policy but ref under the published rule, horizons of 1 to 120 days, and braking with several guarantees and
// paces; fair_share and fair_tree. A name that has a rule stands for that one alone.
[[nodiscard]] std::vector<std::string> rules_for_debts(const std::vector<std::string>& policies);
// Units in this order: all rules in the first world, then in the next one.
[[nodiscard]] Expected<Units<DebtMeasures>> run_worlds(const std::vector<std::string>& rules,
                                                       const ExperimentArguments& arguments);
void print_worlds(const std::vector<std::string>& rules, const Units<DebtMeasures>& measured,
                  const ExperimentArguments& arguments, std::ostream& out);
// The shares of organization 1 after 120 days, owners 32/16/16, under the rules with a guarantee of a half that look
// farthest ahead, and the one that brakes.
[[nodiscard]] Expected<void> plot_worlds(const std::vector<std::string>& rules, const Units<DebtMeasures>& measured,
                                         const ExperimentArguments& arguments);

// Members that join, leave, or exchange nodes: owners change after 12 of 60 weeks, when work has waited for long. The
// schedule is EASY's with jobs of one processor.
struct MemberWorld {
  std::string name;
  scheduling::EasyInstance instance;
  Instant changed;
  Instant end;  // of what is measured
};
[[nodiscard]] std::vector<MemberWorld> member_worlds(std::uint64_t seed);

struct MemberMeasures {
  double deviation_hourly = 0;  // of shares, in the last third
  double below = 0;             // what any organization lacks most to its part in any whole week after the change
  std::optional<std::int64_t> even{};  // weeks from the change until all shares stay within 2 points of what is owned
  std::vector<std::vector<double>> shares{};  // by organization and week after the change
};
constexpr auto description_of(std::type_identity<MemberMeasures>) {
  using M = MemberMeasures;
  return describe(member("deviation_hourly", &M::deviation_hourly), member("below", &M::below),
                  member("even_weeks", &M::even), member("weekly_shares", &M::shares));
}
[[nodiscard]] MemberMeasures measure_members(const MemberWorld& world, const scheduling::EasySchedule& schedule);

// Every policy with a horizon and with braking, and fair_share. A name that has a rule stands for that one alone.
[[nodiscard]] std::vector<std::string> rules_for_members(const std::vector<std::string>& policies);
// Units in this order: all rules in the first world, then in the next one.
[[nodiscard]] Expected<Units<MemberMeasures>> run_members(const std::vector<std::string>& rules,
                                                          const ExperimentArguments& arguments);
void print_members(const std::vector<std::string>& rules, const Units<MemberMeasures>& measured, std::uint64_t seed,
                   std::ostream& out);

// A search for counterexamples: small worlds of random owners, run times and loads, some organizations away at times.
struct SearchedWorld {
  std::string world;
  // By rule of searched_rules:
  std::vector<double> uneven{};  // greatest distance of a share from what is owned, in the last four weeks
  std::vector<double> deviation_hourly{};
  std::vector<double> beyond{};
  std::vector<std::int64_t> longest_wait_s{};
};
constexpr auto description_of(std::type_identity<SearchedWorld>) {
  using W = SearchedWorld;
  return describe(member("world", &W::world), member("uneven", &W::uneven),
                  member("deviation_hourly", &W::deviation_hourly), member("beyond", &W::beyond),
                  member("longest_wait_s", &W::longest_wait_s));
}
[[nodiscard]] std::vector<std::string> searched_rules();
[[nodiscard]] Expected<Units<SearchedWorld>> run_search(const ExperimentArguments& arguments);
void print_search(const Units<SearchedWorld>& measured, std::ostream& out);

}  // namespace shapley::sim
