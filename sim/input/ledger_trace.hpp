// The runs of a ledger as a trace: what a consortium really ran, to be scheduled again by any policy.
//
// One job per run (a job that was requeued ran twice), with the seconds and processors that it held, suspensions left
// out; users are Slurm's user ids, groups the organizations that the runs are booked under. The ledger is only read.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

[[nodiscard]] bool is_ledger(const std::filesystem::path& file);
[[nodiscard]] Expected<workload::Trace> read_ledger_trace(const std::filesystem::path& file);

}  // namespace shapley::sim
