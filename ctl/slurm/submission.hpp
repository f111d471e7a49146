// Slurm's facts about a job that could be submitted: the accounts above its own (sacctmgr), and when it would start
// (sbatch --test-only).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctl/slurm/job_facts.hpp"
#include "ledger/reports/explain_report.hpp"

namespace shapley::ctl {

// From the account's parent to the root; none if sacctmgr does not answer: then rules about accounts above are not
// found. `run`: as of Environment.
[[nodiscard]] std::vector<std::string> accounts_above(const std::string& account, const ProgramRunner& run);

// The answer of sbatch --test-only, a line, or the reason for which it is missing; nullopt: no command is run. `time`:
// its time limit, as sbatch takes it; empty: the partition's default.
[[nodiscard]] std::optional<std::string> test_only(const ledger::SubmissionAsked& asked, const std::string& time,
                                                   const ProgramRunner& run);

}  // namespace shapley::ctl
