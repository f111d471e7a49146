// `shapleyctl archive`: closed periods out of the ledger, into files of their own.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct ArchiveArguments {
  std::string ledger;
  std::string sign_with;  // empty: nothing is signed
  bool prepare = false;
};

void add_archive(CLI::App& app, ArchiveArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_archive(const ArchiveArguments& arguments, const Environment& environment);

}  // namespace shapley::ctl
