#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

namespace {

std::string price_of(const SlurmPartition& partition) {
  return fmt::format("{} ({})", partition.name, partition.billing.empty() ? "no weights: CPUs" : partition.billing);
}

// What a job of one CPU and nothing else is billed, before Slurm cuts it to a whole number.
double price_of_cpu(const std::string& billing) {
  if (billing.empty()) return 1;
  for (const std::string_view weight : split(billing, ',')) {
    const std::string text = lower(weight);
    if (text.starts_with("cpu=")) return std::strtod(text.c_str() + std::string_view("cpu=").size(), nullptr);
  }
  return 0;
}

// Nodes by the partitions that they are in, where these have different prices.
std::map<std::set<std::string>, std::vector<std::string>> dear_and_cheap_nodes(const SlurmSite& slurm) {
  std::map<std::string, std::set<std::string>> prices_of_node;
  std::map<std::string, std::set<std::string>> partitions_of_node;
  for (const SlurmPartition& partition : slurm.partitions) {
    for (const std::string& node : partition.nodes) {
      prices_of_node[node].insert(partition.billing);
      partitions_of_node[node].insert(price_of(partition));
    }
  }
  std::map<std::set<std::string>, std::vector<std::string>> nodes;
  for (const auto& [node, prices] : prices_of_node) {
    if (prices.size() > 1) nodes[partitions_of_node[node]].push_back(node);
  }
  return nodes;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void compare_prices(const config::Configuration& configuration, const SlurmSite& slurm, SlurmComparison& comparison) {
  if (configuration.charge != config::Charge::billing) return;
  for (const auto& [partitions, nodes] : dear_and_cheap_nodes(slurm)) {
    comparison.doubts.push_back(
        {0,
         fmt::format("charge: billing: the partitions of {} have different TRESBillingWeights: {}. A node is worth "
                     "what the dearest bills for it, and its owner is credited less for jobs of the others",
                     collapse_names(nodes), listed(partitions)),
         "give partitions of the same nodes the same weights, or choose charge: dominant"});
  }
  std::set<std::string> for_nothing;
  for (const SlurmPartition& partition : slurm.partitions) {
    if (price_of_cpu(partition.billing) < 1) for_nothing.insert(price_of(partition));
  }
  if (for_nothing.empty()) return;
  comparison.notes.push_back(
      fmt::format("charge: billing: Slurm cuts what it bills to a whole number, so a small job may be billed 0 in {}. "
                  "Such a job is booked, and what it blocks counts as used; it costs its organization nothing and its "
                  "nodes' owners get nothing for it",
                  listed(for_nothing)));
}

}  // namespace shapley::ctl
