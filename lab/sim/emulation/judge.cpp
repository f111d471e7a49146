#include "sim/emulation/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/rng.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "scheduling/whole_jobs.hpp"
#include "sim/comparison.hpp"
#include "sim/real_jobs.hpp"
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

Expected<scheduling::EasyInstance> whole_instance_of(const Recording& recording) {
  SHAPLEY_TRY(check(recording));
  scheduling::EasyInstance instance;
  instance.kinds = recording.kinds;
  for (std::size_t kind = 0; kind < recording.kinds.size(); ++kind) {
    if (recording.kinds[kind].size() != recording.owned.size())
      return fail(Errc::invalid_argument,
                  "kinds[" + std::to_string(kind) + "]: expected a number of processors for each organization");
  }
  instance.until = {recording.length};
  instance.residual = {recording.residual};
  for (std::size_t i = 0; i < recording.runs.size(); ++i) {
    const RecordedRun& run = recording.runs[i];
    if (run.submit >= recording.length) continue;
    if (run.kind >= recording.kinds.size())
      return fail(Errc::invalid_argument,
                  "runs[" + std::to_string(i) + "]: there is no kind " + std::to_string(run.kind) + " of processors");
    const Duration duration = duration_of(run, recording.length);
    instance.jobs.push_back({.release = {run.submit},
                             .duration = duration,
                             .organization = run.organization,
                             .processors = static_cast<std::uint32_t>(run.processors),
                             .kinds = scheduling::KindOrder(std::span(&run.kind, 1))});
    instance.requested.push_back(std::max(Duration{run.limit}, duration));
  }
  SHAPLEY_TRY(scheduling::finish_kinds(instance));
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

PolicyOptions options_of(const Recording& recording, std::uint64_t seed) {
  return {.seed = seed,
          .fair_tree = {.period = k_fair_tree_period,
                        .half_life = {std::max<std::int64_t>(
                            scheduling::FairTreeOptions{}.half_life.value / recording.factor, 1)},
                        .ties_by_submission = true}};
}

// The schedule that is fair, at the window's end.
struct Fair {
  std::vector<std::int64_t> psi;
  std::int64_t work = 0;
  std::vector<scheduling::Rational> phi;
};

// A run of q processors is q jobs.
struct Copies {
  scheduling::Instance instance;

  [[nodiscard]] Expected<Fair> fair(const Recording& recording) const {
    SHAPLEY_TRY_ASSIGN(const auto ref, make_policy("ref", instance, {}));
    auto made = scheduling::simulate(instance, *ref);
    return Fair{std::move(made.psi), made.work, *ref->contributions(recording.length)};
  }
  // psi of the rule that Slurm was to follow.
  [[nodiscard]] Expected<std::vector<std::int64_t>> by_rule(const Recording& recording, std::uint64_t seed,
                                                            scheduling::TakenProcessors taken = {}) const {
    PolicyOptions options = options_of(recording, seed);
    options.taken = std::move(taken);
    SHAPLEY_TRY_ASSIGN(const auto rule, make_policy(recording.rule, instance, options));
    return scheduling::simulate(instance, *rule).psi;
  }
  [[nodiscard]] Expected<void> finish() const { return scheduling::validate(instance); }
};

// A run is one job.
struct Whole {
  scheduling::EasyInstance instance;

  [[nodiscard]] Expected<Fair> fair(const Recording& recording) const {
    SHAPLEY_TRY_ASSIGN(const auto values, scheduling::ExactValues::of(instance));
    const auto exact = scheduling::make_exact(scheduling::first_instance(instance), values);
    SHAPLEY_TRY_ASSIGN(const auto made, scheduling::simulate_easy(instance, exact.get()));
    scheduling::ExactValues at_end = values;
    return Fair{scheduling::psi_of(instance, made, instance.until), scheduling::work_of(instance, made),
                scheduling::shapley_of(scheduling::values_at(at_end.at(recording.length), recording.length))};
  }
  [[nodiscard]] Expected<std::vector<std::int64_t>> by_rule(const Recording& recording, std::uint64_t seed,
                                                            const scheduling::TakenProcessors& = {}) const {
    return psi_ranked_by(recording.rule, instance, options_of(recording, seed));
  }
  [[nodiscard]] Expected<void> finish() {
    for (std::size_t i = 0; i < instance.jobs.size(); ++i)
      instance.requested[i] = std::max(instance.requested[i], instance.jobs[i].duration);
    return scheduling::finish_kinds(instance);
  }
};

template <typename Model>
Expected<double> sensitivity(const Recording& recording, const Model& model, const std::vector<std::int64_t>& psi,
                             double work) {
  double sum = 0;
  for (std::uint64_t seed = k_seed + 1; seed <= k_seed + k_moved_draws; ++seed) {
    Rng rng(seed);
    Model longer = model;
    for (scheduling::Job& job : longer.instance.jobs) job.duration.value += rng.below(k_moved_one_in) == 0 ? 1 : 0;
    SHAPLEY_TRY(longer.finish());
    SHAPLEY_TRY_ASSIGN(const auto moved, longer.by_rule(recording, seed));
    sum += distance(moved, psi, work);
  }
  return sum / static_cast<double>(k_moved_draws);
}

template <typename Model>
Expected<Verdict> judge_by(const Recording& recording, const Model& model) {
  SHAPLEY_TRY_ASSIGN(const Fair fair, model.fair(recording));
  SHAPLEY_TRY_ASSIGN(const auto simulated, model.by_rule(recording, k_seed, taken_in(recording)));
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
  verdict.unfairness_simulated = distance(simulated, fair.psi, work);
  verdict.fidelity = distance(psi, simulated, work);
  SHAPLEY_TRY_ASSIGN(verdict.sensitivity, sensitivity(recording, model, simulated, work));
  verdict.due = distance_to_due(psi, fair.phi, work);
  verdict.due_simulated = distance_to_due(simulated, fair.phi, work);
  verdict.due_ref = distance_to_due(fair.psi, fair.phi, work);
  count_overtaking(recording, verdict);
  verdict.written_a_start = static_cast<double>(recording.priorities_written) / static_cast<double>(verdict.starts);
  return verdict;
}

}  // namespace

Expected<Verdict> judge(const Recording& recording) {
  if (!recording.kinds.empty()) {
    SHAPLEY_TRY_ASSIGN(auto instance, whole_instance_of(recording));
    return judge_by(recording, Whole{std::move(instance)});
  }
  SHAPLEY_TRY_ASSIGN(auto instance, instance_of(recording));
  return judge_by(recording, Copies{std::move(instance)});
}

}  // namespace shapley::sim
