// Decides which of others' jobs and usage an asker may see, like squeue and sreport under slurm.conf's PrivateData.
// Counts and sums by organization are for all askers (docs/operating/any-node.md, "Private jobs").
//
// Only a Visible<Report>, which Visibility makes, can become a reply: a kind of report without a rule here does not
// compile as an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/statement.hpp"
#include "protocol/messages.hpp"
#include "reports/workflows.hpp"

namespace shapley::daemon {

// A report that contains only data that its asker may see.
template <typename Report>
class Visible {
 public:
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  friend class Visibility;
  explicit Visible(Report report) : report_(std::move(report)) {}
  Report report_;
};

// The reply to the asker, as text.
template <typename Report>
[[nodiscard]] std::string reply_of(const Visible<Report>& visible) {
  return shapley::text_of(shapley::json_of(visible.report()));
}

class Visibility {
 public:
  [[nodiscard]] static Visibility everything() { return {}; }
  // nullopt: no feeder has reported PrivateData; then everything is private.
  [[nodiscard]] static Visibility of(const std::optional<protocol::Privacy>& privacy, std::uint32_t user_id);

  // nullopt: all jobs are visible; else only those of this user and of these accounts.
  [[nodiscard]] const std::optional<ledger::JobsViewer>& jobs() const { return jobs_; }
  [[nodiscard]] bool sees_all_jobs() const { return !jobs_; }
  [[nodiscard]] bool sees_job(std::uint32_t user_id, std::string_view account) const {
    return !jobs_ || jobs_->sees(user_id, account);
  }
  // Whether the usage of this user under this account is visible; if jobs are private it is not, because it may be that
  // of a single job.
  [[nodiscard]] bool sees_all_usage() const { return !usage_; }
  [[nodiscard]] bool sees_usage(std::uint32_t user_id, std::string_view account) const {
    return !usage_ || usage_->sees(user_id, account);
  }

  // Errc::invalid_argument unless the asker may see the job: the error is the same as for a job that does not exist.
  // Other errors of `job` stay.
  [[nodiscard]] Expected<void> check_job(const Expected<ledger::JobAt>& job, std::string_view name) const;

  // A report that names neither a job nor a user is for all askers.
  [[nodiscard]] Visible<ledger::StatusReport> show(ledger::StatusReport report) const;
  [[nodiscard]] Visible<ledger::HistoryReport> show(ledger::HistoryReport report) const;
  // The users that the asker may see stay; the other users of an organization become one row, without account and
  // number. If others' jobs are private, the jobs, accounts and users of adjustments are left out.
  [[nodiscard]] Visible<ledger::AccountReport> show(ledger::AccountReport report) const;
  [[nodiscard]] Visible<ledger::AdjustmentsReport> show(ledger::AdjustmentsReport report) const;
  [[nodiscard]] Visible<ledger::PreviewReport> show(ledger::PreviewReport report) const;
  [[nodiscard]] Visible<ledger::AdjustedReport> show(ledger::AdjustedReport report) const;
  [[nodiscard]] Visible<ledger::JobsReport> show(ledger::JobsReport report) const;
  // Made with sees_job().
  [[nodiscard]] Visible<ledger::WorkflowsReport> show(ledger::WorkflowsReport report) const;
  [[nodiscard]] Visible<ledger::QueueReport> show(ledger::QueueReport report) const;
  // Errors: those of check_job.
  [[nodiscard]] Expected<Visible<ledger::CompareReport>> show(ledger::CompareReport report) const;
  // The started runs that the asker may see, by the ledger's tables at `at`, and the number of the other ones for each
  // organization.
  [[nodiscard]] Expected<Visible<ledger::ExplainReport>> show(ledger::ExplainReport report,
                                                              const ledger::Ledger& ledger, Instant at,
                                                              ledger::QueryBudget budget) const;

 private:
  std::optional<ledger::JobsViewer> jobs_;
  std::optional<ledger::JobsViewer> usage_;
};

}  // namespace shapley::daemon
