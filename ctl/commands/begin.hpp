// `shapleyctl begin`: of two controllers this one may write without what the other one has, which does not answer.
#pragma once

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

void add_begin(CLI::App& app);

[[nodiscard]] Expected<ExitCode> run_begin(const Endpoint& endpoint, const Environment& environment);

}  // namespace shapley::ctl
