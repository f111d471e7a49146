#include <algorithm>
#include <array>
#include <map>
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
    job.wanted = static_cast<double>(job.submit.value);
    sent += static_cast<double>(job.processors * job.duration.value);
    scenario.jobs.push_back(std::move(job));
  }
}

using Jobs = std::vector<ClusterJob>;

std::int64_t whole_cluster(const ClusterScenario& scenario) {
  std::int64_t processors = 0;
  for (const ClusterNode& node : scenario.nodes) processors += node.processors;
  return processors;
}

// Replaces each of the attacker's jobs by the result of `change`.
template <typename Change>
void change_own(ClusterScenario& scenario, std::uint32_t attacker, const Change& change) {
  Jobs changed;
  for (const ClusterJob& job : scenario.jobs) {
    if (job.organization == attacker) {
      change(job, changed);
    } else {
      changed.push_back(job);
    }
  }
  scenario.jobs = std::move(changed);
}

// Changes a copy of every job of the attacker.
template <typename Change>
void adapt_own(ClusterScenario& scenario, std::uint32_t attacker, const Change& change) {
  change_own(scenario, attacker, [&](ClusterJob job, Jobs& changed) {
    change(job);
    changed.push_back(std::move(job));
  });
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

void beyond(ClusterScenario& scenario, std::uint32_t attacker) {
  for (int i = 0; i < 10; ++i) junk_waits(scenario, attacker);
}

// Such jobs are cancelled in the last second.
void always_waits(ClusterScenario& scenario, std::uint32_t attacker) {
  add_junk(scenario, attacker, scenario.length, whole_cluster(scenario),
           Instant{0} + scenario.length - first_junk(scenario) - Duration{1});
}

void split_time(ClusterScenario& scenario, std::uint32_t attacker) {
  change_own(scenario, attacker, [](const ClusterJob& job, Jobs& changed) {
    constexpr std::int64_t k_pieces = 4;
    for (std::int64_t i = 0; i < k_pieces; ++i) {
      ClusterJob piece = job;
      piece.duration.value = (job.duration.value * (i + 1)) / k_pieces - (job.duration.value * i) / k_pieces;
      if (piece.duration.value > 0) changed.push_back(std::move(piece));
    }
  });
}

void split_width(ClusterScenario& scenario, std::uint32_t attacker) {
  change_own(scenario, attacker, [](const ClusterJob& job, Jobs& changed) {
    ClusterJob piece = job;
    piece.processors = 1;
    piece.useful = 1;
    changed.insert(changed.end(), static_cast<std::size_t>(job.processors), piece);
  });
}

ClusterJob merged(const Jobs& parts) {
  ClusterJob sum = parts.back();
  sum.duration = {};
  double wanted = 0;
  for (const ClusterJob& part : parts) {
    sum.duration += part.duration;
    wanted += part.wanted * static_cast<double>(part.duration.value);
  }
  sum.wanted = wanted / static_cast<double>(sum.duration.value);
  return sum;
}

// Four consecutive jobs of one width become one with their total length, submitted with the last of them.
void merge(ClusterScenario& scenario, std::uint32_t attacker) {
  constexpr std::size_t k_together = 4;
  std::map<std::int64_t, Jobs> kept;
  change_own(scenario, attacker, [&](const ClusterJob& job, Jobs& changed) {
    Jobs& parts = kept[job.processors];
    parts.push_back(job);
    if (parts.size() < k_together) return;
    changed.push_back(merged(parts));
    parts.clear();
  });
  for (const auto& [width, rest] : kept) {
    if (!rest.empty()) scenario.jobs.push_back(merged(rest));
  }
}

void delay(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [](ClusterJob& job) { job.submit = job.submit + Duration{100}; });
}

void resubmit(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [](ClusterJob& job) { job.resubmit_every = {60}; });
}

void requeue(ClusterScenario& scenario, std::uint32_t attacker) {
  adapt_own(scenario, attacker, [](ClusterJob& job) { job.requeues = 3; });
}

void drain(ClusterScenario& scenario, std::uint32_t attacker) {
  for (std::uint32_t node = 0; node < scenario.nodes.size(); ++node) {
    if (scenario.nodes[node].owner != attacker) continue;
    for (std::int64_t from = 500; from < scenario.length.value; from += 1000)
      scenario.drains.push_back({node, {from}, {from + 200}});
  }
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
    Attack{"beyond", "ten such jobs at once: demand far beyond the cluster", Remedy::retraction, k_owner, beyond},
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
    Attack{"resubmit", "waiting jobs are cancelled and submitted again every 60 s", Remedy::retraction, k_owner,
           resubmit},
    Attack{"requeue", "every job is requeued three times, 5 s after its start", Remedy::none, k_owner, requeue},
    Attack{"move", "waiting jobs go, every 60 s, to the better ranked of the attacker's and another account",
           Remedy::retraction, k_owner, move_accounts},
    Attack{"split_time", "every job as four of a quarter of its time", Remedy::none, k_owner, split_time},
    Attack{"split_width", "every job as jobs of one processor", Remedy::none, k_owner, split_width},
    Attack{"merge", "four jobs in a row as one of their time", Remedy::none, k_owner, merge},
    Attack{"delay", "every job is submitted 100 s late", Remedy::none, k_owner, delay},
    Attack{"twice", "every job asks for twice the processors that it needs, and holds them", Remedy::none, k_owner,
           twice},
    Attack{"drain", "the attacker's node is drained for 200 of every 1000 s", Remedy::none, k_owner, drain}};

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
