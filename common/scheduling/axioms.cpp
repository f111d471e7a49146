#include "scheduling/axioms.hpp"

#include <map>
#include <utility>

namespace shapley::scheduling {

namespace {

constexpr std::int64_t k_max_time = 7;
constexpr std::int64_t k_max_duration = 3;

using Schedule = std::vector<ScheduledJob>;

Schedule with(Schedule schedule, const ScheduledJob& job) {
  schedule.push_back(job);
  return schedule;
}

// No job, or one: what must not make a difference.
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

  // The first change sets what all others must gain.
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
