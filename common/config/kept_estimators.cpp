#include "config/kept_estimators.hpp"

#include <string>

namespace shapley::config {

using accounting::EstimatorId;

EstimatorId hindsight_estimator() {
  static const EstimatorId k_hindsight = accounting::parse_estimator("hindsight").value();
  return k_hindsight;
}

std::size_t most_organizations(EstimatorId estimator) {
  constexpr std::size_t k_unnamed = 2;
  return accounting::estimators()[estimator.value].most_organizations - k_unnamed;
}

void check_contribution(const Configuration& configuration, FaultList& faults) {
  const std::size_t most = most_organizations(configuration.contribution);
  if (configuration.organizations.size() <= most) return;
  const OrganizationConfig& first = configuration.organizations[most];
  const std::string name(accounting::name_of(configuration.contribution));
  faults.add(first.line,
             "organization '" + first.name + "' is one more than contribution: " + name + " can rank, which are " +
                 std::to_string(most),
             "write another contribution, such as " +
                 std::string(accounting::estimators()[configuration.contribution.value].stand_in) +
                 ", or name fewer organizations");
}

accounting::EstimatorSet kept_estimators(const Configuration& configuration) {
  accounting::EstimatorSet kept = accounting::EstimatorSet::all();
  const EstimatorId hindsight = hindsight_estimator();
  const bool is_too_much = configuration.organizations.size() > most_organizations(hindsight);
  if (!configuration.hindsight || is_too_much) kept.erase(hindsight);
  return kept;
}

}  // namespace shapley::config
