#include "ctl/commands/import.hpp"

#include <chrono>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/history/import.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"

namespace shapley::ctl {

void add_import(CLI::App& app, ImportArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "import", "Make a ledger of what really ran, from an export of sacct, or fill a ledger's gaps");
  command->add_option("--sacct", arguments.sacct, "The export: sacct -a -D -P with the column NodeList")
      ->required()
      ->type_name("FILE");
  command->add_option("--config", arguments.config, "The configuration whose organizations, nodes and rules hold")
      ->required()
      ->type_name("FILE");
  CLI::Option* made = command->add_option("--ledger", arguments.ledger, "The ledger to make; it must not exist");
  made->type_name("FILE");
  command->add_option("--into", arguments.into, "A ledger whose gaps are to be filled; the daemon must be stopped")
      ->excludes(made)
      ->type_name("FILE");
  command
      ->add_option("--nodes", arguments.nodes,
                   "What nodes have: scontrol show nodes --oneliner; else as far as they were used")
      ->type_name("FILE");
  command
      ->add_option("--accounts", arguments.accounts,
                   "Accounts below others: sacctmgr -nP list associations format=Account,ParentName")
      ->type_name("FILE");
  command->add_option("--reason", arguments.reason, "Why; kept in the ledger")->type_name("TEXT");
  command->add_flag("--json", arguments.json, "Print JSON");
}

Expected<ExitCode> run_import(const ImportArguments& arguments, const Environment& environment) {
  if (arguments.ledger.empty() && arguments.into.empty()) {
    return fail(Errc::invalid_argument,
                "import: name the ledger to make with --ledger, or the one to fill with --into");
  }
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  ImportQuestion question{.sacct = arguments.sacct,
                          .config = arguments.config,
                          .ledger = arguments.ledger,
                          .into = arguments.into,
                          .nodes = arguments.nodes,
                          .accounts = arguments.accounts,
                          .reason = arguments.reason,
                          .now = {std::chrono::duration_cast<std::chrono::seconds>(clock).count()}};
  SHAPLEY_TRY_ASSIGN(const ImportResult result, import_history(question));
  const std::string& file = arguments.into.empty() ? arguments.ledger : arguments.into;
  const PastRuns& runs = result.runs;
  if (arguments.json) {
    const bool any = runs.runs > 0;
    environment.out << json_text({{"ledger", file},
                                  {"rows", result.rows},
                                  {"runs", runs.runs},
                                  {"known", runs.known},
                                  {"ends", result.ends},
                                  {"events", result.events},
                                  {"since", any ? nlohmann::json(runs.since.value) : nlohmann::json(nullptr)},
                                  {"until", any ? nlohmann::json(runs.until.value) : nlohmann::json(nullptr)},
                                  {"notes", result.notes}})
                    << '\n';
    return ExitCode::success;
  }
  environment.out << printable(file) << ": ";
  if (runs.runs == 0 && result.ends == 0) {
    environment.out << "nothing to import: it has all " << grouped(runs.known) << " runs of the export\n";
    return ExitCode::success;
  }
  if (runs.runs == 0) {
    environment.out << "it has all " << grouped(runs.known) << " runs of the export, " << grouped(result.ends)
                    << " ended otherwise: " << grouped(result.events) << " events\n";
  } else {
    environment.out << grouped(runs.runs) << " runs from " << format_instant(runs.since) << " to "
                    << format_instant(runs.until) << " imported, " << grouped(result.events) << " events\n";
  }
  for (const std::string& note : result.notes) environment.out << "note: " << printable(note) << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
