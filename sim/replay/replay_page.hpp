// A replay as one HTML file that needs nothing else: no network, no script. Charts are gnuplot's SVG (common/charts),
// each above its table; without gnuplot the tables stand alone and the page says so.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "sim/replay/replay.hpp"

namespace shapley::sim {

// Errc::io when the file cannot be written.
[[nodiscard]] Expected<void> write_replay_page(const std::filesystem::path& file, const SiteHistory& history,
                                               const Replay& replay);

}  // namespace shapley::sim
