// `shapleyctl explain JOB`: why a job waits.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/rank_answers.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct ExplainArguments {
  std::string job;
  RankSource source;
  bool json = false;
};

void add_explain(CLI::App& app, ExplainArguments& arguments);
// --ledger, --at, --archives and --json, as the three commands about ranks have them.
void add_rank_options(CLI::App& command, RankSource& source, bool& json);

[[nodiscard]] Expected<ExitCode> run_explain(const ExplainArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);

// The screen. `report`: explain's answer with two further members, "slurm" (slurm_facts) and "priority"
// (compare_priority).
[[nodiscard]] std::string render_explanation(const nlohmann::json& report);

}  // namespace shapley::ctl
