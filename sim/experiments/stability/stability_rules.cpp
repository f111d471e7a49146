#include "sim/experiments/stability/stability_rules.hpp"

#include "base/calendar.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

std::vector<Duration> stability_horizons() {
  return {{0}, {3600}, {6 * 3600}, {k_day_s}, {7 * k_day_s}, {30 * k_day_s}};
}

std::vector<game::Guarantee> stability_guarantees() {
  return {{0}, {500'000}, {800'000}};
}

std::vector<std::string> rules_of(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  for (const std::string& policy : policies)
    for (const game::Guarantee guarantee : stability_guarantees())
      for (const Duration horizon : stability_horizons()) rules.push_back(policy_text(policy, {horizon, guarantee}));
  return rules;
}

}  // namespace shapley::sim
