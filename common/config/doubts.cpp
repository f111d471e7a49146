#include "config/doubts.hpp"

namespace shapley::config {

std::vector<Fault> doubts(const Configuration& configuration) {
  std::vector<Fault> doubts;
  for (const OrganizationConfig& organization : configuration.organizations) {
    if (!organization.rules.empty() || !organization.nodes.empty()) continue;
    doubts.push_back({organization.line, "organization '" + organization.name + "' has neither rules nor nodes",
                      "no job is booked under it and it lends nothing; give it accounts or nodes, or leave it out"});
  }
  return doubts;
}

}  // namespace shapley::config
