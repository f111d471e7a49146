#include "ctl/commands/check_config.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "accounting/state/adjustments.hpp"
#include "base/counted.hpp"
#include "base/printable.hpp"
#include "config/configuration.hpp"
#include "config/difference.hpp"
#include "config/doubts.hpp"
#include "config/former_names.hpp"
#include "config/identities.hpp"
#include "ctl/adoption/slurm_site.hpp"
#include "ctl/adoption/unknown_names.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

namespace {

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

// What the file says, or all that shapleyd would refuse it for.
tl::expected<config::Configuration, std::vector<config::Fault>> checked(const std::string& file) {
  auto loaded = config::load(file);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  config::Configuration& configuration = loaded->configuration;
  std::vector<config::Fault> faults;
  if (const auto identities = config::identify(configuration); !identities) faults = identities.error();
  if (!configuration.signing_key.empty()) {
    const auto key = ledger::SigningKey::read(configuration.signing_key);
    if (!key) faults.push_back(config::signing_key_fault(key.error()));
  }
  std::ranges::stable_sort(faults, {}, &config::Fault::line);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return std::move(configuration);
}

// A file that is not there has no faults.
Expected<void> check_readable(const std::string& file) {
  std::error_code unknown;
  int cause = 0;
  if (std::filesystem::is_directory(file, unknown)) {
    cause = EISDIR;
  } else if (::access(file.c_str(), R_OK) != 0) {
    cause = errno;
  }
  if (cause == 0) return {};
  return fail(Errc::io,
              "check-config: " + file + ": " + std::generic_category().message(cause) + "; name a readable file");
}

void print_faults(const std::vector<config::Fault>& faults, const std::string& file, const Environment& environment) {
  std::string lines = config::format_faults(faults, file);
  if (!lines.empty() && lines.back() != '\n') lines += '\n';
  environment.out << lines;
}

void print_doubts(const std::vector<config::Fault>& doubts, const std::string& file, const Environment& environment) {
  for (const config::Fault& doubt : doubts) {
    const std::string line = doubt.line > 0 ? ':' + std::to_string(doubt.line) : "";  // 0: the file as a whole
    environment.out << printable(file) << line << ": warning: " << doubt.what << "; " << doubt.remedy << '\n';
  }
}

// The text of the configuration that is in force; where it is from, for people.
struct InForce {
  std::string text;
  std::string where;
};

// `answer`: shapleyd's, of all adjustments.
accounting::FormerNames former_names_in(const nlohmann::json& answer) {
  std::vector<accounting::AdjustmentMade> all;
  for (const nlohmann::json& row : answer.value("adjustments", nlohmann::json::array())) {
    accounting::AdjustmentMade made;
    made.number = row["number"].get<std::uint32_t>();
    made.at = Instant{row["at"].get<std::int64_t>()};
    made.kind = accounting::parse_word<accounting::AdjustmentKind>(row["kind"].get<std::string>())
                    .value_or(accounting::AdjustmentKind::attribute);
    made.organization = row["organization"].get<std::string>();
    made.into = row["into"].get<std::string>();
    made.reverses = row["reverses"].is_number() ? row["reverses"].get<std::uint32_t>() : 0;
    all.push_back(std::move(made));
  }
  return accounting::former_names(all);
}

Expected<accounting::FormerNames> former_names_of_ledger(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  return ledger::former_names(ledger);
}

Expected<accounting::FormerNames> former_names_of_daemon(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask({{"request", "adjustments"}}));
  return former_names_in(answer);
}

// By the books: the ledger that is named, else the running shapleyd's, else the one that the file names. nullopt: there
// are none that this machine knows of.
Expected<std::optional<accounting::FormerNames>> former_names(const CheckConfigArguments& arguments,
                                                              const config::Configuration& configuration,
                                                              const Endpoint& endpoint) {
  if (!arguments.ledger.empty()) return former_names_of_ledger(arguments.ledger);
  auto running = former_names_of_daemon(endpoint);
  if (running) return *std::move(running);
  std::error_code ignored;
  if (std::filesystem::exists(configuration.ledger, ignored)) return former_names_of_ledger(configuration.ledger);
  if (endpoint.is_remote()) return tl::unexpected<Error>(std::move(running).error());
  return std::nullopt;
}

// What shapleyd would refuse the file for, if the books could be asked. Those that were named must be readable.
Expected<std::vector<config::Fault>> faults_by_the_books(const CheckConfigArguments& arguments,
                                                         const config::Configuration& configuration,
                                                         const Endpoint& endpoint, const Environment& environment) {
  auto names = former_names(arguments, configuration, endpoint);
  if (!names && !arguments.ledger.empty()) return tl::unexpected<Error>(std::move(names).error());
  if (!names) {
    environment.out << "note: names of organizations were not compared with the books: "
                    << printable(names.error().what) << '\n';
    return std::vector<config::Fault>{};
  }
  return *names ? config::former_name_faults(configuration, **names) : std::vector<config::Fault>{};
}

Expected<InForce> in_force_of_daemon(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask({{"request", "configuration"}}));
  const auto text = answer.find("text");
  if (text == answer.end() || !text->is_string()) {
    return fail(Errc::protocol, "shapleyd's answer has no text of its configuration; is it of an older release?");
  }
  return InForce{.text = text->get<std::string>(), .where = "shapleyd at " + endpoint.socket.string()};
}

Expected<InForce> in_force_of_ledger(const std::string& file) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_at(ledger, k_end_of_time));
  if (!loaded) return fail(Errc::not_found, file + ": no configuration was ever loaded into this ledger");
  return InForce{.text = loaded->text, .where = file};
}

Expected<void> print_changes(const CheckConfigArguments& arguments, const config::Configuration& configuration,
                             const Endpoint& endpoint, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const InForce in_force,
                     arguments.ledger.empty() ? in_force_of_daemon(endpoint) : in_force_of_ledger(arguments.ledger));
  const auto before = config::parse(in_force.text);
  if (!before) {
    return fail(Errc::corrupt, in_force.where + ": its configuration cannot be read by this release: " +
                                   config::format_faults(before.error(), "in force"));
  }
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto lines = config::differences(*before, configuration, Instant{now.count()});
  environment.out << (lines.empty() ? "changes nothing of what is in force (" : "changes what is in force (")
                  << printable(in_force.where) << (lines.empty() ? ")\n" : "):\n");
  for (const std::string& line : lines) environment.out << "  " << printable(line) << '\n';
  return {};
}

Expected<ExitCode> compare_slurm(const std::string& file, const config::Configuration& configuration,
                                 const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const SlurmSite slurm, read_slurm());
  const SlurmComparison comparison = compare_with_slurm(configuration, slurm);
  print_faults(comparison.unknown, file, environment);
  print_doubts(comparison.doubts, file, environment);
  for (const std::string& note : comparison.notes) environment.out << "note: " << printable(note) << '\n';
  environment.out << printable(file) << ": "
                  << (comparison.unknown.empty()
                          ? std::string("Slurm knows every name in it")
                          : counted(comparison.unknown.size(), "line") + " with names that Slurm does not know")
                  << '\n';
  return comparison.unknown.empty() ? ExitCode::success : ExitCode::findings;
}

}  // namespace

void add_check_config(CLI::App& app, CheckConfigArguments& arguments) {
  CLI::App* command = app.add_subcommand("check-config", "Check a configuration file and list every fault");
  command->add_option("FILE", arguments.file, "The configuration")->capture_default_str();
  command->add_flag("--against-slurm", arguments.against_slurm,
                    "List what it names that Slurm does not know (asks sacctmgr and scontrol)");
  command->add_flag("--diff", arguments.diff, "List what it changes of the configuration in force");
  command
      ->add_option("--ledger", arguments.ledger,
                   "The books that know former names, and what is in force for --diff, are this ledger's")
      ->type_name("FILE");
}

Expected<ExitCode> run_check_config(const CheckConfigArguments& arguments, const Endpoint& endpoint,
                                    const Environment& environment) {
  SHAPLEY_TRY(check_readable(arguments.file));
  const auto configuration = checked(arguments.file);
  std::vector<config::Fault> faults = configuration ? std::vector<config::Fault>{} : configuration.error();
  if (configuration) {
    SHAPLEY_TRY_ASSIGN(faults, faults_by_the_books(arguments, *configuration, endpoint, environment));
  }
  if (!faults.empty()) {
    print_faults(faults, arguments.file, environment);
    environment.out << printable(arguments.file) << ": " << counted(faults.size(), "fault") << '\n';
    return ExitCode::findings;
  }
  print_doubts(config::doubts(*configuration), arguments.file, environment);
  environment.out << printable(arguments.file) << ": no fault: " << summary(*configuration) << '\n';
  ExitCode code = ExitCode::success;
  if (arguments.against_slurm) {
    SHAPLEY_TRY_ASSIGN(code, compare_slurm(arguments.file, *configuration, environment));
  }
  if (arguments.diff) SHAPLEY_TRY(print_changes(arguments, *configuration, endpoint, environment));
  return code;
}

}  // namespace shapley::ctl
