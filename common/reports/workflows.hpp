// The workflows of the organizations that order theirs by fairness: the daemon's answer, and what `shapleyctl
// workflows` prints. docs/reference/shapleyctl/workflows.md lists the members.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

struct WorkflowJobs {
  std::size_t blocked = 0;
  std::size_t pending = 0;
  std::size_t running = 0;
  std::size_t finished = 0;
};
constexpr auto description_of(std::type_identity<WorkflowJobs>) {
  return describe(member("blocked", &WorkflowJobs::blocked), member("pending", &WorkflowJobs::pending),
                  member("running", &WorkflowJobs::running), member("finished", &WorkflowJobs::finished));
}

struct ActivityRow {
  std::string activity = {};
  WorkflowJobs jobs = {};
  std::int64_t waiting_processors = 0;
  std::int64_t running_processors = 0;
  std::optional<double> median_s = {};
  double performance = 0;
  double relative_duration = 0;
  double pending_work = 0;
  std::int64_t delta = 0;
};
constexpr auto description_of(std::type_identity<ActivityRow>) {
  return describe(member("activity", &ActivityRow::activity), flattened(&ActivityRow::jobs),
                  member("waiting_processors", &ActivityRow::waiting_processors),
                  member("running_processors", &ActivityRow::running_processors),
                  member("median_s", &ActivityRow::median_s), member("performance", &ActivityRow::performance),
                  member("relative_duration", &ActivityRow::relative_duration),
                  member("pending_work", &ActivityRow::pending_work), member("delta", &ActivityRow::delta));
}

struct RaisedJob {
  std::uint32_t job = 0;
  std::uint32_t level = 0;
};
constexpr auto description_of(std::type_identity<RaisedJob>) {
  return describe(member("job", &RaisedJob::job), member("level", &RaisedJob::level));
}

struct WorkflowRow {
  std::string workflow = {};
  WorkflowJobs jobs = {};
  std::optional<double> pending_work = {};
  std::optional<double> pending_work_before = {};
  std::optional<std::array<std::uint32_t, 2>> levels = {};  // the least and the greatest of its raised jobs
  std::size_t raised_jobs = 0;
  std::vector<RaisedJob> raised = {};
  std::vector<ActivityRow> activities = {};
  bool truncated = false;  // not all raised jobs or activities are listed
};
constexpr auto description_of(std::type_identity<WorkflowRow>) {
  return describe(member("workflow", &WorkflowRow::workflow), flattened(&WorkflowRow::jobs),
                  member("pending_work", &WorkflowRow::pending_work),
                  member("pending_work_before", &WorkflowRow::pending_work_before),
                  member("levels", &WorkflowRow::levels), member("raised_jobs", &WorkflowRow::raised_jobs),
                  member("raised", &WorkflowRow::raised), member("activities", &WorkflowRow::activities),
                  member("truncated", &WorkflowRow::truncated));
}

struct PastEta {
  double eta = 0;
  Instant at;
};
constexpr auto description_of(std::type_identity<PastEta>) {
  return describe(member("eta", &PastEta::eta), member("at", &PastEta::at));
}

struct OrganizationWorkflows {
  std::string organization = {};
  std::string mode = {};
  bool relative_duration = false;
  double threshold = 0;
  Instant at;
  double eta = 0;
  double least_pending_work = 0;
  bool unfair = false;
  std::optional<PastEta> before = {};
  std::optional<PastEta> highest = {};
  bool truncated = false;
  std::size_t hidden_workflows = 0;  // workflows with jobs that the asker may not see
  std::vector<WorkflowRow> workflows = {};
};
constexpr auto description_of(std::type_identity<OrganizationWorkflows>) {
  using O = OrganizationWorkflows;
  return describe(member("organization", &O::organization), member("mode", &O::mode),
                  member("relative_duration", &O::relative_duration), member("threshold", &O::threshold),
                  member("at", &O::at), member("eta", &O::eta), member("least_pending_work", &O::least_pending_work),
                  member("unfair", &O::unfair), member("before", &O::before), member("highest", &O::highest),
                  member("truncated", &O::truncated), member("hidden_workflows", &O::hidden_workflows),
                  member("workflows", &O::workflows));
}

struct WorkflowsReport {
  Instant at;
  std::uint64_t generation = 0;  // of the levels
  std::vector<OrganizationWorkflows> organizations = {};
  bool is_private = false;  // others' jobs are
};
constexpr auto description_of(std::type_identity<WorkflowsReport>) {
  return describe(member("at", &WorkflowsReport::at), member("generation", &WorkflowsReport::generation),
                  member("organizations", &WorkflowsReport::organizations),
                  member("private", &WorkflowsReport::is_private));
}

}  // namespace shapley::ledger
