#include "ledger/consortium/standing.hpp"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/output/amounts.hpp"
#include "ledger/file/files.hpp"
#include "ledger/reports/report.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

std::string ledger_position(const std::string& ledger, std::int64_t event, const Dated& time) {
  return fmt::format("event {} of the ledger {}{}", grouped(event), printable(ledger),
                     time.is_known() ? ", of " + time.utc() : "");
}

constexpr tables::Field k_line_fields[] = {
    tables::left({"organization", "Organization"}),
    {"before", "Now", {}, "core_hours_before", signed_or_unknown},
    {"after", "Accepted", {}, "core_hours_after", signed_or_unknown},
};

std::string render_line(const ledger::LineReport& report) {
  const std::string cluster = printable(report.cluster);
  std::string text = fmt::format("Cluster {}: its ledger was replaced.\n", cluster);
  text += fmt::format("Now:      {}\n", ledger_position(report.former_ledger, report.former_event, report.former_time));
  text += fmt::format("Accepted: {}\n", ledger_position(report.ledger, report.event, report.time));
  text += fmt::format("Reason:   {}\n\n", printable(report.reason));
  text += tables::people_text({.columns = columns_of(k_line_fields), .rows = json_of(report.organizations)});
  text += fmt::format(
      "\nWork given less work got there, as ranks here count it, in {}. What the other line does not have\n"
      "is owed no more; where it is still agreed, {} books it (shapleyctl adjust --amount).\n",
      report.in.in_full(), cluster);
  if (!report.booked) return text + "Nothing is recorded yet: the same with --yes records it.\n";
  text += fmt::format("Recorded: statements of {} count again, and those of before do not any more.\n", cluster);
  if (report.alone) text += std::string(k_alone) + '\n';
  return text;
}

Expected<ExitCode> accept_line(const StandingArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  if (!arguments.output.empty()) return fail(Errc::invalid_argument, "standing: --accept writes no file");
  if (arguments.reason.empty())
    return fail(Errc::invalid_argument, "standing: --reason is missing: why, for every user to read");
  const ledger::AcceptLineRequest request{
      .cluster = arguments.accept, .reason = arguments.reason, .book = arguments.yes};
  SHAPLEY_TRY_ASSIGN(const auto report,
                     ask_for<ledger::LineReport>(endpoint, ledger::request_of("accept_line", request)));
  environment.out << (arguments.json ? tables::json_text(json_of(report)) : render_line(report));
  return ExitCode::success;
}

}  // namespace

void add_standing(CLI::App& app, StandingArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("standing",
                         "Print this cluster's signed statement for the other clusters of its consortium, or accept "
                         "that the ledger of another one was replaced");
  command->add_option("-o,--out", arguments.output, "Write the statement to this file, whole or not at all")
      ->type_name("FILE");
  command
      ->add_option("--accept", arguments.accept,
                   "Accept that the ledger of this other cluster was begun again or restored")
      ->type_name("CLUSTER");
  command->add_option("--reason", arguments.reason, "Record this reason in the ledger, for every user to read")
      ->type_name("TEXT");
  command->add_flag("--yes", arguments.yes, "Record it; without --yes what changes is only shown");
  command->add_flag("--json", arguments.json, "Print what changes as JSON");
}

Expected<ExitCode> run_standing(const StandingArguments& arguments, const Endpoint& endpoint,
                                const Environment& environment) {
  if (!arguments.accept.empty()) return accept_line(arguments, endpoint, environment);
  if (arguments.yes || arguments.json || !arguments.reason.empty())
    return fail(Errc::invalid_argument, "standing: --reason, --yes and --json go with --accept");
  SHAPLEY_TRY_ASSIGN(auto client, rpc_client::Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask({{"request", "standing"}}));
  SHAPLEY_TRY_ASSIGN(const auto statement, ledger::parse_statement(shapley::text_of(answer)));
  if (arguments.output.empty()) {
    environment.out << statement.text();
    return ExitCode::success;
  }
  SHAPLEY_TRY(shapley::replace_file(arguments.output, statement.text(), shapley::Readers::by_umask));
  return ExitCode::success;
}

}  // namespace shapley::ctl
