#include "ctl/import/import.hpp"

#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/commands.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

void add_import(CLI::App& app, ImportArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "import", "Import past runs from an export of sacct: create a ledger of them, or fill the gaps of one");
  command
      ->add_option("--sacct", arguments.sacct,
                   "Read the past runs from this output of sacct -a -D -P, with the column NodeList")
      ->required()
      ->type_name("FILE");
  command->add_option("--config", arguments.config, "Apply the organizations, nodes and rules of this configuration")
      ->required()
      ->type_name("FILE");
  CLI::Option* made =
      command->add_option("--ledger", arguments.ledger, "Create this ledger file, which must not exist");
  made->type_name("FILE");
  command->add_option("--into", arguments.into, "Fill the gaps of this ledger file; the daemon must be stopped")
      ->excludes(made)
      ->type_name("FILE");
  command
      ->add_option(
          "--nodes", arguments.nodes,
          "Read the CPUs of nodes from this output of scontrol show nodes --oneliner (default: as many as were used)")
      ->type_name("FILE");
  command
      ->add_option("--accounts", arguments.accounts,
                   "Read the tree of accounts from this output of sacctmgr -nP list associations cluster=NAME "
                   "format=Account,ParentName")
      ->type_name("FILE");
  static const std::map<std::string, sacct::Malformed> malformed{{"refuse", sacct::Malformed::refuse},
                                                                 {"skip", sacct::Malformed::skip}};
  command
      ->add_option("--malformed", arguments.malformed,
                   "Refuse an export with malformed or impossible rows (default), or skip and list these rows")
      ->transform(CLI::CheckedTransformer(malformed).description(""))
      ->type_name("refuse|skip");
  command->add_flag("--oversubscribed", arguments.oversubscribed,
                    "Allow runs to hold more CPUs of a node at once than it has (OverSubscribe)");
  command->add_option("--reason", arguments.reason, "Record this reason in the ledger")->type_name("TEXT");
  command->add_flag("--json", arguments.json, "Print the report as JSON");
}

Expected<ExitCode> run_import(const ImportArguments& arguments, const Environment& environment) {
  if (arguments.ledger.empty() && arguments.into.empty()) {
    return fail(Errc::invalid_argument,
                "import: name the ledger to make with --ledger, or the one to fill with --into");
  }
  ImportQuestion question{.sacct = arguments.sacct,
                          .config = arguments.config,
                          .ledger = arguments.ledger,
                          .into = arguments.into,
                          .nodes = arguments.nodes,
                          .accounts = arguments.accounts,
                          .oversubscribed = arguments.oversubscribed,
                          .malformed = arguments.malformed,
                          .reason = arguments.reason,
                          .now = wall_clock()};
  SHAPLEY_TRY_ASSIGN(const ImportResult result, import_history(question));
  const std::string& file = arguments.into.empty() ? arguments.ledger : arguments.into;
  const PastRuns& runs = result.runs;
  if (arguments.json) {
    const bool any = runs.runs > 0;
    const auto listed = [](const std::vector<sacct::BadRow>& rows) {
      nlohmann::json list = nlohmann::json::array();
      for (const sacct::BadRow& row : rows) list.push_back({{"line", row.line}, {"why", row.why}});
      return list;
    };
    environment.out << tables::json_text({{"ledger", file},
                                          {"rows", result.rows},
                                          {"runs", runs.runs},
                                          {"known", runs.known},
                                          {"ends", result.ends},
                                          {"events", result.events},
                                          {"since", any ? nlohmann::json(runs.since.value) : nlohmann::json(nullptr)},
                                          {"until", any ? nlohmann::json(runs.until.value) : nlohmann::json(nullptr)},
                                          {"notes", result.notes},
                                          {"malformed", listed(result.bad)},
                                          {"differing", listed(result.differing)}});
    return ExitCode::success;
  }
  environment.out << printable(file) << ": ";
  if (runs.runs == 0) {
    const std::string all = runs.known == 1 ? "the only run" : fmt::format("all {} runs", grouped(runs.known));
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
  const auto list = [&](const char* what, const std::vector<sacct::BadRow>& rows, const char* noun) {
    if (rows.empty()) return;
    environment.out << what << grouped(static_cast<std::int64_t>(rows.size()), noun) << '\n';
    for (const sacct::BadRow& row : rows)
      environment.out << "  line " << row.line << ": " << printable(row.why) << '\n';
  };
  list("LEFT OUT: ", result.bad, "row");
  list("DIFFERS from the ledger, which stays as it is: ", result.differing, "run");
  return ExitCode::success;
}

}  // namespace shapley::ctl
