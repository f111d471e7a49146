#include "ctl/app.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/guarded_main.hpp"
#include "base/printable.hpp"
#include "config/configuration.hpp"
#include "config/values.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/adjust.hpp"
#include "ctl/commands/advise.hpp"
#include "ctl/commands/archive.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/commands/backup.hpp"
#include "ctl/commands/begin.hpp"
#include "ctl/commands/check_config.hpp"
#include "ctl/commands/compare.hpp"
#include "ctl/commands/explain.hpp"
#include "ctl/commands/health.hpp"
#include "ctl/commands/history.hpp"
#include "ctl/commands/import.hpp"
#include "ctl/commands/init.hpp"
#include "ctl/commands/jobs.hpp"
#include "ctl/commands/keygen.hpp"
#include "ctl/commands/rename_cluster.hpp"
#include "ctl/commands/report.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/commands/workflows.hpp"
#include "ctl/find_daemon.hpp"

namespace shapley::ctl {

namespace {

constexpr const char* k_usage =
    "Usage: shapleyctl [--socket PATH | --host HOST[:PORT]] [--timeout SECONDS] COMMAND\n"
    "  status [-lnP] [--json] [-O NAMES] [--top N] [-i SECONDS] [-o FORMAT] [--contribution NAME] [--ledger FILE]\n"
    "    [--at TIME]\n"
    "  status --worth [--json] [-O NAMES] [-i SECONDS] [--ledger FILE] [--at TIME]\n"
    "  jobs [-anP] [--json] [-o FORMAT] [-A NAMES] [-O NAMES] [-u USERS] [-j JOBS] [-S TIME] [--ledger FILE]\n"
    "  explain JOB [--ledger FILE] [--at TIME] [--json]\n"
    "  compare A B [--ledger FILE] [--at TIME] [--json]\n"
    "  forecast [--ledger FILE] [--at TIME] [--json]\n"
    "  statement [--month MONTH | -S TIME -E TIME] [--as-of then|now] [-O NAMES] [--contribution NAME]\n"
    "    [--csv | --json] [--ledger FILE]\n"
    "  history [--by INTERVAL] [-S TIME] [-E TIME] [-O NAMES] [-nP] [-o FORMAT] [--csv | --json] [--ledger FILE]\n"
    "  report -o DIRECTORY [--month MONTH | -S TIME -E TIME] [-O NAMES] [--title TEXT] [--no-charts] [--no-audit]\n"
    "    [--public-key FILE] [--ledger FILE]\n"
    "  check-config [FILE] [--against-slurm] [--diff] [--ledger FILE]\n"
    "  init [-o FILE]\n"
    "  audit [LEDGER] [--archives DIRECTORY] [--against FILE [-S TIME] [-E TIME]] [--against-head FILE --public-key "
    "FILE]"
    " [--json]\n"
    "  audit --head [LEDGER] [--sign-with KEY] [-o FILE] [--json]\n"
    "  keygen FILE\n"
    "  backup [--ledger FILE] [--force] TARGET\n"
    "  restore --ledger FILE BACKUP\n"
    "  compact LEDGER\n"
    "  archive LEDGER [--sign-with KEY]\n"
    "  import --sacct FILE --config FILE {--ledger NEW | --into LEDGER} [--nodes FILE] [--accounts FILE] [--json]\n"
    "  adjust {--job JOB | --account NAME -S TIME -E TIME | --user USER -S TIME -E TIME} --to NAME --reason TEXT\n"
    "    [--yes] [--json] [--ledger FILE]\n"
    "  adjust --nodes NODES --owners NAMES -S TIME [-E TIME] --reason TEXT [--yes] [--json] [--ledger FILE]\n"
    "  adjust {--rename NAME | --merge NAME} --to NAME --reason TEXT [--yes] [--json] [--ledger FILE]\n"
    "  adjust --reverse NUMBER --reason TEXT [--yes] [--json] [--ledger FILE]\n"
    "  adjust --list [--json] [--ledger FILE]\n"
    "  advise [--ledger FILE [-S TIME] [-E TIME]] [--json]\n"
    "  workflows [ORGANIZATION] [-l] [--json]\n"
    "  health [--max-backup-age TIME] [--max-audit-age TIME]\n"
    "  rename-cluster NAME --reason TEXT\n"
    "  begin\n";

constexpr const char* k_footer =
    "Environment:\n"
    "  SHAPLEY_SOCKET             the daemon's socket, unless --socket or --host is given\n"
    "  SHAPLEY_HOST               the daemon's host, likewise\n"
    "  SHAPLEYCTL_CONFIG          the file that names the host, instead of /etc/shapley/shapleyctl.yaml\n"
    "  SLURM_CONF                 Slurm's file, whose SlurmctldHost is asked where nothing else is named\n"
    "  SHAPLEYCTL_STATUS_FORMAT   columns of status, unless --format or --long is given\n"
    "  SHAPLEYCTL_JOBS_FORMAT     columns of jobs, unless --format is given\n"
    "  NO_COLOR                   set: no colours (there are none but on a terminal)\n"
    "\n"
    "Exit codes:\n"
    "  0 success   1 faults or findings   2 command line   3 daemon away   4 daemon refuses\n"
    "  5 a file cannot be read or is damaged, or gnuplot is missing\n"
    "  6 nothing found, but an archive is missing   7 nothing found, but no run was compared\n"
    "  70 a defect of shapleyctl   71 there is not enough memory\n"
    "  0 OK   1 WARNING   2 CRITICAL   3 UNKNOWN: those of health\n";

struct CommandLine {
  DaemonOptions daemon;
  bool usage = false;
  StatusArguments status;
  JobsArguments jobs;
  ExplainArguments explain;
  CompareArguments compare;
  ForecastArguments forecast;
  StatementArguments statement;
  HistoryArguments history;
  ReportArguments report;
  CheckConfigArguments check_config;
  InitArguments init;
  AdjustArguments adjust;
  AuditArguments audit;
  KeygenArguments keygen;
  BackupArguments backup;
  RestoreArguments restore;
  CompactArguments compact;
  ArchiveArguments archive;
  AdviseArguments advise;
  ImportArguments importing;
  WorkflowsArguments workflows;
  RenameClusterArguments rename_cluster;
  HealthArguments health;
};

// What is wrong with the command line; a word where a command is expected is named, with the command that it may mean.
std::string fault_of(const CLI::App& app, const CLI::Error& error) {
  if (!app.get_subcommands().empty()) return error.what();
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* /*command*/) { return true; }))
    commands.push_back(command->get_name());
  return config::no_command(app.remaining(), commands).value_or(error.what());
}

// `own_socket`: where it is asked when nothing else is said.
void describe(CLI::App& app, CommandLine& line, const std::string& own_socket) {
  app.set_version_flag("-V,--version", std::string("shapleyctl " SHAPLEY_VERSION));
  app.add_flag("--usage", line.usage, "Print a short usage");
  app.add_option("--socket", line.daemon.socket, "The daemon's socket, on its own host")
      ->default_str(printable(own_socket))
      ->type_name("PATH");
  app.add_option("--host", line.daemon.host, "The daemon's host and port, from any other")->type_name("HOST[:PORT]");
  app.add_option("--timeout", line.daemon.timeout_s, "How long to wait for the daemon")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  // An argument that is quoted adds no line.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(command,
                                       {error.get_name(), printable(fault_of(*command, error)), error.get_exit_code()});
  });
  app.footer(k_footer);
  app.require_subcommand(0, 1);
  app.fallthrough();  // so that --socket may stand behind the command, too
  add_status(app, line.status);
  add_jobs(app, line.jobs);
  add_explain(app, line.explain);
  add_compare(app, line.compare);
  add_forecast(app, line.forecast);
  add_statement(app, line.statement);
  add_history(app, line.history);
  add_report(app, line.report);
  add_check_config(app, line.check_config);
  add_init(app, line.init);
  add_audit(app, line.audit);
  add_keygen(app, line.keygen);
  add_backup(app, line.backup);
  add_restore(app, line.restore);
  add_compact(app, line.compact);
  add_archive(app, line.archive);
  add_adjust(app, line.adjust);
  add_advise(app, line.advise);
  add_workflows(app, line.workflows);
  add_import(app, line.importing);
  add_rename_cluster(app, line.rename_cluster);
  add_begin(app);
  add_health(app, line.health);
}

Expected<ExitCode> dispatch(const CLI::App& app, const CommandLine& line, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const Endpoint endpoint, find_daemon(line.daemon, environment));
  if (app.got_subcommand("status")) return run_status(line.status, endpoint, environment);
  if (app.got_subcommand("jobs")) return run_jobs(line.jobs, endpoint, environment);
  if (app.got_subcommand("explain")) return run_explain(line.explain, endpoint, environment);
  if (app.got_subcommand("compare")) return run_compare(line.compare, endpoint, environment);
  if (app.got_subcommand("forecast")) return run_forecast(line.forecast, endpoint, environment);
  if (app.got_subcommand("statement")) return run_statement(line.statement, endpoint, environment);
  if (app.got_subcommand("history")) return run_history(line.history, endpoint, environment);
  if (app.got_subcommand("report")) return run_report(line.report, endpoint, environment);
  if (app.got_subcommand("check-config")) return run_check_config(line.check_config, endpoint, environment);
  if (app.got_subcommand("init")) return run_init(line.init, environment);
  if (app.got_subcommand("audit")) return run_audit(line.audit, endpoint, environment);
  if (app.got_subcommand("keygen")) return run_keygen(line.keygen, environment);
  if (app.got_subcommand("backup")) return run_backup(line.backup, endpoint, environment);
  if (app.got_subcommand("restore")) return run_restore(line.restore, environment);
  if (app.got_subcommand("compact")) return run_compact(line.compact, environment);
  if (app.got_subcommand("archive")) return run_archive(line.archive, environment);
  if (app.got_subcommand("adjust")) return run_adjust(line.adjust, endpoint, environment);
  if (app.got_subcommand("advise")) return run_advise(line.advise, endpoint, environment);
  if (app.got_subcommand("workflows")) return run_workflows(line.workflows, endpoint, environment);
  if (app.got_subcommand("import")) return run_import(line.importing, environment);
  if (app.got_subcommand("rename-cluster")) return run_rename_cluster(line.rename_cluster, endpoint, environment);
  if (app.got_subcommand("begin")) return run_begin(endpoint, environment);
  if (app.got_subcommand("health")) return run_health(line.health, endpoint, environment);
  environment.err << k_usage << "shapleyctl --help says more\n";
  return ExitCode::usage;
}

ExitCode parse_and_run(int argc, const char* const* argv, const Environment& environment) {
  CLI::App app("Read the books of slurm-shapley: what every organization got, gave and is owed", "shapleyctl");
  CommandLine line;
  std::string own_socket = environment.variable("SHAPLEY_SOCKET").value_or("");
  if (own_socket.empty()) own_socket = config::Configuration{}.socket.string();
  describe(app, line, own_socket);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    // Help and version are "errors" of code 0 to CLI11; app.exit prints them.
    if (app.exit(stop, environment.out, environment.err) == 0) return ExitCode::success;
    // Of a check 2 would say that the cluster is in trouble, not the check's own command line.
    const bool is_check = std::find(argv, argv + argc, std::string_view("health")) != argv + argc;
    return is_check ? unknown_health("the command line cannot be understood", environment) : ExitCode::usage;
  }
  if (line.usage) {
    environment.out << k_usage;
    return ExitCode::success;
  }
  const Expected<ExitCode> code = dispatch(app, line, environment);
  if (code) return *code;
  environment.err << "shapleyctl: " << printable(code.error().what) << '\n';
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
  return static_cast<ExitCode>(run_guarded(
      "shapleyctl", static_cast<int>(ExitCode::internal),
      [&](const std::string& text) { environment.err << text << '\n'; },
      [&] { return static_cast<int>(parse_and_run(argc, argv, environment)); }));
}

}  // namespace shapley::ctl
