#include "sim/emulation/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/rng.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "sim/comparison.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

// Slurm is configured so in lab/emulate.
constexpr Duration k_fair_tree_period{60};
constexpr std::int64_t k_most_processors = 100'000;  // each is a job of the model
// For Verdict::sensitivity: so many draws, in each of which one in so many runs lasts longer, and the policy draws
// processors by another seed.
constexpr std::uint64_t k_seed = 1;
constexpr std::uint64_t k_moved_draws = 8;
constexpr std::uint64_t k_moved_one_in = 10;

// Seconds for which a run counts as running.
Duration duration_of(const RecordedRun& run, std::int64_t length) {
  if (run.start && run.end && *run.end <= length) return {std::max<std::int64_t>(*run.end - *run.start, 1)};
  const std::int64_t ran = run.start ? length - *run.start : 0;
  return {std::max({run.requested, ran, std::int64_t{1}})};
}

bool has_started(const RecordedRun& run, std::int64_t length) {
  return run.start && *run.start < length;
}

Expected<void> check(const Recording& recording) {
  for (const std::int64_t m : recording.owned) {
    if (m < 0 || m > std::numeric_limits<std::int32_t>::max())
      return fail(Errc::invalid_argument, "owned: " + std::to_string(m) + " is no number of processors");
  }
  if (recording.factor < 1) return fail(Errc::invalid_argument, "factor: expected 1 at least");
  for (std::size_t i = 0; i < recording.runs.size(); ++i) {
    const RecordedRun& run = recording.runs[i];
    const auto wrong = [&](const char* what) {
      return fail(Errc::invalid_argument, "runs[" + std::to_string(i) + "]: " + what);
    };
    if (run.organization >= recording.owned.size()) return wrong("no such organization");
    if (run.submit < 0) return wrong("it was submitted before the window");
    if (run.start && *run.start < run.submit) return wrong("it started before it was submitted");
    if (run.end && (!run.start || *run.end < *run.start)) return wrong("it ended before it started");
    if (run.owner && (*run.owner >= recording.owned.size() || !run.start))
      return wrong("no organization owns its node");
    if (run.processors < 1 || run.processors > k_most_processors) return wrong("expected 1 to 100,000 processors");
  }
  return {};
}

double distance(const std::vector<std::int64_t>& psi, const std::vector<std::int64_t>& other, double work) {
  std::int64_t sum = 0;
  for (std::size_t u = 0; u < psi.size(); ++u) sum += std::abs(psi[u] - other[u]);
  return static_cast<double>(sum) / work;
}

// The starts before an older job of the same organization: one that was submitted in an earlier second and started in a
// later one, or had not started when the window ended.
void count_overtaking(const Recording& recording, Verdict& verdict) {
  std::vector<std::map<std::int64_t, std::vector<std::int64_t>>> starts(recording.owned.size());  // by submit time
  for (const RecordedRun& run : recording.runs) {
    if (run.submit >= recording.length) continue;
    starts[run.organization][run.submit].push_back(has_started(run, recording.length) ? *run.start : recording.length);
  }
  for (const auto& by_submit : starts) {
    std::int64_t latest = -1;  // start of an older job
    for (const auto& [submit, of_one_time] : by_submit) {
      for (const std::int64_t start : of_one_time) {
        if (start >= latest) continue;
        ++verdict.before_older;
        verdict.longest_before_older = std::max(verdict.longest_before_older, latest - start);
      }
      latest = std::max(latest, *std::ranges::max_element(of_one_time));
    }
  }
}

}  // namespace

Expected<scheduling::Instance> instance_of(const Recording& recording) {
  SHAPLEY_TRY(check(recording));
  scheduling::Instance instance;
  for (const std::int64_t m : recording.owned) instance.processors.push_back(static_cast<std::uint32_t>(m));
  instance.end = {recording.length};
  instance.residual = {recording.residual};
  for (const RecordedRun& run : recording.runs) {
    if (run.submit >= recording.length) continue;
    instance.jobs.insert(
        instance.jobs.end(), static_cast<std::size_t>(run.processors),
        {.release = {run.submit}, .duration = duration_of(run, recording.length), .organization = run.organization});
  }
  SHAPLEY_TRY(scheduling::validate(instance));
  return instance;
}

std::vector<std::int64_t> recorded_psi(const Recording& recording) {
  std::vector<std::int64_t> psi(recording.owned.size());
  for (const RecordedRun& run : recording.runs) {
    if (run.submit >= recording.length || !has_started(run, recording.length)) continue;
    const std::int64_t seen = recording.length - *run.start;
    const std::int64_t done = std::min(seen, duration_of(run, recording.length).value);
    psi[run.organization] += run.processors * (done * seen - done * (done - 1) / 2);
  }
  return psi;
}

namespace {

// Whose processors were taken in each second, in the order of the starts.
scheduling::TakenProcessors taken_in(const Recording& recording) {
  std::map<std::pair<std::int64_t, std::int64_t>, const RecordedRun*> by_place;
  for (const RecordedRun& run : recording.runs) {
    if (run.owner && has_started(run, recording.length)) by_place.emplace(std::pair(*run.start, run.place), &run);
  }
  scheduling::TakenProcessors taken;
  for (const auto& [at, run] : by_place) {
    std::vector<std::uint32_t>& owners = taken[at.first];
    owners.insert(owners.end(), static_cast<std::size_t>(run->processors), *run->owner);
  }
  return taken;
}

// The schedule of the rule that Slurm was to follow.
Expected<scheduling::SimulationResult> by_rule(const Recording& recording, const scheduling::Instance& instance,
                                               std::uint64_t seed, scheduling::TakenProcessors taken = {}) {
  SHAPLEY_TRY_ASSIGN(
      const auto rule,
      make_policy(recording.rule, instance,
                  {.seed = seed,
                   .fair_tree = {.period = k_fair_tree_period,
                                 .half_life = {std::max<std::int64_t>(
                                     scheduling::FairTreeOptions{}.half_life.value / recording.factor, 1)},
                                 .ties_by_submission = true},
                   .taken = std::move(taken)}));
  return scheduling::simulate(instance, *rule);
}

Expected<double> sensitivity(const Recording& recording, const scheduling::Instance& instance,
                             const std::vector<std::int64_t>& psi, double work) {
  double sum = 0;
  for (std::uint64_t seed = k_seed + 1; seed <= k_seed + k_moved_draws; ++seed) {
    Rng rng(seed);
    scheduling::Instance longer = instance;
    for (scheduling::Job& job : longer.jobs) job.duration.value += rng.below(k_moved_one_in) == 0 ? 1 : 0;
    SHAPLEY_TRY(scheduling::validate(longer));
    SHAPLEY_TRY_ASSIGN(const auto moved, by_rule(recording, longer, seed));
    sum += distance(moved.psi, psi, work);
  }
  return sum / static_cast<double>(k_moved_draws);
}

}  // namespace

Expected<Verdict> judge(const Recording& recording) {
  SHAPLEY_TRY_ASSIGN(const scheduling::Instance instance, instance_of(recording));
  SHAPLEY_TRY_ASSIGN(const auto ref, make_policy("ref", instance, {}));
  const auto fair = scheduling::simulate(instance, *ref);
  const auto phi = *ref->contributions(recording.length);
  SHAPLEY_TRY_ASSIGN(const auto simulated, by_rule(recording, instance, k_seed, taken_in(recording)));
  Verdict verdict{.window = recording.window, .policy = recording.policy, .work = fair.work};
  for (const RecordedRun& run : recording.runs) {
    if (run.submit >= recording.length) continue;
    ++verdict.runs;
    if (has_started(run, recording.length)) ++verdict.starts;
  }
  if (verdict.starts == 0) return fail(Errc::not_found, "no run started within the window");
  const auto work = static_cast<double>(fair.work);
  const std::vector<std::int64_t> psi = recorded_psi(recording);
  verdict.unfairness = distance(psi, fair.psi, work);
  verdict.unfairness_simulated = distance(simulated.psi, fair.psi, work);
  verdict.fidelity = distance(psi, simulated.psi, work);
  SHAPLEY_TRY_ASSIGN(verdict.sensitivity, sensitivity(recording, instance, simulated.psi, work));
  verdict.due = distance_to_due(psi, phi, work);
  verdict.due_simulated = distance_to_due(simulated.psi, phi, work);
  verdict.due_ref = distance_to_due(fair.psi, phi, work);
  count_overtaking(recording, verdict);
  verdict.written_a_start = static_cast<double>(recording.priorities_written) / static_cast<double>(verdict.starts);
  return verdict;
}

}  // namespace shapley::sim
