// `shapleyctl health`: one line and an exit code for Nagios-like checks, by the rules of health/health.hpp.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "health/health.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct HealthArguments {
  health::LimitTexts limits;
};

// The verdicts as a monitor reads them.
struct Health {
  health::State state = health::State::ok;
  std::vector<std::string> causes = {};  // the worst first; if ok: the good facts
  std::string performance = {};          // NAME=VALUE ... as Nagios' plugins write it
};

[[nodiscard]] Health health_of(const Expected<health::Report>& report, const health::Limits& limits);

// "SHAPLEY CRITICAL: ...; ... | ...\n": always one line.
[[nodiscard]] std::string health_line(const Health& health);

void add_health(CLI::App& app, HealthArguments& arguments);

// Returns no error: if the check is not possible, it prints an unknown state to standard output, because monitors only
// read that.
[[nodiscard]] ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint,
                                  const Environment& environment);

// The unknown state for a command line that cannot be understood.
[[nodiscard]] ExitCode unknown_health(const std::string& cause, const Environment& environment);

}  // namespace shapley::ctl
