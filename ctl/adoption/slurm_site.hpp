// What Slurm itself knows of a site: the names that a configuration may use, and what a first one can be made of.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace shapley::ctl {

struct SlurmAccount {
  std::string name;    // as Slurm keeps it, in lower case
  std::string parent;  // empty: none
  friend bool operator==(const SlurmAccount&, const SlurmAccount&) = default;
};

struct SlurmPartition {
  std::string name;
  std::vector<std::string> accounts;  // AllowAccounts, in lower case; empty: all
  std::vector<std::string> nodes;     // that Slurm names with it; empty: none, or a text that cannot be read
  friend bool operator==(const SlurmPartition&, const SlurmPartition&) = default;
};

struct SlurmNode {
  std::string name;
  std::int64_t cpus = 0;  // 0: not known
  std::string gres;       // Slurm's text; empty: none
  std::vector<std::string> partitions;
  friend bool operator==(const SlurmNode&, const SlurmNode&) = default;
};

// What slurmdbd knows; there is none on a site without.
struct SlurmAccounting {
  std::vector<SlurmAccount> accounts;
  std::vector<std::string> users;  // with an association
  std::vector<std::string> qos;
};

struct SlurmSite {
  std::string cluster;
  std::string slurm_user;
  std::optional<SlurmAccounting> accounting;
  std::vector<SlurmPartition> partitions;
  std::vector<SlurmNode> nodes;
};

// Asks scontrol and, where slurm.conf names slurmdbd, sacctmgr; `limit` for each command. Errc::unavailable: one of
// them cannot be run, does not end or fails, with what it said.
[[nodiscard]] Expected<SlurmSite> read_slurm(std::chrono::milliseconds limit = std::chrono::seconds(30));

// ---- the commands' output as values; pure ----
// `scontrol show config`: the value of a key; empty: it has none.
[[nodiscard]] std::string config_value(std::string_view output, std::string_view key);
// `scontrol -a -o show partition` and `... show nodes`.
[[nodiscard]] std::vector<SlurmPartition> parse_partitions(std::string_view output);
[[nodiscard]] std::vector<SlurmNode> parse_nodes(std::string_view output);
// Adds the nodes that only the partitions name. Up to 22.05 `scontrol show nodes` leaves out nodes of State=CLOUD that
// are powered down, `-a` or not, unless slurm.conf says PrivateData=cloud.
void add_hidden_nodes(SlurmSite& site);
// `sacctmgr -n -P show associations format=account,parentname,user`, of one cluster: accounts and users, each once.
[[nodiscard]] SlurmAccounting parse_associations(std::string_view output);

}  // namespace shapley::ctl
