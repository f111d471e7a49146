#include "ctl/find_daemon.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <pwd.h>

#include "base/bounded_text.hpp"
#include "config/configuration.hpp"
#include "config/reader_settings.hpp"
#include "ctl/slurm_conf.hpp"

namespace shapley::ctl {

namespace {

// Where Slurm looks, Debian's older place, and where slurmd keeps a copy on configless nodes.
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
      because.empty() ? std::string(k_remedy) : "(It is asked there because of " + because + ".) " + k_remedy;
  return endpoint;
}

// "ctl1", "ctl1:7020", "[fd00::2]:7020".
Expected<config::Endpoint> parse_host(const std::string& text) {
  const bool has_port = text.ends_with(']') ? false : text.rfind(':') != std::string::npos;
  auto parsed = config::parse_endpoint(has_port ? text : text + ':' + std::to_string(k_default_port));
  if (parsed) return parsed;
  return fail(Errc::invalid_argument, "--host: '" + text + "' is no place to connect: " + parsed.error().what);
}

std::optional<std::pair<std::string, SlurmConf>> find_slurm_conf(const Environment& environment) {
  std::vector<std::string> files(k_slurm_confs.begin(), k_slurm_confs.end());
  if (const auto named = environment.variable("SLURM_CONF"); named && !named->empty()) files = {*named};
  for (const std::string& file : files) {
    if (const auto text = contents_of(file)) return std::pair(file, parse_slurm_conf(*text));
  }
  return std::nullopt;
}

// nullopt: there is no such file.
Expected<std::optional<Endpoint>> from_configuration(const Environment& environment, std::chrono::seconds timeout) {
  const auto named = environment.variable("SHAPLEYCTL_CONFIG");
  const std::string file = named && !named->empty() ? *named : k_default_configuration;
  const auto text = contents_of(file);
  if (!text && named) return fail(Errc::io, file + ": cannot be read (SHAPLEYCTL_CONFIG)");
  if (!text) return std::nullopt;
  auto settings = config::parse_reader_settings(*text);
  if (!settings) return fail(Errc::invalid_argument, config::format_faults(settings.error(), file));
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

// Who is trusted, and where munged is, is Slurm's word here, too.
Expected<Endpoint> at_host(const std::string& host, const Environment& environment, std::chrono::seconds timeout) {
  SHAPLEY_TRY_ASSIGN(config::Endpoint place, parse_host(host));
  const auto found = find_slurm_conf(environment);
  const SlurmConf conf = found ? found->second : SlurmConf{.slurm_user = "slurm"};
  return remote_endpoint({std::move(place)}, conf.slurm_user, conf.munge_socket, timeout, "");
}

// On slurmctld's own host shapleyd should answer by its socket, whatever is asked in its absence.
std::string missing_here(const std::filesystem::path& socket, const Environment& environment) {
  const auto slurm = find_slurm_conf(environment);
  if (!slurm || !is_controller(slurm->second, environment.host_name)) return {};
  return "no shapleyd runs on this host, which is slurmctld's by SlurmctldHost in " + slurm->first + " (" +
         socket.native() + " is not there; systemctl status shapleyd)";
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

}  // namespace shapley::ctl
