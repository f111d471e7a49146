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
SHAPLEY_DESCRIBE(WorkflowJobs, blocked, pending, running, finished);

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
SHAPLEY_DESCRIBE(ActivityRow, activity, (flattened, jobs), waiting_processors, running_processors, median_s,
                 performance, relative_duration, pending_work, delta);

struct RaisedJob {
  std::uint32_t job = 0;
  std::uint32_t level = 0;
};
SHAPLEY_DESCRIBE(RaisedJob, job, level);

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
SHAPLEY_DESCRIBE(WorkflowRow, workflow, (flattened, jobs), pending_work, pending_work_before, levels, raised_jobs,
                 raised, activities, truncated);

struct PastEta {
  double eta = 0;
  Instant at;
};
SHAPLEY_DESCRIBE(PastEta, eta, at);

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
SHAPLEY_DESCRIBE(OrganizationWorkflows, organization, mode, relative_duration, threshold, at, eta, least_pending_work,
                 unfair, before, highest, truncated, hidden_workflows, workflows);

struct WorkflowsReport {
  Instant at;
  std::uint64_t generation = 0;  // of the levels
  std::vector<OrganizationWorkflows> organizations = {};
  bool is_private = false;  // others' jobs are
};
SHAPLEY_DESCRIBE(WorkflowsReport, at, generation, organizations, (named, is_private, "private"));

}  // namespace shapley::ledger
