// shapley-sim, the simulator: its command line (lab/docs/shapley-sim.md has every option).
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
#include "base/process.hpp"
#include "config/values.hpp"
#include "game/serving_order.hpp"
#include "planning/algorithms.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/commands/commands.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/registry.hpp"
#include "sim/replay/replay.hpp"
#include "sim/system.hpp"

namespace shapley::sim {

namespace {

constexpr int k_most_organizations = scheduling::k_max_organizations;

// The function of the chosen subcommand; returns an exit code.
using Action = std::function<Expected<int>()>;

// Adds an option by its name and the noun of its value, as "--length SECONDS".
template <typename Value>
CLI::Option* add_option(CLI::App& command, const std::string& name, Value& value, const std::string& text) {
  const std::size_t blank = name.find(' ');
  return command.add_option(name.substr(0, blank), value, text)->type_name(name.substr(blank + 1));
}

// The names of the entries of a table, separated by commas.
std::string listed(const auto& table, const auto& name) {
  std::string names;
  for (const auto& entry : table) names.append(names.empty() ? "" : ", ").append(std::invoke(name, entry));
  return names;
}

// Adds an option that takes one of `words`, which help shows as its value.
template <typename Value>
void add_choice(CLI::App& command, const std::string& name, Value& value, const std::map<std::string, Value>& words,
                const std::string& text) {
  std::string names;
  for (const auto& [word, unused] : words) names += (names.empty() ? "" : "|") + word;
  command.add_option(name, value, text)->transform(CLI::CheckedTransformer(words).description(""))->type_name(names);
}

void add_source(CLI::App& command, WorkloadSource& source) {
  static const std::map<std::string, workload::Malformed> malformed{{"refuse", workload::Malformed::refuse},
                                                                    {"skip", workload::Malformed::skip}};
  static const std::map<std::string, workload::WorkloadKind> kinds{{"bursty", workload::WorkloadKind::bursty},
                                                                   {"unit", workload::WorkloadKind::unit},
                                                                   {"zipf", workload::WorkloadKind::zipf}};
  add_option(command, "--trace FILE", source.trace,
             "Read jobs from this SWF file (plain, .gz or .xz), sacct -P export or ledger, or the embedded trace "
             "\"excerpt\" (default: jobs are generated)");
  add_choice(command, "--malformed", source.malformed, malformed,
             "Refuse a trace with malformed lines (default), or skip these lines");
  add_choice(command, "--generate", source.generator.kind, kinds,
             "Generate jobs of this kind if there is no --trace (default: bursty)");
  add_option(command, "--generate-users N", source.generator.users, "Generate jobs of this many users (default: 50)");
  add_option(command, "--generate-load PERCENT", source.generator.load_percent,
             "Generate jobs with this load (default: 70)");
  add_option(command, "--generate-processors N", source.generator.processors,
             "Generate jobs for this many processors (default: 70)");
  add_option(command, "--generate-length SECONDS", source.generator.length.value,
             "Generate jobs for this length of time (default: 5000000)");
  add_option(command, "--generate-seed N", source.generator.seed, "Generate jobs from this seed (default: 1)");
}

void add_parallel(CLI::App& command, workload::ParallelJobs& parallel) {
  static const std::map<std::string, workload::ParallelJobs> kinds{{"copies", workload::ParallelJobs::copies},
                                                                   {"rigid", workload::ParallelJobs::rigid}};
  add_choice(command, "--parallel", parallel, kinds,
             "Treat a job of q processors as q jobs of one processor each (copies, default), or as "
             "one job that takes all q at once (rigid), which policies that simulate coalitions refuse");
}

void add_window(CLI::App& command, ComparisonSettings& settings) {
  static const std::map<std::string, EndowmentChoice> endowments{{"zipf", EndowmentChoice::zipf},
                                                                 {"uniform", EndowmentChoice::uniform},
                                                                 {"alternate", EndowmentChoice::alternate}};
  add_option(command, "--organizations N", settings.organizations,
             "Assign users to this many organizations (default: 5)")
      ->check(CLI::Range(1, k_most_organizations));
  add_option(command, "--processors N", settings.processors,
             "Set the number of processors of all organizations together (default: from the trace)")
      ->check(CLI::Range(1, 10'000'000));
  add_choice(
      command, "--endowment", settings.endowment, endowments,
      "Distribute the processors: organization u owns a part proportional to 1/(u+1) (zipf), all own equal parts "
      "(uniform), or the one in even and the other in odd windows (alternate, default)");
  add_option(command, "--assign random|group|FILE", settings.assignment,
             "Assign users to organizations at random (default), by the trace's groups, or by a file of lines "
             "USER ORGANIZATION");
  add_option(command, "--length SECONDS", settings.length.value, "Set the length of a window (default: 50000)")
      ->check(CLI::PositiveNumber);
  add_option(command, "--seed N", settings.seed, "Draw windows, users and policies from this seed (default: 1)");
  add_option(command, "--samples N", settings.samples, "Let rand draw this many permutations (default: 15)")
      ->check(CLI::PositiveNumber);
}

// `otherwise`: the help text about the case without the options.
void add_rule(CLI::App& command, game::ServingRule& rule, bool& once_a_pass, const std::string& otherwise = "0") {
  const auto read = [](const char* option, const auto& parsed) {
    if (!parsed) throw CLI::ValidationError(option, parsed.error().what);
    return *parsed;
  };
  command
      .add_option_function<std::string>(
          "--horizon",
          [&rule, read](const std::string& text) { rule.horizon = read("--horizon", game::parse_horizon(text)); },
          "Rank by phi - psi this far ahead: 0 (the papers' rule), seconds, 6h or 7d (default: " + otherwise + ")")
      ->type_name("DURATION");
  command
      .add_option_function<std::string>(
          "--guarantee",
          [&rule, read](const std::string& text) { rule.guarantee = read("--guarantee", game::parse_guarantee(text)); },
          "Rank an organization first while it runs on less than this part, 0 to 1, of its own processors (default: " +
              otherwise + ")")
      ->type_name("PART");
  command
      .add_option_function<std::string>(
          "--running-weight",
          [&rule, read](const std::string& text) {
            rule.running = read("--running-weight", game::parse_running_weight(text));
          },
          "Weight running jobs in the rank by this part, 0 to 1, if there is a horizon (default: " + otherwise + ")")
      ->type_name("PART");
  command.add_flag("--once-a-pass", once_a_pass,
                   "Order the organizations once for all jobs that start at one instant, not after every start");
}

Action add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run policies over one instance or one window of a workload");
  auto arguments = std::make_shared<RunArguments>();
  auto permutations = std::make_shared<std::string>();
  add_option(*command, "--instance FILE", arguments->instance, "Read machines, jobs and t_end from this JSON file");
  add_source(*command, arguments->source);
  add_parallel(*command, arguments->window.parallel);
  add_window(*command, arguments->window);
  add_rule(*command, arguments->window.rule, arguments->window.once_a_pass);
  add_option(*command, "--window N", arguments->number, "Use the window of this number for the seed (default: 0)");
  add_option(*command, "--begin SECOND", arguments->begin, "Use the window that begins at this second of the trace");
  add_option(*command, "--policy NAMES", arguments->policies, "Run these policies, separated by commas")
      ->required()
      ->delimiter(',');
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command->add_flag("--schedule", arguments->schedule, "Print the start of every job, too (with --json)");
  add_option(*command, "--permutations LIST", *permutations, "Let rand use these permutations, such as 012,210");
  auto accuracy = std::make_shared<scheduling::RandAccuracy>();
  CLI::Option* epsilon = add_option(*command, "--epsilon DISTANCE", accuracy->epsilon,
                                    "Let rand draw as many permutations as this distance of Theorem 5.6 requires")
                             ->check(CLI::Range(1e-3, 1.0));
  CLI::Option* lambda = add_option(*command, "--lambda PROBABILITY", accuracy->lambda,
                                   "Keep to the distance of --epsilon with this probability")
                            ->check(CLI::Range(0.0, 0.999999))
                            ->needs(epsilon);
  epsilon->needs(lambda);
  add_option(*command, "--utility NAME", arguments->options.utility,
             "Let ref share this utility fairly, and report it for every policy (default: psi_sp): " +
                 listed(scheduling::utility_functions(), &scheduling::UtilityFunction::name));
  add_option(*command, "--csv FILE", arguments->organizations_csv,
             "Write a row per policy and organization to this file");
  add_option(*command, "--batsim-jobs FILE", arguments->batsim_jobs,
             "Write the schedule as Batsim's jobs.csv to this file");
  add_option(*command, "--plot-time FILE", arguments->plot_time, "Draw psi and phi over time to this SVG file");
  add_option(*command, "--plot-gantt FILE", arguments->plot_gantt, "Draw the schedule to this SVG file");
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

Action add_value(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("value",
                         "Print what coalitions of whole jobs on processors of several kinds are worth, exactly and by "
                         "each estimator");
  auto arguments = std::make_shared<ValueArguments>();
  add_option(*command, "--instance FILE", arguments->instance, "Read machines, jobs and t_end from this JSON file");
  add_source(*command, arguments->source);
  add_window(*command, arguments->window);
  add_option(*command, "--window N", arguments->number, "Use the window of this number for the seed (default: 0)");
  add_option(*command, "--begin SECOND", arguments->begin, "Use the window that begins at this second of the trace");
  add_option(*command, "--owned KIND=NUMBERS", arguments->kinds.owned,
             "Let organizations own so many processors of this kind each, such as gpu=0,0,8; once for each kind")
      ->allow_extra_args(false);
  add_option(*command, "--kinds PARTITION=KINDS", arguments->kinds.kinds,
             "Run jobs of a partition on this kind, or on the first that they fit of several, such as "
             "gpu=gpu,long=cpu+gpu (default: on any kind)")
      ->delimiter(',');
  command->add_flag("--json", arguments->json, "Print JSON instead of tables");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(value_command(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Compare policies side by side on many windows of a workload");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->settings.policies = {"round_robin",     "rand",         "direct_contr",    "fair_share", "ut_fair_share",
                                  "curr_fair_share", "shapley_rate", "shapley_rate_loo"};
  add_source(*command, arguments->source);
  add_parallel(*command, arguments->settings.parallel);
  add_window(*command, arguments->settings);
  add_rule(*command, arguments->settings.rule, arguments->settings.once_a_pass);
  add_option(*command, "--windows N", arguments->settings.windows, "Compare on this many windows (default: 100)")
      ->check(CLI::PositiveNumber);
  add_option(*command, "--policies NAMES", arguments->settings.policies, "Compare these policies, separated by commas")
      ->delimiter(',');
  add_option(*command, "--reference NAME", arguments->settings.reference,
             "Compare with the schedule of this policy as the fair one (default: ref)");
  command->add_flag("--due", arguments->settings.due,
                    "Compare with what is due to each organization by the reference, not with what it gives them");
  add_option(*command, "--baseline NAME", arguments->baseline,
             "Compute paired differences to this policy (default: direct_contr)");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  add_option(*command, "--threads N", arguments->threads, "Run on this many threads (default: one per core)");
  add_option(*command, "--plot FILE", arguments->plot, "Draw the means with their errors to this SVG file");
  add_option(*command, "--submit DIRECTORY", arguments->submit,
             "Run as a Slurm job array, and keep the results in this directory, which its tasks must see; the same "
             "command again runs only what is missing");
  add_option(*command, "--block N", arguments->block, "Run this many windows per task of --submit (default: 10)")
      ->check(CLI::PositiveNumber);
  add_option(*command, "--sbatch OPTION", arguments->sbatch_options,
             "Pass this option to sbatch, for --submit; may be given several times");
  add_option(*command, "--first-window N", arguments->first_window, "Run only windows of this number or higher");
  add_option(*command, "--last-window N", arguments->last_window, "Run only windows below this number");
  return [=] { return compare(*arguments, std::cout); };
}

Action add_trace(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("trace", "Describe a trace: users, load, lines left out, and windows in which jobs must wait");
  auto arguments = std::make_shared<TraceArguments>();
  add_source(*command, arguments->source);
  add_option(*command, "--processors N", arguments->processors,
             "Set the number of processors (default: from the trace)");
  add_option(*command, "--length SECONDS", arguments->length.value, "Set the length of a window (default: 50000)");
  add_parallel(*command, arguments->parallel);
  command->add_flag("--json", arguments->json, "Print JSON instead of text");
  return [=]() -> Expected<int> {
    SHAPLEY_TRY(describe_trace(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_replay(CLI::App& app) {
  static const std::map<std::string, Estimates> estimates{{"requested", Estimates::requested},
                                                          {"exact", Estimates::exact}};
  static const std::map<std::string, sacct::Malformed> malformed{{"refuse", sacct::Malformed::refuse},
                                                                 {"skip", sacct::Malformed::skip}};
  CLI::App* command =
      app.add_subcommand("replay",
                         "Run a site's own jobs, organizations and dated nodes under other policies, with rigid jobs "
                         "and EASY backfill, and show waits and slowdowns beside those of Slurm");
  auto arguments = std::make_shared<ReplayArguments>();
  auto rule = std::make_shared<game::ServingRule>();
  add_option(*command, "--config FILE", arguments->source.config,
             "Read the site's configuration from this shapleyd.yaml")
      ->required();
  add_option(*command, "--trace FILE", arguments->source.trace,
             "Read jobs from this sacct -P export (plain, .gz or .xz) or ledger")
      ->required();
  add_option(*command, "--nodes FILE", arguments->source.nodes,
             "Read the CPUs of nodes from this output of scontrol show nodes --oneliner, or lines NODE CPUS "
             "(default: from the ledger, or as many as were used)");
  add_option(*command, "--accounts FILE", arguments->source.accounts,
             "Read the tree of accounts from this output of sacctmgr -nP list associations "
             "cluster=NAME format=Account,ParentName");
  add_option(*command, "--since TIME", arguments->since, "Use only jobs that could start at this time or later (UTC)");
  add_option(*command, "--until TIME", arguments->until, "Use only jobs that could start before this time (UTC)");
  add_option(*command, "--policies NAMES", arguments->policies,
             "Run these policies, separated by commas (default: fcfs, fair_share, fair_tree, direct_contr and "
             "shapley_rate, or for many organizations shapley_rate_sampled)")
      ->delimiter(',');
  add_choice(*command, "--estimates", arguments->source.estimates, estimates,
             "Let backfill know the requested time limits (default), at which jobs that ran for longer end, or the "
             "exact run times, whatever the limits were");
  add_choice(*command, "--malformed", arguments->source.malformed, malformed,
             "Refuse an export with malformed or impossible rows (default), or skip and list "
             "these rows");
  command->add_flag("--oversubscribed", arguments->source.oversubscribed,
                    "Allow jobs to hold more CPUs of a node at once than it has (OverSubscribe)");
  add_rule(*command, *rule, arguments->once_a_pass, "from the site's configuration");
  add_option(*command, "--seed N", arguments->seed, "Draw the choices of policies from this seed (default: 1)");
  command->add_flag("--json", arguments->json, "Print JSON instead of tables");
  add_option(*command, "--html FILE", arguments->html, "Write a page with tables and charts to this file");
  return [=]() -> Expected<int> {
    if (command->count("--horizon") > 0) arguments->horizon = rule->horizon;
    if (command->count("--guarantee") > 0) arguments->guarantee = rule->guarantee;
    if (command->count("--running-weight") > 0) arguments->running = rule->running;
    SHAPLEY_TRY(run_replay(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* plan = app.add_subcommand("plan",
                                      "Plan jobs with known run times over the clusters of several organizations, so "
                                      "that no organization's last job ends later than alone");
  CLI::Option* instance = add_option(*plan, "--instance FILE", arguments->instance,
                                     "Read the clusters' sizes m and the jobs from this JSON file");
  PendingQueue& queue = arguments->queue;
  add_option(*plan, "--trace FILE", queue.source.trace, "Plan the jobs of a stretch of this trace as one queue")
      ->excludes(instance);
  add_option(*plan, "--begin SECOND", queue.begin,
             "Begin the stretch at this second of the trace (default: the first submission)");
  add_option(*plan, "--length SECONDS", queue.length.value, "Set the length of the stretch (default: 3600)")
      ->check(CLI::PositiveNumber);
  add_option(*plan, "--organizations N", queue.organizations,
             "Assign the users of the trace to this many organizations (default: 5)")
      ->check(CLI::Range(1, k_most_organizations));
  add_option(*plan, "--processors N", queue.processors,
             "Set the number of processors of all organizations together (default: from the trace)")
      ->check(CLI::Range(1, 10'000'000));
  add_option(*plan, "--plot DIRECTORY", arguments->plot, "Draw a Gantt chart of each cluster to this directory (SVG)");
  add_option(*plan, "--algorithm NAME", arguments->algorithm,
             "Plan by this algorithm: " + listed(planning::algorithm_names(), std::identity()))
      ->required();
  add_option(*plan, "--seed N", arguments->seed,
             "Draw local_rnd, mocca4_rnd and the users' organizations from this seed (default: 1)");
  plan->add_flag("--json", arguments->json, "Print JSON instead of a table");
  return [arguments]() -> Expected<int> {
    arguments->queue.seed = arguments->seed;
    SHAPLEY_TRY(plan_command(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_workflow(CLI::App& app) {
  static const std::map<std::string, bool> k_switch{{"on", true}, {"off", false}};
  const auto arguments = std::make_shared<WorkflowArguments>();
  CLI::App* command =
      app.add_subcommand("workflow", "Make one step of the fairness loop among the workflows of one organization");
  add_option(*command, "--instance FILE", arguments->instance, "Read tau and the workflows from this JSON file")
      ->required();
  add_option(*command, "--mode MODE", arguments->mode,
             "Measure progress by phases_upper_median (default), phases_mid_median or elapsed_only_upper_median");
  add_choice(*command, "--relative-duration", arguments->relative_duration, k_switch,
             "Weight activities by their relative durations (default: on), or set T^ to 1 (off)");
  command->add_flag("--json", arguments->json, "Print JSON instead of text");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(workflow_command(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_window_command(CLI::App& app) {
  const auto arguments = std::make_shared<WindowArguments>();
  CLI::App* command = app.add_subcommand(
      "window", "Print the jobs of a window with its time divided by a factor, to be submitted to a real slurmctld");
  add_source(*command, arguments->source);
  add_option(*command, "--owned NUMBERS", arguments->owned,
             "Assign users to as many organizations, which own so many processors each, such as 17,7,5,3")
      ->required()
      ->delimiter(',')
      ->expected(1, k_most_organizations);
  add_option(*command, "--begin SECOND", arguments->begin, "Begin the window at this second of the trace")->required();
  add_option(*command, "--length SECONDS", arguments->length.value, "Set the length of the window, in the trace's time")
      ->required()
      ->check(CLI::PositiveNumber);
  add_option(*command, "--factor N", arguments->factor, "Set the number by which times are divided (default: 20)")
      ->check(CLI::Range(1, 1000));
  add_option(*command, "--seed N", arguments->seed, "Assign users to organizations from this seed (default: 1)");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(print_window(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_judge(CLI::App& app) {
  const auto arguments = std::make_shared<JudgeArguments>();
  CLI::App* command = app.add_subcommand("judge",
                                         "Judge windows that ran on a real slurmctld: how far the schedule is from the "
                                         "same policy in simulation, from REF, and from what is due");
  add_option(*command, "recordings FILE", arguments->recordings, "Read these recordings, which lab/emulate writes")
      ->required();
  command->add_flag("--json", arguments->json, "Print JSON instead of tables");
  add_option(*command, "--plot FILE", arguments->plot,
             "Draw the unfairness of each policy, over all windows, to this SVG file");
  return [arguments]() -> Expected<int> {
    SHAPLEY_TRY(judge_recordings(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_axioms(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("axioms", "Check which utilities satisfy the axioms of Theorem 4.1, with counterexamples");
  auto arguments = std::make_shared<AxiomsArguments>();
  add_option(*command, "--utility NAMES", arguments->utilities, "Check only these utilities, separated by commas")
      ->delimiter(',');
  return [=]() -> Expected<int> {
    SHAPLEY_TRY(check_axioms(*arguments, std::cout));
    return k_exit_done;
  };
}

Action add_experiment(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "experiment", "Run an experiment of the papers, and show its numbers beside the published ones");
  auto arguments = std::make_shared<ExperimentArguments>();
  add_option(*command, "name NAME", arguments->name, "Run the experiment of this name")
      ->required()
      ->check(CLI::IsMember(experiment_names()));
  add_option(*command, "--traces DIRECTORY", arguments->traces,
             "Read the archive's traces from this directory (default: $SHAPLEY_TRACES)");
  add_option(*command, "--only NAMES", arguments->only, "Use only these traces, such as LPC-EGEE,RICC")->delimiter(',');
  add_option(*command, "--trace FILE", arguments->trace, "Use only this trace, or the embedded trace \"excerpt\"");
  add_option(*command, "--windows N", arguments->windows,
             "Use this many windows per trace (default: 100; speed: 5; real_jobs: 20; stability: 400)")
      ->check(CLI::PositiveNumber);
  add_option(*command, "--instances N", arguments->instances,
             "Use this many instances per setting (mosp: 50; workflow: 10), or seeds (strategy: 20; consortium: 1)")
      ->check(CLI::PositiveNumber);
  add_option(
      *command, "--length SECONDS", arguments->length,
      "Set the length of a window, or of a case of consortium (default: of the experiment; consortium: 40 weeks)")
      ->check(CLI::PositiveNumber);
  add_option(*command, "--organizations N", arguments->organizations,
             "Use this many organizations; figure10, speed and the case worlds take several numbers")
      ->delimiter(',')
      ->check(CLI::Range(1, k_most_organizations));
  add_option(*command, "--policies NAMES", arguments->policies,
             "Run these policies instead of the experiment's own; of strategy and consortium: direct_contr, "
             "shapley_rate, hindsight")
      ->delimiter(',');
  add_option(*command, "--cases NAMES", arguments->cases,
             "Run only these cases of stability (saturated, load_1.05, bursty, head_start, maintenance, debts, "
             "years, windows, worlds, members, search), of consortium (cross, repay, symmetric), of real_jobs (traces, "
             "wide, gpu_one, gpu_two), or of strategy (load_0.80, load_1.05, saturated, and its attacks)")
      ->delimiter(',');
  add_option(*command, "--seed N", arguments->seed, "Draw from this seed (default: 1)");
  add_option(*command, "--threads N", arguments->threads, "Run on this many threads (default: one per core)");
  CLI::Option* json = command->add_flag("--json", arguments->json, "Print JSON instead of tables");
  CLI::Option* plot = add_option(*command, "--plot DIRECTORY", arguments->plot, "Draw plots to this directory (SVG)");
  CLI::Option* part = command
                          ->add_option_function<std::string>(
                              "--part",
                              [arguments](const std::string& text) {
                                const auto parsed = parse_part(text);
                                if (!parsed) throw CLI::ValidationError("--part", parsed.error().what);
                                arguments->part = *parsed;
                              },
                              "Measure part I of N only, for merge, and print nothing")
                          ->type_name("I/N");
  CLI::Option* file =
      add_option(*command, "--out FILE", arguments->out, "Write the results of --part to this file")->needs(part);
  part->needs(file)->excludes(json)->excludes(plot);
  return [=] { return run_experiment(*arguments, std::cout); };
}

Action add_merge(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "merge",
      "Report on an experiment that was run in parts, from the files of all its parts, as the whole experiment does");
  auto arguments = std::make_shared<MergeArguments>();
  add_option(*command, "files FILE", arguments->files, "Read these files, those of all parts, in any order")
      ->required();
  command->add_flag("--json", arguments->json, "Print JSON instead of tables");
  add_option(*command, "--plot DIRECTORY", arguments->plot, "Draw plots to this directory (SVG)");
  return [=] { return merge_experiment(*arguments, std::cout); };
}

// Runs the command that `argv` names. Returns an exit code of system.hpp.
int run_command_line(int argc, char** argv) {
  CLI::App app{"Run the scheduling policies of the Shapley papers over instances and traces"};
  app.set_version_flag("-V,--version", std::string("shapley-sim " SHAPLEY_VERSION));
  app.require_subcommand(1);
  app.footer(
      "Policies:\n" + policy_list() +
      "\nEnvironment:\n"
      "  SHAPLEY_TRACES   Read the archive's traces of experiment from this directory, unless --traces is given\n");
  const std::map<std::string, Action> actions{{"run", add_run(app)},         {"value", add_value(app)},
                                              {"compare", add_compare(app)}, {"trace", add_trace(app)},
                                              {"replay", add_replay(app)},   {"experiment", add_experiment(app)},
                                              {"merge", add_merge(app)},     {"window", add_window_command(app)},
                                              {"judge", add_judge(app)},     {"axioms", add_axioms(app)},
                                              {"plan", add_plan(app)},       {"workflow", add_workflow(app)}};
  // Quoted arguments are escaped, so that they add no line.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(
        command, {error.get_name(), printable(config::fault_of(*command, error)), error.get_exit_code()});
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? k_exit_done : k_exit_usage;
  }
  const auto done = actions.at(app.get_subcommands().front()->get_name())();
  if (!done) {
    std::cerr << "shapley-sim: " << printable_lines(done.error());
    return k_exit_input;
  }
  return *done;
}

}  // namespace

}  // namespace shapley::sim

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  return shapley::run_guarded(
      "shapley-sim", shapley::sim::k_exit_internal, [](const std::string& text) { std::cerr << text << std::endl; },
      [&] { return shapley::sim::run_command_line(argc, argv); });
}
