#include "config/configuration.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "accounting/state/organizations.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "ctl/adoption/daemon_rights.hpp"
#include "ctl/adoption/slurm_site.hpp"
#include "ctl/commands/commands.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/consortium/standing.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/reports/adjustment_report.hpp"
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
  return fmt::format("{}, {}, {} with owners", counted(configuration.organizations.size(), "organization"),
                     counted(rules, "rule"), counted(nodes.size(), "node"));
}

// What another cluster states, from its file or asked for there.
Expected<std::string> read_statement(const config::OtherClusterConfig& cluster,
                                     const config::Configuration& configuration) {
  Endpoint there = endpoint_at({}, std::chrono::seconds(10));
  there.munge = configuration.munge_socket;
  return rpc_client::fetch_standing(cluster.standing, std::move(there), ledger::k_most_statement_bytes);
}

// The configuration in the file, or all faults for which shapleyd would refuse the file.
tl::expected<config::Configuration, std::vector<config::Fault>> checked(const std::string& file) {
  auto loaded = config::load(file);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  config::Configuration& configuration = loaded->configuration;
  std::vector<config::Fault> faults;
  const auto identities = config::identify(configuration);
  if (!identities) faults = identities.error();
  const auto add_unless_readable = [&](int line, const std::string& title, const std::filesystem::path& path,
                                       Secret secret) {
    const auto closed = not_readable(identities ? identities->slurm_user : 0, path, secret);
    if (closed) faults.push_back({line, title + closed->what, "run: " + closed->remedy});
  };
  if (!configuration.signing_key.empty()) {
    const auto key = ledger::SigningKey::read(configuration.signing_key);
    if (!key) {
      faults.push_back(config::signing_key_fault(key.error()));
    } else {
      add_unless_readable(0, "signing_key: ", configuration.signing_key, Secret::yes);
    }
  }
  for (const config::OtherClusterConfig& cluster : configuration.consortium.clusters) {
    const std::string title = fmt::format("consortium: cluster '{}': ", cluster.name);
    const auto key = ledger::PublicKey::read(cluster.public_key);
    if (!key) {
      faults.push_back(config::public_key_fault(cluster, key.error()));
    } else {
      add_unless_readable(cluster.line, title + "public_key: ", cluster.public_key, Secret::no);
    }
    if (cluster.standing.starts_with('/') && read_statement(cluster, configuration))
      add_unless_readable(cluster.line, title + "standing: ", cluster.standing, Secret::no);
  }
  std::ranges::stable_sort(faults, {}, &config::Fault::line);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return std::move(configuration);
}

// A file that does not exist has no faults.
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
              fmt::format("check-config: {}: {}; name a readable file", file, std::generic_category().message(cause)));
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

// The text of the configuration in force, and its source, for messages.
struct InForce {
  std::string text;
  std::string where;
};

accounting::FormerNames former_names_in(const ledger::AdjustmentsReport& report) {
  std::vector<accounting::AdjustmentMade> all;
  for (const ledger::ListedAdjustment& row : report.adjustments) {
    accounting::AdjustmentMade made;
    made.number = row.is.number;
    made.at = row.is.at;
    made.kind = row.is.kind;
    made.organization = row.is.organization;
    made.into = row.is.into;
    made.reverses = row.is.reverses.value_or(0);
    all.push_back(std::move(made));
  }
  return accounting::former_names(all);
}

// What only the books know.
struct ByTheBooks {
  accounting::FormerNames former;
  std::string cluster;  // this cluster's name; empty: no feeder has named it
  // Why another cluster's statement, which fits the file, is refused; empty: it is not. Of the running shapleyd this is
  // what it says of the last one that came.
  std::function<std::string(const ledger::StandingStatement&)> refusal = {};
};

Expected<ByTheBooks> books_of_ledger(const std::filesystem::path& file, bool with_cluster) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  ByTheBooks books;
  SHAPLEY_TRY_ASSIGN(books.former, ledger::former_names(ledger));
  SHAPLEY_TRY_ASSIGN(books.cluster, ledger::cluster_name(ledger));
  if (!with_cluster) return books;
  SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
  books.refusal = [state = std::make_shared<accounting::State>(std::move(recovered.state))](
                      const ledger::StandingStatement& statement) {
    const accounting::StandingReceived* last = ledger::last_statement(*state, statement.cluster);
    return ledger::other_line(*state, statement.cluster, statement.figures, last == nullptr ? nullptr : &last->figures);
  };
  return books;
}

Expected<ByTheBooks> books_of_daemon(const Endpoint& endpoint, bool with_cluster) {
  SHAPLEY_TRY_ASSIGN(const auto report, ask_for<ledger::AdjustmentsReport>(endpoint, {{"request", "adjustments"}}));
  ByTheBooks books{.former = former_names_in(report), .cluster = {}};
  if (!with_cluster) return books;
  SHAPLEY_TRY_ASSIGN(const auto status, ask_for<ledger::StatusReport>(endpoint, {{"request", "status"}}));
  if (status.daemon) books.cluster = status.daemon->cluster.name.value_or("");
  books.refusal = [clusters = status.clusters](const ledger::StandingStatement& statement) {
    const auto other = std::ranges::find(clusters, statement.cluster, &ledger::OtherClusterReport::cluster);
    return other != clusters.end() && other->is_refused ? other->fault : std::string();
  };
  return books;
}

// The books of the named ledger, else of the running shapleyd. nullopt: there are no books on this host.
Expected<std::optional<ByTheBooks>> ask_the_books(const CheckConfigArguments& arguments,
                                                  const config::Configuration& configuration,
                                                  const Endpoint& endpoint) {
  const bool with_cluster = !configuration.consortium.name.empty();
  if (!arguments.ledger.empty()) return books_of_ledger(arguments.ledger, with_cluster);
  auto running = books_of_daemon(endpoint, with_cluster);
  if (running) return *std::move(running);
  std::error_code ignored;
  const bool has_ledger = std::filesystem::exists(configuration.ledger, ignored);
  if (has_ledger || endpoint.is_remote()) return tl::unexpected<Error>(std::move(running).error());
  return std::nullopt;
}

// Organizations that the statement has and this file has not.
std::string names_unknown_here(const ledger::StandingStatement& statement, const config::OtherClusterConfig& cluster,
                               const config::Configuration& configuration) {
  std::string unknown;
  for (const accounting::OrganizationElsewhere& row : statement.figures.organizations) {
    const std::string& there = row.organization;
    const bool known =
        there == accounting::k_commons ||
        std::ranges::find(configuration.organizations, there, &config::OrganizationConfig::name) !=
            configuration.organizations.end() ||
        std::ranges::find(cluster.names, there, &accounting::NameElsewhere::there) != cluster.names.end();
    if (!known) unknown += (unknown.empty() ? "" : ", ") + there;
  }
  return unknown;
}

// Names of `as` of which the statement has no row. One without any figures has none, too.
std::string names_unknown_there(const ledger::StandingStatement& statement, const config::OtherClusterConfig& cluster) {
  std::string unknown;
  for (const accounting::NameElsewhere& name : cluster.names) {
    const auto& rows = statement.figures.organizations;
    if (std::ranges::find(rows, name.there, &accounting::OrganizationElsewhere::organization) == rows.end())
      unknown += (unknown.empty() ? "" : ", ") + name.there;
  }
  return unknown;
}

// What cannot work between this file and what the consortium's other clusters state. Where there is no statement yet,
// the books do not name this cluster, or shapleyd refuses a statement that fits the file, a note says so.
std::vector<config::Fault> faults_by_statements(const config::Configuration& configuration, const ByTheBooks& known,
                                                const Environment& environment) {
  const std::string& name = known.cluster;
  std::vector<config::Fault> faults;
  std::vector<ledger::PublicKey> keys;
  std::vector<std::string> fingerprints;
  for (const config::OtherClusterConfig& cluster : configuration.consortium.clusters) {
    auto key = ledger::PublicKey::read(cluster.public_key);
    if (!key) return {config::public_key_fault(cluster, key.error())};
    fingerprints.push_back(key->fingerprint());
    keys.push_back(*std::move(key));
  }
  const Instant now = wall_clock();
  const ledger::OwnCluster own{.name = name,
                               .consortium = config::consortium_statement(configuration, fingerprints, now)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const config::OtherClusterConfig& cluster = configuration.consortium.clusters[i];
    const std::string title = fmt::format("cluster '{}': its statement at {}: ", cluster.name, cluster.standing);
    const auto note = [&](const std::string& what) { environment.out << "note: " << printable(title + what) << '\n'; };
    const auto add = [&](const Error& error, const char* remedy) {
      faults.push_back({cluster.line, fmt::format("consortium: {}{}", title, error.what), remedy});
    };
    const auto text = read_statement(cluster, configuration);
    if (!text) {
      note("not compared: " + text.error().what);
      continue;
    }
    const auto statement = ledger::parse_statement(*text);
    if (!statement) {
      add(statement.error(), "bring one that shapleyctl standing wrote there");
      continue;
    }
    if (const auto signature = ledger::verify_signature(*statement, keys[i]); !signature) {
      add(signature.error(), "compare the public_key with that site's, and bring the statement again");
      continue;
    }
    if (name.empty()) {
      note("not compared: the books do not name this cluster yet");
      continue;
    }
    const auto judged = ledger::judge(*statement, cluster.name,
                                      {.own = own,
                                       .contribution = std::string(accounting::name_of(configuration.contribution)),
                                       .period = configuration.period,
                                       .last = nullptr,
                                       .now = now,
                                       .stale_after = Duration{0}});
    if (!judged) add(judged.error(), "agree on it with that site, and write the same in both files");
    const std::string refusal = judged && known.refusal ? known.refusal(*statement) : std::string();
    if (!refusal.empty()) note("shapleyd refuses it: " + refusal);
    const std::string unknown = names_unknown_here(*statement, cluster, configuration);
    const std::string absent = names_unknown_there(*statement, cluster);
    if (!unknown.empty()) {
      note(fmt::format("has organizations that this file does not name: {}{}", unknown,
                       absent.empty() ? "" : "; and none of these names of `as`: " + absent));
    }
  }
  return faults;
}

// What shapleyd would refuse the file for, if the books could be asked. Those that were named must be readable.
Expected<std::vector<config::Fault>> faults_by_the_books(const CheckConfigArguments& arguments,
                                                         const config::Configuration& configuration,
                                                         const Endpoint& endpoint, const Environment& environment) {
  auto books = ask_the_books(arguments, configuration, endpoint);
  if (!books && !arguments.ledger.empty()) return tl::unexpected<Error>(std::move(books).error());
  if (!books) {
    environment.out << "note: names of organizations were not compared with the books: "
                    << printable(books.error().what) << '\n';
  }
  const ByTheBooks known = books ? books->value_or(ByTheBooks{}) : ByTheBooks{};
  std::vector<config::Fault> faults = config::former_name_faults(configuration, known.former);
  for (const auto& more : {config::consortium_faults(configuration, known.cluster),
                           faults_by_statements(configuration, known, environment)})
    faults.insert(faults.end(), more.begin(), more.end());
  std::ranges::stable_sort(faults, {}, &config::Fault::line);
  return faults;
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
  const auto before = config::parse_recorded(in_force.text);
  if (!before) {
    return fail_in_lines(Errc::corrupt, in_force.where + ": its configuration cannot be read by this release",
                         config::format_faults(before.error(), "in force"));
  }
  std::vector<std::string> lines;
  for (const std::string& key : before->former) lines.push_back("key " + key);
  std::ranges::move(config::differences(before->configuration, configuration, wall_clock()), std::back_inserter(lines));
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
  command->add_option("FILE", arguments.file, "Check this file")->type_name("")->capture_default_str();
  command->add_flag("--against-slurm", arguments.against_slurm,
                    "List names in the file that Slurm does not know, by sacctmgr and scontrol");
  command->add_flag("--diff", arguments.diff, "List the changes that the file makes to the configuration in force");
  command
      ->add_option("--ledger", arguments.ledger,
                   "Read former names and, for --diff, the configuration in force from this ledger file")
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

void add_init(CLI::App& app, InitArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "init", "Propose a first configuration, in mode observe, from the output of sacctmgr and scontrol");
  command
      ->add_option("-o,--output", arguments.output,
                   "Write the configuration to this new file (default: standard output)")
      ->type_name("FILE");
}

Expected<ExitCode> run_init(const InitArguments& arguments, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const SlurmSite slurm, read_slurm());
  SHAPLEY_TRY_ASSIGN(const std::string text, propose_configuration(slurm));
  if (const auto parsed = config::parse(text); !parsed) {
    return fail_in_lines(Errc::corrupt, "what Slurm says makes no configuration",
                         config::format_faults(parsed.error(), "init"));
  }
  if (arguments.output.empty()) {
    environment.out << text;  // a stream that prints no control characters except newlines
    return ExitCode::success;
  }
  SHAPLEY_TRY(write_new_file(arguments.output, text, 0644));
  environment.out << printable(arguments.output) << ": written; read and correct it, then: shapleyctl check-config "
                  << "--against-slurm " << printable(arguments.output) << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
