#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/slurm_text.hpp"
#include "config/checks.hpp"
#include "config/settings.hpp"
#include "config/values.hpp"

namespace shapley::config {

namespace {

using accounting::OwnerPart;
using accounting::OwnershipSpan;

void compare_values(const Configuration& before, const Configuration& after, std::vector<std::string>& lines) {
  for (const Row<Configuration>& row : file_rows()) {
    if (!row.text) continue;
    const std::string was = row.text(before);
    const std::string is = row.text(after);
    if (was != is) lines.push_back(fmt::format("key {}: {} -> {}", row.key.name, was, is));
  }
}

void compare_clusters(const ConsortiumConfig& before, const ConsortiumConfig& after, std::vector<std::string>& lines) {
  const auto find = [](const ConsortiumConfig& in, const std::string& name) {
    const auto found = std::ranges::find(in.clusters, name, &OtherClusterConfig::name);
    return found == in.clusters.end() ? nullptr : &*found;
  };
  for (const OtherClusterConfig& cluster : after.clusters) {
    if (find(before, cluster.name) == nullptr) {
      lines.push_back(fmt::format("cluster {}: new, {}", cluster.name, cluster_text(cluster)));
    }
  }
  for (const OtherClusterConfig& cluster : before.clusters) {
    const OtherClusterConfig* now = find(after, cluster.name);
    if (now == nullptr) {
      lines.push_back(
          fmt::format("cluster {}: no longer named; what is owed there does not count any more", cluster.name));
    } else if (cluster_text(cluster) != cluster_text(*now)) {
      lines.push_back(fmt::format("cluster {}: {} -> {}", cluster.name, cluster_text(cluster), cluster_text(*now)));
    }
  }
}

const OrganizationConfig* organization_of(const Configuration& configuration, const std::string& name) {
  const auto found = std::ranges::find(configuration.organizations, name, &OrganizationConfig::name);
  return found == configuration.organizations.end() ? nullptr : &*found;
}

// The organizations that both have, in the order of the first.
std::vector<std::string> common_names(const Configuration& of, const Configuration& with) {
  std::vector<std::string> names;
  for (const OrganizationConfig& o : of.organizations) {
    if (organization_of(with, o.name) != nullptr) names.push_back(o.name);
  }
  return names;
}

// What the file's own key of the same name says, which holds for organizations that say nothing; a change of it is
// reported there. Empty: the file has no such key.
std::string value_of_file(const Row<OrganizationConfig>& of, const Configuration& configuration) {
  const auto row =
      std::ranges::find(file_rows(), of.key.name, [](const Row<Configuration>& each) { return each.key.name; });
  return row == file_rows().end() ? "" : row->text(configuration);
}

void compare_organizations(const Configuration& before, const Configuration& after, std::vector<std::string>& lines) {
  for (const OrganizationConfig& o : after.organizations) {
    if (organization_of(before, o.name) == nullptr) lines.push_back(fmt::format("organization {}: new", o.name));
  }
  for (const OrganizationConfig& o : before.organizations) {
    const OrganizationConfig* now = organization_of(after, o.name);
    if (now == nullptr) {
      lines.push_back(
          fmt::format("organization {}: no longer named; it keeps its row and its standing in the books", o.name));
      continue;
    }
    for (const Row<OrganizationConfig>& row : organization_rows()) {
      if (!row.text) continue;
      const std::string was = row.text(o);
      const std::string is = row.text(*now);
      if (was == is || (was == value_of_file(row, before) && is == value_of_file(row, after))) continue;
      lines.push_back(fmt::format("organization {}: {} {} -> {}", o.name, row.key.name, was, is));
    }
  }
  if (common_names(before, after) != common_names(after, before)) {
    lines.emplace_back("organizations: another order, which breaks ties of rank and says whose rules are tried first");
  }
}

using RuleName = std::pair<RuleKind, std::string>;

// The organization that each rule is for: the first one that names it.
std::map<RuleName, std::string> owners_of_rules(const Configuration& configuration) {
  std::map<RuleName, std::string> owners;
  for (const OrganizationConfig& o : configuration.organizations) {
    for (const Rule& rule : o.rules) owners.emplace(RuleName{rule.kind, rule.name}, o.name);
  }
  return owners;
}

std::vector<RuleName> rule_order(const Configuration& configuration) {
  std::vector<RuleName> order;
  for (const OrganizationConfig& o : configuration.organizations) {
    for (const Rule& rule : o.rules) order.emplace_back(rule.kind, rule.name);
  }
  return order;
}

void compare_rules(const Configuration& before, const Configuration& after, std::vector<std::string>& lines) {
  const auto old_owners = owners_of_rules(before);
  const auto new_owners = owners_of_rules(after);
  const std::size_t so_far = lines.size();
  const auto name_of_rule = [](const RuleName& rule) {
    return fmt::format("{} {}", names_of(rule.first).word, rule.second);
  };
  for (const auto& [rule, owner] : new_owners) {
    const auto old = old_owners.find(rule);
    if (old == old_owners.end()) {
      lines.push_back(fmt::format("{}: new, -> {}", name_of_rule(rule), owner));
    } else if (old->second != owner) {
      lines.push_back(
          fmt::format("{}: {} -> {}, for runs that begin from then on", name_of_rule(rule), old->second, owner));
    }
  }
  for (const auto& [rule, owner] : old_owners) {
    if (!new_owners.contains(rule))
      lines.push_back(fmt::format("{}: no longer named, was of {}", name_of_rule(rule), owner));
  }
  if (lines.size() == so_far && rule_order(before) != rule_order(after)) {
    lines.emplace_back("rules: another order, which matters for jobs that several match");
  }
}

std::string owners_text(std::vector<OwnerPart> owners) {
  if (owners.empty()) return "commons";
  std::ranges::sort(owners, {}, &OwnerPart::organization);
  std::string text;
  for (const OwnerPart& part : owners) {
    if (!text.empty()) text += " and ";
    text += part.organization;
    if (part.parts_per_million != accounting::k_whole_node) text += ' ' + part_text(part.parts_per_million);
  }
  return text;
}

// The owners of the node at `now`, and the changes that are agreed on for later.
std::string ownership_text(const std::vector<OwnershipSpan>& spans, Instant now) {
  std::string text = "commons";
  for (const OwnershipSpan& span : spans) {
    if (span.from <= now) {
      text = owners_text(span.owners);
    } else {
      text += fmt::format(", from {} {}", format_instant(span.from), owners_text(span.owners));
    }
  }
  return text;
}

std::map<std::string, std::string> ownership_texts(const Configuration& configuration, Instant now) {
  std::map<std::string, std::string> texts;
  for (const accounting::OwnershipStated& statement : ownership_statements(configuration, now)) {
    texts[statement.node] = ownership_text(statement.spans, now);
  }
  return texts;
}

void compare_nodes(const Configuration& before, const Configuration& after, Instant now,
                   std::vector<std::string>& lines) {
  const auto old_owners = ownership_texts(before, now);
  const auto new_owners = ownership_texts(after, now);
  const auto owner = [](const std::map<std::string, std::string>& owners, const std::string& node) {
    const auto found = owners.find(node);
    return found == owners.end() ? std::string("commons") : found->second;
  };
  std::set<std::string> nodes;
  for (const auto* owners : {&old_owners, &new_owners}) {
    std::ranges::transform(*owners, std::inserter(nodes, nodes.end()), [](const auto& entry) { return entry.first; });
  }
  // Nodes that change alike are reported in one line.
  std::map<std::string, std::vector<std::string>> by_change;
  for (const std::string& node : nodes) {
    const std::string was = owner(old_owners, node);
    const std::string is = owner(new_owners, node);
    if (was != is) by_change[fmt::format("{} -> {}", was, is)].push_back(node);
  }
  for (const auto& [change, changed] : by_change)
    lines.push_back(fmt::format("nodes {}: {}", collapse_names(changed), change));
}

}  // namespace

std::vector<std::string> differences(const Configuration& before, const Configuration& after, Instant now) {
  std::vector<std::string> lines;
  compare_values(before, after, lines);
  compare_clusters(before.consortium, after.consortium, lines);
  compare_organizations(before, after, lines);
  compare_rules(before, after, lines);
  compare_nodes(before, after, now, lines);
  return lines;
}

}  // namespace shapley::config
