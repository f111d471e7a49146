#include "ctl/slurm/place.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/contract.hpp"
#include "base/text.hpp"

namespace shapley::ctl {

namespace {

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<std::int64_t> known_priority(const ledger::QueuedJob& job, const PendingPriorities& priorities) {
  auto found = priorities.find(job.job);
  if (found == priorities.end() && job.array_job) found = priorities.find(*job.array_job);
  return found == priorities.end() ? std::nullopt : std::optional(found->second);
}

// Slurm tries jobs of equal priority by number, and an array's record after its tasks that have records of their own.
auto turn_of(const ledger::QueuedJob& job, const PendingPriorities& priorities) {
  constexpr std::uint32_t k_rest = std::numeric_limits<std::uint32_t>::max();
  return std::tuple(-known_priority(job, priorities).value_or(0), job.array_job.value_or(job.job),
                    job.array_task.value_or(k_rest), job.job);
}

// The number of processors that `other` may start before a job of `own` that has `cum` processors of its own
// organization before it, by the same rule as in the plugin (plugin/client/places/places.hpp).
std::int64_t may_start(const ledger::RankedRow& other, const ledger::RankedRow& own, std::int64_t cum) {
  const auto lacking = std::max<std::int64_t>(0, *other.lacking);
  const std::int64_t by_lead = ledger::startable_before(other, own, cum);
  return cum < *own.lacking ? std::min(by_lead, lacking) : std::max(by_lead, lacking);
}

std::vector<LeadBefore> leads_before(const std::vector<ledger::RankedRow>& rows, const std::string& organization,
                                     std::int64_t cum) {
  std::vector<LeadBefore> leads;
  const ledger::RankedRow* own = nullptr;
  double all = 0;
  for (const ledger::RankedRow& row : rows) {
    all += row.owned.number();
    if (row.name == organization) own = &row;
  }
  const auto has_lead = [](const ledger::RankedRow& row) { return row.lead && row.lacking; };
  if (own == nullptr || !has_lead(*own)) return leads;
  for (const ledger::RankedRow& row : rows) {
    if (&row == own || !has_lead(row) || row.waiting_jobs == 0) continue;
    const std::int64_t processors = may_start(row, *own, cum);
    if (processors == 0) continue;
    leads.push_back({row.name, static_cast<double>(processors) > all ? std::nullopt : std::optional(processors)});
  }
  return leads;
}

}  // namespace

Expected<PendingPriorities> pending_priorities(const ProgramRunner& run) {
  // --array-unique: without it squeue shows the tasks of an array that have records of their own as one with its rest.
  SHAPLEY_TRY_ASSIGN(const std::string output, run({"squeue", "--noheader", "--all", "--local", "--array-unique",
                                                    "--states=PENDING", "--format=%A|%Q"}));
  PendingPriorities priorities;
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    std::uint32_t job = 0;
    std::int64_t priority = 0;
    if (cells.size() == 2 && read_number(trimmed(cells[0]), job) && read_number(trimmed(cells[1]), priority))
      priorities.emplace(job, priority);
  }
  return priorities;
}

std::vector<PlacedJob> in_turn(const ledger::QueueReport& queue, const PendingPriorities& priorities) {
  std::vector<PlacedJob> jobs;
  for (const ledger::QueuedJob& job : queue.jobs) jobs.push_back({.is = job});
  std::ranges::sort(jobs, {}, [&](const PlacedJob& job) { return turn_of(job.is, priorities); });
  std::int64_t place = 1;
  for (PlacedJob& job : jobs) job.place = std::exchange(place, place + job.is.tasks);
  return jobs;
}

Place place_not_known(const std::string& why) {
  return {.known = false, .why = why};
}

Place place_of(std::uint32_t job, const std::string& organization, const ledger::QueueReport& queue,
               const PendingPriorities& priorities, const std::vector<ledger::RankedRow>& rows) {
  const std::vector<PlacedJob> jobs = in_turn(queue, priorities);
  const auto itself = std::ranges::find_if(jobs, [&](const PlacedJob& placed) { return placed.is.job == job; });
  if (itself == jobs.end() && queue.truncated)
    return place_not_known("so many jobs wait that the daemon lists only those of the lowest numbers");
  if (itself == jobs.end()) return place_not_known("it is not in the daemon's queue of jobs that could start");

  if (!known_priority(itself->is, priorities)) return place_not_known("squeue does not list it among those that wait");

  std::map<std::string, ledger::Demand> before;
  Place place{.known = true, .position = itself->place, .truncated = queue.truncated};
  place.of = jobs.back().place + jobs.back().is.tasks - 1;
  for (auto placed = jobs.begin(); placed != itself; ++placed) {
    const ledger::QueuedJob& waits = placed->is;
    ledger::Demand& demand = before[waits.organization];
    demand.organization = waits.organization;
    demand.jobs += waits.tasks;
    demand.processors = demand.processors.count + ProcessorMillionths{waits.tasks * waits.processors * k_micro};
  }
  const auto own = before.find(organization);
  const std::int64_t cum = own == before.end() ? 0 : own->second.processors.count.value / k_micro;
  place.leads = leads_before(rows, organization, cum);
  place.before.emplace();
  for (auto& [name, demand] : before) place.before->push_back(std::move(demand));
  std::ranges::stable_sort(*place.before, std::ranges::greater{}, &ledger::Demand::jobs);
  return place;
}

namespace {

constexpr std::int64_t k_nice_headroom = 10'000;
constexpr std::int64_t k_max_level = 15;
constexpr std::int64_t k_max_site = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t k_max_labels = std::int64_t{1} << 20U;

// The result if it is unknown whether the priority agrees with the ranks.
PriorityVerdict not_compared(std::string why) {
  return {.agrees = std::nullopt, .why = std::move(why)};
}

// sprio lists pending jobs that could start by their own times: no job before its begin time, and no job whose time
// Slurm has not set because of a dependency or its array's limit.
std::string why_without_parts(const SlurmFacts& slurm) {
  const std::string reason = slurm.known_job()->reason.value_or("");
  const bool is_early = reason == "BeginTime" || reason == "Dependency" || reason == "DependencyNeverSatisfied" ||
                        reason == "JobArrayTaskLimit";
  if (is_early) {
    return fmt::format(
        "sprio does not list it, because it is not its time yet ({}); Slurm gives it its place in the order when it "
        "could start",
        reason);
  }
  const SlurmWeights* weights = slurm.known_weights();
  if (weights != nullptr && weights->type != "priority/shapley" && weights->type != "priority/multifactor")
    return fmt::format("PriorityType is {}: ranks do not order jobs", weights->type);
  return "sprio does not list it: it is not its time yet, or sprio failed";
}

// The reason why this job's priority does not depend on ranks; "": it does.
std::string why_not_ranked(const ledger::Priorities& priorities, const SlurmFacts& slurm,
                           const std::string& organization) {
  if (priorities.observes()) return "mode observe: shapleyd leaves priorities alone";
  const SlurmJob* job = slurm.known_job();
  if (job == nullptr) return "Slurm does not know the job any more";
  if (job->state != "PENDING") return "it does not wait: ranks order waiting jobs only";
  if (job->priority == 0) return "it is held, and a held job has no priority; its release ranks it at once";
  if (std::ranges::find(priorities.ranks, organization) == priorities.ranks.end())
    return organization + " has no rank in force";
  if (slurm.known_parts() == nullptr || slurm.known_parts()->empty()) return why_without_parts(slurm);
  if (slurm.known_weights() == nullptr) return "scontrol does not show the weights";
  return "";
}

// In this case sprio shows only the priority. The parts are rounded to integers.
bool is_set_directly(const SlurmFacts& slurm) {
  const std::vector<SlurmParts>& all = *slurm.known_parts();
  const SlurmParts& parts = all.front();
  if (!parts.priority || parts.tres) return false;
  if (all.size() == 1 && parts.priority != slurm.known_job()->priority) return true;
  std::int64_t sum = -parts.nice.value_or(0);
  for (const auto& part :
       {parts.site, parts.age, parts.assoc, parts.fairshare, parts.jobsize, parts.part_weight, parts.qos})
    sum += part.value_or(0);
  constexpr std::int64_t k_rounding = 8;
  const std::int64_t priority = *parts.priority;
  return priority > 1 && (sum > priority + k_rounding || sum < priority - k_rounding);
}

std::string why_other(const ledger::Priorities& priorities, const SlurmFacts& slurm) {
  if (!priorities.plugin_connected) {
    return "slurmctld's plugin is not connected: it holds the ranks that it knows for a while (stale_after), then lets "
           "them go";
  }
  if (!priorities.is_strict() && slurm.known_job()->partition.find(',') != std::string::npos)
    return "it asks for several partitions: it is ranked with the worst-ranked organization that it may run for";
  return "ranks may have changed a moment ago: ask again; if it stays so see slurmctld's log (grep shapley)";
}

}  // namespace

StrictSteps strict_steps(const RankRule& rule) {
  SHAPLEY_REQUIRE(rule.ranks > 0 && rule.others_max >= 0);
  const std::int64_t gaps = rule.ranks - 1;
  const std::int64_t room = k_max_site - k_nice_headroom;
  const std::int64_t widest = gaps > 0 ? room / gaps : room;
  std::int64_t step = rule.others_max + k_nice_headroom + 1;
  std::int64_t level_step = 0;
  if (rule.levels && (gaps == 0 || step <= widest)) {
    level_step = std::min(rule.others_max + 2, (room - step * gaps) / (k_max_level * rule.ranks));
  }
  if (gaps > 0) step += k_max_level * level_step;
  step = std::min(step, widest);
  return {.step = step,
          .level_step = level_step,
          .labels = std::min((room - k_max_level * level_step) / step + 1, k_max_labels)};
}

std::optional<std::int64_t> label_in(std::int64_t site, const StrictSteps& steps, std::int64_t level) {
  const std::int64_t above = site - k_nice_headroom - steps.level_step * level;
  if (above < 0 || above % steps.step != 0 || above / steps.step >= steps.labels) return std::nullopt;
  return above / steps.step;
}

std::int64_t weighted_site(const RankRule& rule, std::int64_t position, std::int64_t level) {
  SHAPLEY_REQUIRE(0 <= position && position < rule.ranks && rule.weight >= 0 && level >= 0);
  const std::int64_t weight = std::min(rule.weight, k_max_site);
  const std::int64_t gaps = rule.ranks - 1;
  const std::int64_t gap = gaps > 0 ? weight / gaps : weight;
  const std::int64_t level_step = rule.levels && gap > 0 ? std::min(gap - 1, k_max_site - weight) / k_max_level : 0;
  return (gaps > 0 ? weight * (gaps - position) / gaps : 0) + level_step * level;
}

namespace {

// Order strict. Steps leave room for levels only from the first level on.
std::optional<StrictPlace> place_in(std::optional<std::int64_t> site, const RankRule& rule, std::int64_t level) {
  if (!site) return std::nullopt;
  for (const bool levels : {rule.levels, false}) {
    if (!levels && level > 0) continue;
    RankRule with = rule;
    with.levels = levels;
    const StrictSteps steps = strict_steps(with);
    const auto label = label_in(*site, steps, level);
    if (!label) continue;
    return StrictPlace{.label = *label,
                       .labels = steps.labels,
                       .step = steps.step,
                       .level_step = steps.level_step,
                       .level = level,
                       .in_line = *label >= rule.ranks};
  }
  return std::nullopt;
}

// Order weighted: the site factor that the job should have; if levels are not in use yet, the present one, if it is
// right without them.
std::int64_t wished_site(std::optional<std::int64_t> site, RankRule rule, std::int64_t position, std::int64_t level) {
  const std::int64_t wished = weighted_site(rule, position, level);
  if (site == wished || !rule.levels || level > 0) return wished;
  rule.levels = false;
  const std::int64_t narrow = weighted_site(rule, position, 0);
  return site == narrow ? narrow : wished;
}

}  // namespace

PriorityVerdict compare_priority(const std::optional<ledger::Priorities>& priorities, const SlurmFacts& slurm,
                                 const std::string& organization) {
  if (!priorities) return not_compared("the ranks in force are the daemon's, which was not asked");
  if (!slurm.asked) return not_compared("Slurm was not asked");
  if (std::string why = why_not_ranked(*priorities, slurm, organization); !why.empty())
    return not_compared(std::move(why));
  const std::vector<std::string>& ranks = priorities->ranks;
  const RankRule rule{.strict = priorities->is_strict(),
                      .weight = priorities->rank_weight,
                      .others_max = slurm.known_weights()->others_max,
                      .ranks = static_cast<std::int64_t>(ranks.size()),
                      .levels = priorities->levels};
  const std::int64_t level = priorities->level.value_or(0);
  PriorityVerdict verdict{.site = slurm.known_parts()->front().site, .priority = slurm.known_job()->priority};
  if (rule.strict) {
    verdict.place = place_in(verdict.site, rule, level);
  } else {
    verdict.wished_site =
        wished_site(verdict.site, rule, std::ranges::find(ranks, organization) - ranks.begin(), level);
  }
  verdict.set_directly = is_set_directly(slurm);
  verdict.agrees =
      !verdict.set_directly && (rule.strict ? verdict.place.has_value() : verdict.site == verdict.wished_site);
  if (verdict.set_directly) {
    verdict.place.reset();
    verdict.why = "its priority was set directly (scontrol update priority=, scontrol top), and ranks leave it alone";
  } else if (!*verdict.agrees && rule.strict && priorities->plugin_connected && !slurm.known_weights()->bounded) {
    verdict.agrees.reset();
    verdict.why =
        "PriorityFlags=NO_NORMAL_...: the steps between places follow the largest sum of factors that the plugin has "
        "seen, which is not known here";
  } else if (!*verdict.agrees) {
    verdict.why = why_other(*priorities, slurm);
  }
  return verdict;
}

}  // namespace shapley::ctl
