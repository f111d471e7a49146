#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "config/settings.hpp"
#include "config/values.hpp"

namespace shapley::config {

namespace {

struct Claim {
  const OrganizationConfig* organization;
  const NodeClaim* claim;
  [[nodiscard]] bool holds_at(Instant t) const { return claim->from <= t && t < claim->until; }
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

// The claims on one node, in file order.
using Claims = std::vector<Claim>;

// The name by which messages call an organization whose own name may be at fault.
std::string label(const OrganizationConfig& organization) {
  if (organization.name.empty()) return "the organization of line " + std::to_string(organization.line);
  return "organization '" + organization.name + "'";
}

std::map<std::string_view, Claims> claims_by_node(const std::vector<OrganizationConfig>& organizations) {
  std::map<std::string_view, Claims> claims;
  for (const OrganizationConfig& organization : organizations) {
    for (const NodeClaim& claim : organization.nodes) {
      for (const std::string& node : claim.nodes) claims[node].push_back({&organization, &claim});
    }
  }
  return claims;
}

void check_names(const std::vector<OrganizationConfig>& organizations, FaultList& faults) {
  std::map<std::string, const OrganizationConfig*> seen;
  for (const OrganizationConfig& organization : organizations) {
    if (organization.name.empty()) continue;
    const auto [earlier, is_new] = seen.emplace(lower(organization.name), &organization);
    if (is_new) continue;
    const OrganizationConfig& first = *earlier->second;
    const std::string difference = first.name == organization.name ? "" : " as '" + first.name + "'";
    faults.add(organization.line,
               "organization '" + organization.name + "' was declared already in line " + std::to_string(first.line) +
                   difference,
               "merge the two, or choose names that differ in more than capitals");
  }
}

void check_rules(const std::vector<OrganizationConfig>& organizations, FaultList& faults) {
  struct Owner {
    const OrganizationConfig* organization;
    int line;
  };
  std::map<std::pair<RuleKind, std::string_view>, Owner> seen;
  for (const OrganizationConfig& organization : organizations) {
    for (const Rule& rule : organization.rules) {
      const auto [earlier, is_new] =
          seen.emplace(std::pair{rule.kind, std::string_view(rule.name)}, Owner{&organization, rule.line});
      if (is_new) continue;
      const Owner& owner = earlier->second;
      const std::string by = owner.organization == &organization ? "" : " by " + label(*owner.organization);
      const std::string word(names_of(rule.kind).word);
      faults.add(rule.line,
                 label(organization) + ": " + word + " '" + rule.name + "' was claimed already" + by + " in line " +
                     std::to_string(owner.line),
                 "jobs belong to one organization: leave the " + word + " in one place");
    }
  }
}

// The first instant at which the claims sum to more than the whole node.
std::optional<Instant> first_excess(const Claims& claims) {
  std::vector<std::pair<Instant, std::int64_t>> changes;
  for (const Claim& c : claims) {
    changes.emplace_back(c.claim->from, c.claim->parts_per_million);
    changes.emplace_back(c.claim->until, -c.claim->parts_per_million);
  }
  // At one instant ends (negative) come before begins: until is not included.
  std::sort(changes.begin(), changes.end());
  std::int64_t parts = 0;
  for (const auto& [at, change] : changes) {
    parts += change;
    if (parts > accounting::k_whole_node) return at;
  }
  return std::nullopt;
}

// "n3", "n3 and n4", "n3, n4, n5 and 1997 more".
std::string some_of(const std::vector<std::string_view>& nodes) {
  constexpr std::size_t k_named = 3;
  const std::size_t named = std::min(nodes.size(), k_named);
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += nodes[i];
  }
  if (nodes.size() > named) text += " and " + std::to_string(nodes.size() - named) + " more";
  return text;
}

void report_excess(const Claims& claims, const std::vector<std::string_view>& nodes, Instant at, FaultList& faults) {
  constexpr std::size_t k_max_owners = 10;
  std::string owners;
  std::int64_t parts = 0;
  std::size_t count = 0;
  int line = 0;
  for (const Claim& c : claims) {
    if (!c.holds_at(at)) continue;
    parts += c.claim->parts_per_million;
    line = std::max(line, c.claim->line);
    if (++count > k_max_owners) continue;
    const std::string& name = c.organization->name;
    owners += (owners.empty() ? "" : ", ") + (name.empty() ? label(*c.organization) : name) + ' ' +
              format_share(c.claim->parts_per_million) + " (line " + std::to_string(c.claim->line) + ')';
  }
  if (count > k_max_owners) owners += " and " + std::to_string(count - k_max_owners) + " more";
  const std::string when = at == k_beginning_of_time ? "" : " from " + format_instant(at);
  const bool one = nodes.size() == 1;
  faults.add(line,
             (one ? "node " : "nodes ") + some_of(nodes) + (one ? " is" : " are") + " owned to " + format_share(parts) +
                 when + ": " + owners,
             "correct shares or dates so that they never sum to more than 100 %");
}

// Nodes claimed by the same claims are one fault, not thousands.
void check_ownership(const std::vector<OrganizationConfig>& organizations, FaultList& faults) {
  const auto by_node = claims_by_node(organizations);
  std::map<Claims, std::vector<std::string_view>> nodes_by_claims;
  for (const auto& [node, claims] : by_node) nodes_by_claims[claims].push_back(node);
  for (const auto& [claims, nodes] : nodes_by_claims) {
    if (const auto at = first_excess(claims)) report_excess(claims, nodes, *at, faults);
  }
}

// The owners of a node at t; commons, which has what no organization owns, is not among them.
std::vector<accounting::OwnerPart> owners_at(const Claims& claims, Instant t) {
  std::vector<accounting::OwnerPart> owners;
  for (const Claim& c : claims) {
    if (!c.holds_at(t)) continue;
    const std::string& name = c.organization->name;
    const auto same = std::find_if(owners.begin(), owners.end(), [&](const auto& o) { return o.organization == name; });
    if (same == owners.end()) {
      owners.push_back({name, c.claim->parts_per_million});
    } else {
      same->parts_per_million += c.claim->parts_per_million;
    }
  }
  return owners;
}

std::vector<accounting::OwnershipSpan> spans_of(const Claims& claims) {
  std::vector<Instant> dates{k_beginning_of_time};
  for (const Claim& c : claims) {
    dates.push_back(c.claim->from);
    if (c.claim->until < k_end_of_time) dates.push_back(c.claim->until);
  }
  std::sort(dates.begin(), dates.end());
  std::vector<accounting::OwnershipSpan> spans;
  for (const Instant date : dates) {
    auto owners = owners_at(claims, date);
    if (spans.empty() || spans.back().owners != owners) spans.push_back({date, std::move(owners)});
  }
  return spans;
}

}  // namespace

void check_claims(const std::vector<OrganizationConfig>& organizations, FaultList& faults) {
  check_names(organizations, faults);
  check_rules(organizations, faults);
  check_ownership(organizations, faults);
}

std::vector<accounting::OwnershipStated> ownership_statements(const Configuration& configuration, Instant effective) {
  std::vector<accounting::OwnershipStated> statements;
  for (const auto& [node, claims] : claims_by_node(configuration.organizations)) {
    statements.push_back({std::string(node), effective, spans_of(claims)});
  }
  return statements;
}

accounting::RankingDeclared ranking_statement(const Configuration& configuration, Instant at) {
  accounting::RankingDeclared ranking{at,
                                      std::string(name_of(configuration.contribution)),
                                      configuration.horizon.value,
                                      configuration.guarantee,
                                      {},
                                      configuration.running_weight};
  for (const OrganizationConfig& o : configuration.organizations) {
    if (o.guarantee != configuration.guarantee) ranking.exceptions.push_back({o.name, o.guarantee});
  }
  std::sort(ranking.exceptions.begin(), ranking.exceptions.end(),
            [](const auto& a, const auto& b) { return a.organization < b.organization; });
  return ranking;
}

// The rule of charging without the keys that this kind of charge does not use.
accounting::ChargeDeclared charge_statement(const Configuration& configuration, Instant at) {
  accounting::ChargeDeclared charge{at, std::string(name_of(configuration.charge)), {}, {}};
  if (configuration.charge == Charge::weights) {
    for (const auto& [name, weight] : configuration.weights) charge.weights.push_back({name, weight});
    std::sort(charge.weights.begin(), charge.weights.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  for (const NodeWeight& w : configuration.node_weights) charge.node_weights.push_back({w.expression, w.weight});
  return charge;
}

accounting::ConsortiumDeclared consortium_statement(const Configuration& configuration,
                                                    const std::vector<std::string>& keys, Instant at) {
  const ConsortiumConfig& consortium = configuration.consortium;
  accounting::ConsortiumDeclared declared{at, consortium.name, consortium.weight, {}};
  for (std::size_t i = 0; i < consortium.clusters.size(); ++i) {
    const OtherClusterConfig& other = consortium.clusters[i];
    declared.clusters.push_back({other.name, other.weight, other.stale_after.value, keys.at(i), other.names});
  }
  std::sort(declared.clusters.begin(), declared.clusters.end(),
            [](const auto& a, const auto& b) { return a.cluster < b.cluster; });
  return declared;
}

}  // namespace shapley::config
