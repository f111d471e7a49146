// The workflow tracker: the workflows of one organization as they are now, and which pending jobs go first [WF13
// Algorithms 1 and 2].
//
// Fed with what changes (observe, forget, remember), asked once a cycle. Tasks count in processors: an array's pending
// rest counts as many as could start, and is raised as a whole, since Slurm has one record of it; if that raises too
// many, the next cycle lowers them. Only eligible jobs count as waiting and get levels.
//
// Bounds: jobs that are pending or running, once each; k_max_runs finished runs of an activity. An activity without a
// job is forgotten k_keep_idle after its last run; beyond k_max_idle of them, the oldest at once. Pure;
// single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "workflow/components.hpp"
#include "workflow/keys.hpp"
#include "workflow/levels.hpp"
#include "workflow/settings.hpp"

namespace shapley::workflow {

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
  std::uint32_t submitter = 0;  // the caller's number of who submitted it; of no effect on the loop
};

// A run that was completed; what failed or was cancelled says nothing about durations.
struct FinishedRun {
  std::uint32_t job = 0;
  Instant start;
  Instant end;
  Duration length;  // without suspensions
  std::uint32_t submitter = 0;
};

struct JobLevel {
  std::uint32_t job = 0;
  std::uint32_t level = 0;  // 1 .. k_max_level
  friend bool operator==(const JobLevel&, const JobLevel&) = default;
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
  std::vector<JobLevel> raised;     // by level, the greatest first; then the older
  std::vector<ActivityView> activities;
  std::vector<std::uint32_t> submitters;  // of its jobs and of the runs that are remembered, ascending, each once
};

// What one cycle of the loop finds.
struct Cycle {
  Instant at;
  Fraction degree = 0;                  // eta
  Fraction least = 0;                   // W_min
  bool unfair = false;                  // eta > tau
  std::vector<WorkflowView> workflows;  // by name
};

class Tracker {
 public:
  // Enough for a median that follows changes.
  static constexpr std::size_t k_max_runs = 100;
  static constexpr std::size_t k_max_idle = 10'000;
  static constexpr Duration k_keep_idle{24 * 3600};

  explicit Tracker(Settings settings) : settings_(std::move(settings)) {}

  // A job that is pending or running, as it is now.
  void observe(const Job& job);
  // It ended, or was never of this organization. No effect on one that is not known.
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

  // Tasks of an array are one in the graph of dependencies: Slurm's dependencies name the array.
  [[nodiscard]] static std::uint32_t place_of(const Job& job) { return job.array_job ? job.array_job : job.id; }
  void leave_component(const Job& job);
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
