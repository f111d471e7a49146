#include "charts/picture.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/files.hpp"
#include "tables/page.hpp"

namespace shapley::charts {

namespace {

// Per cent of the size in which a chart was drawn. Its text has 14 pixels there, and is easiest to read below 20.
constexpr int k_most_growth = 130;

constexpr std::array k_heat{"#d6e6f4", "#abcfe6", "#6aaed6", "#3787c0", "#105ba4"};
static_assert(k_heat.size() == k_heat_steps);

// "#0072b2" as the three numbers that gnuplot writes, without the blanks that it sets before short ones.
std::string numbers_of(std::string_view hexadecimal) {
  std::string text;
  for (std::size_t at = 1; at + 1 < hexadecimal.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(hexadecimal.data() + at, hexadecimal.data() + at + 2, value, 16);
    text += (text.empty() ? "" : ",") + std::to_string(value);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> variables() {
  std::vector<std::pair<std::string, std::string>> table{{numbers_of(k_text_color), "var(--text)"},
                                                         {numbers_of(k_axis_color), "var(--axis)"},
                                                         {numbers_of(k_grid_color), "var(--grid)"},
                                                         {numbers_of(k_own_color), "var(--own)"}};
  for (std::size_t i = 0; i < k_colors; ++i)
    table.emplace_back(numbers_of(color(i)), fmt::format("var(--series-{})", i));
  for (std::size_t i = 0; i < k_heat_steps; ++i)
    table.emplace_back(numbers_of(heat_color(i)), fmt::format("var(--heat-{})", i));
  return table;
}

std::string with_variables(std::string_view svg) {
  static const auto table = variables();
  constexpr std::string_view k_begin = "rgb(";
  std::string text;
  for (std::size_t at = 0; at < svg.size();) {
    const std::size_t begin = std::min(svg.find(k_begin, at), svg.size());
    text += svg.substr(at, begin - at);
    if (begin == svg.size()) break;
    const std::size_t end = std::min(svg.find(')', begin), svg.size() - 1);
    std::string numbers(svg.substr(begin + k_begin.size(), end - begin - k_begin.size()));
    std::erase_if(numbers, [](unsigned char c) { return std::isspace(c) != 0; });
    const auto found = std::ranges::find(table, numbers, &std::pair<std::string, std::string>::first);
    text += found == table.end() ? std::string(svg.substr(begin, end + 1 - begin)) : found->second;
    at = end + 1;
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Takes away from `begin` up to `end`, every time.
void cut_all(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const std::size_t last = text.find(end, at + begin.size());
    if (last == std::string::npos) return;
    text.erase(at, last + end.size() - at);
  }
}

// "0 0 860 480": its third number, or 0 where it is missing.
int width_of(std::string_view svg) {
  constexpr std::string_view k_box = "viewBox=\"0 0 ";
  const std::size_t at = svg.find(k_box);
  int width = 0;
  if (at != std::string_view::npos) std::from_chars(svg.data() + at + k_box.size(), svg.data() + svg.size(), width);
  return width;
}

}  // namespace

std::string heat_color(std::size_t step) {
  return k_heat[std::min(step, k_heat_steps - 1)];
}

std::string recolored(std::string_view svg) {
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string_view::npos) return {};
  std::string text = with_variables(svg.substr(begin));
  // Shapes of points have ids, which several pictures of one page would share; no plot of a page has points.
  cut_all(text, "<defs>", "</defs>");
  cut_all(text, "<title>", "</title>");
  cut_all(text, "<desc>", "</desc>");
  cut_all(text, " id=\"", "\"");
  replace_all(text, "fill=\"#ffffff\"", "fill=\"none\"");
  replace_all(text, "\"black\"", "\"currentColor\"");
  replace_all(text, "color=\"white\"", "color=\"currentColor\"");
  replace_all(text, "font-family=\"Helvetica\"", "font-family=\"inherit\"");
  return text;
}

Expected<std::string> inline_svg(const Draw& draw, std::string_view label) {
  std::string name = (std::filesystem::temp_directory_path() / "shapley-chart.XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return fail(Errc::io, "chart: no temporary file in " + name);
  close(descriptor);
  const auto drawn = draw(name);
  const auto text = read_text_file(name, k_max_document);
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!drawn) return tl::unexpected<Error>(drawn.error());
  SHAPLEY_TRY(text);
  std::string svg = recolored(*text);
  if (svg.empty()) return fail(Errc::io, "chart: gnuplot drew no SVG");
  std::string attributes = fmt::format("<svg role=\"img\" aria-label=\"{}\"", tables::html(label));
  if (const auto width = width_of(svg); width > 0)
    attributes += fmt::format(" style=\"max-width:{}px\"", width * k_most_growth / 100);
  return svg.replace(0, std::string_view("<svg").size(), attributes);
}

Expected<Figure> figure(std::string_view label, const DrawShape& draw) {
  Figure figure{.is_drawn = true};
  const auto drawn = [&](Shape shape) {
    return inline_svg([&](const std::filesystem::path& file) { return draw(file, shape); }, label);
  };
  SHAPLEY_TRY_ASSIGN(figure.wide, drawn(Shape::wide));
  SHAPLEY_TRY_ASSIGN(figure.narrow, drawn(Shape::narrow));
  return figure;
}

}  // namespace shapley::charts
