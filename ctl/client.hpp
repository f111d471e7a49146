// How shapleyctl asks the daemon (common/rpc_client), and for which ledger.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "ctl/environment.hpp"
#include "rpc_client/client.hpp"

namespace shapley::ledger {
struct UpkeepRequest;
}

namespace shapley::ctl {

using rpc_client::Client;
using rpc_client::Endpoint;

// An endpoint of shapleyctl. Its errors name what the user can do when the daemon is away.
[[nodiscard]] Endpoint endpoint_at(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

// A report of the daemon. Errc::protocol names the member that this release cannot read.
template <typename Report>
[[nodiscard]] Expected<Report> ask_for(const Endpoint& endpoint, const nlohmann::json& request) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask(request));
  auto report = from_json<Report>(answer);
  if (!report)
    return fail(Errc::protocol, "shapleyd answers otherwise than this shapleyctl reads: " + report.error().what);
  return report;
}

// Of an order's answer with the member `alone`.
inline constexpr std::string_view k_alone =
    "only this host has it: the other controller does not have it yet, and it is lost if this host is lost now; "
    "shapleyctl status says when both are in step";

// The ledger file that the daemon keeps, by its answer to `status`. Errc::protocol: it names none; Errc::unavailable,
// too, when it is on another host.
[[nodiscard]] Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint);

// Reports to the daemon, if there is one and this user may, what was done with its ledger up to an event. A failure is
// ignored: the daemon accepts such a report for its own ledger only, and a copy can be audited where there is no
// daemon.
void report_upkeep(const Endpoint& endpoint, const ledger::UpkeepRequest& done);

// Where shapleyctl reaches the daemon: on shapleyd's own host by its socket, elsewhere over TCP.

// The port if none is named.
inline constexpr std::uint16_t k_default_port = 7020;
// The configuration file, unless SHAPLEYCTL_CONFIG names another one.
inline constexpr const char* k_default_configuration = "/etc/shapley/shapleyctl.yaml";

struct DaemonOptions {
  std::string socket = {};  // --socket; empty: not given
  std::string host = {};    // --host
  int timeout_s = 10;
};

// The first of these that exists: --host or --socket; SHAPLEY_HOST; SHAPLEY_SOCKET; the default socket, if the file
// exists; the configuration file; each SlurmctldHost of slurm.conf (SLURM_CONF, or where Slurm has it) at the default
// port; the default socket. Errc::invalid_argument, with the place: a host is malformed or the configuration has
// faults; Errc::io: the configuration cannot be read.
[[nodiscard]] Expected<Endpoint> find_daemon(const DaemonOptions& options, const Environment& environment);

// The settings of slurm.conf by which shapleyd is found from another host. Pure.

struct SlurmConf {
  std::vector<std::string> controllers = {};       // of each SlurmctldHost, the address in parentheses, else the name
  std::vector<std::string> controller_names = {};  // the name of each SlurmctldHost
  std::string cluster = {};                        // ClusterName, in lower case; empty: not set
  std::string slurm_user = "root";                 // SlurmUser; Slurm's default is root
  std::string munge_socket = {};                   // from AuthInfo=socket=PATH; empty: munge's own default
};

// Whether slurmctld runs on the host of this name. Names are compared as slurmctld does: with the domain or without it.
[[nodiscard]] bool is_controller(const SlurmConf& conf, std::string_view host_name);

// Accepts keys in any case, comments and continued lines. Other settings are ignored; files of Include are not read.
[[nodiscard]] SlurmConf parse_slurm_conf(std::string_view text);

}  // namespace shapley::ctl
