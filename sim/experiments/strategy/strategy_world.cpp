#include "sim/experiments/strategy/strategy_world.hpp"

#include <algorithm>
#include <map>

#include "sim/experiments/strategy/strategy_books.hpp"

namespace shapley::sim {

namespace {

class Cluster {
 public:
  Cluster(const ClusterScenario& scenario, const ClusterRules& rules)
      : scenario_(scenario), once_a_pass_(rules.once_a_pass), books_(scenario, rules) {
    for (const ClusterNode& node : scenario.nodes) free_.push_back(node.processors);
    drained_.assign(scenario.nodes.size(), false);
    for (std::size_t j = 0; j < scenario.jobs.size(); ++j)
      plan(scenario.jobs[j].submit, {.what = What::submit, .index = j, .requeues = scenario.jobs[j].requeues});
    for (std::size_t d = 0; d < scenario.drains.size(); ++d) {
      plan(scenario.drains[d].from, {.what = What::drain, .index = d});
      plan(scenario.drains[d].to, {.what = What::resume, .index = d});
    }
  }

  Expected<ClusterOutcome> run() {
    const Instant end = Instant{0} + scenario_.length;
    while (!agenda_.empty() && agenda_.begin()->first < end) {
      const Instant now = agenda_.begin()->first;
      // What happens at this instant may plan more for it.
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
  enum class What { submit, end, reconsider, drain, resume };
  struct Entry {
    What what = What::submit;
    std::size_t index = 0;       // of a job, a run or a drain
    std::uint32_t requeues = 0;  // submit: still to come
    JobId id{};                  // submit: nothing for a new one. reconsider: of the job that waits
    Instant since{};             // reconsider: that wait and no later one of the job
  };
  struct Waiting {
    ClusterBooks::Wait wait;
    std::size_t job = 0;
    std::uint32_t requeues = 0;
  };

  void plan(Instant at, Entry entry) { agenda_.emplace(at, entry); }
  [[nodiscard]] const ClusterJob& job_of(const Waiting& waiting) const { return scenario_.jobs[waiting.job]; }

  void happen(const Entry& entry, Instant now) {
    switch (entry.what) {
      case What::submit:
        enqueue({{entry.id.value == 0 ? JobId{++last_id_} : entry.id, scenario_.jobs[entry.index].organization, now},
                 entry.index,
                 entry.requeues});
        break;
      case What::end:
        end(entry.index, now);
        break;
      case What::reconsider:
        reconsider(entry, now);
        break;
      case What::drain:
      case What::resume: {
        const std::uint32_t node = scenario_.drains[entry.index].node;
        drained_[node] = entry.what == What::drain;
        books_.offer(node, entry.what == What::resume, now);
        break;
      }
    }
  }

  void enqueue(const Waiting& waiting) {
    waiting_.push_back(waiting);
    books_.begin_wait(waiting.wait, job_of(waiting));
    plan_reconsideration(waiting, waiting.wait.since);
  }

  void plan_reconsideration(const Waiting& waiting, Instant now) {
    const ClusterJob& job = job_of(waiting);
    const Duration after = job.give_up_after.value > 0    ? job.give_up_after
                           : job.resubmit_every.value > 0 ? job.resubmit_every
                           : job.other_account            ? k_move_every
                                                          : Duration{};
    if (after.value == 0) return;
    plan(now + after, {.what = What::reconsider, .id = waiting.wait.id, .since = waiting.wait.since});
  }

  // A job that still waits is cancelled, submitted again, or moved.
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
    const Waiting withdrawn = *place;
    waiting_.erase(place);
    if (job.resubmit_every.value == 0) return;
    plan(now, {.what = What::submit, .index = withdrawn.job, .requeues = withdrawn.requeues});
  }

  // It keeps its place among the jobs; Slurm keeps its age.
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
    return !drained_[node] && (job.nodes.empty() || std::binary_search(job.nodes.begin(), job.nodes.end(), node));
  }

  [[nodiscard]] bool fits(const ClusterJob& job) const {
    std::int64_t sum = 0;
    for (std::uint32_t node = 0; node < free_.size(); ++node) sum += may_use(job, node) ? free_[node] : 0;
    return sum >= job.processors;
  }

  void start_what_fits(Instant now) {
    std::vector<std::uint32_t> order;
    while (std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return fits(job_of(w)); })) {
      if (order.empty() || !once_a_pass_) order = books_.order(now);
      if (!start_next(order, now)) return;
    }
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
    const bool requeued = waiting.requeues > 0;
    ClusterRun run{waiting.job,
                   waiting.wait.account,
                   now,
                   now + (requeued ? k_requeue_run : job.duration),
                   std::vector<std::int64_t>(free_.size(), 0),
                   requeued};
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
    if (requeued)
      plan(run.end + k_requeue_delay,
           {.what = What::submit, .index = waiting.job, .requeues = waiting.requeues - 1, .id = waiting.wait.id});
    runs_.push_back(std::move(run));
    ids_.push_back(waiting.wait.id);
  }

  void end(std::size_t run, Instant now) {
    for (std::size_t node = 0; node < free_.size(); ++node) free_[node] += runs_[run].processors[node];
    books_.end_run(ids_[run], runs_[run], now);
  }

  const ClusterScenario& scenario_;
  bool once_a_pass_;
  ClusterBooks books_;
  std::multimap<Instant, Entry> agenda_;  // at one instant: as planned
  std::vector<Waiting> waiting_;          // as they came
  std::vector<ClusterRun> runs_;
  std::vector<JobId> ids_;  // by run
  std::vector<std::int64_t> free_;
  std::vector<bool> drained_;
  std::uint32_t last_id_ = 0;
};

}  // namespace

Expected<ClusterOutcome> run_cluster(const ClusterScenario& scenario, const ClusterRules& rules) {
  return Cluster(scenario, rules).run();
}

}  // namespace shapley::sim
