#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <utility>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "scheduling/easy.hpp"
#include "sim/experiments/stability.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

constexpr Duration k_member_slice{7 * k_day_s};
constexpr Instant k_owners_change{12 * k_member_slice.value};
constexpr Instant k_members_end{60 * k_member_slice.value};
constexpr double k_members_load = 1.15;

// Owned before and from the change on. Each sends k_members_load times the most that it owns at any time. The second
// one is `away` for so many days, in which the others could use the whole machine.
MemberWorld member_world(std::string name, std::vector<std::uint32_t> before, std::vector<std::uint32_t> after,
                         std::int64_t away_days, Rng& rng) {
  MemberWorld world{std::move(name), {}, k_owners_change, k_members_end};
  scheduling::Instance jobs{.processors = before, .jobs = {}, .end = world.end};
  for (std::uint32_t u = 0; u < before.size(); ++u) {
    const auto send = [&](Instant begin, Instant end, double processors) {
      if (begin < end) add_made_jobs(jobs, u, begin, end, processors * static_cast<double>((end - begin).value), rng);
    };
    const double most = k_members_load * std::max(before[u], after[u]);
    const Instant back{away_days * k_day_s};
    if (u != 1) send({}, back, 2 * most);
    send(before[u] == 0 ? world.changed : back, world.end, most);
  }
  world.instance = {.endowments = {{Instant{}, std::move(before)}, {world.changed, std::move(after)}},
                    .jobs = std::move(jobs.jobs),
                    .requested = {},
                    .latest = {2 * k_members_end.value}};
  for (const scheduling::Job& job : world.instance.jobs) world.instance.requested.push_back(job.duration);
  return world;
}

}  // namespace

std::vector<MemberWorld> member_worlds(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<MemberWorld> worlds;
  worlds.push_back(member_world("a third of 4 joins 4 and 4", {4, 4, 0}, {4, 4, 4}, 0, rng));
  worlds.push_back(member_world("of 6, 2 and 4 the first two exchange theirs", {6, 2, 4}, {2, 6, 4}, 0, rng));
  worlds.push_back(member_world("one of three of 4 that was away for 30 days takes its nodes, its jobs go on",
                                {4, 4, 4}, {4, 0, 4}, 30, rng));
  return worlds;
}

std::vector<std::string> rules_for_members(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  const game::Guarantee half = game::k_default_guarantee;
  for (const std::string& policy : policies) {
    if (policy.find('@') != std::string::npos) {
      rules.push_back(policy);
      continue;
    }
    rules.push_back(policy_text(policy, game::k_horizon_rule));
    rules.push_back(policy_text(policy, {.horizon = {}, .guarantee = half, .pace = game::pace_under(half)}));
  }
  rules.emplace_back(k_fair_share);
  return rules;
}

MemberMeasures measure_members(const MemberWorld& world, const scheduling::EasySchedule& schedule) {
  const std::vector<std::uint32_t>& owned = world.instance.endowments.back().processors;
  const scheduling::Instance after{.processors = owned, .jobs = world.instance.jobs, .end = world.end};
  std::vector<scheduling::Start> starts;
  for (std::uint32_t job = 0; job < schedule.start.size(); ++job) {
    if (schedule.start[job] != scheduling::k_never_started && schedule.start[job] < world.end.value)
      starts.push_back({job, Instant{schedule.start[job]}});
  }
  const StabilityMeasures weeks = measure_stability(after, starts, k_member_slice);
  MemberMeasures measures;
  measures.deviation_hourly = measure_stability(after, starts, {k_hour_s}).deviation_late;
  const auto first = static_cast<std::size_t>((world.changed.value + k_member_slice.value - 1) / k_member_slice.value);
  const auto total = static_cast<double>(after.total_processors());
  std::size_t even = first;
  for (std::size_t u = 0; u < owned.size(); ++u) {
    const double own = owned[u] / total;
    for (std::size_t week = first; week < weeks.shares[u].size(); ++week) {
      measures.below = std::max(measures.below, own - weeks.shares[u][week]);
      if (std::abs(weeks.shares[u][week] - own) > k_even) even = std::max(even, week + 1);
    }
    measures.shares.emplace_back(weeks.shares[u].begin() + static_cast<std::ptrdiff_t>(first), weeks.shares[u].end());
  }
  if (even < weeks.shares.front().size()) measures.even = static_cast<std::int64_t>(even - first);
  return measures;
}

Expected<Units<MemberMeasures>> run_members(const std::vector<std::string>& rules,
                                            const ExperimentArguments& arguments) {
  const std::vector<MemberWorld> worlds = member_worlds(arguments.seed);
  return run_units<MemberMeasures>(
      "members", worlds.size() * rules.size(), arguments, [&](std::size_t i) -> Expected<MemberMeasures> {
        const MemberWorld& world = worlds[i / rules.size()];
        PolicyOptions options;
        options.seed = arguments.seed;
        SHAPLEY_TRY_ASSIGN(const auto policy,
                           make_policy(rules[i % rules.size()], scheduling::first_instance(world.instance), options));
        SHAPLEY_TRY_ASSIGN(const auto schedule, scheduling::simulate_easy(world.instance, policy.get()));
        return measure_members(world, schedule);
      });
}

void print_members(const std::vector<std::string>& rules, const Units<MemberMeasures>& measured, std::uint64_t seed,
                   std::ostream& out) {
  if (measured.empty()) return;
  const std::vector<MemberWorld> worlds = member_worlds(seed);
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    out << "## members: " << worlds[w].name << "\n\n" << std::left << std::setw(32) << "RULE" << std::right;
    for (const char* head : {"EVEN", "BELOW", "SD HOUR"}) out << std::setw(9) << head;
    out << "  SHARES AFTER 1, 5, 10, 20, 40 WEEKS\n";
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const std::size_t unit = w * rules.size() + r;
      if (unit >= measured.size() || !measured[unit]) continue;
      const MemberMeasures& found = *measured[unit];
      out << std::left << std::setw(32) << rules[r] << std::right << std::setw(9)
          << (found.even ? std::to_string(*found.even) : "-") << std::setw(9) << fixed(100 * found.below, 1)
          << std::setw(9) << fixed(100 * found.deviation_hourly, 1) << ' ';
      for (const std::size_t after : {1, 5, 10, 20, 40}) {
        for (std::size_t u = 0; u < found.shares.size(); ++u)
          out << (u == 0 ? ' ' : '/') << fixed(100 * found.shares[u].at(after - 1), 0);
      }
      out << '\n';
    }
    out << '\n';
  }
}

}  // namespace shapley::sim
