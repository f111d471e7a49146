// shapley-sim: the laboratory's command line. Exit codes: 0 done, 1 the input cannot be used, 2 the command line is
// wrong.
#include <iostream>

#include <CLI/CLI.hpp>

#include "sim/axioms_command.hpp"
#include "sim/run_command.hpp"

namespace {

constexpr int k_exit_input = 1;
constexpr int k_exit_usage = 2;

int exit_code_of(const shapley::Expected<void>& done) {
  if (done) return 0;
  std::cerr << "shapley-sim: " << done.error().what << '\n';
  return k_exit_input;
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
  shapley::fairness::RandAccuracy accuracy;
  CLI::Option* epsilon =
      run->add_option("--epsilon", accuracy.epsilon, "rand: distance of Theorem 5.6, instead of --samples")
          ->check(CLI::Range(1e-3, 1.0));
  CLI::Option* lambda = run->add_option("--lambda", accuracy.lambda, "rand: with this probability (with --epsilon)")
                            ->check(CLI::Range(0.0, 0.999999))
                            ->needs(epsilon);
  epsilon->needs(lambda);
  run->add_option("--utility", arguments.options.utility, "ref: what is shared fairly; reported for every policy");
  shapley::sim::AxiomsArguments axioms_arguments;
  CLI::App* axioms =
      app.add_subcommand("axioms", "which utilities satisfy the axioms of Theorem 4.1, with counterexamples");
  axioms->add_option("--utility", axioms_arguments.utilities, "these utilities only, separated by commas")
      ->delimiter(',');
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : k_exit_usage;
  }
  if (*axioms) return exit_code_of(shapley::sim::check_axioms(axioms_arguments, std::cout));
  if (*epsilon) arguments.options.accuracy = accuracy;
  if (!permutations.empty()) {
    auto parsed = shapley::sim::parse_permutations(permutations);
    if (!parsed) {
      std::cerr << "shapley-sim: " << parsed.error().what << '\n';
      return k_exit_usage;
    }
    arguments.options.permutations = std::move(parsed).value();
  }
  return exit_code_of(shapley::sim::run(arguments, std::cout));
}
