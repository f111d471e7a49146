#include "sim/commands/command_line.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "config/values.hpp"
#include "game/serving_order.hpp"
#include "sim/commands/axioms_command.hpp"
#include "sim/commands/compare_command.hpp"
#include "sim/commands/experiment_command.hpp"
#include "sim/commands/planning_cli.hpp"
#include "sim/commands/replay_command.hpp"
#include "sim/commands/run_command.hpp"
#include "sim/commands/trace_command.hpp"
#include "sim/exit_code.hpp"

namespace shapley::sim {

namespace {

// What a chosen subcommand does; returns an exit code.
using Action = std::function<Expected<int>()>;

void add_source(CLI::App& command, WorkloadSource& source) {
  static const std::map<std::string, workload::Malformed> malformed{{"refuse", workload::Malformed::refuse},
                                                                    {"skip", workload::Malformed::skip}};
  static const std::map<std::string, workload::WorkloadKind> kinds{{"bursty", workload::WorkloadKind::bursty},
                                                                   {"unit", workload::WorkloadKind::unit},
                                                                   {"zipf", workload::WorkloadKind::zipf}};
  command.add_option("--trace", source.trace,
                     "SWF (plain, .gz or .xz), sacct -P export or ledger; \"excerpt\" is the embedded one; without it "
                     "jobs are generated");
  command.add_option("--malformed", source.malformed, "lines that are no record: refuse (default) or skip")
      ->transform(CLI::CheckedTransformer(malformed));
  command.add_option("--generate", source.generator.kind, "without --trace: bursty (default), unit or zipf")
      ->transform(CLI::CheckedTransformer(kinds));
  command.add_option("--generate-users", source.generator.users, "generator: users (50)");
  command.add_option("--generate-load", source.generator.load_percent, "generator: load in percent (70)");
  command.add_option("--generate-processors", source.generator.processors, "generator: processors (70)");
  command.add_option("--generate-length", source.generator.length.value, "generator: seconds (5000000)");
  command.add_option("--generate-seed", source.generator.seed, "generator: seed (1)");
}

void add_parallel(CLI::App& command, workload::ParallelJobs& parallel) {
  static const std::map<std::string, workload::ParallelJobs> kinds{{"copies", workload::ParallelJobs::copies},
                                                                   {"rigid", workload::ParallelJobs::rigid}};
  command
      .add_option("--parallel", parallel,
                  "a job of q processors: copies (default), q jobs of one each; or rigid, all q at once")
      ->transform(CLI::CheckedTransformer(kinds));
}

void add_window(CLI::App& command, ComparisonSettings& settings) {
  add_parallel(command, settings.parallel);
  static const std::map<std::string, EndowmentChoice> endowments{{"zipf", EndowmentChoice::zipf},
                                                                 {"uniform", EndowmentChoice::uniform},
                                                                 {"alternate", EndowmentChoice::alternate}};
  command.add_option("--organizations", settings.organizations, "number of organizations (5)")
      ->check(CLI::Range(1, 32));
  command.add_option("--processors", settings.processors, "processors of all organizations (as the trace says)")
      ->check(CLI::Range(1, 10'000'000));
  command.add_option("--endowment", settings.endowment, "zipf, uniform, or alternate (default) from window to window")
      ->transform(CLI::CheckedTransformer(endowments));
  command.add_option("--assign", settings.assignment.by,
                     "users to organizations: random (default), group, or a file of lines USER ORGANIZATION");
  command.add_option("--length", settings.length.value, "length of a window in seconds (50000)")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", settings.seed, "seed of windows, users and policies (1)");
  command.add_option("--samples", settings.samples, "rand: number of permutations (15)")->check(CLI::PositiveNumber);
}

// `otherwise`: what holds without the options, for the help.
void add_rule(CLI::App& command, game::ServingRule& rule, bool& once_a_pass, const std::string& otherwise = "0") {
  const auto read = [](const char* option, const auto& parsed) {
    if (!parsed) throw CLI::ValidationError(option, parsed.error().what);
    return *parsed;
  };
  command.add_option_function<std::string>(
      "--horizon",
      [&rule, read](const std::string& text) { rule.horizon = read("--horizon", game::parse_horizon(text)); },
      "rank by phi - psi so far ahead: 0 (the papers' rule), seconds, 6h, 7d (" + otherwise + ")");
  command.add_option_function<std::string>(
      "--guarantee",
      [&rule, read](const std::string& text) { rule.guarantee = read("--guarantee", game::parse_guarantee(text)); },
      "part of its own processors below which an organization goes first: 0 to 1 (" + otherwise + ")");
  command.add_option_function<std::string>(
      "--running-weight",
      [&rule, read](const std::string& text) {
        rule.running = read("--running-weight", game::parse_running_weight(text));
      },
      "how much what runs now counts in the rank, with a horizon: 0 to 1 (" + otherwise + ")");
  command.add_flag("--once-a-pass", once_a_pass,
                   "organizations are ordered once for all that starts at one instant, not again after every start");
}

Action add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "run policies over one instance");
  auto arguments = std::make_shared<RunArguments>();
  auto permutations = std::make_shared<std::string>();
  command->add_option("--instance", arguments->instance, "JSON file with machines, jobs and t_end");
  add_source(*command, arguments->source);
  add_window(*command, arguments->window);
  add_rule(*command, arguments->window.rule, arguments->window.once_a_pass);
  command->add_option("--window", arguments->number, "which window of this seed (0)");
  command->add_option("--begin", arguments->begin, "the window that begins at this second of the trace");
  command->add_option("--policy", arguments->policies, "policies, separated by commas")->required()->delimiter(',');
  command->add_flag("--json", arguments->json, "print JSON instead of a table");
  command->add_flag("--schedule", arguments->schedule, "with --json: every job's start");
  command->add_option("--permutations", *permutations, "rand: these permutations, as 012,210");
  auto accuracy = std::make_shared<scheduling::RandAccuracy>();
  CLI::Option* epsilon =
      command->add_option("--epsilon", accuracy->epsilon, "rand: distance of Theorem 5.6, instead of --samples")
          ->check(CLI::Range(1e-3, 1.0));
  CLI::Option* lambda =
      command->add_option("--lambda", accuracy->lambda, "rand: with this probability (with --epsilon)")
          ->check(CLI::Range(0.0, 0.999999))
          ->needs(epsilon);
  epsilon->needs(lambda);
  command->add_option("--utility", arguments->options.utility, "ref: what is shared fairly; reported for every policy");
  command->add_option("--csv", arguments->organizations_csv, "write a row per policy and organization");
  command->add_option("--batsim-jobs", arguments->batsim_jobs, "write the schedule as Batsim's jobs.csv");
  command->add_option("--plot-time", arguments->plot_time, "draw psi and phi over time (SVG)");
  command->add_option("--plot-gantt", arguments->plot_gantt, "draw the schedule (SVG)");
  return [=]() -> Expected<int> {
    arguments->options.seed = arguments->window.seed;
    arguments->options.samples = arguments->window.samples;
    arguments->options.rule = arguments->window.rule;
    arguments->options.once_a_pass = arguments->window.once_a_pass;
    if (*epsilon) arguments->options.accuracy = *accuracy;
    if (!permutations->empty()) {
      auto parsed = parse_permutations(*permutations);
      if (!parsed) {
        std::cerr << "shapley-sim: " << printable(parsed.error().what) << '\n';
        return k_exit_usage;
      }
      arguments->options.permutations = std::move(parsed).value();
    }
    SHAPLEY_TRY(run(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "policies side by side on many windows of a workload");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->settings.policies = {"round_robin",     "rand",         "direct_contr",    "fair_share", "ut_fair_share",
                                  "curr_fair_share", "shapley_rate", "shapley_rate_loo"};
  add_source(*command, arguments->source);
  add_window(*command, arguments->settings);
  add_rule(*command, arguments->settings.rule, arguments->settings.once_a_pass);
  command->add_option("--windows", arguments->settings.windows, "number of windows (100)")->check(CLI::PositiveNumber);
  command->add_option("--policies", arguments->settings.policies, "policies, separated by commas")->delimiter(',');
  command->add_option("--reference", arguments->settings.reference, "the fair schedule to compare with (ref)");
  command->add_option("--baseline", arguments->baseline, "policy of the paired differences (direct_contr)");
  command->add_flag("--json", arguments->json, "print JSON instead of a table");
  command->add_option("--threads", arguments->threads, "threads (one per core)");
  command->add_option("--plot", arguments->plot, "draw the means with their errors (SVG)");
  command->add_option("--submit", arguments->submit, "run as a Slurm job array; results are kept in this folder");
  command->add_option("--block", arguments->block, "with --submit: windows per task (10)")->check(CLI::PositiveNumber);
  command->add_option("--sbatch", arguments->sbatch_options, "with --submit: a further option of sbatch (repeatable)");
  command->add_option("--first-window", arguments->first_window, "only the windows from this one on");
  command->add_option("--last-window", arguments->last_window, "... up to the one before this");
  return [=] { return compare(*arguments, std::cout); };
}

Action add_trace(CLI::App& app) {
  CLI::App* command = app.add_subcommand("trace", "what is in a trace: users, load, windows with contention");
  auto arguments = std::make_shared<TraceArguments>();
  add_source(*command, arguments->source);
  command->add_option("--processors", arguments->processors, "processors (as the trace says)");
  command->add_option("--length", arguments->length.value, "length of a window in seconds (50000)");
  add_parallel(*command, arguments->parallel);
  command->add_flag("--json", arguments->json, "print JSON instead of text");
  return [=]() -> Expected<int> {
    SHAPLEY_TRY(describe_trace(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_replay(CLI::App& app) {
  static const std::map<std::string, Estimates> estimates{{"requested", Estimates::requested},
                                                          {"exact", Estimates::exact}};
  static const std::map<std::string, history::Malformed> malformed{{"refuse", history::Malformed::refuse},
                                                                   {"skip", history::Malformed::skip}};
  CLI::App* command = app.add_subcommand("replay", "a site's own jobs, organizations and nodes under other policies");
  auto arguments = std::make_shared<ReplayArguments>();
  auto rule = std::make_shared<game::ServingRule>();
  command->add_option("--config", arguments->source.config, "the site's shapleyd.yaml")->required();
  command->add_option("--trace", arguments->source.trace, "sacct -P export (plain, .gz or .xz) or ledger")->required();
  command->add_option("--nodes", arguments->source.nodes,
                      "scontrol show nodes --oneliner, or lines NODE CPUS (the ledger's, or as far as they were used)");
  command->add_option("--accounts", arguments->source.accounts,
                      "sacctmgr -nP list associations format=Account,ParentName: accounts below others");
  command->add_option("--since", arguments->since, "jobs that were there from this time on (UTC)");
  command->add_option("--until", arguments->until, "... and before this time");
  command
      ->add_option("--policies", arguments->policies,
                   "policies, separated by commas (fcfs, fair_share, fair_tree, direct_contr and shapley_rate, of many "
                   "organizations shapley_rate_sampled)")
      ->delimiter(',');
  command
      ->add_option("--estimates", arguments->source.estimates,
                   "what backfill knows of run times: requested (default), the time limits, or exact")
      ->transform(CLI::CheckedTransformer(estimates));
  command
      ->add_option("--malformed", arguments->source.malformed,
                   "an export's rows that cannot be read, or cannot be: refuse (default), or skip and list them")
      ->transform(CLI::CheckedTransformer(malformed));
  command->add_flag("--oversubscribed", arguments->source.oversubscribed,
                    "an export's jobs may hold more CPUs of a node at once than it has (OverSubscribe)");
  add_rule(*command, *rule, arguments->once_a_pass, "as the site's file has it");
  command->add_option("--seed", arguments->seed, "seed of policies that draw (1)");
  command->add_flag("--json", arguments->json, "print JSON instead of tables");
  command->add_option("--html", arguments->html, "write a page with tables and charts");
  return [=]() -> Expected<int> {
    if (command->count("--horizon") > 0) arguments->horizon = rule->horizon;
    if (command->count("--guarantee") > 0) arguments->guarantee = rule->guarantee;
    if (command->count("--running-weight") > 0) arguments->running = rule->running;
    SHAPLEY_TRY(run_replay(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_axioms(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("axioms", "which utilities satisfy the axioms of Theorem 4.1, with counterexamples");
  auto arguments = std::make_shared<AxiomsArguments>();
  command->add_option("--utility", arguments->utilities, "these utilities only, separated by commas")->delimiter(',');
  return [=]() -> Expected<int> {
    SHAPLEY_TRY(check_axioms(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_experiment(CLI::App& app) {
  CLI::App* command = app.add_subcommand("experiment", "the experiments of the papers, beside their numbers");
  auto arguments = std::make_shared<ExperimentArguments>();
  command->add_option("name", arguments->name, "which of them")->required()->check(CLI::IsMember(experiment_names()));
  command->add_option("--traces", arguments->traces, "folder of the archive's traces ($SHAPLEY_TRACES)");
  command->add_option("--only", arguments->only, "of these traces only, e.g. LPC-EGEE,RICC")->delimiter(',');
  command->add_option("--trace", arguments->trace, "this one trace instead; \"excerpt\" is the embedded one");
  command->add_option("--windows", arguments->windows, "windows per trace (100; speed: 5; stability: 400)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--instances", arguments->instances,
                   "mosp, workflow: instances per setting (50; 10); strategy: seeds (20)")
      ->check(CLI::PositiveNumber);
  command->add_option("--length", arguments->length, "length of a window in seconds")->check(CLI::PositiveNumber);
  command->add_option("--organizations", arguments->organizations, "organizations; figure10 and speed take several")
      ->delimiter(',')
      ->check(CLI::Range(1, 32));
  command->add_option("--policies", arguments->policies, "other policies than the preset's")->delimiter(',');
  command
      ->add_option("--cases", arguments->cases,
                   "stability: of saturated, load_1.05, bursty, head_start, maintenance, debts, years, windows these "
                   "only; strategy: "
                   "of load_0.80, load_1.05, saturated and the attacks these only")
      ->delimiter(',');
  command->add_option("--seed", arguments->seed, "seed (1)");
  command->add_option("--threads", arguments->threads, "threads (one per core)");
  command->add_flag("--json", arguments->json, "print JSON instead of tables");
  command->add_option("--plot", arguments->plot, "folder for plots (SVG)");
  return [=] { return run_experiment(*arguments, std::cout); };
}

// What is wrong with the command line; a word where a command is expected is named, with the command that it may mean.
std::string fault_of(const CLI::App& app, const CLI::Error& error) {
  if (!app.get_subcommands().empty()) return error.what();
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* /*command*/) { return true; }))
    commands.push_back(command->get_name());
  return config::no_command(app.remaining(), commands).value_or(error.what());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"shapley-sim: every scheduling policy of the Shapley papers, over instances and traces"};
  app.set_version_flag("-V,--version", std::string("shapley-sim " SHAPLEY_VERSION));
  app.require_subcommand(1);
  std::map<std::string, Action> actions{
      {"run", add_run(app)},       {"compare", add_compare(app)},       {"trace", add_trace(app)},
      {"replay", add_replay(app)}, {"experiment", add_experiment(app)}, {"axioms", add_axioms(app)}};
  actions.merge(add_planning_commands(app));
  // An argument that is quoted adds no line.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(command,
                                       {error.get_name(), printable(fault_of(*command, error)), error.get_exit_code()});
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? k_exit_done : k_exit_usage;
  }
  const auto done = actions.at(app.get_subcommands().front()->get_name())();
  if (!done) {
    std::cerr << "shapley-sim: " << printable(done.error().what) << '\n';
    return k_exit_input;
  }
  return *done;
}

}  // namespace shapley::sim
