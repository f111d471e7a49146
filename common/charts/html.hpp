// Pages of HTML that need nothing else: no network, no script, one file. Light, dark and print, wide and narrow.
//
// Text that a caller passes is not trusted (names and titles of organizations) and is escaped here; what is called
// markup is not escaped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tables/table.hpp"

namespace shapley::charts {

// Text between tags or in a quoted attribute: markup's characters as references, and printable (base/printable.hpp).
[[nodiscard]] std::string html(std::string_view text);

// From the doctype up to <body> and its heading; and the end of a page. The page's policy forbids loading or running
// anything.
// `reload_s`: browsers load the page again after so many seconds; 0: they do not.
[[nodiscard]] std::string page_begin(std::string_view title, std::string_view heading, std::int64_t reload_s = 0);
[[nodiscard]] std::string page_end();

// The table, as people see it, in a box that scrolls by itself, so that the page does not. The first row and column
// stay in sight; the table's name is that of the box, for screen readers.
[[nodiscard]] std::string table_html(const tables::Table& table);

// One picture for wide pages and paper, one for narrow pages (markup: inline_svg); `narrow` may be empty.
[[nodiscard]] std::string figure_html(std::string_view wide, std::string_view narrow);

// A chart with its notes, and the table of its amounts with its own (markup): on a screen that is wide enough the one
// beside the other, else below it. An empty chart takes no room.
[[nodiscard]] std::string beside_html(std::string_view chart, std::string_view table);

// A link that saves `content` as `file`, which is within the page: no server is asked.
[[nodiscard]] std::string download_html(std::string_view file, std::string_view content, std::string_view text);

// A plot as an element of a page. gnuplot writes colours as numbers; here they become variables of the page's style
// (html.hpp), so that one picture is readable on a light ground, on a dark one and on paper.

// Draws a plot into the file.
using Draw = std::function<Expected<void>(const std::filesystem::path& file)>;

// The steps of a heat map, from little to much, and what is beside the scale.
inline constexpr std::size_t k_heat_steps = 5;
[[nodiscard]] std::string heat_color(std::size_t step);
inline constexpr std::string_view k_own_color = "#c0c0c0";

// The drawing as <svg role="img">, with `label` as its name for screen readers. It has no ids of its own, so that a
// page may contain many; it is as wide as its place, but not much wider than it was drawn. Errors are those of `draw`.
[[nodiscard]] Expected<std::string> inline_svg(const Draw& draw, std::string_view label);

// gnuplot's SVG, from its first element on, with variables for colours. For tests, too.
[[nodiscard]] std::string recolored(std::string_view svg);

}  // namespace shapley::charts
