// `shapleyctl explain JOB` explains why a job waits, `explain --submit` where one would stand; `compare` and `forecast`
// show which organization or job goes first.
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
  std::string job = {};
  bool submit = false;
  ledger::SubmissionAsked asked = {};  // with `submit`, as `time`
  std::string time = {};               // of sbatch; empty: the partition's own
  RankSource source = {};
  bool json = false;
};

void add_explain(CLI::App& app, ExplainArguments& arguments);
// The options --ledger, --at, --archives and --json of the three commands about ranks.
void add_rank_options(CLI::App& command, RankSource& source, bool& as_json);

[[nodiscard]] Expected<ExitCode> run_explain(const ExplainArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);

// The books' explanation, with Slurm's own facts.
struct Explanation {
  ledger::ExplainReport report = {};
  SlurmFacts slurm = {};
  std::optional<Place> place = {};  // nullopt: jobs have no places here
  PriorityVerdict priority = {};
  std::optional<std::string> test_only = {};  // of a hypothetical job: the answer of sbatch --test-only, or the error
};
constexpr auto description_of(std::type_identity<Explanation>) {
  return describe(flattened(&Explanation::report), member("slurm", &Explanation::slurm),
                  member("place", &Explanation::place), member("priority", &Explanation::priority),
                  supplement("test_only", &Explanation::test_only));
}

// The output for people.
[[nodiscard]] std::string render_explanation(const Explanation& explanation);

// `shapleyctl compare A B` and `shapleyctl forecast`: which side goes first, why and since when, and when the order
// changes.

struct CompareArguments {
  std::string a;
  std::string b;
  RankSource source;
  bool json = false;
};

struct ForecastArguments {
  RankSource source;
  bool json = false;
};

void add_compare(CLI::App& app, CompareArguments& arguments);
void add_forecast(CLI::App& app, ForecastArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_compare(const CompareArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_forecast(const ForecastArguments& arguments, const Endpoint& endpoint,
                                              const Environment& environment);

// The books' comparison and, for two jobs, Slurm's own facts, in the order of the sides.
struct Comparison {
  ledger::CompareReport report = {};
  std::optional<std::array<SlurmFacts, 2>> slurm = {};
};
constexpr auto description_of(std::type_identity<Comparison>) {
  return describe(flattened(&Comparison::report), member("slurm", &Comparison::slurm));
}

// The outputs for people.
[[nodiscard]] std::string render_comparison(const Comparison& comparison);
[[nodiscard]] std::string render_forecast(const ledger::ForecastReport& report);

}  // namespace shapley::ctl
