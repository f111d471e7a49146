#include "ctl/commands/promote.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

Expected<json> ask_once(const Endpoint& endpoint, const json& request) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask(request);
}

std::string fault_in(const json& progress) {
  const std::string fault = member_text(progress, "fault");
  return fault.empty() ? fault : ": " + fault;
}

}  // namespace

void add_promote(CLI::App& app) {
  app.add_subcommand("promote", "Of two controllers: this one writes the ledger from now on (SlurmctldPrimaryOnProg)");
}

void add_demote(CLI::App& app, DemoteArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("demote", "Of two controllers: this one writes no more (SlurmctldPrimaryOffProg)");
  command->add_flag("--force", arguments.force, "Even while slurmctld's plugin is connected");
}

Expected<ExitCode> run_promote(const Endpoint& endpoint, std::chrono::milliseconds patience,
                               const Environment& environment) {
  constexpr std::chrono::milliseconds k_between{100};
  const auto until = std::chrono::steady_clock::now() + patience;
  const json request{{"request", "promote"}, {"by", "uid " + std::to_string(::getuid())}};
  while (true) {
    const auto progress = ask_once(endpoint, request);
    if (!progress && progress.error().code != Errc::unavailable) return tl::unexpected<Error>(progress.error());
    if (progress && member_text(*progress, "role") == "active") {
      environment.out << "writes the ledger: epoch " << member_text(*progress, "epoch") << '\n';
      return ExitCode::success;
    }
    if (std::chrono::steady_clock::now() + k_between > until) {
      if (!progress) return tl::unexpected<Error>(progress.error());
      return fail(Errc::unavailable, "shapleyd " + member_text(*progress, "state") + fault_in(*progress) +
                                         "; it goes on without shapleyctl: shapleyctl status says how far it is");
    }
    std::this_thread::sleep_for(k_between);
  }
}

Expected<ExitCode> run_demote(const DemoteArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const json progress, ask_once(endpoint, {{"request", "demote"}, {"force", arguments.force}}));
  environment.out << "writes the ledger no more: epoch " << member_text(progress, "epoch") << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
