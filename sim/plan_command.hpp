// `shapley-sim plan`: a planning algorithm over one instance.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

#include "base/error.hpp"

namespace shapley::sim {

struct PlanArguments {
  std::filesystem::path instance;
  std::string algorithm;
  std::uint64_t seed = 1;  // of local_rnd and mocca4_rnd
  bool json = false;
};

// Prints a table, or with `json` {"cmax", "score", "LB", "org_makespans", "schedule"}, fractions as "a/b";
// docs/reference/shapley-sim.md describes both.
[[nodiscard]] Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
