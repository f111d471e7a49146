// Plots as SVG, drawn by gnuplot. Errc::unavailable when it is not installed: the numbers are printed anyway.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

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

// The values of one group, one bar for each series.
struct BarGroup {
  std::string label;
  std::vector<double> values;
};
[[nodiscard]] Expected<void> plot_bars(const std::filesystem::path& file, const PlotAxes& axes,
                                       const std::vector<std::string>& series, const std::vector<BarGroup>& groups);

// One box per job on its processor.
struct GanttBox {
  std::uint32_t processor = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t organization = 0;
};
[[nodiscard]] Expected<void> plot_gantt(const std::filesystem::path& file, const std::string& title,
                                        std::size_t organizations, const std::vector<GanttBox>& boxes);

}  // namespace shapley::charts
