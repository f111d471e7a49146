// Plots as SVG, drawn by gnuplot. Errc::unavailable when it is not installed; callers print the numbers in any case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::charts {

struct PlotPoint {
  std::string label;
  double mean = 0;
  double error = 0;  // standard error of the mean
  double median = 0;
};
// One row per policy on a logarithmic axis: the mean with its standard error, and the median.
[[nodiscard]] Expected<void> plot_unfairness(const std::filesystem::path& file, const std::string& title,
                                             const std::vector<PlotPoint>& points);

struct PlotLine {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
  bool dashed = false;
  std::size_t color = 0;
};
struct PlotAxes {
  std::string title, x, y;
  bool logarithmic = false;  // y
};
[[nodiscard]] Expected<void> plot_lines(const std::filesystem::path& file, const PlotAxes& axes,
                                        const std::vector<PlotLine>& lines);

// One box per job on its processor.
struct GanttBox {
  std::uint32_t processor = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t organization = 0;
};
[[nodiscard]] Expected<void> plot_gantt(const std::filesystem::path& file, const std::string& title,
                                        std::size_t organizations, const std::vector<GanttBox>& boxes);

// gnuplot draws all charts, as SVG. These are the common parts of all scripts.
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

// Errc::unavailable, as above: call it before long work that would be wasted.
[[nodiscard]] Expected<void> find_gnuplot();

// Plots for pages (picture.hpp), each in two shapes: one for a wide page and paper, one for a phone.
enum class Shape { wide, narrow };

// The number of lines that can be distinguished: by their colours, and from the fifth on dashed.
inline constexpr std::size_t k_most_lines = 8;
// The number of bars or cells whose labels can be read.
[[nodiscard]] constexpr std::size_t most_rows(Shape shape) {
  return shape == Shape::wide ? 40 : 30;
}
[[nodiscard]] constexpr std::size_t most_cells(Shape shape) {
  return shape == Shape::wide ? 40 : 12;
}

// The number of characters of a label beside an axis.
[[nodiscard]] constexpr std::size_t label_length(Shape shape) {
  return shape == Shape::wide ? 26 : 13;
}
// Leaves out the middle of a longer text, because names often differ at their ends. REQUIRES: most > 2.
[[nodiscard]] std::string short_label(std::string_view text, std::size_t most);

struct TimePoint {
  Instant at;
  double value = 0;
  bool begins = false;  // the line starts again here: it does not come from the point before
};
struct TimeLine {
  std::string label;
  std::vector<TimePoint> points;  // ascending
};
struct TimeAxes {
  std::string y;
  Instant since;  // < until
  Instant until;
};
// At most k_most_lines. Time in UTC.
[[nodiscard]] Expected<void> plot_over_time(const std::filesystem::path& file, const TimeAxes& axes,
                                            const std::vector<TimeLine>& lines, Shape shape);

// Horizontal bars: for each row one bar of every series.
struct BarRow {
  std::string label;
  std::vector<double> values;  // one for each series
};
[[nodiscard]] Expected<void> plot_rows(const std::filesystem::path& file, const std::string& x,
                                       const std::vector<std::string>& series, const std::vector<BarRow>& rows,
                                       Shape shape);

// A heat map: cells[row][column] by steps of their amount. The diagonal is beside the scale.
struct Matrix {
  std::string row_axis, column_axis, unit;
  std::string diagonal;  // the meaning of the diagonal
  std::vector<std::string> names;
  std::vector<std::vector<double>> cells;  // square, as long as the names; >= 0
};
[[nodiscard]] Expected<void> plot_matrix(const std::filesystem::path& file, const Matrix& matrix, Shape shape);

// The amounts at which a heat map's steps begin and end, ascending, k_heat_steps + 1 of them; the first is 0, the last
// not less than `largest`. Equal steps where the amounts differ by less than a factor of ten; else, from the second on,
// each is about three times the one before: 0, 1, 3, 10, 30, 100. REQUIRES: 0 < smallest <= largest.
[[nodiscard]] std::vector<double> heat_limits(double smallest, double largest);

}  // namespace shapley::charts
