// `shapleyctl keygen`: the pair of keys that signs heads of a ledger.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct KeygenArguments {
  std::string file;
};

void add_keygen(CLI::App& app, KeygenArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_keygen(const KeygenArguments& arguments, const Environment& environment);

}  // namespace shapley::ctl
