// `shapleyctl explain JOB` explains why a job waits, `explain --me` shows the caller's own jobs that wait, `explain
// --submit` where a job would stand, and `explain --against` which of two organizations or jobs goes first.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/rank_answers.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "ctl/slurm/place.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct ExplainArguments {
  std::string job = {};      // or, with `against`, an organization
  std::string against = {};  // an organization or a job; empty: the job itself is explained
  bool me = false;           // the caller's own jobs (explain_own.hpp)
  bool parsable = false;     // with `me`
  bool submit = false;
  ledger::SubmissionAsked asked = {};  // with `submit`, as `time`
  std::string time = {};               // of sbatch; empty: the partition's own
  RankSource source = {};
  bool json = false;
};

void add_explain(CLI::App& app, ExplainArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_explain(const ExplainArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);

// The name by which squeue and sprio know the job that was asked for as `asked`: a part of a heterogeneous job, and an
// array's task that has a record of its own, by its number.
[[nodiscard]] std::string slurm_name(const std::string& asked, const ledger::JobIdentity& job);

// The books' explanation, with Slurm's own facts.
struct Explanation {
  ledger::ExplainReport report = {};
  SlurmFacts slurm = {};
  std::optional<Place> place = {};  // nullopt: jobs have no places here
  PriorityVerdict priority = {};
  std::string no_accounts = {};  // of a hypothetical job: why Slurm's accounts are not known; empty: they are
  std::optional<std::string> test_only = {};   // of a hypothetical job: the answer of sbatch --test-only, or the error
  std::optional<RanElsewhere> elsewhere = {};  // of a federated job that has no run here
};
SHAPLEY_DESCRIBE(Explanation, (flattened, report), slurm, place, priority, (supplement, no_accounts),
                 (supplement, test_only), (supplement, elsewhere));

// The output for people.
[[nodiscard]] std::string render_explanation(const Explanation& explanation);

// The books' comparison and, for two jobs, Slurm's own facts, in the order of the sides.
struct Comparison {
  ledger::CompareReport report = {};
  std::optional<std::array<SlurmFacts, 2>> slurm = {};
};
SHAPLEY_DESCRIBE(Comparison, (flattened, report), slurm);

// The output for people.
[[nodiscard]] std::string render_comparison(const Comparison& comparison);

// What run_explain does with `against`. REQUIRES: job and against are not empty.
[[nodiscard]] Expected<ExitCode> explain_against(const ExplainArguments& arguments, const Endpoint& endpoint,
                                                 const Environment& environment);

}  // namespace shapley::ctl
