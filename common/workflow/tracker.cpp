#include "workflow/tracker.hpp"

#include <algorithm>
#include <functional>

#include "base/contract.hpp"

namespace shapley::workflow {

Counts& Counts::operator+=(const Counts& other) {
  blocked += other.blocked;
  eligible += other.eligible;
  running += other.running;
  finished += other.finished;
  return *this;
}

// The sums over the jobs of one activity.
struct Tracker::Group {
  Activity measured;
  Counts jobs;
  std::vector<const Job*> eligible;
  std::vector<std::uint32_t> submitters;  // each once
};

namespace {

// Most workflows are of one person.
void add(std::vector<std::uint32_t>& submitters, std::uint32_t submitter) {
  if (std::ranges::find(submitters, submitter) == submitters.end()) submitters.push_back(submitter);
}

Duration elapsed(const Job& job, Instant now) {
  Duration length = job.run_before;
  if (job.run_since && *job.run_since < now) length += now - *job.run_since;
  return std::max(length, Duration{0});
}

Phases one_phase(Duration length) {
  return {length.value, 0, 0, 0};
}

ActivityView view_of(const std::string& name, const Counts& jobs, const Activity& measured,
                     const ActivityState& state) {
  return {.name = name,
          .jobs = jobs,
          .waiting = measured.waiting,
          .running = measured.running_count(),
          .median = state.median,
          .performance = state.performance,
          .relative_duration = state.relative_duration,
          .pending = state.pending,
          .delta = 0};
}

// The level counts of one cycle. Exact fractions are slow and most activities are alike: the result for one activity is
// used for all with the same Q and R, unless their median is known.
class Counter {
 public:
  explicit Counter(const Fraction& target) : bars_(level_bars(target)) {}

  LevelCounts operator()(const Activity& activity, const ActivityState& state) {
    if (state.median) return level_counts(activity, state, bars_);
    const auto [entry, is_new] = known_.try_emplace({activity.waiting, activity.running_count()});
    if (is_new) entry->second = level_counts(activity, state, bars_);
    return entry->second;
  }

 private:
  LevelBars bars_;
  std::map<std::pair<std::int64_t, std::int64_t>, LevelCounts> known_;  // by Q, R
};

// The raised jobs among the eligible ones of an activity.
void raise(std::vector<const Job*> eligible, const LevelCounts& counts, std::vector<RaisedJob>& raised) {
  std::ranges::sort(eligible, {}, [](const Job* job) { return std::pair{job->submit, job->id}; });
  std::int64_t older = 0;
  for (const Job* job : eligible) {
    const std::uint32_t level = level_at(counts, older);
    if (level == 0) break;  // and none for younger ones
    raised.push_back({job->id, level});
    older += job->processors;
  }
}

}  // namespace

void Tracker::observe(const Job& job) {
  const auto known = jobs_.find(job.id);
  if (known != jobs_.end() && place_of(known->second.job) != place_of(job)) forget(job.id);
  const std::uint32_t place = place_of(job);
  std::vector<std::uint32_t> depends_on;
  for (const std::uint32_t other : job.depends_on) {
    const auto found = jobs_.find(other);
    depends_on.push_back(found == jobs_.end() ? other : place_of(found->second.job));
  }
  if (!jobs_.contains(job.id)) ++at_place_[place];
  // Of an array's records only that of its pending tasks has the dependencies; those of running tasks have none.
  rename(components_.observe(place, depends_on));
  const Naming naming{.wckey = job.wckey, .name = job.name, .array_job = job.array_job};
  jobs_.insert_or_assign(
      job.id, Known{job, key_of(naming, settings_, Grouping::workflow), key_of(naming, settings_, Grouping::activity)});
}

void Tracker::forget(std::uint32_t job) {
  const auto known = jobs_.find(job);
  if (known == jobs_.end()) return;
  const std::uint32_t place = place_of(known->second.job);
  jobs_.erase(known);
  const auto count = at_place_.find(place);
  if (--count->second > 0) return;
  at_place_.erase(count);
  components_.remove(place);
}

void Tracker::rename(const std::vector<Components::Renamed>& renamed) {
  for (const auto& [from, to] : renamed) {
    auto moved = history_.extract("job " + std::to_string(from));
    if (moved.empty()) continue;
    auto& into = history_["job " + std::to_string(to)];
    for (auto& [activity, runs] : moved.mapped()) {
      Runs& kept = into[activity];
      kept.insert(kept.end(), runs.begin(), runs.end());
      std::ranges::sort(kept, {}, [](const FinishedRun& run) { return std::pair{run.end, run.job}; });
      if (kept.size() > k_max_runs) kept.erase(kept.begin(), kept.end() - k_max_runs);
    }
  }
}

std::string Tracker::workflow_of(const Key& key, const Job& job) const {
  const std::uint32_t place = place_of(job);
  return resolve(key, components_.name(place), components_.tied(place));
}

void Tracker::remember(const Job& job, const FinishedRun& run) {
  const Naming naming{.wckey = job.wckey, .name = job.name, .array_job = job.array_job};
  const Key workflow = key_of(naming, settings_, Grouping::workflow);
  // A workflow of one job has no later run whose duration this one could predict.
  const bool alone = workflow.before.empty() && workflow.after.empty() && !components_.tied(place_of(job));
  if (alone) return;
  // If dependencies name the workflow, those of a job that has gone are forgotten, so its run would count for another
  // workflow.
  const Key activity_key = key_of(naming, settings_, Grouping::activity);
  if ((workflow.component || activity_key.component) && !at_place_.contains(place_of(job))) return;
  const std::string activity = workflow_of(activity_key, job);
  Runs& runs = history_[workflow_of(workflow, job)][activity];
  const auto same = [&](const FinishedRun& other) { return other.job == run.job && other.start == run.start; };
  if (std::ranges::any_of(runs, same)) return;
  const auto later = std::ranges::upper_bound(runs, run.end, {}, &FinishedRun::end);
  runs.insert(later, run)->submitter = job.submitter;
  if (runs.size() > k_max_runs) runs.erase(runs.begin());
}

std::vector<std::uint32_t> Tracker::jobs() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, known] : jobs_) ids.push_back(id);
  return ids;
}

Tracker::Groups Tracker::grouped(Instant now) const {
  Groups groups;
  for (const auto& [id, known] : jobs_) {
    const Job& job = known.job;
    Group& group = groups[workflow_of(known.workflow, job)][workflow_of(known.activity, job)];
    add(group.submitters, job.submitter);
    switch (job.state) {
      case Job::State::blocked:
        ++group.jobs.blocked;
        break;
      case Job::State::eligible:
        ++group.jobs.eligible;
        group.measured.waiting += job.processors;
        group.eligible.push_back(&job);
        break;
      case Job::State::running: {
        ++group.jobs.running;
        group.measured.running.push_back(one_phase(elapsed(job, now)));
        std::int64_t& weight = group.measured.running_weight;
        weight = std::max<std::int64_t>(weight, 0) + job.processors;
        break;
      }
    }
  }
  for (auto& [workflow, activities] : groups) {
    const auto past = history_.find(workflow);
    if (past == history_.end()) continue;
    for (auto& [activity, group] : activities) {
      const auto runs = past->second.find(activity);
      if (runs == past->second.end()) continue;
      group.jobs.finished = runs->second.size();
      for (const FinishedRun& run : runs->second) group.measured.completed.push_back(one_phase(run.length));
    }
  }
  return groups;
}

// The runs of a workflow that are remembered, those of activities without a job included.
void Tracker::add_history(const std::string& workflow, WorkflowView& view) const {
  view.jobs.finished = 0;
  const auto past = history_.find(workflow);
  if (past == history_.end()) return;
  for (const auto& [activity, runs] : past->second) {
    view.jobs.finished += runs.size();
    for (const FinishedRun& run : runs) add(view.submitters, run.submitter);
  }
}

Cycle Tracker::cycle(Instant now) {
  const Groups groups = grouped(now);
  std::vector<Workflow> workflows;
  for (const auto& [name, activities] : groups) {
    Workflow& workflow = workflows.emplace_back();
    for (const auto& [activity, group] : activities) workflow.activities.push_back(group.measured);
  }
  const Unfairness unfairness = measure_unfairness(workflows, measure_of(settings_));
  const Fraction threshold(settings_.threshold_ppm, 1'000'000);
  Cycle cycle{.at = now,
              .degree = unfairness.degree,
              .least = unfairness.least,
              .unfair = is_unfair(unfairness, threshold),
              .workflows = {}};
  Counter counts_of(unfairness.least + threshold);
  for (const auto& [name, activities] : groups) {
    const std::size_t i = cycle.workflows.size();
    WorkflowView& view = cycle.workflows.emplace_back();
    view.name = name;
    view.pending = unfairness.pending[i];
    for (const auto& [activity, group] : activities) {
      const ActivityState& state = unfairness.activities[i][view.activities.size()];
      view.jobs += group.jobs;
      for (const std::uint32_t submitter : group.submitters) add(view.submitters, submitter);
      ActivityView& added = view.activities.emplace_back(view_of(activity, group.jobs, group.measured, state));
      if (!cycle.unfair || added.waiting == 0) continue;
      const LevelCounts counts = counts_of(group.measured, state);
      added.delta = counts.front();
      raise(group.eligible, counts, view.raised);
    }
    add_history(name, view);
    std::ranges::sort(view.submitters);
    std::ranges::stable_sort(view.raised, std::ranges::greater{}, &RaisedJob::level);
  }
  forget_idle(groups, now);
  return cycle;
}

void Tracker::forget_idle(const Groups& groups, Instant now) {
  constexpr Duration k_between{60};
  if (now < tidied_ + k_between) return;
  tidied_ = now;
  struct Idle {
    Instant last;
    std::string workflow;
    std::string activity;
  };
  std::vector<Idle> idle;
  for (const auto& [workflow, activities] : history_) {
    const auto group = groups.find(workflow);
    for (const auto& [activity, runs] : activities) {
      if (group != groups.end() && group->second.contains(activity)) continue;
      idle.push_back({runs.back().end, workflow, activity});
    }
  }
  std::ranges::sort(idle, {}, &Idle::last);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const bool too_many = idle.size() - i > k_max_idle;
    if (!too_many && now < idle[i].last + k_keep_idle) break;
    auto& activities = history_.at(idle[i].workflow);
    activities.erase(idle[i].activity);
    if (activities.empty()) history_.erase(idle[i].workflow);
  }
}

std::vector<Components::Renamed> Components::observe(std::uint32_t job, const std::vector<std::uint32_t>& depends_on) {
  std::vector<Renamed> renamed;
  if (component_of_.try_emplace(job, next_).second) {
    components_[next_++] = {.name = job, .tied = false, .jobs = {job}, .present = 1};
    const auto dependents = dependents_of_absent_.extract(job);
    if (!dependents.empty()) {
      for (const std::uint32_t dependent : dependents.mapped()) tie(job, dependent, renamed);
    }
  }
  forget_unresolved(job);
  for (const std::uint32_t other : depends_on) {
    if (other == job) continue;
    if (component_of_.contains(other)) {
      tie(job, other, renamed);
    } else {
      unresolved_[job].push_back(other);
      dependents_of_absent_[other].insert(job);
    }
  }
  return renamed;
}

void Components::tie(std::uint32_t a, std::uint32_t b, std::vector<Renamed>& renamed) {
  std::uint64_t kept = component_of_.at(a);
  std::uint64_t gone = component_of_.at(b);
  if (kept == gone) return;
  // The smaller list moves, so that a job moves a logarithmic number of times.
  if (components_.at(kept).jobs.size() < components_.at(gone).jobs.size()) std::swap(kept, gone);
  Component& into = components_.at(kept);
  Component from = std::move(components_.at(gone));
  components_.erase(gone);
  for (const std::uint32_t job : from.jobs) {
    const auto entry = component_of_.find(job);
    if (entry == component_of_.end() || entry->second != gone) continue;  // ended meanwhile
    entry->second = kept;
    into.jobs.push_back(job);
  }
  into.present += from.present;
  into.tied = true;
  renamed.push_back({.from = std::max(into.name, from.name), .to = std::min(into.name, from.name)});
  into.name = renamed.back().to;
}

void Components::remove(std::uint32_t job) {
  forget_unresolved(job);
  const auto entry = component_of_.find(job);
  if (entry == component_of_.end()) return;
  const auto component = components_.find(entry->second);
  component_of_.erase(entry);
  if (--component->second.present == 0) {
    components_.erase(component);
    return;
  }
  // An endless chain of jobs must not need endless memory.
  std::vector<std::uint32_t>& jobs = component->second.jobs;
  if (jobs.size() < 2 * component->second.present) return;
  std::erase_if(jobs, [&](std::uint32_t other) {
    const auto found = component_of_.find(other);
    return found == component_of_.end() || found->second != component->first;
  });
}

void Components::forget_unresolved(std::uint32_t job) {
  const auto unresolved = unresolved_.find(job);
  if (unresolved == unresolved_.end()) return;
  for (const std::uint32_t other : unresolved->second) {
    const auto dependents = dependents_of_absent_.find(other);
    if (dependents == dependents_of_absent_.end()) continue;  // observed meanwhile
    dependents->second.erase(job);
    if (dependents->second.empty()) dependents_of_absent_.erase(dependents);
  }
  unresolved_.erase(unresolved);
}

std::uint32_t Components::name(std::uint32_t job) const {
  const auto entry = component_of_.find(job);
  return entry == component_of_.end() ? job : components_.at(entry->second).name;
}

bool Components::tied(std::uint32_t job) const {
  const auto entry = component_of_.find(job);
  return entry != component_of_.end() && components_.at(entry->second).tied;
}

LevelBars level_bars(const Fraction& target) {
  SHAPLEY_REQUIRE(target >= 0);
  LevelBars bars;
  for (std::uint32_t band = 0; band < k_max_level; ++band) bars[band] = target + (1 - target) * band / k_max_level;
  return bars;
}

LevelCounts level_counts(const Activity& activity, const ActivityState& state, const LevelBars& bars) {
  LevelCounts counts{};
  for (std::uint32_t band = 0; band < k_max_level; ++band) {
    counts[band] = tasks_above(activity, state, bars[band]);
    if (counts[band] == 0) break;  // and none above
  }
  return counts;
}

std::uint32_t level_at(const LevelCounts& counts, std::int64_t older) {
  return static_cast<std::uint32_t>(
      std::count_if(counts.begin(), counts.end(), [&](std::int64_t count) { return older < count; }));
}

}  // namespace shapley::workflow
