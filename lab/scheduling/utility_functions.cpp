#include "scheduling/utility_functions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace shapley::scheduling {

namespace {

std::int64_t done(const ScheduledJob& job, Instant t) {
  return std::min(job.duration, t - job.start).value;
}
bool is_completed(const ScheduledJob& job, Instant t) {
  return job.start + job.duration <= t;
}
std::int64_t time_in_system(const ScheduledJob& job, Instant t) {
  return (std::min(job.start + job.duration, t) - job.release).value;
}

std::int64_t psi_sp(const ScheduledJob& job, Instant t) {
  const std::int64_t q = done(job, t);
  return q * (t - job.start).value - q * (q - 1) / 2;
}
std::int64_t flow_time(const ScheduledJob& job, Instant t) {
  return is_completed(job, t) ? -time_in_system(job, t) : 0;
}
std::int64_t turnaround(const ScheduledJob& job, Instant t) {
  return -time_in_system(job, t);
}
std::int64_t waiting_time(const ScheduledJob& job, Instant /*t*/) {
  return -(job.start - job.release).value;
}
std::int64_t tardiness(const ScheduledJob& job, Instant t) {
  const std::int64_t late = (job.start - job.release - job.duration).value;
  return is_completed(job, t) ? -std::max<std::int64_t>(0, late) : 0;
}
std::int64_t utilization(const ScheduledJob& job, Instant t) {
  return done(job, t);
}

constexpr std::array k_utilities{
    UtilityFunction{"psi_sp", psi_sp, false},        UtilityFunction{"flow_time", flow_time, true},
    UtilityFunction{"turnaround", turnaround, true}, UtilityFunction{"waiting_time", waiting_time, true},
    UtilityFunction{"tardiness", tardiness, true},   UtilityFunction{"utilization", utilization, true},
};

constexpr std::int64_t k_max_time = 7;
constexpr std::int64_t k_max_duration = 3;

using Schedule = std::vector<ScheduledJob>;

Schedule with(Schedule schedule, const ScheduledJob& job) {
  schedule.push_back(job);
  return schedule;
}

// The schedules sigma, which must make no difference: no job, or one.
std::vector<Schedule> backgrounds(std::int64_t t) {
  std::vector<Schedule> schedules{{}};
  for (std::int64_t p = 1; p <= k_max_duration; ++p) {
    for (std::int64_t s = 0; s + p <= t; ++s) schedules.push_back({{{0}, {s}, {p}}});
  }
  return schedules;
}

class Search {
 public:
  explicit Search(const ScheduleUtility& utility) : utility_(utility) {}

  std::optional<Counterexample> starting_times(Instant t) const {
    for (std::int64_t p = 1; p <= k_max_duration; ++p) {
      std::optional<Change> first;
      for (const Schedule& sigma : backgrounds(t.value)) {
        for (std::int64_t s = 0; s + 1 + p <= t.value; ++s) {
          const Change change{evaluate(with(sigma, {{0}, {s}, {p}}), t), evaluate(with(sigma, {{0}, {s + 1}, {p}}), t)};
          if (auto found = compare(t, first, change, "starting one second earlier")) return found;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Counterexample> number_of_tasks(Instant t) const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::optional<Change>> first;
    for (const Schedule& sigma : backgrounds(t.value)) {
      for (std::int64_t p = 1; p <= k_max_duration; ++p) {
        for (std::int64_t s = 0; s + p <= t.value; ++s) {
          const Change change{evaluate(with(sigma, {{0}, {s}, {p}}), t), evaluate(sigma, t)};
          if (auto found = compare(t, first[{s, p}], change, "one job more")) return found;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Counterexample> strategy_resistance(Instant t) const {
    for (const Schedule& sigma : backgrounds(t.value)) {
      for (std::int64_t p1 = 1; p1 < k_max_duration; ++p1) {
        for (std::int64_t p2 = 1; p1 + p2 <= k_max_duration; ++p2) {
          for (std::int64_t s = 0; s + p1 <= t.value; ++s) {
            const EvaluatedSchedule base = evaluate(sigma, t);
            const EvaluatedSchedule split = evaluate(with(with(sigma, {{0}, {s}, {p1}}), {{0}, {s + p1}, {p2}}), t);
            const std::int64_t gains = evaluate(with(sigma, {{0}, {s}, {p1}}), t).utility - base.utility +
                                       evaluate(with(sigma, {{0}, {s + p1}, {p2}}), t).utility - base.utility;
            const EvaluatedSchedule whole = evaluate(with(sigma, {{0}, {s}, {p1 + p2}}), t);
            if (gains == whole.utility - base.utility) continue;
            return Counterexample{t,
                                  {split, whole},
                                  "the two pieces gain " + std::to_string(gains) + ", the whole job " +
                                      std::to_string(whole.utility - base.utility)};
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct Change {
    EvaluatedSchedule better;
    EvaluatedSchedule worse;
    [[nodiscard]] std::int64_t gain() const { return better.utility - worse.utility; }
  };

  [[nodiscard]] EvaluatedSchedule evaluate(Schedule jobs, Instant t) const {
    const std::int64_t utility = utility_(jobs, t);
    return {std::move(jobs), utility};
  }

  // The first change determines what all others must gain.
  static std::optional<Counterexample> compare(Instant t, std::optional<Change>& first, const Change& change,
                                               const std::string& what) {
    if (change.gain() <= 0) {
      return Counterexample{t,
                            {change.better, change.worse},
                            what + " gains " + std::to_string(change.gain()) + ", which is not more than 0"};
    }
    if (!first) first = change;
    if (change.gain() == first->gain()) return std::nullopt;
    return Counterexample{
        t,
        {first->better, first->worse, change.better, change.worse},
        what + " gains " + std::to_string(first->gain()) + " here and " + std::to_string(change.gain()) + " there"};
  }

  const ScheduleUtility& utility_;
};

}  // namespace

std::span<const UtilityFunction> utility_functions() {
  return k_utilities;
}

Expected<const UtilityFunction*> find_utility_function(std::string_view name) {
  std::string known;
  for (const UtilityFunction& utility : k_utilities) {
    if (utility.name == name) return &utility;
    known += (known.empty() ? "" : ", ") + std::string(utility.name);
  }
  return fail(Errc::invalid_argument, "utility \"" + std::string(name) + "\" is unknown; known are " + known);
}

std::vector<std::int64_t> utilities_of(const UtilityFunction& utility, const Instance& instance,
                                       std::span<const Start> schedule) {
  std::vector<std::int64_t> utilities(instance.organizations());
  for (const Start& start : schedule) {
    const Job& job = instance.jobs[start.job];
    utilities[job.organization] +=
        job.processors * utility.of_job({job.release, start.start, job.duration}, instance.end);
  }
  return utilities;
}

std::string_view name_of(Axiom axiom) {
  switch (axiom) {
    case Axiom::starting_times:
      return "starting_times";
    case Axiom::number_of_tasks:
      return "number_of_tasks";
    case Axiom::strategy_resistance:
      return "strategy_resistance";
  }
  return "";
}

ScheduleUtility schedule_utility(const UtilityFunction& utility) {
  return [of_job = utility.of_job](std::span<const ScheduledJob> jobs, Instant t) {
    std::int64_t sum = 0;
    for (const ScheduledJob& job : jobs) {
      if (job.start <= t) sum += of_job(job, t);
    }
    return sum;
  };
}

std::optional<Counterexample> find_counterexample(Axiom axiom, const ScheduleUtility& utility) {
  const Search search(utility);
  for (std::int64_t t = 1; t <= k_max_time; ++t) {
    std::optional<Counterexample> found;
    switch (axiom) {
      case Axiom::starting_times:
        found = search.starting_times({t});
        break;
      case Axiom::number_of_tasks:
        found = search.number_of_tasks({t});
        break;
      case Axiom::strategy_resistance:
        found = search.strategy_resistance({t});
        break;
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace shapley::scheduling
