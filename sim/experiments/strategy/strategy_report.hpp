// The results of `experiment strategy` for people and programs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/comparison/statistics.hpp"
#include "sim/experiments/strategy/strategy_measures.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

// The attacker's change against playing honestly, over seeds.
struct StrategyEffect {
  Summary work_percent;
  std::optional<Summary> phi_percent;  // none: the honest organization is credited nothing
  Summary delay_s;
};
// REQUIRES: at least one.
[[nodiscard]] StrategyEffect summarize_changes(const std::vector<StrategyChange>& changes);

struct AttackResult {
  std::string attack;
  std::string about;
  std::string remedy;                    // "-": there is none
  StrategyEffect with;                   // the remedy, or what there is
  std::optional<StrategyEffect> before;  // without the remedy
};

// One case under one estimator.
struct StrategyTable {
  std::string name;
  std::string about;
  std::string contribution;
  std::size_t seeds = 0;  // that were finished
  std::vector<AttackResult> rows;
};
void print_strategy(const StrategyTable& table, std::ostream& out);
// What the attacks are, a line each.
void print_attacks(const StrategyTable& table, std::ostream& out);
[[nodiscard]] Json to_json(const StrategyTable& table);

}  // namespace shapley::sim
