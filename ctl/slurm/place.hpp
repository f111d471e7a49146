// A job's place in the line that slurmctld serves: which of the jobs that could start go before it by Slurm's own
// priorities (squeue), of which organizations they are (the daemon's queue), and how many processors each organization
// may start before it by the leads of the books.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/slurm/job_facts.hpp"

namespace shapley::ctl {

// One pending record of slurmctld: a job, a task of an array, or all those tasks of one that have no record of their
// own.
struct PendingRecord {
  std::uint32_t job = 0;
  std::uint32_t array = 0;  // the first job of its array; its own number if it is in none
  bool is_rest = false;
  std::int64_t priority = 0;
};

// All that wait and are shown to whoever asks, of all partitions.
[[nodiscard]] Expected<std::vector<PendingRecord>> pending_records(const ProgramRunner& run);

// {"known": true, "position", "of", "truncated", "before": [{"organization", "jobs", "processors"}], "leads":
// [{"organization", "processors"}]}, or {"known": false, "why": TEXT}. Tasks of arrays count as jobs; `position` counts
// from 1. `leads`: the organizations that may start something before it by the leads of `rows`, the organizations of
// the explanation; `processors` is null for more than all processors.
// `queue`: the daemon's answer to "queue" (docs/reference/protocol.md).
[[nodiscard]] nlohmann::json place_of(std::uint32_t job, const std::string& organization,
                                      const std::vector<PendingRecord>& records, const nlohmann::json& queue,
                                      const nlohmann::json& rows);

// The other case of it.
[[nodiscard]] nlohmann::json place_not_known(const std::string& why);

}  // namespace shapley::ctl
