// Slurm's facts about a job that could be submitted: what Slurm completes it with (scontrol, sacctmgr), the accounts
// above its own (sacctmgr), and when it would start (sbatch --test-only).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctl/slurm/job_facts.hpp"
#include "ledger/reports/explain_report.hpp"
#include "site_rules/attribution.hpp"

namespace shapley::ctl {

// A cluster's accounts with their parents, by sacctmgr; `cluster` empty: this host's. `run`: as of Environment.
// Errc::unavailable: Slurm does not answer.
[[nodiscard]] Expected<site_rules::AccountParents> account_parents(std::string cluster, const ProgramRunner& run);

struct AccountsAbove {
  std::vector<std::string> names = {};  // from the account's parent to the root
  std::string unknown = {};             // why they are not known: then rules about accounts above are not found
};
// `account` empty: it has none, and it is asked only whether Slurm's accounting answers.
[[nodiscard]] AccountsAbove accounts_above(const std::string& account, const ProgramRunner& run);

// The job with what slurmctld adds where it says nothing: the default partition, this user's default account, and the
// QOS of the user's association with the account, which is its default, else the only one, else "normal". What Slurm
// does not say stays empty.
[[nodiscard]] ledger::SubmissionAsked completed(ledger::SubmissionAsked asked, const std::string& user,
                                                const ProgramRunner& run);

// The answer of sbatch --test-only, a line, or the reason for which it is missing; nullopt: no command is run. `time`:
// its time limit, as sbatch takes it; empty: the partition's default. `options`: further ones of sbatch.
[[nodiscard]] std::optional<std::string> test_only(const ledger::SubmissionAsked& asked, const std::string& time,
                                                   const ProgramRunner& run,
                                                   const std::vector<std::string>& options = {});

}  // namespace shapley::ctl
