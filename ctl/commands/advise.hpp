// `shapleyctl advise`: would each organization be better off alone?
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct AdviseArguments {
  std::string ledger;  // empty: the daemon's pending jobs
  std::string since;
  std::string until;
  bool json = false;
};

void add_advise(CLI::App& app, AdviseArguments& arguments);

// Without a ledger the daemon is asked for the jobs that wait.
[[nodiscard]] Expected<ExitCode> run_advise(const AdviseArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// The text for people of a report of advice_report.
[[nodiscard]] std::string render_advice(const nlohmann::json& report);

}  // namespace shapley::ctl
