// `shapleyctl rename-cluster`: the ledger's cluster has another ClusterName from now on.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct RenameClusterArguments {
  std::string name;
  std::string reason;
};

void add_rename_cluster(CLI::App& app, RenameClusterArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_rename_cluster(const RenameClusterArguments& arguments, const Endpoint& endpoint,
                                                    const Environment& environment);

}  // namespace shapley::ctl
