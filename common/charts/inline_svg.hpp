// A plot as an element of a page. gnuplot writes colours as numbers; here they become variables of the page's style
// (html.hpp), so that one picture is readable on a light ground, on a dark one and on paper.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley::charts {

// Draws a plot into the file.
using Draw = std::function<Expected<void>(const std::filesystem::path& file)>;

// The steps of a heat map, from little to much, and what is beside the scale.
inline constexpr std::size_t k_heat_steps = 5;
[[nodiscard]] std::string heat_color(std::size_t step);
inline constexpr std::string_view k_own_color = "#c0c0c0";

// What it draws as <svg role="img">, `label` its name for readers who do not see it. No ids of its own, so that a page
// may hold many; it is as wide as its place, and no wider than it was drawn. Errors are those of `draw`.
[[nodiscard]] Expected<std::string> inline_svg(const Draw& draw, std::string_view label);

// gnuplot's SVG, from its first element on, with variables for colours. For tests, too.
[[nodiscard]] std::string recolored(std::string_view svg);

}  // namespace shapley::charts
