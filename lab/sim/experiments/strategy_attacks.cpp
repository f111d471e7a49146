#include <algorithm>
#include <array>
#include <vector>

#include "base/rng.hpp"
#include "sim/experiments/strategy.hpp"

namespace shapley::sim {

namespace {

constexpr std::int64_t k_play_length_s = 10'000;
constexpr std::int64_t k_node = 8;
// Parts of the submitted work. At load 1.05 the owners send enough for 10, 6 and 6 processors, the fourth for 3.2.
constexpr std::array<double, 4> k_parts{10 / 25.2, 6 / 25.2, 6 / 25.2, 3.2 / 25.2};

// Adds jobs until their sum is `work` processor seconds.
void add_jobs(ClusterScenario& scenario, std::uint32_t organization, double work, Rng& rng) {
  constexpr std::array<std::int64_t, 3> k_widths{1, 2, 4};
  for (double sent = 0; sent < work;) {
    ClusterJob job;
    job.organization = organization;
    job.submit = {static_cast<std::int64_t>(rng.below(k_play_length_s))};
    job.duration = {10 + static_cast<std::int64_t>(rng.below(301))};
    job.processors = k_widths[rng.below(k_widths.size())];
    job.useful = job.processors;
    sent += static_cast<double>(job.processors * job.duration.value);
    scenario.jobs.push_back(std::move(job));
  }
}

std::int64_t whole_cluster(const ClusterScenario& scenario) {
  std::int64_t processors = 0;
  for (const ClusterNode& node : scenario.nodes) processors += node.processors;
  return processors;
}

// Changes every job of the attacker.
template <typename Change>
void adapt_own(ClusterScenario& scenario, std::uint32_t attacker, const Change& change) {
  for (ClusterJob& job : scenario.jobs)
    if (job.organization == attacker) change(job);
}

// Junk is submitted once the cluster is busy, so that it never finds it empty.
Instant first_junk(const ClusterScenario& scenario) {
  return {scenario.length.value / 10};
}

// Makes jobs of the whole cluster's width go behind all others: they start when no other job waits.
void junk_goes_last(ClusterScenario& scenario, std::uint32_t attacker) {
  for (Instant at = first_junk(scenario); at < Instant{0} + scenario.length; at = at + Duration{300}) {
    ClusterJob junk;
    junk.organization = attacker;
    junk.submit = at;
    junk.processors = whole_cluster(scenario);
    junk.useful = 0;
    junk.goes_last = true;
    scenario.jobs.push_back(std::move(junk));
  }
}

// Adds useless jobs of one second, every `every` seconds from first_junk on.
void add_junk(ClusterScenario& scenario, std::uint32_t attacker, Duration every, std::int64_t processors,
              Duration give_up_after, std::vector<std::uint32_t> nodes = {}) {
  for (Instant at = first_junk(scenario); at < Instant{0} + scenario.length; at = at + every) {
    ClusterJob junk;
    junk.organization = attacker;
    junk.submit = at;
    junk.processors = processors;
    junk.useful = 0;
    junk.nodes = nodes;
    junk.give_up_after = give_up_after;
    scenario.jobs.push_back(std::move(junk));
  }
}

void junk_waits(ClusterScenario& scenario, std::uint32_t attacker) {
  add_junk(scenario, attacker, {300}, whole_cluster(scenario), {300});
}

void junk_starts(ClusterScenario& scenario, std::uint32_t attacker) {
  add_junk(scenario, attacker, {60}, 4, {});
}

void pinned(ClusterScenario& scenario, std::uint32_t attacker) {
  add_junk(scenario, attacker, {300}, scenario.nodes.front().processors, {}, {0});
}

void pinned_work(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [](ClusterJob& job) { job.nodes = {0}; });
}

// Such jobs are cancelled in the last second.
void always_waits(ClusterScenario& scenario, std::uint32_t attacker) {
  add_junk(scenario, attacker, scenario.length, whole_cluster(scenario),
           Instant{0} + scenario.length - first_junk(scenario) - Duration{1});
}

void twice(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [](ClusterJob& job) { job.processors *= 2; });
}

void move_accounts(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [&](ClusterJob& job) { job.other_account = attacker == 0 ? 1 : 0; });
}

constexpr std::uint32_t k_owner = 0;
constexpr std::uint32_t k_without_nodes = 3;
constexpr std::array k_attacks{
    Attack{"junk_waits", "a job of the whole cluster waits, cancelled and submitted again every 300 s",
           Remedy::retraction, k_owner, junk_waits},
    Attack{"always_waits", "one job of the whole cluster waits all the time, cancelled in the last second",
           Remedy::retraction, k_owner, always_waits},
    Attack{"junk_starts", "a job of 4 processors every 60 s, cancelled a second after its start", Remedy::none, k_owner,
           junk_starts},
    Attack{"pinned", "without nodes: a job of 1 s for a whole node of the first owner every 300 s", Remedy::placements,
           k_without_nodes, pinned},
    Attack{"nice", "without nodes: a job of 1 s for the whole cluster every 300 s, behind all others' (--nice)",
           Remedy::nice, k_without_nodes, junk_goes_last},
    Attack{"pinned_work", "without nodes: every job for the node of the first owner", Remedy::placements,
           k_without_nodes, pinned_work},
    Attack{"move", "waiting jobs go, every 60 s, to the better ranked of the attacker's and another account",
           Remedy::retraction, k_owner, move_accounts},
    Attack{"twice", "every job asks for twice the processors that it needs, and holds them", Remedy::none, k_owner,
           twice}};

}  // namespace

const std::vector<StrategyCase>& strategy_cases() {
  static const std::vector<StrategyCase> cases{
      {"load_0.80", "three owners of 8 processors and one organization without, load .8", 0.8},
      {"load_1.05", "the same, load 1.05", 1.05},
      {"saturated", "the same, load 2", 2}};
  return cases;
}

ClusterScenario honest_scenario(const StrategyCase& chosen, std::uint64_t seed) {
  ClusterScenario scenario;
  scenario.organizations = {"first", "second", "third", "without"};
  for (std::uint32_t owner = 0; owner < 3; ++owner)
    scenario.nodes.push_back({"n" + std::to_string(owner), owner, k_node});
  scenario.length = {k_play_length_s};
  Rng rng(seed);
  const double capacity = 3 * k_node * static_cast<double>(k_play_length_s);
  for (std::uint32_t u = 0; u < k_parts.size(); ++u) add_jobs(scenario, u, chosen.load * capacity * k_parts[u], rng);
  std::stable_sort(scenario.jobs.begin(), scenario.jobs.end(),
                   [](const ClusterJob& a, const ClusterJob& b) { return a.submit < b.submit; });
  return scenario;
}

std::string_view name_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::none:
      return "-";
    case Remedy::retraction:
      return "retraction";
    case Remedy::placements:
      return "placements";
    case Remedy::nice:
      return "nice";
  }
  return "";
}

std::span<const Attack> attacks() {
  return k_attacks;
}

ClusterRules without(Remedy remedy, ClusterRules rules) {
  if (remedy == Remedy::retraction) rules.retraction = false;
  if (remedy == Remedy::placements) rules.placements = false;
  if (remedy == Remedy::nice) rules.nice = false;
  return rules;
}

}  // namespace shapley::sim
