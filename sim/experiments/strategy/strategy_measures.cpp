#include "sim/experiments/strategy/strategy_measures.hpp"

#include <vector>

namespace shapley::sim {

namespace {

double percent(double from, double to) {
  return 100 * (to - from) / from;
}

}  // namespace

StrategyMeasures measure_strategy(const ClusterScenario& scenario, const ClusterOutcome& outcome,
                                  std::uint32_t organization, std::string_view estimator) {
  StrategyMeasures measures;
  double delays = 0;
  double wanted = 0;
  std::vector<std::int64_t> missing(scenario.jobs.size());
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) missing[j] = scenario.jobs[j].duration.value;
  for (const ClusterRun& run : outcome.runs) {
    const ClusterJob& job = scenario.jobs[run.job];
    if (run.lost || job.organization != organization) continue;
    const auto done = (run.end - run.begin).value;
    missing[run.job] -= done;
    const double work = static_cast<double>(job.useful * done);
    measures.work += work;
    // The second that begins at s is done at s + 1.
    delays += work * ((static_cast<double>(run.begin.value + 1 + run.end.value) / 2) - job.wanted);
  }
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const ClusterJob& job = scenario.jobs[j];
    if (job.organization != organization) continue;
    wanted += static_cast<double>(job.useful * job.duration.value);
    delays += static_cast<double>(job.useful * missing[j]) * (static_cast<double>(scenario.length.value) - job.wanted);
  }
  if (wanted > 0) measures.delay_s = delays / wanted;
  if (const auto id = accounting::parse_estimator(estimator))
    measures.phi = static_cast<double>(outcome.standings[organization].phi(*id).value) / static_cast<double>(k_micro);
  return measures;
}

StrategyChange change_of(const StrategyMeasures& honest, const StrategyMeasures& played) {
  StrategyChange change;
  change.work_percent = percent(honest.work, played.work);
  if (honest.phi > 0) change.phi_percent = percent(honest.phi, played.phi);
  change.delay_s = played.delay_s - honest.delay_s;
  return change;
}

}  // namespace shapley::sim
