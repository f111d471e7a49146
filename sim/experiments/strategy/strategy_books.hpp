// The events of strategy_world's cluster, as shapleyd's observer writes them (daemon/observer), applied to books. The
// mean residual run time is measured once, when 20 runs have ended: shapleyd measures it again a day later at the
// earliest, which is longer than a scenario.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "sim/experiments/strategy/strategy_world.hpp"

namespace shapley::sim {

class ClusterBooks {
 public:
  // The scenario and the rules must outlive the books.
  ClusterBooks(const ClusterScenario& scenario, const ClusterRules& rules);

  // One wait of one job: since when, and for whom.
  struct Wait {
    JobId id;
    std::uint32_t account = 0;
    Instant since;
  };
  void begin_wait(const Wait& wait, const ClusterJob& job);
  void wait_started(const Wait& wait, const ClusterJob& job, Instant now);
  void wait_withdrawn(const Wait& wait, const ClusterJob& job, Instant now);

  void begin_run(JobId id, const ClusterRun& run);
  void end_run(JobId id, const ClusterRun& run, Instant now);

  void offer(std::uint32_t node, bool offered, Instant now);

  // Organizations of the scenario, who is served first in front.
  [[nodiscard]] std::vector<std::uint32_t> order(Instant now);
  [[nodiscard]] std::vector<accounting::Standing> standings(Instant now);

  // The first event that was refused.
  [[nodiscard]] const Expected<void>& verdict() const { return verdict_; }

 private:
  void tell(const accounting::Event& event);
  void declare();
  void resolve_placements();
  void measure_residual(const ClusterRun& run, Instant now);
  [[nodiscard]] bool is_demand(const ClusterJob& job) const;
  [[nodiscard]] std::string placement_of(const ClusterJob& job) const;

  const ClusterScenario& scenario_;
  const ClusterRules& rules_;
  accounting::State state_;
  std::int64_t ended_ = 0;    // runs
  std::int64_t work_ = 0;     // processor seconds of them
  std::int64_t squares_ = 0;  // sum of processors * seconds^2
  Expected<void> verdict_;
};

}  // namespace shapley::sim
