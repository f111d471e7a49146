// What an asker may see of others' jobs and of what they used: as squeue and sreport have it under slurm.conf's
// PrivateData. Counts and sums by organization are for everybody (docs/operating/any-node.md, "Private jobs").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "ledger/reports/jobs_report.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Visibility {
 public:
  [[nodiscard]] static Visibility everything() { return {}; }
  // nullopt: nobody has said what is private; then everything is.
  [[nodiscard]] static Visibility of(const std::optional<protocol::Privacy>& privacy, std::uint32_t user_id);

  // nullopt: all jobs are seen; else only those of this user and of these accounts.
  [[nodiscard]] const std::optional<ledger::JobsViewer>& jobs() const { return jobs_; }
  [[nodiscard]] bool sees_all_jobs() const { return !jobs_; }
  [[nodiscard]] bool sees_job(std::uint32_t user_id, std::string_view account) const {
    return !jobs_ || jobs_->sees(user_id, account);
  }
  // Whether what this account's user used is shown; where jobs are private, it is not, because it may be that of one
  // job.
  [[nodiscard]] bool sees_all_usage() const { return !usage_; }
  [[nodiscard]] bool sees_usage(std::uint32_t user_id, std::string_view account) const {
    return !usage_ || usage_->sees(user_id, account);
  }

 private:
  std::optional<ledger::JobsViewer> jobs_;
  std::optional<ledger::JobsViewer> usage_;
};

// Of a job that is not shown no more is said than of one that does not exist.
[[nodiscard]] Error no_visible_job(std::string_view name);

// Of a report whose organizations have a list of users (a statement): the users that the asker may see stay; the others
// of an organization become one row, whose account and user_id are null.
void hide_users(nlohmann::json& report, const Visibility& visible);

// Of a report that has adjustments: whose runs these moved is not said where others' jobs are private.
void hide_adjusted_runs(nlohmann::json& report, const Visibility& visible);

}  // namespace shapley::daemon
