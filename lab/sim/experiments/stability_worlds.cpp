#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <sstream>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "scheduling/simulate.hpp"
#include "sim/experiments/stability.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

constexpr std::int64_t k_week_s = 7 * k_day_s;
constexpr std::int64_t k_hours_of_week = k_week_s / k_hour_s;
constexpr RunTimes k_short_runs{600, 24 * k_hour_s};
constexpr RunTimes k_long_runs{12 * k_hour_s, 7 * k_day_s};
constexpr std::size_t k_searched = 2000;
constexpr double k_settled = 0.1;

using Owned = std::vector<std::uint32_t>;

std::string slashed(const Owned& processors) {
  std::string text;
  for (const std::uint32_t one : processors) text += (text.empty() ? "" : "/") + std::to_string(one);
  return text;
}

// The mean residual run time of all jobs.
Duration residual_of(const scheduling::Instance& instance) {
  double work = 0;
  double squares = 0;
  for (const scheduling::Job& job : instance.jobs) {
    const auto seconds = static_cast<double>(job.duration.value);
    work += seconds;
    squares += seconds * seconds;
  }
  return {std::max<std::int64_t>(1, static_cast<std::int64_t>(squares / (2 * work)))};
}

// Organization 1 is away for `alone`, in which the others could use the whole machine; from then on each sends more
// than it gets at any time, or with `load` > 0 that many times what its own processors can do.
DebtWorld debt_world(const Owned& owned, std::int64_t days, std::int64_t weeks_after, const RunTimes& runs, double load,
                     std::uint64_t seed) {
  DebtWorld world{slashed(owned) + ", " + std::to_string(days) + " d", {owned, {}, {}, {}}, {days * k_day_s}};
  scheduling::Instance& instance = world.instance;
  instance.end = world.back + Duration{weeks_after * k_week_s};
  const auto machine = static_cast<double>(instance.total_processors());
  const double others = machine - owned[1];
  Rng rng(seed);
  for (std::uint32_t u = 0; u < owned.size(); ++u) {
    const double part = owned[u] / others;
    const double early = load > 0 ? load : 1.2;
    if (u != 1 && owned[u] > 0) {
      add_made_jobs(instance, u, Instant{0}, world.back, early * part * machine * static_cast<double>(world.back.value),
                    rng, runs);
    }
    const double late = load > 0 ? load * owned[u] : (u == 1 ? 1.02 * machine : 2.0 * owned[u] + 1);
    add_made_jobs(instance, u, world.back, instance.end, late * static_cast<double>((instance.end - world.back).value),
                  rng, runs);
  }
  return world;
}

// By hour, what the organizations are due, their part of all that ran, less what they got.
std::vector<std::vector<double>> due_by_hour(const DebtWorld& world,
                                             const std::vector<std::vector<double>>& hourly_shares) {
  const auto total = static_cast<double>(world.instance.total_processors());
  std::vector<std::vector<double>> due(hourly_shares.size());
  for (std::size_t u = 0; u < due.size(); ++u) {
    for (std::size_t hour = 0; hour < hourly_shares[u].size(); ++hour) {
      double busy = 0;
      for (const std::vector<double>& of_one : hourly_shares) busy += of_one[hour];
      due[u].push_back(world.instance.processors[u] / total * busy - hourly_shares[u][hour]);
    }
  }
  return due;
}

}  // namespace

std::vector<std::string> rules_for_debts(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  const game::ServingRule by_default = game::k_horizon_rule;
  for (const std::string& policy : policies) {
    if (policy == "ref") continue;  // it has no standings, and takes long
    rules.push_back(policy);
    if (policy.find('@') != std::string::npos) continue;
    for (const std::int64_t days : {1, 7, 30, 120})
      rules.push_back(policy_text(policy, {{days * k_day_s}, by_default.guarantee, by_default.running}));
    for (const std::int32_t millionths : {0, 250'000, 500'000, 750'000}) {
      const game::Guarantee guarantee{millionths};
      rules.push_back(
          policy_text(policy, {.horizon = {}, .guarantee = guarantee, .pace = game::pace_under(guarantee)}));
    }
    for (const std::int32_t pace : {125'000, 500'000, 1'000'000})
      rules.push_back(policy_text(policy, {.horizon = {}, .guarantee = by_default.guarantee, .pace = {pace}}));
    rules.push_back(policy_text(policy, {.horizon = {}, .guarantee = {750'000}, .pace = {250'000}}));
  }
  rules.insert(rules.end(), {k_fair_share, "fair_tree"});
  return rules;
}

std::vector<DebtWorld> debt_worlds(const ExperimentArguments& arguments) {
  const std::uint64_t seed = arguments.seed;
  std::vector<DebtWorld> worlds;
  for (const std::size_t organizations : arguments.organizations) {
    worlds.push_back(debt_world(Owned(std::max<std::size_t>(organizations, 2), 2), 30, 90, {}, 0, seed));
    worlds.back().name = std::to_string(organizations) + " of 2 each, 30 d";
  }
  if (!worlds.empty()) return worlds;
  const std::array<Owned, 3> owners{Owned{32, 16, 16}, Owned{56, 4, 4}, Owned{8, 28, 28}};
  const std::array<std::array<std::int64_t, 2>, 4> debts{{{5, 40}, {30, 90}, {120, 200}, {365, 450}}};
  for (const Owned& owned : owners)
    for (const auto& [days, weeks] : debts) worlds.push_back(debt_world(owned, days, weeks, {}, 0, seed));
  const Owned& usual = owners.front();
  const auto add = [&](const char* what, DebtWorld world) {
    world.name += what;
    worlds.push_back(std::move(world));
  };
  add(", median run 10 min", debt_world(usual, 30, 60, k_short_runs, 0, seed));
  add(", median run 12 h", debt_world(usual, 30, 90, k_long_runs, 0, seed));
  for (const bool large : {false, true}) {
    DebtWorld world = debt_world(usual, 30, 90, {}, 0, seed);
    const Duration m = residual_of(world.instance);
    world.instance.residual = {large ? 3 * m.value : m.value / 3};
    add(large ? ", m three times too large" : ", m three times too small", std::move(world));
  }
  add(", load 1.05", debt_world(usual, 30, 90, {}, 1.05, seed));
  add(", load 1.6", debt_world(usual, 30, 90, {}, 1.6, seed));
  add(", one without processors", debt_world({32, 32, 0}, 30, 90, {}, 0, seed));
  add("", debt_world(Owned(8, 8), 30, 90, {}, 0, seed));
  return worlds;
}

DebtMeasures measure_debt(const DebtWorld& world, std::span<const scheduling::Start> schedule) {
  const StabilityMeasures weeks = measure_stability(world.instance, schedule, {k_week_s});
  const StabilityMeasures hours = measure_stability(world.instance, schedule, {k_hour_s});
  DebtMeasures measures{weeks.deviation_late, hours.deviation_late, 0, 0, {}, {}, weeks.longest_wait, {}};
  const auto total = static_cast<double>(world.instance.total_processors());
  const std::size_t all = weeks.shares.front().size();
  const auto back = static_cast<std::size_t>((world.back.value + k_week_s - 1) / k_week_s);  // the first whole week
  std::size_t even = back;
  for (std::size_t u = 0; u < weeks.shares.size(); ++u) {
    const double own = world.instance.processors[u] / total;
    for (std::size_t week = back; week < all; ++week)
      if (std::abs(weeks.shares[u][week] - own) > k_even) even = std::max(even, week + 1);
  }
  const double own = world.instance.processors[1] / total;
  for (std::size_t week = back; week < all; ++week)
    measures.below = std::max(measures.below, own - weeks.shares[1][week]);
  measures.shares = weeks.shares[1];
  if (even < all) measures.even = static_cast<std::int64_t>(even - back);

  const std::vector<double> due = due_by_hour(world, hours.shares)[1];
  double work = 0;
  double standing = 0;
  double greatest = 0;
  double least = 0;
  std::vector<double> by_week;
  for (std::size_t hour = 0; hour < due.size(); ++hour) {
    work += due[hour];
    standing += work;
    greatest = std::max(greatest, standing);
    least = std::min(least, standing);
    if ((hour + 1) % static_cast<std::size_t>(k_hours_of_week) == 0) by_week.push_back(standing);
  }
  if (greatest > 0) measures.beyond = -least / greatest;
  std::size_t settled = back;
  for (std::size_t week = back; week < by_week.size(); ++week)
    if (std::abs(by_week[week]) > k_settled * greatest) settled = week + 1;
  if (settled < by_week.size()) measures.settled = static_cast<std::int64_t>(settled - back);
  return measures;
}

namespace {

Expected<DebtMeasures> run_world(const DebtWorld& world, const std::string& rule, std::uint64_t seed) {
  PolicyOptions options;
  options.seed = seed;
  SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rule, world.instance, options));
  const scheduling::SimulationResult result = scheduling::simulate(world.instance, *policy);
  return measure_debt(world, result.schedule);
}

// Two to five organizations of 0 to 8 processors; run times of 1, 2 or 12 h median. For three weeks each works
// in spells of its own, at a load of .2 to 3 in each, or not at all; then all have more work than they can do.
DebtWorld random_world(std::uint64_t seed) {
  Rng rng(seed);
  const std::size_t organizations = 2 + rng.below(4);
  Owned owned;
  for (std::size_t u = 0; u < organizations; ++u) owned.push_back(static_cast<std::uint32_t>(rng.below(9)));
  owned[1] = std::max(owned[1], 1U);
  constexpr std::int64_t k_weeks_apart = 3;
  constexpr std::int64_t k_weeks_after = 40;
  DebtWorld world{
      "world " + std::to_string(seed) + ": " + slashed(owned), {owned, {}, {}, {}}, {k_weeks_apart * k_week_s}};
  scheduling::Instance& instance = world.instance;
  instance.end = world.back + Duration{k_weeks_after * k_week_s};
  const auto machine = static_cast<double>(instance.total_processors());
  const std::array<RunTimes, 3> kinds{RunTimes{k_hour_s, k_day_s}, RunTimes{}, k_long_runs};
  for (std::uint32_t u = 0; u < organizations; ++u) {
    const RunTimes& runs = kinds[rng.below(kinds.size())];
    for (std::int64_t at = 0; at < world.back.value;) {
      const std::int64_t until =
          std::min(world.back.value, at + k_day_s + static_cast<std::int64_t>(rng.below(2 * k_week_s)));
      const double load = rng.below(3) == 0 ? 0 : 0.2 + 2.8 * rng.uniform();
      if (load > 0) {
        const double sent = load * std::max(owned[u], 1U) * static_cast<double>(until - at);
        add_made_jobs(instance, u, {at}, {until}, sent, rng, runs);
      }
      at = until;
    }
    add_made_jobs(instance, u, world.back, instance.end,
                  1.02 * machine * static_cast<double>((instance.end - world.back).value), rng, runs);
  }
  return world;
}

// How far a share of the last `weeks` weeks is from what is owned, at most.
double unevenness(const DebtWorld& world, std::span<const scheduling::Start> schedule, std::size_t weeks) {
  const StabilityMeasures measures = measure_stability(world.instance, schedule, {k_week_s});
  const auto total = static_cast<double>(world.instance.total_processors());
  double greatest = 0;
  for (std::size_t u = 0; u < measures.shares.size(); ++u) {
    const std::vector<double>& shares = measures.shares[u];
    for (std::size_t week = shares.size() - weeks; week < shares.size(); ++week)
      greatest = std::max(greatest, std::abs(shares[week] - world.instance.processors[u] / total));
  }
  return greatest;
}

}  // namespace

Expected<Units<DebtMeasures>> run_worlds(const std::vector<std::string>& rules, const ExperimentArguments& arguments) {
  const std::vector<DebtWorld> worlds = debt_worlds(arguments);
  return run_units<DebtMeasures>("worlds", worlds.size() * rules.size(), arguments, [&](std::size_t i) {
    return run_world(worlds[i / rules.size()], rules[i % rules.size()], arguments.seed);
  });
}

void print_worlds(const std::vector<std::string>& rules, const Units<DebtMeasures>& measured,
                  const ExperimentArguments& arguments, std::ostream& out) {
  if (measured.empty()) return;
  const std::vector<DebtWorld> worlds = debt_worlds(arguments);
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    out << "## worlds: " << worlds[w].name << "\n\n" << std::left << std::setw(32) << "RULE" << std::right;
    for (const char* head : {"EVEN", "SETTLED", "BELOW", "BEYOND", "SD WEEK", "SD HOUR", "LONGEST"})
      out << std::setw(9) << head;
    out << "  SHARES OF THE SECOND AFTER 1, 5, 10, 20, 40 WEEKS\n";
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const std::size_t unit = w * rules.size() + r;
      if (unit >= measured.size() || !measured[unit]) continue;
      const DebtMeasures& found = *measured[unit];
      const auto weeks = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : std::string("-"); };
      out << std::left << std::setw(32) << rules[r] << std::right << std::setw(9) << weeks(found.even) << std::setw(9)
          << weeks(found.settled) << std::setw(9) << fixed(100 * found.below, 1) << std::setw(9)
          << fixed(100 * found.beyond, 1) << std::setw(9) << fixed(100 * found.deviation_weekly, 1) << std::setw(9)
          << fixed(100 * found.deviation_hourly, 1) << std::setw(9)
          << fixed(static_cast<double>(found.longest_wait.value) / static_cast<double>(k_day_s), 1) << ' ';
      const auto back = static_cast<std::size_t>((worlds[w].back.value + k_week_s - 1) / k_week_s);
      for (const std::size_t after : {1U, 5U, 10U, 20U, 40U})
        if (back + after - 1 < found.shares.size()) out << ' ' << fixed(100 * found.shares[back + after - 1], 0);
      out << '\n';
    }
    out << '\n';
  }
}

Expected<void> plot_worlds(const std::vector<std::string>& rules, const Units<DebtMeasures>& measured,
                           const ExperimentArguments& arguments) {
  if (measured.empty() || !arguments.organizations.empty()) return {};
  constexpr std::size_t k_drawn = 2;
  const std::string about = debt_worlds(arguments)[k_drawn].name;
  CaseResult drawn{"debt", about, {}};
  std::vector<std::string> names;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const bool wanted =
        rules[r].ends_with("@30d/0.5/0.1") || rules[r].ends_with("@120d/0.5/0.1") || rules[r].ends_with("@braking/0.5");
    const auto& found = measured[k_drawn * rules.size() + r];
    if (!wanted || !found) continue;
    RuleMeasures measures{rules[r], 0, {}};
    measures.measures.shares = {std::vector<double>(found->shares.size()), found->shares};
    drawn.rules.push_back(std::move(measures));
    names.push_back(rules[r]);
  }
  return plot_case(arguments.plot / "stability-debt.svg", drawn, names);
}

Expected<Units<SearchedWorld>> run_search(const ExperimentArguments& arguments) {
  const std::vector<std::string> rules = searched_rules();
  const std::size_t worlds = arguments.instances.value_or(k_searched);
  return run_units<SearchedWorld>("search", worlds, arguments, [&](std::size_t i) -> Expected<SearchedWorld> {
    const DebtWorld world = random_world(arguments.seed + i);
    SearchedWorld found{world.name, {}, {}, {}, {}};
    for (const std::string& rule : rules) {
      PolicyOptions options;
      options.seed = arguments.seed;
      SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rule, world.instance, options));
      const scheduling::SimulationResult result = scheduling::simulate(world.instance, *policy);
      const DebtMeasures measures = measure_debt(world, result.schedule);
      found.uneven.push_back(unevenness(world, result.schedule, 4));
      found.deviation_hourly.push_back(measures.deviation_hourly);
      found.beyond.push_back(measures.beyond);
      found.longest_wait_s.push_back(measures.longest_wait.value);
    }
    return found;
  });
}

std::vector<std::string> searched_rules() {
  return {"direct_contr@30d/0.5/0.1", "direct_contr@braking/0.5",    "direct_contr@braking/0.75",
          "direct_contr@30d/0/0.1",   "direct_contr@braking/0/0.25", "direct_contr@braking",
          "shapley_rate@braking/0.5"};
}

void print_search(const Units<SearchedWorld>& measured, std::ostream& out) {
  const std::vector<SearchedWorld> worlds = finished_units(measured);
  if (worlds.empty()) return;
  out << "## search: " << counted(worlds.size(), "random world") << "\n\n"
      << "UNEVEN: worlds whose shares of the last four weeks are more than two points off; WORST: the greatest "
         "distance.\n"
      << "HOURLY: mean and greatest deviation of hourly shares, points; WAIT: mean ratio of the longest wait to the "
         "first "
         "rule's, and the greatest.\n\n"
      << std::left << std::setw(32) << "RULE" << std::right;
  for (const char* head : {"UNEVEN", "WORST", "HOURLY", "WORST", "WAIT", "WORST"}) out << std::setw(9) << head;
  out << "  WHERE\n";
  const std::vector<std::string> rules = searched_rules();
  for (std::size_t r = 0; r < rules.size(); ++r) {
    std::size_t uneven = 0;
    double hourly = 0;
    double ratio = 0;
    const SearchedWorld* worst = &worlds.front();
    const SearchedWorld* unsteady = &worlds.front();
    const SearchedWorld* longest = &worlds.front();
    const auto ratio_of = [r](const SearchedWorld& world) {
      return static_cast<double>(world.longest_wait_s[r]) /
             std::max(1.0, static_cast<double>(world.longest_wait_s.front()));
    };
    for (const SearchedWorld& world : worlds) {
      uneven += world.uneven[r] > k_even ? 1U : 0U;
      hourly += world.deviation_hourly[r];
      ratio += ratio_of(world);
      if (world.uneven[r] > worst->uneven[r]) worst = &world;
      if (world.deviation_hourly[r] > unsteady->deviation_hourly[r]) unsteady = &world;
      if (ratio_of(world) > ratio_of(*longest)) longest = &world;
    }
    const auto n = static_cast<double>(worlds.size());
    out << std::left << std::setw(32) << rules[r] << std::right << std::setw(9) << uneven << std::setw(9)
        << fixed(100 * worst->uneven[r], 1) << std::setw(9) << fixed(100 * hourly / n, 2) << std::setw(9)
        << fixed(100 * unsteady->deviation_hourly[r], 1) << std::setw(9) << fixed(ratio / n, 2) << std::setw(9)
        << fixed(ratio_of(*longest), 2) << "  " << worst->world << "; " << unsteady->world << "; " << longest->world
        << '\n';
  }
  out << '\n';
}

}  // namespace shapley::sim
