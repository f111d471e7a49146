// Charts are drawn by gnuplot, as SVG; no code of ours draws. What every script has in common.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley::charts {

struct Size {
  int width = 0;  // pixels of a screen; the picture scales
  int height = 0;
};

// Okabe and Ito's palette, which colour-blind readers can distinguish and which prints well in grey; begins again after
// k_colors.
inline constexpr std::size_t k_colors = 8;
[[nodiscard]] std::string color(std::size_t i);

// Of text and axes, and of lines behind the data.
inline constexpr std::string_view k_text_color = "#222222";
inline constexpr std::string_view k_axis_color = "#444444";
inline constexpr std::string_view k_grid_color = "#dddddd";

// A single-quoted string of gnuplot, where only the quote itself is special: no command, variable or escape within it
// is read. Its one line is printable.
[[nodiscard]] std::string quote(std::string_view text);

// The script's first lines: where the picture goes, its size, title, axes and grid. An empty title takes no room.
[[nodiscard]] std::string preamble(const std::filesystem::path& file, const std::string& title, Size size);

// Runs the script. Errc::unavailable when gnuplot is not installed, Errc::io when it could not draw; both with a
// remedy.
[[nodiscard]] Expected<void> draw(const std::filesystem::path& file, const std::string& script);

// Errc::unavailable, as above, before anything long is done for nothing.
[[nodiscard]] Expected<void> find_gnuplot();

}  // namespace shapley::charts
