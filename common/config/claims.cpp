#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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
  return fmt::format("organization '{}'", organization.name);
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
    const std::string difference = first.name == organization.name ? "" : fmt::format(" as '{}'", first.name);
    faults.add(
        organization.line,
        fmt::format("organization '{}' was declared already in line {}{}", organization.name, first.line, difference),
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
                 fmt::format("{}: {} '{}' was claimed already{} in line {}", label(organization), word, rule.name, by,
                             owner.line),
                 fmt::format("jobs belong to one organization: leave the {} in one place", word));
    }
  }
}

// Into how many units a node is divided so that every share of these claims is a whole number of them: shares then add
// up without rounding. Where that is more than 10^18, 10^12 units, to which shares are rounded down.
Int128 units_of_node(const Claims& claims) {
  constexpr Int128 k_most = 1'000'000'000'000'000'000;
  constexpr Int128 k_otherwise = 1'000'000'000'000;
  Int128 units = 1;
  for (const Claim& c : claims) {
    const auto common = std::gcd(static_cast<std::int64_t>(units), c.claim->share.denominator);
    units *= c.claim->share.denominator / common;
    if (units > k_most) return k_otherwise;
  }
  return units;
}

Int128 in_units(const Share& share, Int128 units) {
  return share.numerator * units / share.denominator;
}

// The first instant at which the claims sum to more than the whole node.
std::optional<Instant> first_excess(const Claims& claims) {
  const Int128 whole = units_of_node(claims);
  std::vector<std::pair<Instant, Int128>> changes;
  for (const Claim& c : claims) {
    changes.emplace_back(c.claim->from, in_units(c.claim->share, whole));
    changes.emplace_back(c.claim->until, -in_units(c.claim->share, whole));
  }
  // At one instant ends (negative) come before begins: until is not included.
  std::sort(changes.begin(), changes.end());
  Int128 sum = 0;
  for (const auto& [at, change] : changes) {
    sum += change;
    if (sum > whole) return at;
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
  if (nodes.size() > named) text += fmt::format(" and {} more", nodes.size() - named);
  return text;
}

void report_excess(const Claims& claims, const std::vector<std::string_view>& nodes, Instant at, FaultList& faults) {
  constexpr std::size_t k_max_owners = 10;
  const Int128 whole = units_of_node(claims);
  std::string owners;
  Int128 sum = 0;
  std::size_t count = 0;
  int line = 0;
  for (const Claim& c : claims) {
    if (!c.holds_at(at)) continue;
    sum += in_units(c.claim->share, whole);
    line = std::max(line, c.claim->line);
    if (++count > k_max_owners) continue;
    const std::string& name = c.organization->name;
    owners += fmt::format("{}{} {} (line {})", owners.empty() ? "" : ", ", name.empty() ? label(*c.organization) : name,
                          format_share(c.claim->share.parts_per_million()), c.claim->line);
  }
  if (count > k_max_owners) owners += fmt::format(" and {} more", count - k_max_owners);
  // Rounded up: it is more than the whole node, as little as that may be.
  const auto parts = static_cast<std::int64_t>((sum * accounting::k_whole_node + whole - 1) / whole);
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

struct OwnedUnits {
  std::string organization;
  Int128 units = 0;
};

// The owners' parts, rounded down to parts per million. If the organizations own the whole node together, the parts
// that rounding leaves over go to those that lost most by it, of equals to the last; else commons has them with the
// rest of the node.
std::vector<accounting::OwnerPart> apportioned(const std::vector<OwnedUnits>& owned, Int128 whole) {
  std::vector<accounting::OwnerPart> owners;
  std::vector<std::pair<Int128, std::size_t>> lost;
  Int128 sum = 0;
  std::int64_t left = accounting::k_whole_node;
  for (const OwnedUnits& o : owned) {
    const Int128 exact = o.units * accounting::k_whole_node;
    lost.emplace_back(exact % whole, owners.size());
    owners.push_back({o.organization, static_cast<std::int64_t>(exact / whole)});
    left -= owners.back().parts_per_million;
    sum += o.units;
  }
  if (sum != whole) return owners;
  std::sort(lost.rbegin(), lost.rend());
  for (std::size_t i = 0; left > 0; ++i, --left) ++owners[lost[i].second].parts_per_million;
  return owners;
}

// The owners of a node at t; commons, which has what no organization owns, is not among them.
std::vector<accounting::OwnerPart> owners_at(const Claims& claims, Instant t) {
  const Int128 whole = units_of_node(claims);
  std::vector<OwnedUnits> owned;
  for (const Claim& c : claims) {
    if (!c.holds_at(t)) continue;
    const auto same = std::ranges::find(owned, c.organization->name, &OwnedUnits::organization);
    OwnedUnits& of = same == owned.end() ? owned.emplace_back(OwnedUnits{c.organization->name}) : *same;
    of.units += in_units(c.claim->share, whole);
  }
  return apportioned(owned, whole);
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
  accounting::RankingDeclared ranking{.at = at,
                                      .contribution = std::string(name_of(configuration.contribution)),
                                      .guarantee = configuration.guarantee,
                                      .exceptions = {},
                                      .guests = configuration.guests,
                                      .rule = configuration.rule};
  for (const OrganizationConfig& o : configuration.organizations) {
    if (o.guarantee != configuration.guarantee) ranking.exceptions.push_back({o.name, o.guarantee});
  }
  std::sort(ranking.exceptions.begin(), ranking.exceptions.end(),
            [](const auto& a, const auto& b) { return a.organization < b.organization; });
  return ranking;
}

std::optional<accounting::HindsightDefined> hindsight_statement(const Configuration& configuration, Instant at,
                                                                bool is_new_ledger,
                                                                const accounting::HindsightDefined* last) {
  using accounting::JobsStart;
  const JobsStart before = last == nullptr ? JobsStart::parts : last->jobs;
  JobsStart jobs = is_new_ledger ? JobsStart::whole : before;
  if (configuration.hindsight_jobs == HindsightJobs::parts) jobs = JobsStart::parts;
  if (configuration.hindsight_jobs == HindsightJobs::whole) jobs = JobsStart::whole;
  if (jobs == before) return std::nullopt;
  return accounting::HindsightDefined{at, jobs, last == nullptr ? std::vector<std::string>{} : last->kinds};
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
