// Pages of HTML that need nothing else: no network, no script, one file. Light, dark and print, wide and narrow. A page
// is a template (mustache) that is filled with values. Pure.
//
// Values are not trusted (names and titles of organizations): {{name}} in a template is escaped, also within a quoted
// attribute. {{{name}}} is for markup, which is not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tables/table.hpp"

namespace shapley::tables {

// Text as text of a page: markup's characters as references, and printable (base/printable.hpp).
[[nodiscard]] std::string html(std::string_view text);

// A file of templates, as it is called and what it contains.
struct Template {
  std::string_view name;
  std::string_view text;
};

// Those that every page may use ({{> name}}):
//   head.mustache    from the doctype up to the heading, of page_values
//   table.mustache   of table_values
//   sheet.mustache   a table and a link that saves its exact values, of sheet_values
//   figure.mustache  a chart and its notes, or the notes alone: a Figure (charts/picture.hpp)
//   beside.mustache  a `figure` and a `sheet`: on a screen that is wide enough the one beside the other, else below it;
//                    the sheet alone where `figure` is null
[[nodiscard]] std::span<const Template> common_templates();

// The template of this name, filled with `values`. Besides those of this list, it may use the common ones. A line of a
// template that has nothing but the tag of a section or of another template adds no line to the page. Instants are
// written in words (instants.hpp). REQUIRES: the values that a template names are there; null stands for nothing.
[[nodiscard]] std::string rendered(std::string_view name, std::span<const Template> templates,
                                   const nlohmann::json& values);

// The page's policy forbids loading or running anything. `reload_s`: browsers load the page again after so many
// seconds; 0: they do not.
[[nodiscard]] nlohmann::json page_values(const std::string& title, const std::string& heading,
                                         std::int64_t reload_s = 0);

// The table, as people see it, in a box that scrolls by itself, so that the page does not. The first row and column
// stay in sight; the table's name is that of the box, for screen readers.
[[nodiscard]] nlohmann::json table_values(const Table& table);

// The table alone, or with a file of exact values, which is within the page: no server is asked.
[[nodiscard]] nlohmann::json sheet_values(const Table& table);
[[nodiscard]] nlohmann::json sheet_values(const Table& table, std::string_view file, const Table& values);

}  // namespace shapley::tables
