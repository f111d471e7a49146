#include "daemon/requests/visibility.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace shapley::daemon {

namespace {

using accounting::AdjustmentKind;
using ledger::UserRow;

UserRow sum_of(const std::vector<UserRow>& rows) {
  UserRow sum;
  for (const UserRow& row : rows) {
    sum.got.work += row.got.work;
    sum.own.work += row.own.work;
    sum.borrowed.work += row.borrowed.work;
  }
  return sum;
}

void hide_runs(ledger::AdjustmentRow& adjustment) {
  if (adjustment.kind == AdjustmentKind::attribute) adjustment.what = "runs that are private here";
  if (adjustment.kind == AdjustmentKind::reverse)
    adjustment.what = fmt::format("adjustment {} does not hold", adjustment.reverses.value_or(0));
}

void hide_runs(std::vector<ledger::ListedAdjustment>& adjustments) {
  for (ledger::ListedAdjustment& adjustment : adjustments) {
    if (adjustment.work) adjustment.work->reset();
    hide_runs(adjustment.is);
  }
}

const ledger::Start& start_of(const ledger::Start& start) {
  return start;
}
const ledger::Start& start_of(const ledger::NextStart& start) {
  return start.is;
}

// Keeps only those of `seen`.
template <typename Started>
ledger::HiddenStarts hide_others(std::vector<Started>& starts, const std::set<std::uint32_t>& seen) {
  ledger::HiddenStarts hidden;
  for (const Started& start : starts) {
    if (!seen.contains(start_of(start).job)) ++hidden[start_of(start).organization];
  }
  std::erase_if(starts, [&](const Started& start) { return !seen.contains(start_of(start).job); });
  return hidden;
}

}  // namespace

Visibility Visibility::of(const std::optional<protocol::Privacy>& privacy, std::uint32_t user_id) {
  Visibility visible;
  if (privacy && !privacy->jobs && !privacy->usage) return visible;
  ledger::JobsViewer viewer{.user_id = user_id, .accounts = {}};
  if (privacy) {
    const auto user = std::ranges::lower_bound(privacy->users, user_id, {}, &protocol::PrivilegedUser::user_id);
    if (user != privacy->users.end() && user->user_id == user_id) {
      if (user->is_operator) return visible;
      viewer.accounts = user->accounts;
    }
  }
  if (!privacy || privacy->jobs) visible.jobs_ = viewer;
  visible.usage_ = std::move(viewer);
  return visible;
}

Expected<void> Visibility::check_job(const Expected<ledger::JobAt>& job, std::string_view name) const {
  if (sees_all_jobs()) return {};
  if (job && sees_job(job->is.user_id, job->is.account)) return {};
  if (!job && job.error().code != Errc::invalid_argument) return tl::unexpected(job.error());
  return fail(
      Errc::invalid_argument,
      fmt::format("job {} is not in the ledger, or it is another user's: jobs are private here (PrivateData)", name));
}

Visible<ledger::StatusReport> Visibility::show(ledger::StatusReport report) const {
  return Visible(std::move(report));
}

Visible<ledger::HistoryReport> Visibility::show(ledger::HistoryReport report) const {
  // Of few runs, or of one, a wait says whose it was.
  if (report.utilization && !sees_all_jobs()) {
    report.utilization->waits.clear();
    report.utilization->is_private = true;
  }
  return Visible(std::move(report));
}

Visible<ledger::AccountReport> Visibility::show(ledger::AccountReport report) const {
  if (!sees_all_jobs()) hide_runs(report.adjustments);
  if (sees_all_usage()) return Visible(std::move(report));
  for (ledger::AccountRow& organization : report.organizations) {
    report.is_private = true;
    std::vector<UserRow> shown;
    std::vector<UserRow> hidden;
    for (UserRow& row : organization.users) {
      const bool is_shown = row.user_id && row.account && sees_usage(*row.user_id, *row.account);
      (is_shown ? shown : hidden).push_back(std::move(row));
    }
    if (!hidden.empty()) shown.push_back(sum_of(hidden));
    organization.users = std::move(shown);
  }
  return Visible(std::move(report));
}

Visible<ledger::AdjustmentsReport> Visibility::show(ledger::AdjustmentsReport report) const {
  if (!sees_all_jobs()) hide_runs(report.adjustments);
  return Visible(std::move(report));
}

Visible<ledger::PreviewReport> Visibility::show(ledger::PreviewReport report) const {
  if (!sees_all_jobs()) hide_runs(report.adjustment);
  return Visible(std::move(report));
}

Visible<ledger::AdjustedReport> Visibility::show(ledger::AdjustedReport report) const {
  if (!sees_all_jobs()) hide_runs(report.adjustment);
  return Visible(std::move(report));
}

Visible<ledger::JobsReport> Visibility::show(ledger::JobsReport report) const {
  std::erase_if(report.jobs, [&](const ledger::JobRow& job) { return !sees_job(job.is.user_id, job.is.account); });
  report.is_private = !sees_all_jobs();
  return Visible(std::move(report));
}

Visible<ledger::QueueReport> Visibility::show(ledger::QueueReport report) const {
  if (!sees_all_jobs()) report.jobs.clear();
  return Visible(std::move(report));
}

Visible<ledger::WorkflowsReport> Visibility::show(ledger::WorkflowsReport report) const {
  report.is_private = !sees_all_jobs();
  return Visible(std::move(report));
}

Expected<Visible<ledger::CompareReport>> Visibility::show(ledger::CompareReport report) const {
  for (const ledger::SideReport& side : report.sides) {
    if (side.job) SHAPLEY_TRY(check_job(*side.job, side.job->job_id));
  }
  return Visible(std::move(report));
}

Expected<Visible<ledger::ExplainReport>> Visibility::show(ledger::ExplainReport report, const ledger::Ledger& ledger,
                                                          Instant at, ledger::QueryBudget budget) const {
  const bool is_hypothetical = report.job.state == ledger::JobTurn::hypothetical;
  if (!is_hypothetical) SHAPLEY_TRY(check_job(report.job, report.job.job_id));
  ledger::Meanwhile* meanwhile = report.history && report.history->meanwhile ? &*report.history->meanwhile : nullptr;
  report.hidden_starts.emplace();
  if (meanwhile != nullptr) meanwhile->hidden.emplace();
  if (sees_all_jobs()) return Visible(std::move(report));
  ledger::JobsFilter filter{.all = true};
  for (const ledger::NextStart& start : report.next_starts) filter.jobs.push_back(start.is.job);
  if (meanwhile != nullptr) {
    for (const ledger::Start& start : meanwhile->last) filter.jobs.push_back(start.job);
  }
  std::set<std::uint32_t> seen;
  if (!filter.jobs.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::JobsReport seen_jobs, ledger::jobs_report(ledger, filter, at, budget, jobs()));
    for (const ledger::JobRow& job : seen_jobs.jobs) seen.insert(job.is.job);
  }
  report.hidden_starts = hide_others(report.next_starts, seen);
  if (meanwhile != nullptr) meanwhile->hidden = hide_others(meanwhile->last, seen);
  return Visible(std::move(report));
}

}  // namespace shapley::daemon
