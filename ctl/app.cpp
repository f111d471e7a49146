#include "ctl/app.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "config/values.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/adjust.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/commands/explain.hpp"
#include "ctl/commands/health.hpp"
#include "ctl/commands/jobs.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/help.hpp"
#include "ctl/offline.hpp"
#include "ctl/slurm/run_program.hpp"

namespace shapley::ctl {

namespace {

// The action of a subcommand, once the command line was parsed.
using RunCommand = std::function<Expected<ExitCode>(const Endpoint& endpoint, const Environment& environment)>;

// A subcommand, under the name that its `add` gives it. `add` describes the subcommand to the parser and returns its
// action, which runs if the subcommand was chosen.
struct Subcommand {
  std::string_view name;
  std::function<RunCommand(CLI::App& app)> add;
  bool asks_daemon = false;
};

// `run` takes the arguments, the endpoint (if it asks the daemon) and the environment.
template <typename Arguments, typename RunIt>
Subcommand subcommand(std::string_view name, void (*add)(CLI::App&, Arguments&), RunIt run) {
  constexpr bool k_asks = std::is_invocable_v<RunIt, const Arguments&, const Endpoint&, const Environment&>;
  return {name,
          [add, run](CLI::App& app) -> RunCommand {
            const auto arguments = std::make_shared<Arguments>();
            add(app, *arguments);
            return [arguments, run](const Endpoint& endpoint, const Environment& environment) -> Expected<ExitCode> {
              if constexpr (k_asks) {
                return run(*arguments, endpoint, environment);
              } else {
                static_cast<void>(endpoint);
                return run(*arguments, environment);
              }
            };
          },
          k_asks};
}

// In the order in which --help lists them.
std::vector<Subcommand> subcommands() {
  return {subcommand("status", add_status, run_status),
          subcommand("jobs", add_jobs, run_jobs),
          subcommand("explain", add_explain, run_explain),
          subcommand("statement", add_statement, run_statement),
          subcommand("history", add_history, run_history),
          subcommand("report", add_report, run_report),
          subcommand("check-config", add_check_config, run_check_config),
          subcommand("init", add_init, run_init),
          subcommand("audit", add_audit, run_audit),
          subcommand("keygen", add_keygen, run_keygen),
          subcommand("backup", add_backup, run_backup),
          subcommand("restore", add_restore, run_restore),
          subcommand("compact", add_compact, run_compact),
          subcommand("archive", add_archive, run_archive),
          subcommand("adjust", add_adjust, run_adjust),
          subcommand("workflows", add_workflows, run_workflows),
          subcommand("import", add_import, run_import),
          subcommand("rename-cluster", add_rename_cluster, run_rename_cluster),
          subcommand("standing", add_standing, run_standing),
          {"begin",
           [](CLI::App& app) -> RunCommand {
             add_begin(app);
             return run_begin;
           },
           true},
          subcommand("health", add_health, run_health)};
}

struct CommandLine {
  DaemonOptions daemon;
  std::string cluster;  // empty: this host's
  bool usage = false;
  bool answer = false;
  std::vector<std::pair<std::string_view, RunCommand>> runs;
};

// `own_socket`: the default socket, for the help.
void describe(CLI::App& app, CommandLine& line, const std::string& own_socket) {
  app.set_version_flag("-V,--version", std::string("shapleyctl " SHAPLEY_VERSION));
  app.add_flag("--usage", line.usage, "Print a short usage summary");
  // For shapleyd only: reads a ledger::Reading from standard input and prints the reply.
  app.add_flag("--answer", line.answer)->group("");
  app.add_option("--socket", line.daemon.socket, "Connect to the daemon through this socket, on its own host")
      ->default_str(printable(own_socket))
      ->type_name("PATH");
  app.add_option("--host", line.daemon.host, "Connect to the daemon at this host and port, from any other host")
      ->type_name("HOST[:PORT]");
  app.add_option("--timeout", line.daemon.timeout_s, "Wait for the daemon this long")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  app.add_option(
         "-M,--cluster", line.cluster,
         "Ask the daemon of this cluster, where slurmdbd says that its slurmctld is, and Slurm's commands about "
         "it")
      ->type_name("NAME");
  // An argument that the message quotes cannot add a line.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(
        command, {error.get_name(), printable(config::fault_of(*command, error)), error.get_exit_code()});
  });
  app.formatter(help_formatter());
  app.footer(program_footer());
  app.require_subcommand(0, 1);
  app.fallthrough();  // so that --socket may follow the command, too
  for (const Subcommand& command : subcommands()) {
    line.runs.emplace_back(command.name, command.add(app));
    CLI::App* added = app.get_subcommand(std::string(command.name));
    added->footer(command_footer(app, *added, command.asks_daemon));
  }
}

// The host of another cluster's slurmctld, as Slurm's commands find it: by slurmdbd.
Expected<std::string> control_host(const std::string& cluster, const Environment& environment) {
  if (!environment.run_program) return fail(Errc::unavailable, "-M: this program runs no others here");
  const auto output =
      environment.run_program({"sacctmgr", "-n", "-P", "list", "cluster", "format=Cluster,ControlHost"});
  if (!output) return fail(Errc::unavailable, "-M: slurmdbd says where a cluster is: " + output.error().what);
  std::vector<std::string> known;
  for (const std::string_view row : split(*output, '\n')) {
    const std::vector<std::string_view> cells = split(row, '|');
    if (cells.size() != 2) continue;
    known.emplace_back(trimmed(cells[0]));
    if (known.back() != cluster) continue;
    if (!trimmed(cells[1]).empty()) return std::string(trimmed(cells[1]));
    return fail(
        Errc::unavailable,
        fmt::format("-M: slurmdbd knows no slurmctld of '{}' that runs; name the host of its shapleyd with --host",
                    cluster));
  }
  return fail(Errc::invalid_argument,
              fmt::format("-M: slurmdbd has no cluster '{}'{}", cluster, did_you_mean(cluster, known)));
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Where a command asks: the daemon, and the environment in which Slurm's commands answer.
struct Asked {
  Endpoint endpoint;
  Environment environment;
};

Expected<Asked> asked_of(const CommandLine& line, const Environment& environment) {
  DaemonOptions daemon = line.daemon;
  const std::string cluster = lower(line.cluster);  // as Slurm does
  if (!cluster.empty()) {
    if (!daemon.host.empty() || !daemon.socket.empty())
      return fail(Errc::invalid_argument, "-M, --host and --socket name several places; give one of them");
    SHAPLEY_TRY_ASSIGN(std::string host, control_host(cluster, environment));
    // Where all of Slurm is on one host, slurmdbd knows slurmctld by a name that means another host elsewhere: the
    // daemon of this host is asked, which refuses if its books are another cluster's.
    if (!is_loopback(host)) daemon.host = host.find(':') == std::string::npos ? host : '[' + host + ']';
  }
  SHAPLEY_TRY_ASSIGN(Endpoint endpoint, find_daemon(daemon, environment));
  Asked asked{std::move(endpoint), environment};
  if (cluster.empty()) return asked;
  asked.endpoint.cluster = cluster;
  asked.environment.run_program = [cluster, run = environment.run_program](const std::vector<std::string>& words) {
    return run(about_cluster(words, cluster));
  };
  return asked;
}

// What a script's variable that is not set leaves. Taken for an option that is not given, it would ask the daemon
// instead of a file, or leave out a comparison.
Expected<void> refuse_empty_names(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (type != "FILE" && type != "DIRECTORY" && type != "LEDGER") continue;
    if (std::ranges::find(option->results(), std::string()) != option->results().end())
      return fail(Errc::invalid_argument, option->get_name() + ": the name is empty");
  }
  return {};
}

Expected<ExitCode> dispatch(const CLI::App& app, const CommandLine& line, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const Asked asked, asked_of(line, environment));
  for (const auto& [name, run] : line.runs) {
    if (!app.got_subcommand(std::string(name))) continue;
    if (!line.cluster.empty() && (name == "init" || name == "check-config"))
      return fail(Errc::invalid_argument, fmt::format("-M: {} is about the Slurm of this host; run it there", name));
    const CLI::App& command = *app.get_subcommand(std::string(name));
    SHAPLEY_TRY(refuse_empty_names(command));
    const CLI::Option* const ledger = command.get_option_no_throw("--ledger");
    if (!line.cluster.empty() && ledger != nullptr && ledger->count() > 0)
      return fail(Errc::invalid_argument, "-M asks a daemon, and --ledger reads a file; give one of them");
    return run(asked.endpoint, asked.environment);
  }
  environment.err << program_usage(app) << "shapleyctl --help says more\n";
  return ExitCode::usage;
}

ExitCode parse_and_run(int argc, const char* const* argv, const Environment& environment) {
  CLI::App app("Read the books of slurm-shapley: what each organization got and gave, and its standing", "shapleyctl");
  CommandLine line;
  std::string own_socket = environment.variable("SHAPLEY_SOCKET").value_or("");
  if (own_socket.empty()) own_socket = config::Configuration{}.socket.string();
  describe(app, line, own_socket);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    // Help and version are "errors" of code 0 to CLI11; app.exit prints them.
    if (app.exit(stop, environment.out, environment.err) == 0) return ExitCode::success;
    // For a check, 2 would mean that the cluster is in trouble, not that the command line is wrong.
    const bool is_check = std::find(argv, argv + argc, std::string_view("health")) != argv + argc;
    return is_check ? unknown_health("the command line cannot be understood", environment) : ExitCode::usage;
  }
  if (line.usage) {
    environment.out << program_usage(app);
    return ExitCode::success;
  }
  if (line.answer) {
    environment.out << offline_answer({std::istreambuf_iterator<char>(std::cin), {}}) << '\n';
    return ExitCode::success;
  }
  const Expected<ExitCode> code = dispatch(app, line, environment);
  if (code) return *code;
  environment.err << "shapleyctl: " << printable_lines(code.error());
  return exit_code_of(code.error().code);
}

}  // namespace

ExitCode exit_code_of(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return ExitCode::usage;
    case Errc::unavailable:
      return ExitCode::unavailable;
    case Errc::protocol:
    case Errc::denied:
    case Errc::limit:
      return ExitCode::refused;
    case Errc::not_found:
    case Errc::conflict:
    case Errc::corrupt:
    case Errc::io:
    case Errc::no_space:
      return ExitCode::unreadable;
  }
  return ExitCode::internal;
}

ExitCode run(int argc, const char* const* argv, const Environment& environment) {
  const auto code = static_cast<ExitCode>(run_guarded(
      "shapleyctl", static_cast<int>(ExitCode::internal),
      [&](const std::string& text) { environment.err << text << '\n'; },
      [&] { return static_cast<int>(parse_and_run(argc, argv, environment)); }));
  // A part of a paper must not be taken for all of it.
  if (environment.out.flush()) return code;
  environment.err << "shapleyctl: the answer is not complete, because standard output cannot be written; is its disk "
                     "full?\n";
  return code == ExitCode::success ? ExitCode::unreadable : code;
}

}  // namespace shapley::ctl
