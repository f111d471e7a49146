// What a member could try, as changes of one organization's honest jobs (docs/strategy.md). The work that it wants done
// stays the same, to the processor second; what is junk comes on top.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/experiments/strategy/strategy_world.hpp"

namespace shapley::sim {

// What keeps the member from gaining, and can be switched off in ClusterRules.
enum class Remedy { none, retraction, placements, nice };
[[nodiscard]] std::string_view name_of(Remedy remedy);  // "-", "retraction", ...

struct Attack {
  std::string_view name;
  std::string_view about;  // one line
  Remedy remedy = Remedy::none;
  std::uint32_t attacker = 0;  // an organization of honest_scenario
  void (*apply)(ClusterScenario& scenario, std::uint32_t attacker) = nullptr;
};
[[nodiscard]] std::span<const Attack> attacks();

// The same rules without the remedy.
[[nodiscard]] ClusterRules without(Remedy remedy, ClusterRules rules);

}  // namespace shapley::sim
