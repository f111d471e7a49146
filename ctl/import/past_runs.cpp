#include "ctl/import/past_runs.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "accounting/state/state.hpp"
#include "sacct/runs.hpp"
#include "sacct/spreading.hpp"

namespace shapley::ctl {

namespace {

using accounting::Event;
using protocol::JobState;
using protocol::JobUpdate;
using sacct::Run;
using sacct::SacctRow;
using Moment = sacct::RunsInTime::Moment;

// Within one second, runs end before others start.
enum class StepKind { ended, suspended, resized, started, eligible };

StepKind kind_of(const Moment& moment) {
  return static_cast<StepKind>(moment.order);
}

std::vector<Moment> moments_of(const Run& run, bool waits) {
  std::vector<Moment> moments;
  const auto add = [&](Instant at, StepKind kind, std::size_t row) {
    moments.push_back({at, static_cast<std::int64_t>(kind), row});
  };
  const auto eligible = run.first().eligible;
  if (waits && eligible && *eligible < run.start()) add(std::max(*eligible, run.first().submit), StepKind::eligible, 0);
  add(run.start(), StepKind::started, 0);
  const std::size_t last = run.rows.size() - 1;
  for (std::size_t row = 1; row <= last; ++row) add(run.begin_of(row), StepKind::resized, row);
  if (!run.end()) return moments;
  if (run.suspended().value > 0) add(*run.end() - run.suspended(), StepKind::suspended, last);
  add(*run.end(), StepKind::ended, last);
  return moments;
}

std::vector<protocol::NodeHolding> holdings_of(const SacctRow& row) {
  std::vector<protocol::NodeHolding> holdings;
  const std::size_t count = row.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    protocol::NodeHolding held{row.nodes[i], static_cast<std::uint32_t>(row.parts[i]), row.parts[count + i], {}};
    for (std::size_t resource = 0; resource < row.gres.size(); ++resource) {
      const std::uint64_t part = row.parts[(2 + resource) * count + i];
      if (part > 0) held.gres.push_back({row.gres[resource].name, part});
    }
    holdings.push_back(std::move(held));
  }
  return holdings;
}

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
    out_.never_ran = source_.rows.never_ran();
    sacct::Spreading spreading(source_.rows, source_.nodes);
    std::uint64_t runs = 0;
    SHAPLEY_TRY(sacct::for_each_run(source_.rows, [&](const Run& run) -> Expected<void> {
      runs = run.number + 1;
      SHAPLEY_TRY_ASSIGN(const bool is_missing, choose(run));
      return is_missing ? spreading.add(run) : Expected<void>{};
    }));
    if (source_.held && out_.runs > 0) {
      const Instant until = out_.not_ended > 0 ? k_end_of_time : out_.until;
      SHAPLEY_TRY(source_.held(out_.since, until,
                               [&](const SacctRow& row) { return spreading.add({.rows = {row}, .number = runs++}); }));
    }
    sacct::RunsInTime in_time(source_.rows, [&](const Run& run) { return moments_of(run, source_.waits); });
    SHAPLEY_TRY(spreading.for_each([&](const Run& run) { return in_time.add(run); }));
    out_.without_room = spreading.without_room();
    SHAPLEY_TRY(
        in_time.for_each([&](const std::shared_ptr<Run>& run, const Moment& moment) { return observe(*run, moment); }));
    return out_;
  }

 private:
  // Whether the ledger lacks this run.
  Expected<bool> choose(const Run& run) {
    SHAPLEY_TRY_ASSIGN(KnownRun known, source_.known(JobId{run.first().job}, run.start(), run.end(), run.suspended(),
                                                     run.last().state));
    if (known.counts) {
      ++out_.known;
      return false;
    }
    if (!known.retracted.empty()) {
      ++out_.restored;
      retracted_.emplace(run.number, std::move(known.retracted));
    }
    const Instant end = run.end().value_or(run.start());
    out_.since = out_.runs == 0 ? run.start() : std::min(out_.since, run.start());
    out_.until = out_.runs == 0 ? end : std::max(out_.until, end);
    note_user(run);
    if (!run.end()) ++out_.not_ended;
    if (run.suspended().value > 0) ++out_.suspended;
    ++out_.runs;
    return true;
  }

  void note_user(const Run& run) {
    const SacctRow& row = run.first();
    if (row.user.empty() || row.user.size() > accounting::k_most_user_name) return;
    if (parse_number<std::uint32_t>(row.user)) return;
    const std::uint32_t number = source_.attribution.user_of(row);
    if (number == site_rules::k_unknown_number) return;
    accounting::UserNamed& known = out_.users[number];
    if (known.name.empty() || known.at <= run.start()) known = {run.start(), number, row.user};
  }

  // As slurmctld would have shown it.
  [[nodiscard]] JobUpdate record_of(const Run& run, const Moment& step) const {
    const SacctRow& row = run.rows[step.row];
    JobUpdate record;
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
    // The rows after a resize show the time of the resize instead.
    record.submit_time = run.first().submit.value;
    record.eligible_time = run.first().eligible.value_or(run.first().submit).value;
    record.requested_cpus = row.requested_cpus > 0 ? row.requested_cpus : row.cpus;
    record.requested_nodes = static_cast<std::uint32_t>(std::max<std::size_t>(1, row.nodes.size()));
    record.requested_memory = row.memory;
    record.requested_gres = row.gres;
    record.tres.push_back({"cpu", row.cpus});
    if (row.memory > 0) record.tres.push_back({"mem", row.memory});
    if (row.billing) record.tres.push_back({"billing", *row.billing});
    record.tres.insert(record.tres.end(), row.gres.begin(), row.gres.end());
    if (kind_of(step) == StepKind::eligible) {
      record.slurm_state = "PENDING";
      return record;
    }
    record.start_time = run.start().value;
    record.nodes = holdings_of(row);
    if (step.row > 0) record.resize_time = run.begin_of(step.row).value;
    show_run(step, run, record);
    return record;
  }

  // A suspended run is assumed to have been suspended in its last seconds, and resumed in the second in which it ended
  // (run_facts.hpp).
  static void show_run(const Moment& step, const Run& run, JobUpdate& record) {
    const auto pause = [&](Instant at) {
      record.suspend_time = at.value;
      record.pre_suspend_run_s = (*run.end() - run.suspended() - run.start()).value;
    };
    switch (kind_of(step)) {
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

  Expected<void> observe(const Run& run, const Moment& step) {
    const JobUpdate record = record_of(run, step);
    const auto retracted = retracted_.find(run.number);
    const std::vector<daemon::PastSegment> none;
    daemon::Observation seen = daemon::observe_job(books_, record, {.at = step.at, .previous = step.at}, source_.rules,
                                                   {.past = retracted == retracted_.end() ? none : retracted->second,
                                                    .kinds = {.usable = {}, .fitting = {}, .all = kinds_}});
    for (Event& event : seen.events) {
      // The nodes that it could have used are unknown; all are assumed.
      if (auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
        opened->placement.clear();
        if (!run.first().eligible) {
          opened->released.reset();
          opened->waited_as = {};
        }
      }
      // In slurmctld a requeued job waits again. In sacct its run is a row with that end, and a later cancellation of
      // the job is another row.
      auto* closed = std::get_if<accounting::SegmentClosed>(&event);
      if (closed != nullptr && closed->job_state == "REQUEUED" && !run.left_queue)
        closed->reason = accounting::CloseReason::requeued;
      const auto applied = books_.apply(event);
      if (!applied) return with_context("line " + std::to_string(run.last().line), applied.error());
    }
    SHAPLEY_TRY(take_(seen.events));
    constexpr std::size_t k_between = 20'000;  // walks over all remembered runs
    if (++observed_ % k_between == 0) books_.compact();
    return {};
  }

  const PastRunsSource& source_;
  accounting::State& books_;
  const Take& take_;
  std::vector<daemon::NodeKind> kinds_;
  std::map<std::uint64_t, std::vector<daemon::PastSegment>> retracted_;  // runs of the ledger, by number
  std::size_t observed_ = 0;
  PastRuns out_;
};

}  // namespace

Expected<Instant> first_instant(const sacct::SortedRows& rows) {
  Instant first = k_end_of_time;
  SHAPLEY_TRY(rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    for (const SacctRow& row : of_job)
      if (row.ran()) first = std::min({first, row.submit, row.eligible.value_or(row.submit), *row.start});
    return {};
  }));
  return first;
}

Expected<PastRuns> past_runs(const PastRunsSource& source, accounting::State& books,
                             const std::function<Expected<void>(std::span<const Event>)>& take) {
  return Importer(source, books, take).run();
}

}  // namespace shapley::ctl
