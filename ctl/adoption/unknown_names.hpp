// A configuration against what Slurm knows: a name that Slurm has never heard of matches nothing, and says nothing.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

struct SlurmComparison {
  std::vector<config::Fault> unknown;  // accounts, partitions, QOS, users and nodes, in line order
  std::vector<config::Fault> doubts;   // rules that never match, for one of an account above comes first; likewise
  std::vector<std::string> notes;      // what Slurm has and the configuration does not name; what could not be compared
};

// Numeric users, and groups, are the machine's and not Slurm's: they are passed over.
[[nodiscard]] SlurmComparison compare_with_slurm(const config::Configuration& configuration, const SlurmSite& slurm);

}  // namespace shapley::ctl
