// `shapley-sim run`: policies over one instance.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/registry.hpp"

namespace shapley::sim {

struct RunArguments {
  std::filesystem::path instance;
  std::vector<std::string> policies;
  bool json = false;
  bool schedule = false;
  PolicyOptions options;
};

// Prints a table, or with `json` {"results": [...]}; docs/reference/shapley-sim.md describes both.
[[nodiscard]] Expected<void> run(const RunArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
