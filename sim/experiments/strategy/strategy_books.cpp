#include "sim/experiments/strategy/strategy_books.hpp"

#include <algorithm>
#include <set>

namespace shapley::sim {

namespace {

using accounting::CloseReason;
using accounting::SegmentKey;
using accounting::SegmentKind;

constexpr Instant k_begin{0};

SegmentKey key_of(const ClusterBooks::Wait& wait) {
  return {SegmentKind::wait, wait.id, wait.since, 0};
}

SegmentKey key_of(JobId id, const ClusterRun& run) {
  return {SegmentKind::run, id, run.begin, 0};
}

std::string joined_names(const std::vector<ClusterNode>& nodes, const std::vector<std::uint32_t>& chosen) {
  std::string names;
  for (const std::uint32_t node : chosen) names += (names.empty() ? "" : ",") + nodes[node].name;
  return names;
}

}  // namespace

ClusterBooks::ClusterBooks(const ClusterScenario& scenario, const ClusterRules& rules)
    : scenario_(scenario), rules_(rules) {
  declare();
  if (rules_.placements) resolve_placements();
}

void ClusterBooks::tell(const accounting::Event& event) {
  if (!verdict_) return;
  const auto applied = state_.apply(event);
  if (!applied) {
    verdict_ = tl::unexpected<Error>(applied.error());
  } else if (*applied != accounting::Applied::changed) {
    verdict_ = fail(Errc::conflict, accounting::event_key(event) + ": the books know it already or have forgotten it");
  }
}

void ClusterBooks::declare() {
  tell(accounting::OrganizationsDeclared{k_begin, scenario_.organizations});
  tell(accounting::RankingDeclared{k_begin,
                                   rules_.contribution,
                                   rules_.serving.horizon.value,
                                   rules_.serving.guarantee.millionths,
                                   {},
                                   rules_.serving.running.millionths});
  for (std::uint32_t node = 0; node < scenario_.nodes.size(); ++node) {
    const ClusterNode& one = scenario_.nodes[node];
    tell(accounting::OwnershipStated{
        one.name, k_begin, {{k_beginning_of_time, {{scenario_.organizations[one.owner], accounting::k_whole_node}}}}});
    offer(node, true, k_begin);
  }
}

void ClusterBooks::resolve_placements() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t node = 0; node < scenario_.nodes.size(); ++node) all.push_back(node);
  std::set<std::string> known;
  for (const ClusterJob& job : scenario_.jobs) {
    const std::string placement = placement_of(job);
    if (!known.insert(placement).second) continue;
    tell(accounting::PlacementResolved{placement, k_begin, 0,
                                       joined_names(scenario_.nodes, job.nodes.empty() ? all : job.nodes)});
  }
}

std::string ClusterBooks::placement_of(const ClusterJob& job) const {
  if (!rules_.placements) return {};
  return job.nodes.empty() ? "partition=main" : "partition=main nodes=" + joined_names(scenario_.nodes, job.nodes);
}

bool ClusterBooks::is_demand(const ClusterJob& job) const {
  return !job.goes_last || !rules_.nice;
}

void ClusterBooks::begin_wait(const Wait& wait, const ClusterJob& job) {
  if (!is_demand(job)) return;
  tell(accounting::SegmentOpened{key_of(wait),
                                 scenario_.organizations[wait.account],
                                 wait.since,
                                 {job.processors * k_micro},
                                 {},
                                 placement_of(job)});
}

void ClusterBooks::wait_started(const Wait& wait, const ClusterJob& job, Instant now) {
  if (!is_demand(job)) return;
  tell(accounting::SegmentClosed{key_of(wait), now, CloseReason::started, "RUNNING"});
}

void ClusterBooks::wait_withdrawn(const Wait& wait, const ClusterJob& job, Instant now) {
  if (!is_demand(job)) return;
  tell(accounting::SegmentClosed{key_of(wait), now, CloseReason::changed, "CANCELLED"});
  if (rules_.retraction) tell(accounting::SegmentRetracted{key_of(wait), now});
}

void ClusterBooks::begin_run(JobId id, const ClusterRun& run) {
  accounting::SegmentOpened opened{
      key_of(id, run), scenario_.organizations[run.account], run.begin, {}, {}, placement_of(scenario_.jobs[run.job])};
  for (std::size_t node = 0; node < run.processors.size(); ++node) {
    if (run.processors[node] == 0) continue;
    const MicroProcessors share{run.processors[node] * k_micro};
    opened.nodes.push_back({.node = scenario_.nodes[node].name, .processors = share});
    opened.processors += share;
  }
  tell(opened);
}

void ClusterBooks::end_run(JobId id, const ClusterRun& run, Instant now) {
  const CloseReason reason = run.lost ? CloseReason::requeued : CloseReason::ended;
  tell(accounting::SegmentClosed{key_of(id, run), now, reason, run.lost ? "PENDING" : "COMPLETED"});
  measure_residual(run, now);
}

// Processors weigh: sum(q d^2) / (2 sum(q d)).
void ClusterBooks::measure_residual(const ClusterRun& run, Instant now) {
  constexpr std::int64_t k_enough_runs = 20;
  if (ended_ == k_enough_runs) return;
  const std::int64_t seconds = (run.end - run.begin).value;
  for (const std::int64_t processors : run.processors) {
    work_ += processors * seconds;
    squares_ += processors * seconds * seconds;
  }
  if (++ended_ < k_enough_runs) return;
  tell(accounting::ResidualMeasured{now, std::max<std::int64_t>(squares_ / (2 * work_), 1), ended_});
}

void ClusterBooks::offer(std::uint32_t node, bool offered, Instant now) {
  const MicroProcessors whole{scenario_.nodes[node].processors * k_micro};
  tell(accounting::CapacityChanged{.node = scenario_.nodes[node].name,
                                   .at = now,
                                   .processors = offered ? whole : MicroProcessors{},
                                   .whole = whole});
}

std::vector<std::uint32_t> ClusterBooks::order(Instant now) {
  const std::vector<std::string>& names = state_.organizations();
  std::vector<std::uint32_t> order;
  for (const accounting::Rank& rank : state_.ranking(now)) {
    for (std::uint32_t u = 0; u < scenario_.organizations.size(); ++u)
      if (names[rank.organization.value] == scenario_.organizations[u]) order.push_back(u);
  }
  return order;
}

std::vector<accounting::Standing> ClusterBooks::standings(Instant now) {
  const std::vector<accounting::Standing> rows = state_.standings(now);
  std::vector<accounting::Standing> chosen;
  for (const std::string& name : scenario_.organizations) {
    if (const auto id = state_.find_organization(name)) chosen.push_back(rows[id->value]);
  }
  return chosen;
}

}  // namespace shapley::sim
