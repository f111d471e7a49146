#include "sim/commands/planning_cli.hpp"

#include <iostream>
#include <memory>

#include "sim/commands/plan_command.hpp"
#include "sim/commands/workflow_command.hpp"
#include "sim/exit_code.hpp"

namespace shapley::sim {

namespace {

using Action = std::function<Expected<int>()>;

Action add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* plan = app.add_subcommand("plan", "plan the jobs of several organizations over their clusters");
  CLI::Option* instance = plan->add_option("--instance", arguments->instance, "JSON file with m and jobs");
  PendingQueue& queue = arguments->queue;
  plan->add_option("--trace", queue.source.trace, "or the jobs of a stretch of a trace, as one queue")
      ->excludes(instance);
  plan->add_option("--begin", queue.begin, "trace: where the stretch begins, in its seconds (first submission)");
  plan->add_option("--length", queue.length.value, "trace: length of the stretch in seconds (3600)")
      ->check(CLI::PositiveNumber);
  plan->add_option("--organizations", queue.organizations, "trace: users are dealt to so many (5)")
      ->check(CLI::Range(1, 32));
  plan->add_option("--processors", queue.processors, "trace: of all organizations (as the trace says)")
      ->check(CLI::Range(1, 10'000'000));
  plan->add_option("--plot", arguments->plot, "folder for a Gantt chart per cluster (SVG)");
  plan->add_option("--algorithm", arguments->algorithm, "local_hf, mocca, mocca_ilba, ... (an unknown name lists all)")
      ->required();
  plan->add_option("--seed", arguments->seed, "seed of local_rnd, mocca4_rnd and of the users' organizations (1)");
  plan->add_flag("--json", arguments->json, "print JSON instead of a table");
  return [arguments]() -> Expected<int> {
    arguments->queue.seed = arguments->seed;
    SHAPLEY_TRY(plan_command(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_workflow(CLI::App& app) {
  static const std::map<std::string, bool> k_switch{{"on", true}, {"off", false}};
  const auto arguments = std::make_shared<WorkflowArguments>();
  CLI::App* command = app.add_subcommand("workflow", "one step of the workflow fairness loop");
  command->add_option("--instance", arguments->instance, "JSON file with tau and workflows")->required();
  command->add_option("--mode", arguments->mode,
                      "phases_upper_median (default), phases_mid_median, elapsed_only_upper_median");
  command->add_option("--relative-duration", arguments->relative_duration, "on (default) or off: T^ is 1")
      ->transform(CLI::CheckedTransformer(k_switch));
  command->add_flag("--json", arguments->json, "print JSON instead of text");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(workflow_command(*arguments, std::cout));
    return k_exit_done;
  };
}

}  // namespace

std::map<std::string, Action> add_planning_commands(CLI::App& app) {
  return {{"plan", add_plan(app)}, {"workflow", add_workflow(app)}};
}

}  // namespace shapley::sim
