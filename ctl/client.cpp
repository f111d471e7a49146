#include "ctl/client.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "config/reader_settings.hpp"
#include "ledger/reports/report.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

Endpoint endpoint_at(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
  return {.socket = socket,
          .timeout = timeout,
          .program = "shapleyctl " SHAPLEY_VERSION,
          .otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET; without a daemon: --ledger FILE"};
}

Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint) {
  if (!endpoint.missing_here.empty()) {
    return fail(Errc::unavailable, endpoint.missing_here + ", so none says which ledger is its own: name the file");
  }
  if (endpoint.is_remote()) {
    return fail(Errc::unavailable,
                "the ledger is a file on shapleyd's host: run this there, or name a copy of it (--ledger FILE)");
  }
  SHAPLEY_TRY_ASSIGN(const auto status, ask_for<ledger::StatusReport>(endpoint, {{"request", "status"}}));
  if (!status.daemon || status.daemon->ledger.empty())
    return fail(Errc::protocol, "shapleyd: its status does not name a ledger; name the file");
  return status.daemon->ledger;
}

void report_upkeep(const Endpoint& endpoint, const ledger::UpkeepRequest& done) {
  if (endpoint.is_remote()) return;
  auto client = Client::connect(endpoint);
  if (!client) return;
  static_cast<void>(client->ask(ledger::request_of("upkeep", done)));
}

namespace {

// The place where Slurm looks, Debian's older place, and that of slurmd's copy on configless nodes.
constexpr std::array k_slurm_confs{"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"};

constexpr const char* k_remedy = "Another host: --host HOST:PORT or SHAPLEY_HOST; without a daemon: --ledger FILE";

std::optional<std::string> contents_of(const std::filesystem::path& file) {
  auto text = read_text_file(file, k_max_document);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

std::vector<uid_t> uids_of(const std::string& user) {
  const passwd* entry = ::getpwnam(user.c_str());
  return entry == nullptr ? std::vector<uid_t>{} : std::vector<uid_t>{entry->pw_uid};
}

Endpoint remote_endpoint(std::vector<config::Endpoint> hosts, const std::string& user, std::filesystem::path munge,
                         std::chrono::seconds timeout, const std::string& because, const std::string& cluster = "") {
  Endpoint endpoint = endpoint_at({}, timeout);
  endpoint.hosts = std::move(hosts);
  endpoint.munge = std::move(munge);
  endpoint.trusted = uids_of(user);
  endpoint.cluster = cluster;
  endpoint.otherwise =
      because.empty() ? std::string(k_remedy) : fmt::format("(It is asked there because of {}.) {}", because, k_remedy);
  return endpoint;
}

// "ctl1", "ctl1:7020", "[fd00::2]:7020".
Expected<config::Endpoint> parse_host(const std::string& text) {
  const bool has_port = text.ends_with(']') ? false : text.rfind(':') != std::string::npos;
  auto parsed = config::parse_endpoint(has_port ? text : text + ':' + std::to_string(k_default_port));
  if (parsed) return parsed;
  return fail(Errc::invalid_argument,
              fmt::format("--host: '{}' is no place to connect: {}", text, parsed.error().what));
}

std::optional<std::pair<std::string, SlurmConf>> find_slurm_conf(const Environment& environment) {
  std::vector<std::string> files(k_slurm_confs.begin(), k_slurm_confs.end());
  if (const auto named = environment.variable("SLURM_CONF"); named && !named->empty()) files = {*named};
  for (const std::string& file : files) {
    if (const auto text = contents_of(file)) return std::pair(file, parse_slurm_conf(*text));
  }
  return std::nullopt;
}

// nullopt: the file does not exist.
Expected<std::optional<Endpoint>> from_configuration(const Environment& environment, std::chrono::seconds timeout) {
  const auto named = environment.variable("SHAPLEYCTL_CONFIG");
  const std::string file = named && !named->empty() ? *named : k_default_configuration;
  const auto text = contents_of(file);
  if (!text && named) return fail(Errc::io, file + ": cannot be read (SHAPLEYCTL_CONFIG)");
  if (!text) return std::nullopt;
  auto settings = config::parse_reader_settings(*text);
  if (!settings) return fail_in_lines(Errc::invalid_argument, "", config::format_faults(settings.error(), file));
  return remote_endpoint(std::move(settings->hosts), settings->slurm_user, settings->munge_socket, timeout, file);
}

std::optional<Endpoint> from_slurm_conf(const Environment& environment, std::chrono::seconds timeout) {
  const auto found = find_slurm_conf(environment);
  if (!found || found->second.controllers.empty()) return std::nullopt;
  std::vector<config::Endpoint> hosts;
  for (const std::string& host : found->second.controllers) hosts.push_back({.host = host, .port = k_default_port});
  return remote_endpoint(std::move(hosts), found->second.slurm_user, found->second.munge_socket, timeout,
                         "SlurmctldHost in " + found->first, found->second.cluster);
}

// Here, too, slurm.conf says which users are trusted and where munged is.
Expected<Endpoint> at_host(const std::string& host, const Environment& environment, std::chrono::seconds timeout) {
  SHAPLEY_TRY_ASSIGN(config::Endpoint place, parse_host(host));
  const auto found = find_slurm_conf(environment);
  const SlurmConf conf = found ? found->second : SlurmConf{.slurm_user = "slurm"};
  return remote_endpoint({std::move(place)}, conf.slurm_user, conf.munge_socket, timeout, "");
}

// On slurmctld's own host shapleyd should answer at its socket, whatever else is asked instead.
std::string missing_here(const std::filesystem::path& socket, const Environment& environment) {
  const auto slurm = find_slurm_conf(environment);
  if (!slurm || !is_controller(slurm->second, environment.host_name)) return {};
  return fmt::format(
      "no shapleyd runs on this host, which is slurmctld's by SlurmctldHost in {} ({} is not there; systemctl status "
      "shapleyd)",
      slurm->first, socket.native());
}

Expected<Endpoint> elsewhere(const std::filesystem::path& socket, const Environment& environment,
                             std::chrono::seconds timeout) {
  SHAPLEY_TRY_ASSIGN(std::optional<Endpoint> endpoint, from_configuration(environment, timeout));
  if (!endpoint) endpoint = from_slurm_conf(environment, timeout);
  if (!endpoint) return endpoint_at(socket, timeout);
  endpoint->missing_here = missing_here(socket, environment);
  if (!endpoint->missing_here.empty()) endpoint->otherwise = k_remedy;
  return *std::move(endpoint);
}

}  // namespace

Expected<Endpoint> find_daemon(const DaemonOptions& options, const Environment& environment) {
  const std::chrono::seconds timeout(options.timeout_s);
  if (!options.host.empty() && !options.socket.empty()) {
    return fail(Errc::invalid_argument, "--socket and --host name two places; give one of them");
  }
  if (!options.host.empty()) return at_host(options.host, environment, timeout);
  if (!options.socket.empty()) return endpoint_at(options.socket, timeout);
  if (const auto host = environment.variable("SHAPLEY_HOST"); host && !host->empty()) {
    return at_host(*host, environment, timeout);
  }
  if (const auto socket = environment.variable("SHAPLEY_SOCKET"); socket && !socket->empty()) {
    return endpoint_at(*socket, timeout);
  }
  const std::filesystem::path own = config::Configuration{}.socket;
  std::error_code error;
  if (std::filesystem::exists(own, error)) return endpoint_at(own, timeout);
  return elsewhere(own, environment, timeout);
}

namespace {

// The lines without comments; a line that ends with a backslash is joined with the next one.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  bool continues = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (continues) {
      lines.back() += line;
    } else {
      lines.emplace_back(line);
    }
    continues = goes_on;
  }
  return lines;
}

// "ctl1(10.0.0.1)" is reached at 10.0.0.1.
std::string address_of(std::string_view host) {
  const auto open = host.find('(');
  if (open == std::string_view::npos || !host.ends_with(')')) return std::string(host);
  return std::string(host.substr(open + 1, host.size() - open - 2));
}

std::string socket_of(std::string_view auth_info) {
  constexpr std::string_view k_key = "socket=";
  while (!auth_info.empty()) {
    const auto end = std::min(auth_info.find(','), auth_info.size());
    const std::string_view part = trimmed(auth_info.substr(0, end));
    if (lower(part.substr(0, k_key.size())) == k_key) return std::string(part.substr(k_key.size()));
    auth_info.remove_prefix(std::min(end + 1, auth_info.size()));
  }
  return {};
}

}  // namespace

bool is_controller(const SlurmConf& conf, std::string_view host_name) {
  const std::string_view without_domain = host_name.substr(0, host_name.find('.'));
  return std::ranges::any_of(conf.controller_names, [&](const std::string& name) {
    return name == "localhost" || (!host_name.empty() && (name == host_name || name == without_domain));
  });
}

SlurmConf parse_slurm_conf(std::string_view text) {
  SlurmConf conf;
  for (const std::string& line : lines_of(text)) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = lower(trimmed(std::string_view(line).substr(0, equals)));
    const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
    if (key == "slurmctldhost") {
      conf.controllers.push_back(address_of(value));
      conf.controller_names.emplace_back(trimmed(value.substr(0, value.find('('))));
    }
    if (key == "clustername") conf.cluster = lower(value);  // as Slurm does
    if (key == "slurmuser") conf.slurm_user = value;
    if (key == "authinfo") conf.munge_socket = socket_of(value);
  }
  return conf;
}

}  // namespace shapley::ctl
