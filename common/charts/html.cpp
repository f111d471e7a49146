#include "charts/html.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "charts/plot.hpp"

namespace shapley::charts {

namespace {

// A table of more columns than this does not fit on paper.
constexpr std::size_t k_paper_columns = 10;

// Per cent of the size in which a chart was drawn. Its text has 14 pixels there, and is easiest to read below 20.
constexpr int k_most_growth = 130;

// Variables of the colours that inline_svg puts into pictures; each has its contrast to the ground on either side.
constexpr std::string_view k_style =
    ":root{color-scheme:light;--text:#1b1b1b;--soft:#565656;--ground:#fff;--line:#ccc;--head:#f2f2f2;--link:#0b57a4;"
    "--axis:#444;--grid:#ddd;--own:#c0c0c0;--series-0:#0072b2;--series-1:#d55e00;--series-2:#008a65;"
    "--series-3:#b75f93;--series-4:#a87300;--series-5:#2c88b9;--series-6:#000;--series-7:#7a7a7a;"
    "--heat-0:#d6e6f4;--heat-1:#abcfe6;--heat-2:#6aaed6;--heat-3:#3787c0;--heat-4:#105ba4}\n"
    "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--text:#e6e6e6;--soft:#adadad;"
    "--ground:#16181b;--line:#444;--head:#24272b;--link:#8ec5ff;--axis:#aaa;--grid:#33373c;--own:#5b5f66;"
    "--series-0:#3d9be0;--series-1:#f0803c;--series-2:#2fbf95;--series-3:#dd95bf;--series-4:#e9b13a;"
    "--series-5:#85c9ef;--series-6:#f2f2f2;--series-7:#9a9a9a;"
    "--heat-0:#1c3850;--heat-1:#22557c;--heat-2:#2e7bb1;--heat-3:#5fa9dc;--heat-4:#bfe0f7}}\n"
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,Helvetica,Arial,sans-serif;color:var(--text);"
    "background:var(--ground);max-width:160rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}"
    "h1{line-height:1.2;margin:0 0 .5rem}h2{margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}"
    "p{max-width:46rem;margin:.5rem 0}li{max-width:62rem}a{color:var(--link)}.soft{color:var(--soft);font-size:.9rem}"
    ".bad{border:2px solid currentColor;padding:.5rem .75rem;font-weight:bold}\n"
    ".wide{overflow:auto;max-height:28rem;width:fit-content;min-width:min(100%,60rem);max-width:100%;margin:.75rem 0;"
    "border:1px solid var(--line)}"
    "table{min-width:100%;overflow-wrap:normal;border-collapse:separate;border-spacing:0;"
    "font-variant-numeric:tabular-nums;font-size:.9rem}"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}"
    "thead "
    "th{background:var(--head);position:sticky;top:0;z-index:1;vertical-align:bottom;min-width:5rem;max-width:9rem;"
    "white-space:normal;overflow-wrap:break-word}"
    "tbody th{background:var(--ground);position:sticky;left:0;font-weight:normal}"
    "thead th:first-child{left:0;z-index:2}.text{text-align:left}tbody tr:last-child>*{border-bottom:0}\n"
    "figure{margin:1rem 0}figure svg{display:block;width:100%;height:auto}.narrow{display:none}"
    "@media screen and (min-width:100rem){.beside{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));"
    "column-gap:2rem;align-items:start}}\n"
    "pre{overflow-x:auto;background:var(--head);padding:.75rem;font-size:.85rem}\n"
    ".paper{display:none}@media screen and (max-width:40rem){.narrow{display:block}"
    ".broad{display:none}h1{font-size:1.6rem}th:first-child{min-width:8rem;max-width:8rem;"
    "white-space:normal;overflow-wrap:break-word}td.text{min-width:8rem;white-space:normal}}\n"
    "@media print{@page{margin:15mm}body{max-width:none;padding:0;font-size:11pt}h2,h2+p{break-after:avoid}"
    "figure,tr{break-inside:avoid}.wide{overflow:visible;max-height:none;border:0}th,td{padding:.1rem .4rem}"
    "thead th,tbody th{position:static}a.download{display:none}.paper{display:block}.no-paper{display:none}"
    "table{font-size:8.5pt}pre{white-space:pre-wrap}}";

std::string row_html(const std::vector<tables::Column>& columns, const std::vector<std::string>& cells, bool head) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool names_row = i == 0 && !head;
    const std::string tag = head || names_row ? "th" : "td";
    const std::string scope = head ? " scope=\"col\"" : (names_row ? " scope=\"row\"" : "");
    const char* kind = columns[i].align == tables::Align::left ? " class=\"text\">" : ">";
    row += '<' + tag + scope + kind + html(cells[i]) + "</" + tag + '>';
  }
  return row + "</tr>\n";
}

std::string percent_encoded(std::string_view content) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~,:/").find(c) != std::string_view::npos;
    if (plain) {
      text += c;
    } else {
      text.append("%").append(1, k_digits[byte >> 4U]).append(1, k_digits[byte & 15U]);
    }
  }
  return text;
}

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
    table.emplace_back(numbers_of(color(i)), "var(--series-" + std::to_string(i) + ")");
  for (std::size_t i = 0; i < k_heat_steps; ++i)
    table.emplace_back(numbers_of(heat_color(i)), "var(--heat-" + std::to_string(i) + ")");
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

std::string html(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string page_begin(std::string_view title, std::string_view heading, std::int64_t reload_s) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline'\">" +
         (reload_s == 0 ? "" : "<meta http-equiv=\"refresh\" content=\"" + std::to_string(reload_s) + "\">") +
         "<title>" + html(title) + "</title><style>\n" + std::string(k_style) + "</style></head><body>\n<h1>" +
         html(heading) + "</h1>\n";
}

std::string page_end() {
  return "</body></html>\n";
}

std::string table_html(const tables::Table& table) {
  const bool fits = table.columns.size() <= k_paper_columns;
  const std::vector<std::vector<std::string>> cells = cells_for_people(table);
  std::string text = "<div class=\"wide" + std::string(fits ? "" : " no-paper") +
                     "\" tabindex=\"0\" role=\"region\" aria-label=\"" + html(table.name) + "\"><table><thead>" +
                     row_html(table.columns, cells.front(), true) + "</thead><tbody>\n";
  for (std::size_t r = 1; r < cells.size(); ++r) text += row_html(table.columns, cells[r], false);
  text += "</tbody></table></div>\n";
  if (!fits) text += "<p class=\"paper soft\">The table is too wide for paper; the page on a screen has it.</p>\n";
  return text;
}

std::string figure_html(std::string_view wide, std::string_view narrow) {
  std::string text = "<figure>";
  if (!narrow.empty()) text.append("<div class=\"narrow\">").append(narrow).append("</div>");
  return text.append(narrow.empty() ? "" : "<div class=\"broad\">")
             .append(wide)
             .append(narrow.empty() ? "" : "</div>") +
         "</figure>\n";
}

std::string download_html(std::string_view file, std::string_view content, std::string_view text) {
  return "<p><a class=\"download\" download=\"" + html(file) + "\" href=\"data:text/csv;charset=utf-8," +
         percent_encoded(content) + "\">" + html(text) + "</a></p>\n";
}

std::string beside_html(std::string_view chart, std::string_view table) {
  if (chart.empty()) return std::string(table);
  return "<div class=\"beside\"><div>\n" + std::string(chart) + "</div><div>\n" + std::string(table) + "</div></div>\n";
}

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
  std::string attributes = "<svg role=\"img\" aria-label=\"" + html(label) + '"';
  if (const auto width = width_of(svg); width > 0)
    attributes += " style=\"max-width:" + std::to_string(width * k_most_growth / 100) + "px\"";
  return svg.replace(0, std::string_view("<svg").size(), attributes);
}

}  // namespace shapley::charts
