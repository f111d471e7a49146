// shapley-sim: the laboratory's command line. Exit codes: 0 done, 1 the input cannot be used, 2 the command line is
// wrong.
#include <iostream>

#include <CLI/CLI.hpp>

#include "sim/run_command.hpp"

namespace {

constexpr int k_exit_input = 1;
constexpr int k_exit_usage = 2;

int run_and_report(const shapley::sim::RunArguments& arguments) {
  if (const auto done = shapley::sim::run(arguments, std::cout); !done) {
    std::cerr << "shapley-sim: " << done.error().what << '\n';
    return k_exit_input;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"shapley-sim: every scheduling policy of the Shapley papers, over instances"};
  app.require_subcommand(1);
  shapley::sim::RunArguments arguments;
  std::string permutations;
  CLI::App* run = app.add_subcommand("run", "run policies over one instance file");
  run->add_option("--instance", arguments.instance, "JSON file with machines, jobs and t_end")->required();
  run->add_option("--policy", arguments.policies, "policies, separated by commas")->required()->delimiter(',');
  run->add_flag("--json", arguments.json, "print JSON instead of a table");
  run->add_flag("--schedule", arguments.schedule, "with --json: every job's start");
  run->add_option("--seed", arguments.options.seed, "seed of the policies that draw");
  run->add_option("--samples", arguments.options.samples, "rand: number of permutations")->check(CLI::PositiveNumber);
  run->add_option("--permutations", permutations, "rand: these permutations, as 012,210");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : k_exit_usage;
  }
  if (!permutations.empty()) {
    auto parsed = shapley::sim::parse_permutations(permutations);
    if (!parsed) {
      std::cerr << "shapley-sim: " << parsed.error().what << '\n';
      return k_exit_usage;
    }
    arguments.options.permutations = std::move(parsed).value();
  }
  return run_and_report(arguments);
}
