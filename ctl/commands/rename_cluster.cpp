#include "ctl/commands/rename_cluster.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ctl/output/table.hpp"

namespace shapley::ctl {

using nlohmann::json;

void add_rename_cluster(CLI::App& app, RenameClusterArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("rename-cluster", "Slurm's ClusterName was changed: the ledger is of the cluster NAME");
  command->add_option("name", arguments.name, "The new ClusterName, as slurm.conf has it")
      ->required()
      ->type_name("NAME");
  command->add_option("--reason", arguments.reason, "Why; kept in the ledger")->required()->type_name("TEXT");
}

Expected<ExitCode> run_rename_cluster(const RenameClusterArguments& arguments, const Endpoint& endpoint,
                                      const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(
      const json renamed,
      client.ask({{"request", "rename_cluster"}, {"cluster", arguments.name}, {"reason", arguments.reason}}));
  const std::string before = member_text(renamed, "before");
  environment.out << "the ledger is of cluster " << member_text(renamed, "cluster") << " from now on"
                  << (before.empty() ? "" : ", which was called " + before) << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
