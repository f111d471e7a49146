// The few words of Slurm's slurm.conf that say where shapleyd may be found from another host. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shapley::ctl {

struct SlurmConf {
  std::vector<std::string> controllers =
      {};  // of each SlurmctldHost the address in parentheses, or else the name; in order
  std::vector<std::string> controller_names = {};  // of each the name
  std::string cluster = {};                        // ClusterName, in lower case; empty: it does not say
  std::string slurm_user = "root";                 // SlurmUser; Slurm's default is root
  std::string munge_socket = {};                   // of AuthInfo=socket=PATH; empty: munge's own default
};

// Whether slurmctld runs on the machine of this name, by the name as slurmctld compares it: with its domain or without.
[[nodiscard]] bool is_controller(const SlurmConf& conf, std::string_view host_name);

// Keys in any case, comments, continued lines. What it does not know it leaves aside; files of Include are not read.
[[nodiscard]] SlurmConf parse_slurm_conf(std::string_view text);

}  // namespace shapley::ctl
