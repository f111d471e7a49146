#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <ostream>

#include "base/time_text.hpp"
#include "game/braking.hpp"
#include "game/shapley_value.hpp"
#include "scheduling/simulate.hpp"

namespace shapley::sim {

namespace {

using scheduling::EasyInstance;
using scheduling::EasySchedule;
using scheduling::k_never_started;

constexpr std::int64_t k_shortest_run_s = 10;  // of the bounded slowdown

// Adds to sums, of which finish() makes means.
void count(const scheduling::Job& job, std::int64_t start, OrganizationOutcome& sums) {
  ++sums.jobs;
  sums.work += job.duration.value * job.processors;
  if (start == k_never_started) {
    ++sums.never_started;
    return;
  }
  const std::int64_t wait = start - job.release.value;
  const auto flow = static_cast<double>(wait + job.duration.value);
  sums.mean_wait += static_cast<double>(wait);
  sums.longest_wait = std::max(sums.longest_wait, wait);
  sums.mean_slowdown += flow / static_cast<double>(job.duration.value);
  sums.mean_bounded_slowdown +=
      std::max(1.0, flow / static_cast<double>(std::max(job.duration.value, k_shortest_run_s)));
}

void finish(OrganizationOutcome& sums) {
  const auto started = static_cast<double>(std::max<std::uint64_t>(1, sums.jobs - sums.never_started));
  sums.mean_wait /= started;
  sums.mean_slowdown /= started;
  sums.mean_bounded_slowdown /= started;
}

double utilization_of(const EasyInstance& instance, const EasySchedule& schedule, std::int64_t length) {
  double used = 0;
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const scheduling::Job& job = instance.jobs[i];
    if (schedule.start[i] == k_never_started) continue;
    const std::int64_t ran = std::clamp<std::int64_t>(length - schedule.start[i], 0, job.duration.value);
    used += static_cast<double>(ran) * job.processors;
  }
  double there = 0;
  for (std::size_t i = 0; i < instance.endowments.size(); ++i) {
    const std::int64_t from = std::min(instance.endowments[i].at.value, length);
    const std::int64_t to =
        i + 1 < instance.endowments.size() ? std::min(instance.endowments[i + 1].at.value, length) : length;
    there += static_cast<double>(total_of(instance.endowments[i])) * static_cast<double>(to - from);
  }
  return there > 0 ? used / there : 0;
}

ReplayOutcome outcome_of(const SiteHistory& history, std::string policy, const EasySchedule& schedule) {
  const EasyInstance& instance = history.instance;
  ReplayOutcome outcome;
  outcome.policy = std::move(policy);
  outcome.organizations.resize(history.organizations.size());
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const scheduling::Job& job = instance.jobs[i];
    count(job, schedule.start[i], outcome.organizations[job.organization]);
    count(job, schedule.start[i], outcome.all);
    if (schedule.start[i] != k_never_started)
      outcome.makespan = std::max(outcome.makespan, Duration{schedule.start[i] + job.duration.value});
  }
  const auto psi = scheduling::psi_of(instance, schedule, Instant{history.length.value});
  for (std::size_t u = 0; u < psi.size(); ++u) {
    outcome.organizations[u].psi = psi[u];
    outcome.all.psi += psi[u];
    finish(outcome.organizations[u]);
  }
  finish(outcome.all);
  outcome.utilization = utilization_of(instance, schedule, outcome.makespan.value);
  outcome.backfilled = schedule.backfilled;
  return outcome;
}

Expected<std::unique_ptr<scheduling::Policy>> make_queue_policy(const EasyInstance& instance, const std::string& name,
                                                                PolicyOptions options) {
  options.backfill = true;
  return make_policy(name, first_instance(instance), options);
}

struct Reference {
  std::vector<std::int64_t> psi;
  std::int64_t work = 0;
};

// The error is the reason why there is no reference.
Expected<Reference> reference_of(const SiteHistory& history, const PolicyOptions& options) {
  const EasyInstance& easy = history.instance;
  constexpr std::int64_t k_most_steps = std::int64_t{1} << 28;  // about a minute
  constexpr std::size_t k_most_organizations = 10;
  if (easy.endowments.size() > 1)
    return fail(Errc::limit, "processors change hands, and REF is computed for one set of owners");
  if (history.organizations.size() > k_most_organizations)
    return fail(Errc::limit, "REF is computed for " + std::to_string(k_most_organizations) + " organizations at most");
  std::int64_t copies = 0;
  for (const scheduling::Job& job : easy.jobs) copies += job.processors;
  if (copies << history.organizations.size() > k_most_steps)
    return fail(Errc::limit, "REF would take too long for so many jobs and organizations; take a shorter time");
  scheduling::Instance instance{easy.endowments.front().processors, {}, Instant{history.length.value}};
  for (const scheduling::Job& job : easy.jobs) {
    for (std::uint32_t i = 0; i < job.processors; ++i)
      instance.jobs.push_back({.release = job.release, .duration = job.duration, .organization = job.organization});
  }
  SHAPLEY_TRY(scheduling::validate(instance));
  PolicyOptions published = options;
  published.rule = {};  // REF by its definition
  SHAPLEY_TRY_ASSIGN(const auto ref, make_policy("ref", instance, published));
  auto result = scheduling::simulate(instance, *ref);
  return Reference{std::move(result.psi), result.work};
}

Expected<std::optional<Instant>> read_time(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  const auto instant = parse_time(text, Instant{std::time(nullptr)});
  if (!instant) {
    return fail(Errc::invalid_argument,
                std::string(option) + ": " + text + " is no time; " + std::string(k_times_allowed));
  }
  return instant;
}

}  // namespace

std::vector<std::string> usual_policies(const SiteHistory& history) {
  const bool few = history.organizations.size() <= game::k_max_lattice_organizations;
  return {"fcfs", "fair_share", "fair_tree", "direct_contr", few ? "shapley_rate" : "shapley_rate_sampled"};
}

Expected<Replay> replay(const SiteHistory& history, const std::vector<std::string>& policies,
                        const PolicyOptions& options) {
  Replay replay;
  replay.outcomes.push_back(outcome_of(history, k_as_it_ran, history.recorded));
  for (const std::string& name : policies) {
    SHAPLEY_TRY_ASSIGN(const auto policy, make_queue_policy(history.instance, name, options));
    const auto schedule = scheduling::simulate_easy(history.instance, name == "fcfs" ? nullptr : policy.get());
    if (!schedule) return with_context("replay: " + name, schedule.error());
    replay.outcomes.push_back(outcome_of(history, name, *schedule));
  }
  const auto reference = reference_of(history, options);
  if (!reference) {
    replay.no_reference = reference.error().what;
    return replay;
  }
  for (ReplayOutcome& outcome : replay.outcomes) {
    std::int64_t difference = 0;
    for (std::size_t u = 0; u < reference->psi.size(); ++u)
      difference += std::abs(outcome.organizations[u].psi - reference->psi[u]);
    outcome.distance_to_ref =
        reference->work > 0 ? static_cast<double>(difference) / static_cast<double>(reference->work) : 0;
  }
  return replay;
}

Expected<void> run_replay(const ReplayArguments& arguments, std::ostream& out) {
  SiteHistorySource source = arguments.source;
  SHAPLEY_TRY_ASSIGN(source.since, read_time(arguments.since, "--since"));
  SHAPLEY_TRY_ASSIGN(source.until, read_time(arguments.until, "--until"));
  if (source.since && source.until && *source.since >= *source.until) {
    return fail(Errc::invalid_argument, "--until: " + arguments.until + " is not after --since " + arguments.since);
  }
  SHAPLEY_TRY_ASSIGN(const SiteHistory history, read_site_history(source));
  PolicyOptions options;
  options.seed = arguments.seed;
  options.rule = history.rule;
  if (arguments.guarantee) options.rule.guarantee = *arguments.guarantee;
  if (options.rule.pace != game::Pace{}) options.rule.pace = game::pace_under(options.rule.guarantee);
  if (arguments.horizon) {
    options.rule.horizon = *arguments.horizon;
    options.rule.pace = {};
  }
  if (arguments.running) options.rule.running = *arguments.running;
  options.once_a_pass = arguments.once_a_pass;
  const auto policies = arguments.policies.empty() ? usual_policies(history) : arguments.policies;
  SHAPLEY_TRY_ASSIGN(const Replay replayed, replay(history, policies, options));
  if (!arguments.html.empty()) SHAPLEY_TRY(write_replay_page(arguments.html, history, replayed));
  if (arguments.json) {
    out << text_of(replay_json(history, replayed), 1) << '\n';
  } else {
    print_replay(history, replayed, out);
  }
  return {};
}

}  // namespace shapley::sim
