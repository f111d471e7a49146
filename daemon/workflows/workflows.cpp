#include "daemon/workflows/workflows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "ledger/readers/runs.hpp"

namespace shapley::daemon {

namespace {

using protocol::JobState;
using protocol::JobUpdate;
using workflow::Fraction;

std::int64_t processors_of(const JobUpdate& record) {
  const std::int64_t tasks = record.state == JobState::pending ? std::max<std::int64_t>(1, record.pending_tasks) : 1;
  return std::max<std::int64_t>(1, record.requested_cpus) * tasks;
}

workflow::Job job_of(const JobUpdate& record, std::uint32_t submitter) {
  workflow::Job job{.id = record.job_id,
                    .array_job = record.array_job_id,
                    .state = workflow::Job::State::running,
                    .processors = processors_of(record),
                    .submit = Instant{record.submit_time},
                    .run_before = Duration{0},
                    .run_since = std::nullopt,
                    .wckey = record.wckey,
                    .name = record.name,
                    .depends_on = record.depends_on,
                    .submitter = submitter};
  if (record.state == JobState::pending) {
    job.state = could_start(record) ? workflow::Job::State::eligible : workflow::Job::State::blocked;
    return job;
  }
  const bool flipped = record.suspend_time > record.start_time;
  if (flipped) job.run_before = Duration{record.pre_suspend_run_s};
  if (record.state == JobState::running) job.run_since = Instant{flipped ? record.suspend_time : record.start_time};
  return job;
}

std::optional<workflow::FinishedRun> finished_run(const JobUpdate& record) {
  if (record.slurm_state != "COMPLETED" || record.start_time <= 0) return std::nullopt;
  const std::int64_t length = record.end_time - record.start_time - record.total_suspended_s;
  if (length <= 0) return std::nullopt;
  return workflow::FinishedRun{record.job_id, Instant{record.start_time}, Instant{record.end_time}, Duration{length}};
}

}  // namespace

bool Workflows::configure(const config::Configuration& configuration, const ledger::Ledger& ledger, Instant now) {
  std::map<std::string, workflow::Settings, std::less<>> wanted;
  for (const config::OrganizationConfig& organization : configuration.organizations)
    if (organization.workflows.fairness) wanted.emplace(organization.name, organization.workflows);
  const bool same = std::ranges::equal(wanted, organizations_, [](const auto& a, const auto& b) {
    return a.first == b.first && a.second == b.second.tracker.settings();
  });
  if (same) return false;
  organizations_.clear();
  numbers_.clear();
  submitters_.clear();
  for (auto& [name, settings] : wanted) {
    Organization fresh{.tracker = workflow::Tracker(std::move(settings)), .now = {}, .before = {}, .highest = {}};
    organizations_.emplace(name, std::move(fresh));
  }
  snapshot_.reset();
  complete_ = ready_ = false;
  dirty_ = true;
  in_use_ = in_use_ || !organizations_.empty();
  recall(ledger, now);
  return true;
}

void Workflows::recall(const ledger::Ledger& ledger, Instant now) {
  if (const auto read = read_runs(ledger, now); !read) {
    spdlog::error("workflows: read completed runs: {}; their medians begin without runs", read.error().what);
  }
}

Expected<void> Workflows::read_runs(const ledger::Ledger& ledger, Instant now) {
  constexpr Duration k_week{7 * 24 * 3600};
  // The time of a restart must not grow with the age of the ledger.
  constexpr std::int64_t k_max_jobs = 50'000;
  if (organizations_.empty()) return {};
  auto runs = ledger::runs(ledger, {.submitted_since = now - k_week, .newest_jobs = k_max_jobs});
  if (!runs) return tl::unexpected(runs.error());
  std::ranges::stable_sort(*runs, {}, &ledger::EndedRun::end);
  for (const ledger::EndedRun& run : *runs) {
    const auto organization = organizations_.find(run.organization);
    if (organization == organizations_.end() || !run.ended || run.job_state != "COMPLETED" || run.length.value <= 0)
      continue;
    workflow::Job job;
    job.id = run.job.value;
    job.array_job = run.array_job;
    job.name = run.name;
    job.wckey = run.wckey;
    job.submitter = number_of(run.user_id, run.account);
    organization->second.tracker.remember(job, {job.id, run.start, run.end, run.length});
  }
  return {};
}

void Workflows::begin_snapshot() {
  if (!organizations_.empty()) snapshot_.emplace();
}

void Workflows::end_snapshot() {
  if (!snapshot_) return;
  for (auto& [name, organization] : organizations_) {
    for (const std::uint32_t job : organization.tracker.jobs())
      if (!snapshot_->contains(job)) organization.tracker.forget(job);
  }
  snapshot_.reset();
  complete_ = true;
  dirty_ = true;
}

void Workflows::read(const protocol::Observations& frame, const protocol::Classifier& classifier) {
  if (organizations_.empty()) return;
  for (const JobUpdate& record : frame.jobs) {
    if (snapshot_) snapshot_->insert(record.job_id);
    read_job(record, classifier);
  }
  for (const std::uint32_t job : frame.gone)
    for (auto& [name, organization] : organizations_) organization.tracker.forget(job);
  dirty_ = dirty_ || !frame.jobs.empty() || !frame.gone.empty();
}

std::uint32_t Workflows::number_of(std::uint32_t user_id, const std::string& account) {
  const Submitter submitter{.user_id = user_id, .account = account};
  const auto [entry, is_new] = numbers_.try_emplace(submitter, static_cast<std::uint32_t>(submitters_.size()));
  if (is_new) submitters_.push_back(submitter);
  return entry->second;
}

void Workflows::read_job(const JobUpdate& record, const protocol::Classifier& classifier) {
  const std::string_view owner = classifier.organization_of(protocol::traits_of(record));
  for (auto& [name, organization] : organizations_) {
    if (name != owner) {
      organization.tracker.forget(record.job_id);
      continue;
    }
    const std::uint32_t submitter = number_of(record.user_id, record.account);
    if (record.state != JobState::ended) {
      organization.tracker.observe(job_of(record, submitter));
      continue;
    }
    // Its dependencies are still known.
    if (const auto run = finished_run(record)) organization.tracker.remember(job_of(record, submitter), *run);
    organization.tracker.forget(record.job_id);
  }
}

void Workflows::run_cycle(Organization& organization, Instant now) {
  workflow::Cycle next = organization.tracker.cycle(now);
  if (next.degree != organization.now.degree && !organization.now.workflows.empty()) {
    PastCycle before{.at = organization.now.at, .degree = organization.now.degree, .pending = {}};
    for (const workflow::WorkflowView& view : organization.now.workflows)
      if (view.pending) before.pending.emplace(view.name, *view.pending);
    organization.before = std::move(before);
  }
  const auto active = std::ranges::count_if(next.workflows, [](const auto& view) { return view.pending.has_value(); });
  if (active < 2) organization.highest.reset();
  if (active >= 2 && (!organization.highest || organization.highest->degree < next.degree))
    organization.highest = PastCycle{.at = now, .degree = next.degree, .pending = {}};
  organization.now = std::move(next);
}

Duration Workflows::pause() const {
  std::int64_t jobs = 0;
  for (const auto& [name, organization] : organizations_)
    jobs += static_cast<std::int64_t>(organization.tracker.size());
  return Duration{1 + jobs / k_jobs_a_second};
}

void Workflows::refresh(Instant now) {
  last_cycle_ = std::min(last_cycle_, now);  // a clock that was set back must not stop the loop
  if (snapshot_ || (!organizations_.empty() && !complete_) || now < last_cycle_ + pause()) return;
  if (!dirty_ && (organizations_.empty() || now < last_cycle_ + k_refresh_interval)) return;
  dirty_ = false;
  ready_ = true;
  last_cycle_ = now;
  for (auto& [name, organization] : organizations_) run_cycle(organization, now);
  publish(now);
}

// A level is sent to the plugin unchanged.
static_assert(workflow::k_max_level == protocol::k_max_level);

void Workflows::publish(Instant now) {
  std::vector<protocol::JobLevel> jobs;
  for (const auto& [name, organization] : organizations_)
    for (const workflow::WorkflowView& view : organization.now.workflows)
      for (const workflow::RaisedJob& raised : view.raised) jobs.push_back({raised.job, raised.level});
  if (jobs.size() > protocol::k_max_level_jobs) {
    std::ranges::sort(jobs, std::ranges::greater{}, &protocol::JobLevel::level);
    jobs.resize(protocol::k_max_level_jobs);
  }
  std::ranges::sort(jobs, {}, &protocol::JobLevel::job_id);
  if (jobs == levels_.jobs) return;
  levels_.jobs = std::move(jobs);
  levels_.computed_at = now.value;
  ++levels_.generation;
}

// Workflows::report: the last cycle of the loop.

namespace {

using workflow::ActivityView;
using workflow::WorkflowView;

// Reports are for people, and any user may ask for one: the workflows that wait most suffice.
constexpr std::size_t k_max_workflows = 1000;

// The number of entries that the workflows of an organization may still list together.
struct Room {
  std::size_t activities = 1000;
  std::size_t raised = 1000;
};

double number(const Fraction& fraction) {
  return fraction.convert_to<double>();
}

std::optional<double> number(const std::optional<Fraction>& fraction) {
  return fraction ? std::optional(number(*fraction)) : std::nullopt;
}

std::string_view name_of(workflow::Mode mode) {
  return std::ranges::find(workflow::k_modes, mode, [](const auto& entry) { return entry.second; })->first;
}

ledger::WorkflowJobs jobs_of(const workflow::Counts& jobs) {
  return {.blocked = jobs.blocked, .pending = jobs.eligible, .running = jobs.running, .finished = jobs.finished};
}

ledger::ActivityRow activity_row(const ActivityView& view) {
  return {.activity = view.name,
          .jobs = jobs_of(view.jobs),
          .waiting_processors = view.waiting,
          .running_processors = view.running,
          .median_s = number(view.median),
          .performance = number(view.performance),
          .relative_duration = number(view.relative_duration),
          .pending_work = number(view.pending),
          .delta = view.delta};
}

// The greatest w first if not all fit, else by name.
std::vector<ledger::ActivityRow> activity_rows(const WorkflowView& view, Room& room) {
  std::vector<const ActivityView*> views;
  for (const ActivityView& activity : view.activities) views.push_back(&activity);
  if (views.size() > room.activities) {
    std::ranges::stable_sort(views, std::ranges::greater{}, [](const ActivityView* a) { return a->pending; });
    views.resize(room.activities);
  }
  room.activities -= views.size();
  std::vector<ledger::ActivityRow> rows;
  for (const ActivityView* activity : views) rows.push_back(activity_row(*activity));
  return rows;
}

ledger::WorkflowRow workflow_row(const WorkflowView& view, std::optional<double> before, Room& room) {
  ledger::WorkflowRow row{.workflow = view.name,
                          .jobs = jobs_of(view.jobs),
                          .pending_work = number(view.pending),
                          .pending_work_before = before,
                          .raised_jobs = view.raised.size(),
                          .activities = activity_rows(view, room)};
  if (!view.raised.empty()) row.levels = {view.raised.back().level, view.raised.front().level};
  for (const workflow::RaisedJob& job : view.raised) {
    if (room.raised == 0) break;
    --room.raised;
    row.raised.push_back({job.job, job.level});
  }
  row.truncated = row.raised.size() < view.raised.size() || row.activities.size() < view.activities.size();
  return row;
}

// The greatest W first; those without one, of which nothing runs or could start, last.
std::vector<const WorkflowView*> most_behind(const workflow::Cycle& cycle) {
  std::vector<const WorkflowView*> views;
  for (const WorkflowView& view : cycle.workflows) views.push_back(&view);
  std::ranges::stable_sort(views, [](const WorkflowView* a, const WorkflowView* b) {
    return a->pending && (!b->pending || *a->pending > *b->pending);
  });
  return views;
}

}  // namespace

ledger::OrganizationWorkflows Workflows::describe(const std::string& name, const Organization& organization,
                                                  const Sees& sees) const {
  const workflow::Settings& settings = organization.tracker.settings();
  const auto is_hidden = [&](const WorkflowView* view) {
    return std::ranges::any_of(view->submitters, [&](std::uint32_t number) {
      return !sees(submitters_.at(number).user_id, submitters_.at(number).account);
    });
  };
  std::vector<const WorkflowView*> shown = most_behind(organization.now);
  std::erase_if(shown, is_hidden);
  const auto past = [](const std::optional<PastCycle>& cycle) {
    return cycle ? std::optional(ledger::PastEta{number(cycle->degree), cycle->at}) : std::nullopt;
  };
  ledger::OrganizationWorkflows report{.organization = name,
                                       .mode = std::string(name_of(settings.mode)),
                                       .relative_duration = settings.relative_duration,
                                       .threshold = static_cast<double>(settings.threshold_ppm) / 1e6,
                                       .at = organization.now.at,
                                       .eta = number(organization.now.degree),
                                       .least_pending_work = number(organization.now.least),
                                       .unfair = organization.now.unfair,
                                       .before = past(organization.before),
                                       .highest = past(organization.highest),
                                       .truncated = shown.size() > k_max_workflows,
                                       .hidden_workflows = organization.now.workflows.size() - shown.size()};
  Room room;
  for (const WorkflowView* view : shown) {
    if (report.workflows.size() == k_max_workflows) break;
    std::optional<double> before;
    if (organization.before) {
      const auto found = organization.before->pending.find(view->name);
      if (found != organization.before->pending.end()) before = number(found->second);
    }
    report.workflows.push_back(workflow_row(*view, before, room));
  }
  return report;
}

Expected<ledger::WorkflowsReport> Workflows::report(const std::string& organization, const Sees& sees,
                                                    Instant now) const {
  ledger::WorkflowsReport report{.at = now, .generation = levels_.generation};
  for (const auto& [name, watched] : organizations_)
    if (organization.empty() || organization == name) report.organizations.push_back(describe(name, watched, sees));
  if (!organization.empty() && report.organizations.empty()) {
    return fail(Errc::invalid_argument,
                fmt::format("workflows: no organization '{}' orders its jobs by workflow fairness; the configuration "
                            "says so with within_organization: workflow_fairness",
                            organization));
  }
  return report;
}

}  // namespace shapley::daemon
