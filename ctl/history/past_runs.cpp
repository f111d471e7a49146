#include "ctl/history/past_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "accounting/state/state.hpp"
#include "history/runs.hpp"

namespace shapley::ctl {

namespace {

using accounting::Event;
using history::SacctRow;
using protocol::JobRecord;
using protocol::JobState;

struct PastRun : history::Run {
  std::vector<daemon::PastSegment> retracted = {};  // that the ledger has of it
};

// Of one second: what ends makes room before anything starts.
enum class StepKind { ended, suspended, resized, started, eligible };

struct Step {
  Instant at;
  StepKind kind = StepKind::started;
  std::uint32_t run = 0;
  std::uint32_t row = 0;  // of the run
};

class Importer {
 public:
  using Take = std::function<Expected<void>(std::span<const Event>)>;

  Importer(const PastRunsSource& source, accounting::State& books, const Take& take)
      : source_(source), books_(books), take_(take) {
    std::vector<accounting::CapacityChanged> known;
    for (const std::string& node : books.nodes()) {
      if (const auto* capacity = books.last_capacity(node)) known.push_back(*capacity);
    }
    kinds_ = daemon::node_kinds(known);
  }

  Expected<PastRuns> run() {
    for (const SacctRow& row : source_.rows) {
      if (row.ran()) continue;
      ++out_.never_ran;
      if (row.end) gone_.emplace(row.job, *row.end);
    }
    SHAPLEY_TRY(choose_runs());
    for (const Step& step : steps()) {
      SHAPLEY_TRY(observe(step));
    }
    return out_;
  }

 private:
  Expected<void> choose_runs() {
    for (history::Run& rows : history::runs_of(source_.rows)) {
      PastRun run{std::move(rows)};
      SHAPLEY_TRY_ASSIGN(KnownRun known, source_.known(JobId{run.first().job}, run.start(), run.end(), run.suspended(),
                                                       run.last().state));
      if (known.counts) {
        ++out_.known;
        continue;
      }
      if (!known.retracted.empty()) ++out_.restored;
      run.retracted = std::move(known.retracted);
      const Instant end = run.end().value_or(run.start());
      out_.since = runs_.empty() ? run.start() : std::min(out_.since, run.start());
      out_.until = runs_.empty() ? end : std::max(out_.until, end);
      if (!run.end()) ++out_.not_ended;
      if (run.suspended().value > 0) ++out_.suspended;
      runs_.push_back(std::move(run));
    }
    out_.runs = static_cast<std::int64_t>(runs_.size());
    return {};
  }

  // Whether the job left the queue after the run without running again.
  [[nodiscard]] bool gone_since(const PastRun& run) const {
    const auto [first, last] = gone_.equal_range(run.first().job);
    return std::any_of(first, last, [&](const auto& of_job) { return of_job.second >= *run.end(); });
  }

  [[nodiscard]] std::vector<Step> steps() const {
    std::vector<Step> steps;
    for (std::uint32_t i = 0; i < runs_.size(); ++i) {
      const PastRun& run = runs_[i];
      const auto eligible = run.first().eligible;
      if (source_.waits && eligible && *eligible < run.start())
        steps.push_back({std::max(*eligible, run.first().submit), StepKind::eligible, i, 0});
      steps.push_back({run.start(), StepKind::started, i, 0});
      const auto last = static_cast<std::uint32_t>(run.rows.size() - 1);
      for (std::uint32_t row = 1; row <= last; ++row) steps.push_back({run.begin_of(row), StepKind::resized, i, row});
      if (!run.end()) continue;
      if (run.suspended().value > 0) steps.push_back({*run.end() - run.suspended(), StepKind::suspended, i, last});
      steps.push_back({*run.end(), StepKind::ended, i, last});
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.at != b.at ? a.at < b.at : a.kind < b.kind; });
    return steps;
  }

  // As slurmctld would have shown it.
  [[nodiscard]] JobRecord record_of(const Step& step) const {
    const PastRun& run = runs_[step.run];
    const SacctRow& row = *run.rows[step.row];
    JobRecord record;
    record.job_id = row.job;
    record.array_job_id = row.array_job;
    record.array_task_id = row.array_task ? std::int64_t{*row.array_task} : -1;
    record.het_job_id = row.het_job;
    record.user_id = source_.attribution.user_of(row);
    record.group_id = source_.attribution.group_of(row);
    record.account = row.account;
    record.account_ancestors = source_.attribution.ancestors_of(row.account);
    record.partition = row.partition;
    record.qos = row.qos;
    record.name = row.name;
    record.wckey = row.wckey;
    // The rows after a resize tell its moment instead.
    record.submit_time = run.first().submit.value;
    record.eligible_time = run.first().eligible.value_or(run.first().submit).value;
    record.requested_cpus = row.requested_cpus > 0 ? row.requested_cpus : row.cpus;
    record.requested_nodes = static_cast<std::uint32_t>(std::max<std::size_t>(1, row.nodes.size()));
    record.requested_memory = row.memory;
    record.requested_gres = row.gres;
    record.tres.push_back({"cpu", row.cpus});
    if (row.memory > 0) record.tres.push_back({"mem", row.memory});
    record.tres.insert(record.tres.end(), row.gres.begin(), row.gres.end());
    if (step.kind == StepKind::eligible) {
      record.slurm_state = "PENDING";
      return record;
    }
    record.start_time = run.start().value;
    record.nodes = history::holdings_of(row, source_.nodes);
    if (step.row > 0) record.resize_time = run.begin_of(step.row).value;
    show_run(step, run, record);
    return record;
  }

  // A run that was suspended is taken to have been so in its last seconds, and resumed in the very second in which it
  // ended (run_facts.hpp).
  static void show_run(const Step& step, const PastRun& run, JobRecord& record) {
    const auto pause = [&](Instant at) {
      record.suspend_time = at.value;
      record.pre_suspend_run_s = (*run.end() - run.suspended() - run.start()).value;
    };
    switch (step.kind) {
      case StepKind::ended:
        record.state = JobState::ended;
        record.slurm_state = run.last().state;
        record.end_time = run.end()->value;
        record.total_suspended_s = run.suspended().value;
        if (run.suspended().value > 0) pause(*run.end());
        return;
      case StepKind::suspended:
        record.state = JobState::suspended;
        record.slurm_state = "SUSPENDED";
        pause(step.at);
        return;
      default:
        record.state = JobState::running;
        record.slurm_state = "RUNNING";
    }
  }

  Expected<void> observe(const Step& step) {
    const JobRecord record = record_of(step);
    daemon::Observation seen = daemon::observe_job(books_, record, {.at = step.at, .previous = step.at}, source_.rules,
                                                   {.past = runs_[step.run].retracted, .node_kinds = kinds_});
    for (Event& event : seen.events) {
      // Which nodes it could have used is not known: any.
      if (auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
        opened->placement.clear();
        if (!runs_[step.run].first().eligible) opened->released.reset();
      }
      // To slurmctld a requeued job is one that waits again; to sacct its run is a row that ended so, and whether the
      // job was cancelled then a row of its own.
      auto* closed = std::get_if<accounting::SegmentClosed>(&event);
      if (closed != nullptr && closed->job_state == "REQUEUED" && !gone_since(runs_[step.run]))
        closed->reason = accounting::CloseReason::requeued;
      const auto applied = books_.apply(event);
      if (!applied) return with_context("line " + std::to_string(runs_[step.run].last().line), applied.error());
    }
    SHAPLEY_TRY(take_(seen.events));
    constexpr std::size_t k_between = 20'000;  // walks over all that is remembered
    if (++observed_ % k_between == 0) books_.compact();
    return {};
  }

  const PastRunsSource& source_;
  accounting::State& books_;
  const Take& take_;
  std::vector<accounting::CapacityChanged> kinds_;
  std::vector<PastRun> runs_;
  std::multimap<std::uint32_t, Instant> gone_;  // when jobs left the queue, by number
  std::size_t observed_ = 0;
  PastRuns out_;
};

}  // namespace

Instant first_instant(const std::vector<SacctRow>& rows) {
  Instant first = k_end_of_time;
  for (const SacctRow& row : rows) {
    if (row.ran()) first = std::min({first, row.submit, row.eligible.value_or(row.submit), *row.start});
  }
  return first;
}

Expected<PastRuns> past_runs(const PastRunsSource& source, accounting::State& books,
                             const std::function<Expected<void>(std::span<const Event>)>& take) {
  return Importer(source, books, take).run();
}

}  // namespace shapley::ctl
