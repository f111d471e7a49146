#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accounting/ownership/kinds.hpp"
#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "sim/experiments/strategy.hpp"

namespace shapley::sim {

namespace {

// The events of the cluster, as shapleyd's observer writes them (daemon/observer), applied to books. The
// mean residual run time is measured once, when 20 runs have ended: shapleyd measures it again a day later at the
// earliest, which is longer than a scenario.
class ClusterBooks {
 public:
  // The scenario and the rules must outlive the books.
  ClusterBooks(const ClusterScenario& scenario, const ClusterRules& rules);

  // One wait of one job: its begin, and its organization.
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

  // Organizations of the scenario in the order of service.
  [[nodiscard]] std::vector<std::uint32_t> order(Instant now);
  [[nodiscard]] std::vector<accounting::Standing> standings(Instant now);

  // The error of the first event that was refused.
  [[nodiscard]] const Expected<void>& verdict() const { return verdict_; }

 private:
  void tell(const accounting::Event& event);
  void declare();
  // The nodes of each.
  std::map<std::string, std::string> resolve_placements();
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

ClusterBooks::ClusterBooks(const ClusterScenario& scenario, const ClusterRules& rules)
    : scenario_(scenario), rules_(rules) {
  declare();
  const auto placed = rules_.placements ? resolve_placements() : std::map<std::string, std::string>();
  tell(accounting::HindsightDefined{
      .at = k_begin, .jobs = accounting::JobsStart::whole, .kinds = accounting::kinds_for({}, placed)});
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
  const bool brakes = rules_.serving.pace != game::Pace{};
  tell(accounting::RankingDeclared{.at = k_begin,
                                   .contribution = rules_.contribution,
                                   .horizon = brakes ? 0 : rules_.serving.horizon.value,
                                   .guarantee = rules_.serving.guarantee.millionths,
                                   .exceptions = {},
                                   .running_weight = brakes ? 0 : rules_.serving.running.millionths,
                                   .rule = brakes ? accounting::KeyRule::braking : accounting::KeyRule::horizon});
  for (const ClusterNode& one : scenario_.nodes) {
    tell(accounting::OwnershipStated{
        one.name, k_begin, {{k_beginning_of_time, {{scenario_.organizations[one.owner], accounting::k_whole_node}}}}});
    const ProcessorMillionths whole{one.processors * k_micro};
    tell(accounting::CapacityChanged{.node = one.name, .at = k_begin, .processors = whole, .whole = whole});
  }
}

std::map<std::string, std::string> ClusterBooks::resolve_placements() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t node = 0; node < scenario_.nodes.size(); ++node) all.push_back(node);
  std::map<std::string, std::string> known{{placement_of(ClusterJob{}), joined_names(scenario_.nodes, all)}};
  for (const ClusterJob& job : scenario_.jobs) {
    if (!job.nodes.empty()) known.emplace(placement_of(job), joined_names(scenario_.nodes, job.nodes));
  }
  for (const auto& [placement, nodes] : known) tell(accounting::PlacementResolved{placement, k_begin, 0, nodes});
  return known;
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
    const ProcessorMillionths share{run.processors[node] * k_micro};
    opened.nodes.push_back({.node = scenario_.nodes[node].name, .processors = share});
    opened.processors += share;
  }
  tell(opened);
}

void ClusterBooks::end_run(JobId id, const ClusterRun& run, Instant now) {
  tell(accounting::SegmentClosed{key_of(id, run), now, CloseReason::ended, "COMPLETED"});
  measure_residual(run, now);
}

// Weighted by processors: sum(q d^2) / (2 sum(q d)).
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

std::vector<std::uint32_t> ClusterBooks::order(Instant now) {
  std::vector<std::uint32_t> order;
  for (const accounting::Rank& rank : state_.advance(now).ranking()) {
    for (std::uint32_t u = 0; u < scenario_.organizations.size(); ++u)
      if (rank.organization == scenario_.organizations[u]) order.push_back(u);
  }
  return order;
}

std::vector<accounting::Standing> ClusterBooks::standings(Instant now) {
  const std::vector<accounting::Standing> rows = state_.advance(now).standings();
  std::vector<accounting::Standing> chosen;
  for (const std::string& name : scenario_.organizations) {
    if (const auto id = state_.find_organization(name)) chosen.push_back(rows[id->value]);
  }
  return chosen;
}

class Cluster {
 public:
  Cluster(const ClusterScenario& scenario, const ClusterRules& rules) : scenario_(scenario), books_(scenario, rules) {
    for (const ClusterNode& node : scenario.nodes) free_.push_back(node.processors);
    for (std::size_t j = 0; j < scenario.jobs.size(); ++j)
      plan(scenario.jobs[j].submit, {.what = What::submit, .index = j});
  }

  Expected<ClusterOutcome> run() {
    const Instant end = Instant{0} + scenario_.length;
    while (!agenda_.empty() && agenda_.begin()->first < end) {
      const Instant now = agenda_.begin()->first;
      // Actions at this instant may plan further ones for it.
      while (!agenda_.empty() && agenda_.begin()->first == now) {
        const auto entry = agenda_.extract(agenda_.begin());
        happen(entry.mapped(), now);
      }
      start_what_fits(now);
      SHAPLEY_TRY(books_.verdict());
    }
    for (ClusterRun& run : runs_) run.end = std::min(run.end, end);
    ClusterOutcome outcome{std::move(runs_), books_.standings(end)};
    SHAPLEY_TRY(books_.verdict());
    return outcome;
  }

 private:
  enum class What { submit, end, reconsider };
  struct Entry {
    What what = What::submit;
    std::size_t index = 0;  // of a job or a run
    JobId id{};             // reconsider: the waiting job
    Instant since{};        // reconsider: that wait, and no later one of the job
  };
  struct Waiting {
    ClusterBooks::Wait wait;
    std::size_t job = 0;
  };

  void plan(Instant at, Entry entry) { agenda_.emplace(at, entry); }
  [[nodiscard]] const ClusterJob& job_of(const Waiting& waiting) const { return scenario_.jobs[waiting.job]; }

  void happen(const Entry& entry, Instant now) {
    switch (entry.what) {
      case What::submit:
        enqueue({{JobId{++last_id_}, scenario_.jobs[entry.index].organization, now}, entry.index});
        break;
      case What::end:
        end(entry.index, now);
        break;
      case What::reconsider:
        reconsider(entry, now);
        break;
    }
  }

  void enqueue(const Waiting& waiting) {
    waiting_.push_back(waiting);
    books_.begin_wait(waiting.wait, job_of(waiting));
    plan_reconsideration(waiting, waiting.wait.since);
  }

  void plan_reconsideration(const Waiting& waiting, Instant now) {
    const ClusterJob& job = job_of(waiting);
    const Duration after = job.give_up_after.value > 0 ? job.give_up_after
                           : job.other_account         ? k_move_every
                                                       : Duration{};
    if (after.value == 0) return;
    plan(now + after, {.what = What::reconsider, .id = waiting.wait.id, .since = waiting.wait.since});
  }

  // Cancels or moves a job that still waits.
  void reconsider(const Entry& entry, Instant now) {
    const auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
      return waiting.wait.id == entry.id && waiting.wait.since == entry.since;
    });
    if (place == waiting_.end()) return;
    const ClusterJob& job = job_of(*place);
    if (job.other_account) {
      move(*place, better_of(job.organization, *job.other_account, now), now);
      return;
    }
    books_.wait_withdrawn(place->wait, job, now);
    waiting_.erase(place);
  }

  // The job keeps its place among the jobs; Slurm keeps its age.
  void move(Waiting& waiting, std::uint32_t account, Instant now) {
    if (waiting.wait.account != account) {
      books_.wait_withdrawn(waiting.wait, job_of(waiting), now);
      waiting.wait.account = account;
      waiting.wait.since = now;
      books_.begin_wait(waiting.wait, job_of(waiting));
    }
    plan_reconsideration(waiting, now);
  }

  std::uint32_t better_of(std::uint32_t a, std::uint32_t b, Instant now) {
    for (const std::uint32_t u : books_.order(now))
      if (u == a || u == b) return u;
    return a;
  }

  [[nodiscard]] bool may_use(const ClusterJob& job, std::uint32_t node) const {
    return job.nodes.empty() || std::binary_search(job.nodes.begin(), job.nodes.end(), node);
  }

  [[nodiscard]] bool fits(const ClusterJob& job) const {
    std::int64_t sum = 0;
    for (std::uint32_t node = 0; node < free_.size(); ++node) sum += may_use(job, node) ? free_[node] : 0;
    return sum >= job.processors;
  }

  void start_what_fits(Instant now) {
    while (std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return fits(job_of(w)); }))
      if (!start_next(books_.order(now), now)) return;
  }

  bool start_next(const std::vector<std::uint32_t>& order, Instant now) {
    return start_next(order, now, false) || start_next(order, now, true);
  }

  bool start_next(const std::vector<std::uint32_t>& order, Instant now, bool that_goes_last) {
    for (const std::uint32_t account : order) {
      const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
        const ClusterJob& job = job_of(waiting);
        return waiting.wait.account == account && job.goes_last == that_goes_last && fits(job);
      });
      if (next == waiting_.end()) continue;
      start(*next, now);
      waiting_.erase(next);
      return true;
    }
    return false;
  }

  void start(const Waiting& waiting, Instant now) {
    const ClusterJob& job = job_of(waiting);
    ClusterRun run{waiting.job, waiting.wait.account, now, now + job.duration,
                   std::vector<std::int64_t>(free_.size(), 0)};
    std::int64_t missing = job.processors;
    for (std::uint32_t node = 0; node < free_.size(); ++node) {
      if (!may_use(job, node)) continue;
      run.processors[node] = std::min(missing, free_[node]);
      free_[node] -= run.processors[node];
      missing -= run.processors[node];
    }
    books_.wait_started(waiting.wait, job, now);
    books_.begin_run(waiting.wait.id, run);
    plan(run.end, {.what = What::end, .index = runs_.size()});
    runs_.push_back(std::move(run));
    ids_.push_back(waiting.wait.id);
  }

  void end(std::size_t run, Instant now) {
    for (std::size_t node = 0; node < free_.size(); ++node) free_[node] += runs_[run].processors[node];
    books_.end_run(ids_[run], runs_[run], now);
  }

  const ClusterScenario& scenario_;
  ClusterBooks books_;
  std::multimap<Instant, Entry> agenda_;  // entries of one instant in the order of planning
  std::vector<Waiting> waiting_;          // as they came
  std::vector<ClusterRun> runs_;
  std::vector<JobId> ids_;  // by run
  std::vector<std::int64_t> free_;
  std::uint32_t last_id_ = 0;
};

}  // namespace

Expected<ClusterOutcome> run_cluster(const ClusterScenario& scenario, const ClusterRules& rules) {
  return Cluster(scenario, rules).run();
}

}  // namespace shapley::sim
