#include "ctl/commands/check_config.hpp"

#include <set>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "config/configuration.hpp"

namespace shapley::ctl {

namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string summary(const config::Configuration& configuration) {
  std::set<std::string> nodes;
  std::size_t rules = 0;
  for (const config::OrganizationConfig& organization : configuration.organizations) {
    rules += organization.rules.size();
    for (const config::NodeClaim& claim : organization.nodes) nodes.insert(claim.nodes.begin(), claim.nodes.end());
  }
  return counted(configuration.organizations.size(), "organization") + ", " + counted(rules, "rule") + ", " +
         counted(nodes.size(), "node") + " with owners";
}

}  // namespace

void add_check_config(CLI::App& app, CheckConfigArguments& arguments) {
  CLI::App* command = app.add_subcommand("check-config", "Check a configuration file and list every fault");
  command->add_option("FILE", arguments.file, "The configuration")->capture_default_str();
}

Expected<ExitCode> run_check_config(const CheckConfigArguments& arguments, const Environment& environment) {
  const auto loaded = config::load(arguments.file);
  if (loaded) {
    environment.out << printable(arguments.file) << ": no fault: " << summary(loaded->configuration) << '\n';
    return ExitCode::success;
  }
  std::string faults = config::format_faults(loaded.error(), arguments.file);
  if (!faults.empty() && faults.back() != '\n') faults += '\n';
  environment.out << faults << printable(arguments.file) << ": " << counted(loaded.error().size(), "fault") << '\n';
  return ExitCode::findings;
}

}  // namespace shapley::ctl
