#include "sim/planning_cli.hpp"

#include <iostream>
#include <memory>

#include "sim/exit_code.hpp"
#include "sim/plan_command.hpp"

namespace shapley::sim {

namespace {

using Action = std::function<Expected<int>()>;

Action add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* plan = app.add_subcommand("plan", "plan the jobs of several organizations over their clusters");
  plan->add_option("--instance", arguments->instance, "JSON file with m and jobs")->required();
  plan->add_option("--algorithm", arguments->algorithm, "local_hf, mocca, mocca_ilba, ... (an unknown name lists all)")
      ->required();
  plan->add_option("--seed", arguments->seed, "seed of local_rnd and mocca4_rnd (1)");
  plan->add_flag("--json", arguments->json, "print JSON instead of a table");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(plan_command(*arguments, std::cout));
    return k_exit_done;
  };
}

}  // namespace

std::map<std::string, Action> add_planning_commands(CLI::App& app) {
  return {{"plan", add_plan(app)}};
}

}  // namespace shapley::sim
