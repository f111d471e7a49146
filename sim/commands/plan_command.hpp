// `shapley-sim plan`: a planning algorithm over one instance.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

#include "base/error.hpp"
#include "sim/input/pending_grid.hpp"

namespace shapley::sim {

struct PlanArguments {
  std::filesystem::path instance;  // empty: `queue`
  PendingQueue queue;
  std::string algorithm;
  std::uint64_t seed = 1;  // of local_rnd and mocca4_rnd
  bool json = false;
  std::filesystem::path plot;  // folder for a Gantt chart per cluster (SVG); empty: none
};

// Prints a table, or with `json` {"cmax", "score", "LB", "org_makespans", "schedule"}, fractions as "a/b";
// docs/reference/shapley-sim.md describes both.
[[nodiscard]] Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
