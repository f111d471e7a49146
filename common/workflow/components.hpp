// Which jobs are connected by dependencies: connected components, each named by the smallest job id that was ever in
// it.
//
// Slurm removes a dependency from a job once it is fulfilled, so components are remembered as long as one of their jobs
// exists. A job may be observed before the ones that it depends on: that dependency is unresolved until then. Memory:
// the existing jobs and their last known dependencies. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace shapley::workflow {

class Components {
 public:
  // The component that was called `from` is part of `to` now.
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
    std::vector<std::uint32_t> jobs;  // that were in it; those that ended are left out when the list is next moved
    std::size_t present = 0;
  };

  void tie(std::uint32_t a, std::uint32_t b, std::vector<Renamed>& renamed);
  void forget_unresolved(std::uint32_t job);

  std::uint64_t next_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> component_of_;  // of the existing jobs
  std::unordered_map<std::uint64_t, Component> components_;
  // Dependencies on jobs that have not been observed yet: job -> those it waits for, and the other way round.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> unresolved_;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> dependents_of_absent_;
};

}  // namespace shapley::workflow
