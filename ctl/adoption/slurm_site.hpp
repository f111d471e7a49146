// What Slurm itself knows of a site: the names that a configuration may use, and the facts from which a first
// configuration is proposed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/configuration.hpp"

namespace shapley::ctl {

struct SlurmAccount {
  std::string name;    // as Slurm keeps it, in lower case
  std::string parent;  // empty: none
  friend bool operator==(const SlurmAccount&, const SlurmAccount&) = default;
};

struct SlurmPartition {
  std::string name;
  std::vector<std::string> accounts;  // AllowAccounts, in lower case; empty: all
  std::vector<std::string> nodes;     // the nodes that Slurm lists for it; empty: none, or a text that cannot be parsed
  std::string billing = {};           // TRESBillingWeights, as Slurm has them; empty: none, a job is billed its CPUs
  bool is_default = false;            // for jobs that name none
  friend bool operator==(const SlurmPartition&, const SlurmPartition&) = default;
};

struct SlurmNode {
  std::string name;
  std::int64_t cpus = 0;  // 0: not known
  std::string gres;       // Slurm's text; empty: none
  std::vector<std::string> partitions;
  friend bool operator==(const SlurmNode&, const SlurmNode&) = default;
};

// The facts in slurmdbd, if the site has one.
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

// Runs scontrol and, where slurm.conf names slurmdbd, sacctmgr, each for at most `limit`. Errc::unavailable: one of
// them cannot be run, does not end or fails; the error has its message.
[[nodiscard]] Expected<SlurmSite> read_slurm(std::chrono::milliseconds limit = std::chrono::seconds(30));

// ---- parsing of the commands' output; pure ----
// `scontrol show config`: the value of a key; empty: the key has none.
[[nodiscard]] std::string config_value(std::string_view output, std::string_view key);
// `scontrol -a -o show partition` and `... show nodes`.
[[nodiscard]] std::vector<SlurmPartition> parse_partitions(std::string_view output);
[[nodiscard]] std::vector<SlurmNode> parse_nodes(std::string_view output);
// Adds the nodes that only the partitions name. Up to 22.05 `scontrol show nodes` leaves out nodes of State=CLOUD that
// are powered down, `-a` or not, unless slurm.conf says PrivateData=cloud.
void add_hidden_nodes(SlurmSite& site);
// `sacctmgr -n -P show associations format=account,parentname,user`, of one cluster: accounts and users, each once.
[[nodiscard]] SlurmAccounting parse_associations(std::string_view output);

// A first configuration of a site, from the facts that Slurm has: a text for people to read and correct. Pure.

// The file's text, in mode observe; comments explain each choice. An organization is an account directly below root
// (with slurmdbd) or a partition (without). It owns the nodes of partitions that it alone may use, or that have its
// name; other nodes are listed in a comment, to be assigned by people. Errc::not_found: Slurm has neither accounts nor
// partitions.
[[nodiscard]] Expected<std::string> propose_configuration(const SlurmSite& slurm);

// Compares a configuration with the names that Slurm knows: a rule with an unknown name never matches, and causes no
// error. Pure.

struct SlurmComparison {
  std::vector<config::Fault> unknown;  // accounts, partitions, QOS, users and nodes, in line order
  // Rules that never match, because a rule of a parent account comes first; prices that differ; in line order.
  std::vector<config::Fault> doubts;
  std::vector<std::string> notes;  // names of Slurm that the configuration does not contain; what could not be compared
};

// Numeric users, and groups, belong to the host and not to Slurm, and are not compared.
[[nodiscard]] SlurmComparison compare_with_slurm(const config::Configuration& configuration, const SlurmSite& slurm);

// Of a site with `charge: billing`: doubts where partitions of the same nodes have different prices, and a note of
// partitions in which a small job is billed 0. Others have neither. Pure.
void compare_prices(const config::Configuration& configuration, const SlurmSite& slurm, SlurmComparison& comparison);

}  // namespace shapley::ctl
