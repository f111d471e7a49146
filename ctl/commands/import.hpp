// `shapleyctl import`: a ledger of what ran before shapleyd watched.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "history/sacct_rows.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct ImportArguments {
  std::string sacct;
  std::string config;
  std::string ledger, into;  // one of the two
  std::string nodes, accounts, reason;
  bool oversubscribed = false;
  history::Malformed malformed = history::Malformed::refuse;
  bool json = false;
};

void add_import(CLI::App& app, ImportArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_import(const ImportArguments& arguments, const Environment& environment);

}  // namespace shapley::ctl
