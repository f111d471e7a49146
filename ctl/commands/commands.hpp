// Subcommands: the arguments of each, the function that describes it to the parser of the command line, and the one
// that runs it. Subcommands whose parts are used elsewhere have headers of their own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/balance.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/environment.hpp"
#include "reports/workflows.hpp"
#include "sacct/sacct_rows.hpp"
#include "tables/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

// `shapleyctl archive`: moves closed periods from the ledger to archive files.

struct ArchiveArguments {
  std::string ledger;
  std::string sign_with;  // empty: nothing is signed
};

void add_archive(CLI::App& app, ArchiveArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_archive(const ArchiveArguments& arguments, const Environment& environment);

// `shapleyctl backup` makes a verified copy of a ledger that is in use, `shapleyctl restore` replaces a ledger by such
// a copy, and `shapleyctl compact` removes the unused space from a ledger.

struct BackupArguments {
  std::string target;
  std::string ledger;  // empty: the one that the daemon keeps
  bool force = false;
};

struct RestoreArguments {
  std::string backup;
  std::string ledger;
};

struct CompactArguments {
  std::string ledger;
};

void add_backup(CLI::App& app, BackupArguments& arguments);
void add_restore(CLI::App& app, RestoreArguments& arguments);
void add_compact(CLI::App& app, CompactArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_backup(const BackupArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_restore(const RestoreArguments& arguments, const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_compact(const CompactArguments& arguments, const Environment& environment);

// `shapleyctl begin`: allows one of two controllers to write although the ledger of the other one is lost.

void add_begin(CLI::App& app);

[[nodiscard]] Expected<ExitCode> run_begin(const Endpoint& endpoint, const Environment& environment);

// `shapleyctl check-config`: lists all faults of a configuration file before a daemon refuses it, names that Slurm does
// not know, and the changes that the file would make.

struct CheckConfigArguments {
  std::string file{config::k_default_file};
  bool against_slurm = false;
  bool diff = false;
  std::string ledger = {};  // read for former names and the configuration in force; empty: the daemon's
};

void add_check_config(CLI::App& app, CheckConfigArguments& arguments);

// ExitCode::findings when the file has faults or contains names that Slurm does not know. Errors: the file cannot be
// read, or Slurm, the daemon or the ledger cannot be asked.
[[nodiscard]] Expected<ExitCode> run_check_config(const CheckConfigArguments& arguments, const Endpoint& endpoint,
                                                  const Environment& environment);

// `shapleyctl history`: shows the books by hour, day, month or shorter intervals.

struct HistoryArguments {
  IntervalArguments interval;
  std::string by;  // empty: day, or with `utilization` month
  bool utilization = false;
  std::string format;
  bool parsable = false;
  bool no_header = false;
  bool help_format = false;
};

void add_history(CLI::App& app, HistoryArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_history(const HistoryArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);

// The fields of one interval and organization.
[[nodiscard]] std::span<const tables::Field> history_fields();

// `shapleyctl import`: creates a ledger of past runs, or adds the missing ones to a ledger.

struct ImportArguments {
  std::string sacct;
  std::string config;
  std::string ledger, into;  // one of the two
  std::string nodes, accounts, reason;
  bool oversubscribed = false;
  sacct::Malformed malformed = sacct::Malformed::refuse;
  bool json = false;
};

void add_import(CLI::App& app, ImportArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_import(const ImportArguments& arguments, const Environment& environment);

// `shapleyctl init`: proposes a first configuration from the facts that Slurm has about the site.

struct InitArguments {
  std::string output;  // empty: standard output
};

void add_init(CLI::App& app, InitArguments& arguments);

// Errc::conflict: the file exists already, and is not changed.
[[nodiscard]] Expected<ExitCode> run_init(const InitArguments& arguments, const Environment& environment);

// `shapleyctl keygen`: generates the pair of keys that signs heads of a ledger.

struct KeygenArguments {
  std::string file;
};

void add_keygen(CLI::App& app, KeygenArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_keygen(const KeygenArguments& arguments, const Environment& environment);

// `shapleyctl rename-cluster`: records that the ledger's cluster has another ClusterName from now on.

struct RenameClusterArguments {
  std::string name;
  std::string reason;
};

void add_rename_cluster(CLI::App& app, RenameClusterArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_rename_cluster(const RenameClusterArguments& arguments, const Endpoint& endpoint,
                                                    const Environment& environment);

// `shapleyctl report`: writes statement, history and proof of the books as one page, for the consortium's meeting.

struct ReportArguments {
  IntervalArguments interval;
  std::string month;
  BalanceArguments balance = {};
  std::string directory;   // for index.html and the files of values
  std::string heading;     // empty: the usual one
  std::string public_key;  // empty: the signed head is shown without verification
  bool no_charts = false;
  bool no_audit = false;
  bool per_organization = false;
  bool users = false;                             // with a table of users
  bool utilization = false;                       // with what nodes were used for
  bool board = false;                             // of a consortium, with its board (board.hpp)
  std::vector<std::string> consortium = {};       // as StatementArguments::consortium
  std::vector<std::string> consortium_keys = {};  // public keys of its clusters
  bool live = false;                              // the page of the present (report/live_page.hpp)
  std::int64_t every_s = 60;                      // of `live`
};

void add_report(CLI::App& app, ReportArguments& arguments);

// Writes the page in any case. ExitCode::findings when the books are not proven correct, else ExitCode::incomplete when
// an archive is missing. Errc::not_found when gnuplot is not installed; then no file is written.
[[nodiscard]] Expected<ExitCode> run_report(const ReportArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// `shapleyctl standing`: prints the statement of this cluster for the other clusters of its consortium, or accepts that
// the ledger of another one was replaced.

struct StandingArguments {
  std::string output;  // empty: standard output
  std::string accept;  // a cluster; empty: this one's statement is printed
  std::string reason;
  bool yes = false;
  bool json = false;
};

void add_standing(CLI::App& app, StandingArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_standing(const StandingArguments& arguments, const Endpoint& endpoint,
                                              const Environment& environment);

// `shapleyctl workflows`: shows how evenly the workflows of an organization progress, and which of their jobs go first.

struct WorkflowsArguments {
  std::string organization;  // empty: all
  bool long_form = false;
  bool json = false;
};

void add_workflows(CLI::App& app, WorkflowsArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_workflows(const WorkflowsArguments& arguments, const Endpoint& endpoint,
                                               const Environment& environment);

// The columns of a workflow, and those of an activity (--long).
[[nodiscard]] std::span<const tables::Field> workflow_fields();
[[nodiscard]] std::span<const tables::Field> activity_fields();

// The daemon's answer as text for people.
[[nodiscard]] std::string render_workflows(const ledger::WorkflowsReport& report, bool long_form);

}  // namespace shapley::ctl
