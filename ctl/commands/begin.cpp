#include "ctl/commands/begin.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace shapley::ctl {

void add_begin(CLI::App& app) {
  app.add_subcommand("begin", "Of two controllers: this one may write without what the other one has, which is lost");
}

Expected<ExitCode> run_begin(const Endpoint& endpoint, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY(client.ask({{"request", "begin"}}));
  environment.out << "this shapleyd writes with the ledger that it has as soon as slurmctld's plugin connects\n";
  return ExitCode::success;
}

}  // namespace shapley::ctl
