// The workflow tracker: the present workflows of one organization, and which of its pending jobs go first [WF13
// Algorithms 1 and 2].
//
// It receives changes (observe, forget, remember), and is asked once a cycle. Tasks count in processors: an array's
// pending rest counts as many as could start, and is raised as a whole, since Slurm has one record of it; if that
// raises too many, the next cycle lowers them. Only eligible jobs count as waiting and get levels.
// Bounds: jobs that are pending or running, once each; k_max_runs finished runs of an activity. An activity without a
// job is forgotten k_keep_idle after its last run; beyond k_max_idle of them, the oldest at once. Pure;
// single-threaded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "workflow/reprioritize.hpp"
#include "workflow/settings.hpp"

namespace shapley::workflow {

// Delta's raised tasks as bounded levels, computed again in each cycle.
//
// [WF13 Algorithm 2] gives a raised task the greatest priority plus one, which grows without bound and which other
// factors of Slurm's priority disturb. Instead the range from W_min + tau to 1, the greatest w, is divided into
// k_max_level equal bands, and a waiting task's level is the number of bands that its activity's w would reach if all
// tasks of the activity that are older were started: the greatest level goes to the oldest task of the activity that
// waits most. So the raised tasks are exactly Delta's, the oldest, and those of two activities that are behind
// alternate as they catch up.

inline constexpr std::uint32_t k_max_level = 15;

// Entry l - 1: the lower bound of band l, W_min + tau for l = 1.
using LevelBars = std::array<Fraction, k_max_level>;

// REQUIRES: 0 <= target, which is W_min + tau. At 1 or more no w exceeds any bound.
[[nodiscard]] LevelBars level_bars(const Fraction& target);

// Entry l - 1: how many of the activity's tasks have level l or more, Delta for l = 1; never rising.
using LevelCounts = std::array<std::int64_t, k_max_level>;

// REQUIRES: `state` was measured on `activity`.
[[nodiscard]] LevelCounts level_counts(const Activity& activity, const ActivityState& state, const LevelBars& bars);

// The level of a task before which `older` tasks (or processors, if tasks count so) of its activity wait; 0: not
// raised.
[[nodiscard]] std::uint32_t level_at(const LevelCounts& counts, std::int64_t older);

// The connected components of jobs by dependencies, each named by the smallest job id that was ever in it.
//
// Slurm removes a dependency from a job once it is fulfilled, so components are remembered as long as one of their jobs
// exists. A job may be observed before the ones that it depends on: that dependency is unresolved until then. Memory:
// the existing jobs and their last known dependencies. Single-threaded.
class Components {
 public:
  // The component `from` has become part of `to`.
  struct Renamed {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  // A job exists and waits for the jobs of these ids. Its earlier connections stay.
  std::vector<Renamed> observe(std::uint32_t job, const std::vector<std::uint32_t>& depends_on);
  // The job ended.
  void remove(std::uint32_t job);

  // The component's name; the job's own id when it is connected to none, or does not exist.
  [[nodiscard]] std::uint32_t name(std::uint32_t job) const;
  // Whether the component has, or ever had, more than one job.
  [[nodiscard]] bool tied(std::uint32_t job) const;
  [[nodiscard]] std::size_t size() const { return component_of_.size(); }

 private:
  struct Component {
    std::uint32_t name = 0;
    bool tied = false;
    std::vector<std::uint32_t> jobs;  // jobs that were in it; those that ended are dropped when the list is moved next
    std::size_t present = 0;
  };

  void tie(std::uint32_t a, std::uint32_t b, std::vector<Renamed>& renamed);
  void forget_unresolved(std::uint32_t job);

  std::uint64_t next_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> component_of_;  // of the existing jobs
  std::unordered_map<std::uint64_t, Component> components_;
  // Dependencies on jobs that have not been observed yet: job -> jobs that it waits for, and the reverse.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> unresolved_;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> dependents_of_absent_;
};

// A record of slurmctld's job list, as far as the loop needs it.
struct Job {
  enum class State : std::uint8_t { blocked, eligible, running };  // blocked: pending, but could not start

  std::uint32_t id = 0;
  std::uint32_t array_job = 0;  // 0: no array
  State state = State::blocked;
  std::int64_t processors = 1;  // of all its tasks that could start, or that run
  Instant submit;
  Duration run_before;               // running: what it ran up to `run_since`
  std::optional<Instant> run_since;  // none: suspended
  std::string wckey;
  std::string name;
  std::vector<std::uint32_t> depends_on;
  std::uint32_t submitter = 0;  // the caller's number of the submitter; no effect on the loop
};

// A completed run; failed and cancelled runs are not used, because their durations mean nothing.
struct FinishedRun {
  std::uint32_t job = 0;
  Instant start;
  Instant end;
  Duration length;  // without suspensions
  std::uint32_t submitter = 0;
};

struct RaisedJob {
  std::uint32_t job = 0;
  std::uint32_t level = 0;  // 1 .. k_max_level
  friend bool operator==(const RaisedJob&, const RaisedJob&) = default;
};

struct Counts {
  std::size_t blocked = 0;
  std::size_t eligible = 0;
  std::size_t running = 0;
  std::size_t finished = 0;  // runs that are remembered
  Counts& operator+=(const Counts& other);
};

struct ActivityView {
  std::string name;
  Counts jobs;
  std::int64_t waiting = 0;        // Q, processors
  std::int64_t running = 0;        // R, processors
  std::optional<Fraction> median;  // t~, seconds
  Fraction performance = 1;        // P
  Fraction relative_duration = 1;  // T^
  Fraction pending = 0;            // w
  std::int64_t delta = 0;          // processors to raise
};

struct WorkflowView {
  std::string name;
  Counts jobs;
  std::optional<Fraction> pending;  // W; none when nothing of it runs or could start
  std::vector<RaisedJob> raised;    // by level, the greatest first; then the older
  std::vector<ActivityView> activities;
  std::vector<std::uint32_t> submitters;  // of its jobs and of the runs that are remembered, ascending, each once
};

// The result of one cycle of the loop.
struct Cycle {
  Instant at;
  Fraction degree = 0;                  // eta
  Fraction least = 0;                   // W_min
  bool unfair = false;                  // eta > tau
  std::vector<WorkflowView> workflows;  // by name
};

class Tracker {
 public:
  // Enough for a median that still follows changes.
  static constexpr std::size_t k_max_runs = 100;
  static constexpr std::size_t k_max_idle = 10'000;
  static constexpr Duration k_keep_idle{24 * 3600};

  explicit Tracker(Settings settings) : settings_(std::move(settings)) {}

  // A job that is pending or running, in its present state.
  void observe(const Job& job);
  // The job ended, or was never of this organization. No effect on an unknown job.
  void forget(std::uint32_t job);
  // A completed run. The same run again has no effect.
  void remember(const Job& job, const FinishedRun& run);
  [[nodiscard]] std::vector<std::uint32_t> jobs() const;
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }

  [[nodiscard]] Cycle cycle(Instant now);
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  struct Known {
    Job job;
    Key workflow;
    Key activity;
  };
  struct Group;
  using Runs = std::vector<FinishedRun>;  // ascending by end
  using Groups = std::map<std::string, std::map<std::string, Group>>;

  // Tasks of an array share one place in the graph of dependencies, because Slurm's dependencies name the array.
  [[nodiscard]] static std::uint32_t place_of(const Job& job) { return job.array_job ? job.array_job : job.id; }
  void rename(const std::vector<Components::Renamed>& renamed);
  [[nodiscard]] std::string workflow_of(const Key& key, const Job& job) const;
  [[nodiscard]] Groups grouped(Instant now) const;
  void add_history(const std::string& workflow, WorkflowView& view) const;
  void forget_idle(const Groups& groups, Instant now);

  Settings settings_;
  std::unordered_map<std::uint32_t, Known> jobs_;
  Components components_;
  std::unordered_map<std::uint32_t, std::size_t> at_place_;     // jobs at a place of the graph
  std::map<std::string, std::map<std::string, Runs>> history_;  // by workflow, activity
  Instant tidied_;
};

}  // namespace shapley::workflow
