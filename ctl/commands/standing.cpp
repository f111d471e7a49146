#include "ledger/consortium/standing.hpp"

#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/commands.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ctl {

void add_standing(CLI::App& app, StandingArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("standing", "Print this cluster's signed statement for the other clusters of its consortium");
  command->add_option("-o,--out", arguments.output, "Write the statement to this file, whole or not at all")
      ->type_name("FILE");
}

Expected<ExitCode> run_standing(const StandingArguments& arguments, const Endpoint& endpoint,
                                const Environment& environment) {
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
