#include "config/doubts.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "config/identities.hpp"
#include "config/kept_estimators.hpp"
#include "config/organizations.hpp"

namespace shapley::config {

namespace {

// Of one user or group by two texts, a name and its number, the second rule never matches.
void doubt_second_rules(const Configuration& configuration, std::vector<Fault>& doubts) {
  const auto identities = identify(configuration);
  if (!identities) return;
  std::map<std::pair<RuleKind, std::uint32_t>, const Rule*> first;
  auto id = identities->rules.begin();
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const Rule& rule : organization.rules) {
      const std::uint32_t number = *id++;
      if (rule.kind != RuleKind::user && rule.kind != RuleKind::group) continue;
      const auto [earlier, is_new] = first.emplace(std::pair(rule.kind, number), &rule);
      if (is_new) continue;
      const std::string word(word_of(rule.kind));
      doubts.push_back({rule.line,
                        "organization '" + organization.name + "': the rule of " + word + " '" + rule.name +
                            "' never matches: it is " + word + " '" + earlier->second->name + "' of line " +
                            std::to_string(earlier->second->line) + ", whose rule comes first",
                        "leave the " + word + " in one place"});
    }
  }
}

}  // namespace

std::vector<Fault> doubts(const Configuration& configuration) {
  std::vector<Fault> doubts;
  for (const OrganizationConfig& organization : configuration.organizations) {
    if (!organization.rules.empty() || !organization.nodes.empty()) continue;
    doubts.push_back({organization.line, "organization '" + organization.name + "' has neither rules nor nodes",
                      "no job is booked under it and it lends nothing; give it accounts or nodes, or leave it out"});
  }
  doubt_second_rules(configuration, doubts);
  std::ranges::stable_sort(doubts, {}, &Fault::line);
  const accounting::EstimatorSet kept = kept_estimators(configuration);
  if (configuration.hindsight && !kept.contains(hindsight_estimator())) {
    doubts.push_back({0,
                      "hindsight is not kept for more than " +
                          std::to_string(most_organizations(hindsight_estimator())) + " organizations",
                      "the other estimators are; write hindsight: off to say that this is as it should be"});
  }
  return doubts;
}

}  // namespace shapley::config
