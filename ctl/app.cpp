#include "ctl/app.hpp"

#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "config/configuration.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/advise.hpp"
#include "ctl/commands/archive.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/commands/backup.hpp"
#include "ctl/commands/check_config.hpp"
#include "ctl/commands/jobs.hpp"
#include "ctl/commands/keygen.hpp"
#include "ctl/commands/promote.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/commands/workflows.hpp"

namespace shapley::ctl {

namespace {

constexpr const char* k_usage =
    "Usage: shapleyctl [--socket PATH] [--timeout SECONDS] COMMAND\n"
    "  status [-lnP] [--json] [-i SECONDS] [-o FORMAT] [--contribution NAME] [--ledger FILE] [--at TIME]\n"
    "  jobs [-anP] [--json] [-o FORMAT] [-A NAMES] [-O NAMES] [-u USERS] [-j JOBS] [-S TIME] [--ledger FILE]\n"
    "  check-config [FILE]\n"
    "  audit [LEDGER] [--archives DIRECTORY] [--against FILE] [--against-head FILE --public-key FILE] [--json]\n"
    "  audit --head [LEDGER] [--sign-with KEY] [-o FILE] [--json]\n"
    "  keygen FILE\n"
    "  backup [--ledger FILE] [--force] TARGET\n"
    "  restore --ledger FILE BACKUP\n"
    "  compact LEDGER\n"
    "  archive LEDGER [--sign-with KEY]\n"
    "  advise [--ledger FILE [-S TIME] [-E TIME]] [--json]\n"
    "  workflows [ORGANIZATION] [-l] [--json]\n"
    "  promote\n"
    "  demote [--force]\n";

constexpr const char* k_footer =
    "Environment:\n"
    "  SHAPLEY_SOCKET             the daemon's socket, unless --socket is given\n"
    "  SHAPLEYCTL_STATUS_FORMAT   columns of status, unless --format or --long is given\n"
    "  SHAPLEYCTL_JOBS_FORMAT     columns of jobs, unless --format is given\n"
    "  NO_COLOR                   set: no colours (there are none but on a terminal)\n"
    "\n"
    "Exit codes:\n"
    "  0 success   1 faults or findings   2 command line   3 daemon away   4 daemon refuses\n"
    "  5 a file cannot be read or is damaged   6 nothing found, but an archive is missing\n"
    "  70 a defect of shapleyctl\n";

struct CommandLine {
  std::string socket;
  int timeout_s = 10;
  bool usage = false;
  StatusArguments status;
  JobsArguments jobs;
  CheckConfigArguments check_config;
  AuditArguments audit;
  KeygenArguments keygen;
  BackupArguments backup;
  RestoreArguments restore;
  CompactArguments compact;
  ArchiveArguments archive;
  AdviseArguments advise;
  WorkflowsArguments workflows;
  DemoteArguments demote;
};

void describe(CLI::App& app, CommandLine& line) {
  app.set_version_flag("-V,--version", std::string("shapleyctl " SHAPLEY_VERSION));
  app.add_flag("--usage", line.usage, "Print a short usage");
  app.add_option("--socket", line.socket, "The daemon's socket")
      ->default_str(printable(line.socket))
      ->type_name("PATH");
  app.add_option("--timeout", line.timeout_s, "How long to wait for the daemon")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS");
  // An argument that is quoted adds no line.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(command, {error.get_name(), printable(error.what()), error.get_exit_code()});
  });
  app.footer(k_footer);
  app.require_subcommand(0, 1);
  app.fallthrough();  // so that --socket may stand behind the command, too
  add_status(app, line.status);
  add_jobs(app, line.jobs);
  add_check_config(app, line.check_config);
  add_audit(app, line.audit);
  add_keygen(app, line.keygen);
  add_backup(app, line.backup);
  add_restore(app, line.restore);
  add_compact(app, line.compact);
  add_archive(app, line.archive);
  add_advise(app, line.advise);
  add_workflows(app, line.workflows);
  add_promote(app);
  add_demote(app, line.demote);
}

Expected<ExitCode> dispatch(const CLI::App& app, const CommandLine& line, const Environment& environment) {
  const Endpoint endpoint{.socket = line.socket, .timeout = std::chrono::seconds(line.timeout_s)};
  if (app.got_subcommand("status")) return run_status(line.status, endpoint, environment);
  if (app.got_subcommand("jobs")) return run_jobs(line.jobs, endpoint, environment);
  if (app.got_subcommand("check-config")) return run_check_config(line.check_config, environment);
  if (app.got_subcommand("audit")) return run_audit(line.audit, endpoint, environment);
  if (app.got_subcommand("keygen")) return run_keygen(line.keygen, environment);
  if (app.got_subcommand("backup")) return run_backup(line.backup, endpoint, environment);
  if (app.got_subcommand("restore")) return run_restore(line.restore, environment);
  if (app.got_subcommand("compact")) return run_compact(line.compact, environment);
  if (app.got_subcommand("archive")) return run_archive(line.archive, environment);
  if (app.got_subcommand("advise")) return run_advise(line.advise, endpoint, environment);
  if (app.got_subcommand("workflows")) return run_workflows(line.workflows, endpoint, environment);
  if (app.got_subcommand("promote")) return run_promote(endpoint, endpoint.timeout, environment);
  if (app.got_subcommand("demote")) return run_demote(line.demote, endpoint, environment);
  environment.err << k_usage << "shapleyctl --help says more\n";
  return ExitCode::usage;
}

ExitCode parse_and_run(int argc, const char* const* argv, const Environment& environment) {
  CLI::App app("Read the books of slurm-shapley: what every organization got, gave and is owed", "shapleyctl");
  CommandLine line;
  line.socket = environment.variable("SHAPLEY_SOCKET").value_or("");
  if (line.socket.empty()) line.socket = config::Configuration{}.socket.string();
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    // Help and version are "errors" of code 0 to CLI11; app.exit prints them.
    return app.exit(stop, environment.out, environment.err) == 0 ? ExitCode::success : ExitCode::usage;
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
  try {
    return parse_and_run(argc, argv, environment);
  } catch (const std::exception& defect) {
    environment.err << "shapleyctl: internal error: " << printable(defect.what()) << "; please report it\n";
    return ExitCode::internal;
  }
}

}  // namespace shapley::ctl
