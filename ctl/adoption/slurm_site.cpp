#include "ctl/adoption/slurm_site.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "ctl/slurm/run_program.hpp"

namespace shapley::ctl {

namespace {

std::vector<std::string_view> words_between(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Whether KEY= begins here, as scontrol writes keys.
bool begins_with_key(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != 0 && equals != std::string_view::npos && std::ranges::all_of(text.substr(0, equals), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
         });
}

// The value of KEY=VALUE in a line of scontrol -o, up to the next key: names of accounts may have blanks. The first one
// is taken, because texts of administrators come last.
std::string_view keyed_value(std::string_view line, std::string_view key) {
  for (std::size_t at = 0; (at = line.find(key, at)) != std::string_view::npos; at += key.size()) {
    if ((at != 0 && line[at - 1] != ' ') || line.substr(at + key.size(), 1) != "=") continue;
    const std::string_view value = line.substr(at + key.size() + 1);
    std::size_t end = value.find(' ');
    while (end != std::string_view::npos && !begins_with_key(value.substr(end + 1))) end = value.find(' ', end + 1);
    return trimmed(value.substr(0, end));
  }
  return {};
}

bool names_something(std::string_view value) {
  return !value.empty() && value != "(null)" && value != "ALL" && value != "N/A";
}

Expected<std::string> output_of(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
  SHAPLEY_TRY_ASSIGN(CommandOutput output, run_command(arguments, limit));
  if (output.exit_code == 0) return std::move(output.out);
  std::string command;
  for (const std::string& argument : arguments) command += (command.empty() ? "" : " ") + argument;
  return fail_in_lines(Errc::unavailable, fmt::format("{}: exit code {}", command, output.exit_code),
                       output.err.empty() ? output.out : output.err);
}

Expected<SlurmAccounting> read_accounting(const std::string& cluster, std::chrono::milliseconds limit) {
  SHAPLEY_TRY_ASSIGN(const std::string associations, output_of({"sacctmgr", "-n", "-P", "show", "associations",
                                                                "cluster=" + cluster, "format=account,parentname,user"},
                                                               limit));
  SHAPLEY_TRY_ASSIGN(const std::string qos, output_of({"sacctmgr", "-n", "-P", "show", "qos", "format=name"}, limit));
  SlurmAccounting accounting = parse_associations(associations);
  for (const std::string_view name : words_between(qos, '\n')) accounting.qos.emplace_back(name);
  return accounting;
}

}  // namespace

std::string config_value(std::string_view output, std::string_view key) {
  for (std::string_view line : words_between(output, '\n')) {
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t value = line.find_first_not_of(' ');
    if (value == 0 || value == std::string_view::npos || line[value] != '=') continue;
    line.remove_prefix(value + 1);
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin));
  }
  return {};
}

std::vector<SlurmPartition> parse_partitions(std::string_view output) {
  std::vector<SlurmPartition> partitions;
  for (const std::string_view line : words_between(output, '\n')) {
    const std::string_view name = keyed_value(line, "PartitionName");
    if (name.empty()) continue;
    SlurmPartition partition{.name = std::string(name), .accounts = {}, .nodes = {}, .billing = {}};
    if (const auto allowed = keyed_value(line, "AllowAccounts"); names_something(allowed)) {
      for (const std::string_view account : words_between(allowed, ',')) partition.accounts.push_back(lower(account));
    }
    if (const auto nodes = keyed_value(line, "Nodes"); names_something(nodes)) {
      partition.nodes = expand_brackets(nodes).value_or(std::vector<std::string>());
    }
    if (const auto billing = keyed_value(line, "TRESBillingWeights"); names_something(billing)) {
      partition.billing = billing;
    }
    partition.is_default = keyed_value(line, "Default") == "YES";
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

std::vector<SlurmNode> parse_nodes(std::string_view output) {
  std::vector<SlurmNode> nodes;
  for (const std::string_view line : words_between(output, '\n')) {
    const std::string_view name = keyed_value(line, "NodeName");
    if (name.empty()) continue;
    SlurmNode node{.name = std::string(name), .cpus = 0, .gres = {}, .partitions = {}};
    const std::string_view cpus = keyed_value(line, "CPUTot");
    std::from_chars(cpus.data(), cpus.data() + cpus.size(), node.cpus);
    if (const auto gres = keyed_value(line, "Gres"); names_something(gres)) node.gres = gres;
    if (const auto in = keyed_value(line, "Partitions"); names_something(in)) {
      for (const std::string_view partition : words_between(in, ',')) node.partitions.emplace_back(partition);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void add_hidden_nodes(SlurmSite& site) {
  std::map<std::string, std::size_t> hidden;  // where it is in `nodes`
  std::set<std::string> shown;
  for (const SlurmNode& node : site.nodes) shown.insert(node.name);
  for (const SlurmPartition& partition : site.partitions) {
    for (const std::string& name : partition.nodes) {
      if (shown.contains(name)) continue;
      const auto [entry, is_new] = hidden.try_emplace(name, site.nodes.size());
      if (is_new) site.nodes.push_back({.name = name, .cpus = 0, .gres = {}, .partitions = {}});
      site.nodes[entry->second].partitions.push_back(partition.name);
    }
  }
}

SlurmAccounting parse_associations(std::string_view output) {
  SlurmAccounting accounting;
  std::set<std::string> users;
  for (const std::string_view line : words_between(output, '\n')) {
    const auto columns = split(line, '|');
    if (columns.size() < 3 || columns[0].empty()) continue;
    if (!columns[2].empty()) {
      users.emplace(columns[2]);
      continue;
    }
    SlurmAccount account{.name = lower(columns[0]), .parent = lower(columns[1])};
    const auto known = std::ranges::find(accounting.accounts, account.name, &SlurmAccount::name);
    if (known == accounting.accounts.end()) accounting.accounts.push_back(std::move(account));
  }
  accounting.users.assign(users.begin(), users.end());
  return accounting;
}

Expected<SlurmSite> read_slurm(std::chrono::milliseconds limit) {
  SHAPLEY_TRY_ASSIGN(const std::string config, output_of({"scontrol", "show", "config"}, limit));
  SHAPLEY_TRY_ASSIGN(const std::string partitions, output_of({"scontrol", "-a", "-o", "show", "partition"}, limit));
  SHAPLEY_TRY_ASSIGN(const std::string nodes, output_of({"scontrol", "-a", "-o", "show", "nodes"}, limit));
  SlurmSite site{.cluster = config_value(config, "ClusterName"),
                 .slurm_user = config_value(config, "SlurmUser"),
                 .accounting = std::nullopt,
                 .partitions = parse_partitions(partitions),
                 .nodes = parse_nodes(nodes)};
  add_hidden_nodes(site);
  // "slurm(64030)"
  site.slurm_user.erase(std::min(site.slurm_user.find('('), site.slurm_user.size()));
  if (config_value(config, "AccountingStorageType").ends_with("slurmdbd")) {
    SHAPLEY_TRY_ASSIGN(site.accounting, read_accounting(site.cluster, limit));
  }
  return site;
}

}  // namespace shapley::ctl
