#include "ctl/commands/import.hpp"

#include <chrono>
#include <map>

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
  static const std::map<std::string, history::Malformed> malformed{{"refuse", history::Malformed::refuse},
                                                                   {"skip", history::Malformed::skip}};
  command
      ->add_option("--malformed", arguments.malformed,
                   "Rows that cannot be read, or cannot be: refuse the export (default), or skip and list them")
      ->transform(CLI::CheckedTransformer(malformed))
      ->type_name("refuse|skip");
  command->add_flag("--oversubscribed", arguments.oversubscribed,
                    "Runs may hold more CPUs of a node at once than it has (OverSubscribe)");
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
                          .oversubscribed = arguments.oversubscribed,
                          .malformed = arguments.malformed,
                          .reason = arguments.reason,
                          .now = {std::chrono::duration_cast<std::chrono::seconds>(clock).count()}};
  SHAPLEY_TRY_ASSIGN(const ImportResult result, import_history(question));
  const std::string& file = arguments.into.empty() ? arguments.ledger : arguments.into;
  const PastRuns& runs = result.runs;
  if (arguments.json) {
    const bool any = runs.runs > 0;
    const auto listed = [](const std::vector<history::BadRow>& rows) {
      nlohmann::json list = nlohmann::json::array();
      for (const history::BadRow& row : rows) list.push_back({{"line", row.line}, {"why", row.why}});
      return list;
    };
    environment.out << json_text({{"ledger", file},
                                  {"rows", result.rows},
                                  {"runs", runs.runs},
                                  {"known", runs.known},
                                  {"ends", result.ends},
                                  {"events", result.events},
                                  {"since", any ? nlohmann::json(runs.since.value) : nlohmann::json(nullptr)},
                                  {"until", any ? nlohmann::json(runs.until.value) : nlohmann::json(nullptr)},
                                  {"notes", result.notes},
                                  {"malformed", listed(result.bad)},
                                  {"differing", listed(result.differing)}})
                    << '\n';
    return ExitCode::success;
  }
  environment.out << printable(file) << ": ";
  if (runs.runs == 0) {
    const std::string all = runs.known == 1 ? "the only run" : "all " + grouped(runs.known) + " runs";
    environment.out << (result.ends == 0 ? "nothing to import: " : "") << "it has " << all << " of the export";
    if (result.ends > 0)
      environment.out << ", " << grouped(result.ends) << " ended otherwise: " << grouped(result.events, "event");
    environment.out << '\n';
  } else {
    environment.out << grouped(runs.runs, "run") << " from " << format_instant(runs.since) << " to "
                    << format_instant(runs.until) << " imported, " << grouped(result.events, "event") << '\n';
  }
  if (result.events > 0)
    for (const std::string& note : result.notes) environment.out << "note: " << printable(note) << '\n';
  const auto list = [&](const char* what, const std::vector<history::BadRow>& rows, const char* noun) {
    if (rows.empty()) return;
    environment.out << what << grouped(static_cast<std::int64_t>(rows.size()), noun) << '\n';
    for (const history::BadRow& row : rows)
      environment.out << "  line " << row.line << ": " << printable(row.why) << '\n';
  };
  list("LEFT OUT: ", result.bad, "row");
  list("DIFFERS from the ledger, which stays as it is: ", result.differing, "run");
  return ExitCode::success;
}

}  // namespace shapley::ctl
