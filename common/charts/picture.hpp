// A plot as an element of a page. gnuplot writes colours as numbers; here they become variables of the page's style
// (tables/page.hpp), so that one picture is readable on a light ground, on a dark one and on paper.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "charts/plot.hpp"

namespace shapley::charts {

// Draws a plot into the file.
using Draw = std::function<Expected<void>(const std::filesystem::path& file)>;

// The steps of a heat map, from little to much, and what is beside the scale.
inline constexpr std::size_t k_heat_steps = 5;
[[nodiscard]] std::string heat_color(std::size_t step);
inline constexpr std::string_view k_own_color = "#c0c0c0";

// The drawing as <svg role="img">, with `label` as its name for screen readers. It has no ids of its own, so that a
// page may contain many; it is as wide as its place, but not much wider than it was drawn. Errors are those of `draw`.
[[nodiscard]] Expected<std::string> inline_svg(const Draw& draw, std::string_view label);

// What a page has of a chart (figure.mustache): a picture for wide pages and paper, one for narrow pages, as markup,
// and lines of text below it.
struct Figure {
  bool is_drawn = false;
  std::string wide = {};
  std::string narrow = {};
  std::vector<std::string> notes = {};
};
SHAPLEY_DESCRIBE(Figure, is_drawn, wide, narrow, notes);

using DrawShape = std::function<Expected<void>(const std::filesystem::path& file, Shape shape)>;
// `label` is its name for readers who do not see it. Errors are those of `draw`.
[[nodiscard]] Expected<Figure> figure(std::string_view label, const DrawShape& draw);

// gnuplot's SVG, from its first element on, with variables for colours. For tests, too.
[[nodiscard]] std::string recolored(std::string_view svg);

}  // namespace shapley::charts
