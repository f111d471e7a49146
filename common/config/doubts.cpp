#include "config/doubts.hpp"

#include <string>

#include "config/kept_estimators.hpp"

namespace shapley::config {

std::vector<Fault> doubts(const Configuration& configuration) {
  std::vector<Fault> doubts;
  for (const OrganizationConfig& organization : configuration.organizations) {
    if (!organization.rules.empty() || !organization.nodes.empty()) continue;
    doubts.push_back({organization.line, "organization '" + organization.name + "' has neither rules nor nodes",
                      "no job is booked under it and it lends nothing; give it accounts or nodes, or leave it out"});
  }
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
