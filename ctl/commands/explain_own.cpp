#include "ctl/commands/explain_own.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/slurm/own_queue.hpp"
#include "ctl/slurm/submission.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

// Those that go first of a user's; to look up more places would take seconds.
constexpr std::size_t k_most_own_jobs = 100;
// How often sbatch is asked, which plans a job each time, and scontrol.
constexpr std::size_t k_most_tests = 12;
// slurmctld tries to start jobs about so often.
constexpr Duration k_soon{60};

constexpr Field k_own_fields[] = {
    left({"job_id", "JobId"}),  left({"partition", "Partition"}), {"cpus", "CPUs"},         {"limit", "Limit"},
    {"place", "Place"},         left({"before", "Before"}),       left({"rule", "ByRule"}), left({"slurm", "BySlurm"}),
    left({"reason", "Reason"}), left({"fits", "FitsNow"}),
};
constexpr Field k_parsable_fields[] = {
    {"job_id"},     {"organization"}, {"partition"}, {"cpus"},        {"time_limit_s"},
    {"reason"},     {"place"},        {"of"},        {"before_jobs"}, {"before"},
    {"goes_first"}, {"by_rule"},      {"by_slurm"},  {"fits_cpus"},   {"fits_time_limit_s"},
};

std::int64_t jobs_before(const OwnJob& job) {
  std::int64_t jobs = 0;
  for (const ledger::Demand& demand : job.before) jobs += demand.jobs;
  return jobs;
}

bool has_place(const OwnJob& job) {
  return job.place && job.place->known;
}

// "8 jobs: chem 5, bio 3"; by ranks "chem 5, bio 3 by rank".
std::string before_text(const OwnJob& job) {
  if (job.organization.empty()) return "-";
  std::string of;
  for (const ledger::Demand& demand : job.before)
    of += fmt::format("{}{} {}", of.empty() ? "" : ", ", demand.organization, demand.jobs);
  if (!has_place(job)) return (of.empty() ? "none" : of) + " by rank";
  return of.empty() ? std::string("none") : fmt::format("{}: {}", count_of(jobs_before(job), "job"), of);
}

std::string fits_text(const std::optional<FitsNow>& fits) {
  if (!fits) return "-";
  std::string text = fits->cpus ? count_of(*fits->cpus, "CPU") : "";
  if (fits->time_limit_s)
    text += fmt::format("{}limit of {}", text.empty() ? "" : ", ", short_duration(*fits->time_limit_s));
  return text;
}

std::string utc_or_none(const Dated& time) {
  return time.is_known() ? time.utc() : "-";
}

// `has_slurm`: Slurm's words are known, and no time limit means that it has none.
json people_row(const OwnJob& job, bool has_slurm) {
  const std::string place = has_place(job) ? std::to_string(job.place->position) + '/' + std::to_string(job.place->of)
                                           : std::string(job.organization.empty() ? "-" : "?");
  return {{"job_id", job.job_id},
          {"partition", job.partition},
          {"cpus", job.cpus},
          {"limit", job.time_limit_s ? short_duration(*job.time_limit_s)
                    : has_slurm      ? "none"
                                     : "?"},
          {"place", place},
          {"before", before_text(job)},
          {"rule", job.goes_first ? "now" : utc_or_none(job.by_rule)},
          {"slurm", utc_or_none(job.by_slurm)},
          {"reason", job.reason},
          {"fits", fits_text(job.fits_now)}};
}

json parsable_row(const OwnJob& job) {
  std::string before;
  for (const ledger::Demand& demand : job.before)
    before += (before.empty() ? "" : ",") + demand.organization + ':' + std::to_string(demand.jobs);
  const FitsNow fits = job.fits_now.value_or(FitsNow{});
  return {{"job_id", job.job_id},
          {"organization", job.organization},
          {"partition", job.partition},
          {"cpus", job.cpus},
          {"time_limit_s", json_of(job.time_limit_s)},
          {"reason", job.reason},
          {"place", has_place(job) ? json(job.place->position) : json()},
          {"of", has_place(job) ? json(job.place->of) : json()},
          {"before_jobs", jobs_before(job)},
          {"before", before},
          {"goes_first", job.goes_first},
          {"by_rule", job.by_rule.utc()},
          {"by_slurm", job.by_slurm.utc()},
          {"fits_cpus", json_of(fits.cpus)},
          {"fits_time_limit_s", json_of(fits.time_limit_s)}};
}

bool overlap(const std::string& a, const std::string& b) {
  const std::vector<std::string_view> names = split(b, ',');
  return std::ranges::any_of(split(a, ','),
                             [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); });
}

// What would let jobs start now, by what is idle and by the jobs before them that this user may see.
class Fitting {
 public:
  Fitting(const std::vector<PendingRecord>& records, Instant now, const ProgramRunner& run)
      : records_(records), now_(now), run_(run), idle_(idle_cpus(run)) {}

  std::optional<FitsNow> of(const PendingRecord& job) {
    if (job.asks_for_more) return std::nullopt;
    const std::optional<FittingPartition> on_one = fitting_in(idle_, job.partition, {.most_nodes = 1});
    if (!on_one || on_one->cpus == 0) return std::nullopt;
    FitsNow fits;
    if (const auto start = start_before(job)) {
      const std::int64_t left = (*start - now_).value / 60 * 60;
      if (left < 60) return std::nullopt;
      if (job.time_limit_s.value_or(left + 1) > left) fits.time_limit_s = left;
    }
    if (!fits.time_limit_s && job.cpus <= on_one->cpus) return std::nullopt;
    if (++asked_jobs_ > k_most_tests) return std::nullopt;
    const std::optional<JobWishes> wishes = wishes_of(job.job, run_);
    if (!wishes || wishes->asks_for_more) return std::nullopt;
    const std::optional<FittingPartition> fitting = fitting_in(idle_, job.partition, *wishes);
    if (!fitting || fitting->cpus == 0) return std::nullopt;
    if (job.cpus > fitting->cpus) fits.cpus = fitting->cpus;
    const bool changes = fits.cpus || fits.time_limit_s;
    return changes && starts_now(job, *wishes, *fitting, fits) ? std::optional(fits) : std::nullopt;
  }

 private:
  // When Slurm expects to start the first of the jobs that go before it.
  [[nodiscard]] std::optional<Instant> start_before(const PendingRecord& job) const {
    std::optional<Instant> first;
    for (const PendingRecord& other : records_) {
      const bool is_before = std::tuple(-other.priority, other.job) < std::tuple(-job.priority, job.job);
      // squeue may show a start of a job that waits for its time, too.
      const bool could_start = other.priority != 0 && other.reason != "BeginTime";
      if (!is_before || !could_start || !other.start || !overlap(other.partition, job.partition)) continue;
      first = std::min(first.value_or(*other.start), *other.start);
    }
    return first;
  }

  // slurmctld puts off each estimate by what the jobs before the tested one ask for, the explained job among them
  // (_delayed_job_start_time): alike for all of an account, a partition and a QOS. So it is compared with the least's.
  bool starts_now(const PendingRecord& job, const JobWishes& wishes, const FittingPartition& fitting,
                  const FitsNow& fits) {
    const auto limit = fits.time_limit_s ? fits.time_limit_s : job.time_limit_s;
    ledger::SubmissionAsked asked{
        .account = job.account, .partition = fitting.partition, .qos = job.qos, .processors = 1};
    const std::optional<Instant> least = estimate(asked, limit_text(60));
    if (!least) return false;
    asked.processors = fits.cpus.value_or(job.cpus) / wishes.cpus_per_task;
    std::vector<std::string> options;
    if (!wishes.memory.empty()) options.push_back(wishes.memory);
    if (wishes.cpus_per_task > 1) options.push_back(fmt::format("--cpus-per-task={}", wishes.cpus_per_task));
    if (wishes.least_nodes > 1 || wishes.most_nodes) {
      options.push_back(fmt::format("--nodes={}-{}", wishes.least_nodes,
                                    std::max(wishes.least_nodes, wishes.most_nodes.value_or(fitting.nodes))));
    }
    const std::optional<Instant> start = estimate(asked, limit ? limit_text(*limit) : "", options);
    return start && *start <= *least + k_soon;
  }

  std::optional<Instant> estimate(const ledger::SubmissionAsked& asked, const std::string& time,
                                  const std::vector<std::string>& options = {}) {
    const auto key = std::tuple(asked.account, asked.partition, asked.qos, asked.processors, time, options);
    const auto known = tested_.find(key);
    if (known != tested_.end()) return known->second;
    if (tested_.size() >= k_most_tests) return std::nullopt;
    return tested_[key] = estimate_in(test_only(asked, time, run_, options).value_or(""));
  }

  const std::vector<PendingRecord>& records_;
  Instant now_;
  const ProgramRunner& run_;
  IdleCpus idle_;
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t, std::string, std::vector<std::string>>,
           std::optional<Instant>>
      tested_;
  std::size_t asked_jobs_ = 0;
};

// When its organization has the best rank of those that wait, if nothing starts or ends: every better one is passed,
// and none passes it again before.
Dated best_rank_at(const ledger::ExplainReport& report) {
  std::set<std::string> better;
  for (const ledger::AheadRow& row : report.ahead.organizations) better.insert(row.waits.organization);
  for (const ledger::Turn& turn : report.turns.next) {
    if (turn.ahead)
      better.erase(turn.organization);
    else
      better.insert(turn.organization);
    if (better.empty()) return turn.at;
  }
  return {};
}

// The daemon's answers.
class Asking {
 public:
  Asking(const Endpoint& endpoint, const Environment& environment) : endpoint_(endpoint), environment_(environment) {}

  Expected<void> begin(OwnJobs& report, std::uint32_t user) {
    ledger::JobsFilter filter;
    filter.user_ids = {user};
    SHAPLEY_TRY_ASSIGN(const auto jobs, ask_for<ledger::JobsReport>(endpoint_, ledger::request_of("jobs", filter)));
    report.at = jobs.at;
    report.truncated = jobs.truncated;
    for (const ledger::JobRow& row : jobs.jobs) {
      if (row.state == "pending") waiting_.emplace(row.is.job, row.is);
    }
    return {};
  }

  // Those that wait for their turn, by number.
  [[nodiscard]] const std::map<std::uint32_t, ledger::JobIdentity>& waiting() const { return waiting_; }

  Expected<void> add_rank(OwnJob& job, std::uint32_t number) {
    const auto known = waiting_.find(number);
    if (known == waiting_.end()) return {};
    job.organization = known->second.organization;
    SHAPLEY_TRY_ASSIGN(const ledger::ExplainReport* report, explanation_of(job.organization, number));
    job.goes_first = report->ahead.organizations.empty();
    if (!job.goes_first) job.by_rule = best_rank_at(*report);
    job.place = place_in(*report, number);
    if (has_place(job)) {
      job.before = job.place->before.value_or(std::vector<ledger::Demand>{});
      return {};
    }
    for (const ledger::AheadRow& row : report->ahead.organizations) job.before.push_back(row.waits);
    return {};
  }

  [[nodiscard]] std::string no_places() const {
    if (queue_ && !*queue_) return why_not(queue_->error());
    return priorities_ && !*priorities_ ? priorities_->error().what : "";
  }

 private:
  // One for each organization: its ranks are those of all of its jobs.
  Expected<const ledger::ExplainReport*> explanation_of(const std::string& organization, std::uint32_t job) {
    const auto known = explanations_.find(organization);
    if (known != explanations_.end()) return &known->second;
    SHAPLEY_TRY_ASSIGN(ledger::ExplainReport report, explained({.job = std::to_string(job)}, {}, endpoint_));
    return &explanations_.emplace(organization, std::move(report)).first->second;
  }

  // nullopt: jobs have no places here.
  std::optional<Place> place_in(const ledger::ExplainReport& report, std::uint32_t job) {
    if (!report.priorities || !report.priorities->is_strict() || report.priorities->observes()) return std::nullopt;
    if (!environment_.run_program) return place_not_known("Slurm is not asked for its priorities");
    if (!queue_) {
      queue_ = ask_for<ledger::QueueReport>(endpoint_, {{"request", "queue"}});
      priorities_ = pending_priorities(environment_.run_program);
    }
    if (!*queue_) return place_not_known(why_not(queue_->error()));
    if (!*priorities_) return place_not_known(priorities_->error().what);
    return place_of(job, report.organization.name, **queue_, **priorities_, report.organizations);
  }

  static std::string why_not(const Error& error) {
    return error.code == Errc::denied ? "jobs of others are private here (PrivateData)" : error.what;
  }

  const Endpoint& endpoint_;
  const Environment& environment_;
  std::map<std::uint32_t, ledger::JobIdentity> waiting_;
  std::map<std::string, ledger::ExplainReport> explanations_;
  std::optional<Expected<ledger::QueueReport>> queue_;
  std::optional<Expected<PendingPriorities>> priorities_;
};

// A user's jobs as Slurm lists them; without its commands those that the daemon has.
std::vector<PendingRecord> own_records(const Expected<std::vector<PendingRecord>>& all, std::uint32_t user,
                                       const std::map<std::uint32_t, ledger::JobIdentity>& waiting) {
  std::vector<PendingRecord> own;
  if (!all) {
    for (const auto& [number, job] : waiting) {
      own.push_back({.job = number,
                     .id = ledger::job_id_of(number, job.array_job, job.array_task),
                     .user_id = user,
                     .partition = job.partition,
                     .cpus = job.processors ? static_cast<std::int64_t>(job.processors->number()) : 0});
    }
    return own;
  }
  std::ranges::copy_if(*all, std::back_inserter(own),
                       [user](const PendingRecord& record) { return record.user_id == user; });
  std::ranges::sort(own, {}, [](const PendingRecord& record) { return std::tuple(-record.priority, record.job); });
  return own;
}

Expected<OwnJobs> own_jobs(const Endpoint& endpoint, const Environment& environment) {
  const std::uint32_t user = ::geteuid();
  OwnJobs report{.user = user_name_of(user, {})};
  Asking asking(endpoint, environment);
  SHAPLEY_TRY(asking.begin(report, user));
  const Expected<std::vector<PendingRecord>> all = environment.run_program
                                                       ? pending_records(environment.run_program)
                                                       : fail(Errc::unavailable, "this program runs no others here");
  if (!all) report.no_slurm = all.error().what;
  std::vector<PendingRecord> own = own_records(all, user, asking.waiting());
  report.left_out = static_cast<std::int64_t>(own.size() - std::min(own.size(), k_most_own_jobs));
  own.resize(std::min(own.size(), k_most_own_jobs));
  std::optional<Fitting> fitting;
  if (all && !own.empty()) fitting.emplace(*all, report.at, environment.run_program);
  for (const PendingRecord& record : own) {
    OwnJob& job = report.jobs.emplace_back(OwnJob{.job_id = record.id,
                                                  .partition = record.partition,
                                                  .cpus = record.cpus,
                                                  .time_limit_s = record.time_limit_s,
                                                  .reason = record.reason,
                                                  .by_slurm = record.start});
    SHAPLEY_TRY(asking.add_rank(job, record.job));
    if (fitting && !job.organization.empty()) job.fits_now = fitting->of(record);
  }
  report.no_places = asking.no_places();
  return report;
}

}  // namespace

std::string render_own_jobs(const OwnJobs& report) {
  const std::string user = printable(report.user);
  const std::string not_asked =
      report.no_slurm.empty() ? "" : fmt::format("Slurm:    not asked: {}.\n", printable(report.no_slurm));
  if (report.jobs.empty()) return fmt::format("No job of {} waits at {}.\n{}", user, report.at.utc(), not_asked);
  tables::Table table{.columns = columns_of(k_own_fields)};
  for (const OwnJob& job : report.jobs) table.rows.push_back(people_row(job, report.no_slurm.empty()));
  std::string text = fmt::format("Jobs of {} that wait at {}; all times are {}.\n\n{}\n", user, report.at.utc(),
                                 report.time_zone, people_text(table));
  if (report.left_out > 0) text += fmt::format("And {} of lower priorities.\n", count_of(report.left_out, "job"));
  text +=
      "Before: jobs and tasks that go before it. ByRule: when its organization has the best rank, if nothing starts\n"
      "or ends. BySlurm: when Slurm expects to start it. FitsNow: with this it would start now, by what is idle and\n"
      "sbatch --test-only.\n";
  if (report.truncated) {
    text += fmt::format("The daemon lists the newest {} jobs only: of older ones no place is shown.\n",
                        ledger::k_max_reported_jobs);
  }
  if (!report.no_places.empty()) {
    text += fmt::format("Places are not known: {}. So Before is of organizations with better ranks.\n",
                        printable(report.no_places));
  }
  return text + not_asked;
}

std::string parsable_own_jobs(const OwnJobs& report) {
  tables::Table table{.columns = columns_of(k_parsable_fields)};
  for (const OwnJob& job : report.jobs) table.rows.push_back(parsable_row(job));
  return parsable_text(table);
}

Expected<ExitCode> explain_own_jobs(const ExplainArguments& arguments, const Endpoint& endpoint,
                                    const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const OwnJobs report, own_jobs(endpoint, environment));
  environment.out << (arguments.json       ? tables::json_text(json_of(report))
                      : arguments.parsable ? parsable_own_jobs(report)
                                           : render_own_jobs(report));
  return ExitCode::success;
}

}  // namespace shapley::ctl
