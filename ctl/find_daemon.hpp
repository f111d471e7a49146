// Where this shapleyctl asks: on shapleyd's own host its socket, elsewhere over TCP.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"

namespace shapley::ctl {

// The port that is asked where nothing names one.
inline constexpr std::uint16_t k_default_port = 7020;
// Unless SHAPLEYCTL_CONFIG names another.
inline constexpr const char* k_default_configuration = "/etc/shapley/shapleyctl.yaml";

struct DaemonOptions {
  std::string socket = {};  // --socket; empty: not given
  std::string host = {};    // --host
  int timeout_s = 10;
};

// The first of these that there is: --host or --socket; SHAPLEY_HOST; SHAPLEY_SOCKET; the default socket, if the file
// is there; the configuration file; each SlurmctldHost of slurm.conf (SLURM_CONF, or where Slurm has it) at the default
// port; the default socket. Errors: Errc::invalid_argument, with the place: a host that makes no sense, a configuration
// with faults; Errc::io, one that cannot be read.
[[nodiscard]] Expected<Endpoint> find_daemon(const DaemonOptions& options, const Environment& environment);

}  // namespace shapley::ctl
