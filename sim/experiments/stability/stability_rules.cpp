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

namespace {

void add_further_rules(const std::string& policy, std::vector<std::string>& rules) {
  const game::ServingRule by_default = game::k_default_rule;
  game::ServingRule unweighed = by_default;
  unweighed.running = {};
  for (const std::int32_t weight : {50'000, 100'000, 250'000, 1'000'000})
    rules.push_back(policy_text(policy, {by_default.horizon, by_default.guarantee, {weight}}));
  rules.push_back(policy_text(policy, {by_default.horizon, {}, by_default.running}));
  for (const Duration horizon : {Duration{6 * 3600}, Duration{7 * k_day_s}})
    rules.push_back(policy_text(policy, {horizon, by_default.guarantee, by_default.running}));
  if (policy == "ref") return;
  rules.push_back(policy_text(policy, unweighed, true));
  rules.push_back(policy_text(policy, by_default, true));
}

}  // namespace

std::vector<std::string> rules_of(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  for (const std::string& policy : policies) {
    for (const game::Guarantee guarantee : stability_guarantees())
      for (const Duration horizon : stability_horizons()) rules.push_back(policy_text(policy, {horizon, guarantee}));
    add_further_rules(policy, rules);
  }
  return rules;
}

std::vector<std::string> rules_after_maintenance(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  for (const std::string& policy : policies) {
    for (const Duration horizon : {Duration{7 * k_day_s}, Duration{30 * k_day_s}}) {
      for (const game::Guarantee guarantee : {game::Guarantee{}, game::k_default_rule.guarantee}) {
        rules.push_back(policy_text(policy, {horizon, guarantee}, true));
        for (const std::int32_t weight : {0, 100'000, 250'000, 1'000'000})
          rules.push_back(policy_text(policy, {horizon, guarantee, {weight}}));
      }
    }
    rules.push_back(policy_text(policy, game::k_default_rule, true));
  }
  rules.insert(rules.end(), {k_fair_share, policy_text(k_fair_share, {}, true)});
  return rules;
}

}  // namespace shapley::sim
