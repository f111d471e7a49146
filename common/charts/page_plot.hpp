// Plots for pages (inline_svg.hpp), each in two shapes: one for a wide page and paper, one for a phone.
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

enum class Shape { wide, narrow };

// So many lines can be told from each other: by their colours, and from the fifth on dashed.
inline constexpr std::size_t k_most_lines = 8;
// Bars and cells whose labels can be read.
[[nodiscard]] constexpr std::size_t most_rows(Shape shape) {
  return shape == Shape::wide ? 40 : 30;
}
[[nodiscard]] constexpr std::size_t most_cells(Shape shape) {
  return shape == Shape::wide ? 40 : 12;
}

// Characters of a label beside an axis.
[[nodiscard]] constexpr std::size_t label_length(Shape shape) {
  return shape == Shape::wide ? 26 : 13;
}
// Of a longer text the middle is left out, for names often differ at their ends. REQUIRES: most > 2.
[[nodiscard]] std::string short_label(std::string_view text, std::size_t most);

struct TimePoint {
  Instant at;
  double value = 0;
  bool begins = false;  // the line starts anew here: it does not come from the point before
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
  std::string diagonal;  // what it is
  std::vector<std::string> names;
  std::vector<std::vector<double>> cells;  // square, as long as the names; >= 0
};
[[nodiscard]] Expected<void> plot_matrix(const std::filesystem::path& file, const Matrix& matrix, Shape shape);

// The amounts at which a heat map's steps begin and end, ascending, k_heat_steps + 1 of them; the first is 0, the last
// not less than `largest`. Equal steps where the amounts differ by less than a factor of ten; else, from the second on,
// each is about three times the one before: 0, 1, 3, 10, 30, 100. REQUIRES: 0 < smallest <= largest.
[[nodiscard]] std::vector<double> heat_limits(double smallest, double largest);

}  // namespace shapley::charts
