// Planning instances as JSON files: {"m": [m0, ...], "jobs": [{"id": 7, "owner": 0, "p": 3, "q": 2}, ...]}, alone or as
// the member "input" of a file that holds expected results beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "planning/model/grid.hpp"

namespace shapley::sim {

struct NamedGrid {
  planning::Grid grid;
  std::vector<std::int64_t> ids;   // of the jobs, as the file or trace names them
  std::vector<std::string> names;  // of the organizations; empty: they have numbers only
};

// Errors name the file and the member at fault. The grid is validated.
[[nodiscard]] Expected<NamedGrid> read_grid(const std::filesystem::path& file);
[[nodiscard]] Expected<NamedGrid> parse_grid_json(std::string_view text);

}  // namespace shapley::sim
