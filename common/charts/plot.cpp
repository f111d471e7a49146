#include "charts/plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "charts/gnuplot.hpp"

namespace shapley::charts {

Expected<void> plot_unfairness(const std::filesystem::path& file, const std::string& title,
                               const std::vector<PlotPoint>& points) {
  std::vector<PlotPoint> rows = points;
  std::stable_sort(rows.begin(), rows.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.mean > b.mean; });
  double smallest = 0;
  for (const PlotPoint& row : rows) {
    for (const double value : {row.mean, row.median})
      if (value > 0 && (smallest == 0 || value < smallest)) smallest = value;
  }
  // A logarithmic axis has no zero: a mean of 0 is drawn at its left end.
  const double floor = smallest > 0 ? std::pow(10, std::floor(std::log10(smallest))) / 2 : 1;
  std::ostringstream script;
  script << preamble(file, title, {.width = 800, .height = 150 + 34 * static_cast<int>(rows.size())})
         << "set logscale x\nset format x '%g'\nset xlabel 'delta-psi / p_tot (seconds; smaller is fairer)'\n"
         << "set xrange [" << floor << ":]\nset yrange [-0.6:" << static_cast<double>(rows.size()) - 0.4
         << "]\nset bmargin 6\nset key at screen 0.5,0.04 center center horizontal width -6 samplen 2\n$data << END\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto clip = [&](double value) { return std::max(value, floor); };
    script << rows[i].label << ' ' << i << ' ' << clip(rows[i].mean) << ' ' << clip(rows[i].mean - rows[i].error) << ' '
           << clip(rows[i].mean + rows[i].error) << ' ' << clip(rows[i].median) << '\n';
  }
  script << "END\nplot $data using 3:2:4:5:ytic(1) with xerrorbars pt 7 ps 0.9 lw 2 lc rgb '" << color(0)
         << "' title 'mean and its standard error', $data using 6:2 with points pt 6 ps 0.9 lw 1.5 lc rgb '" << color(1)
         << "' title 'median (at the left end: 0)'\n";
  return draw(file, script.str());
}

Expected<void> plot_lines(const std::filesystem::path& file, const PlotAxes& axes, const std::vector<PlotLine>& lines) {
  std::ostringstream script;
  script << preamble(file, axes.title, {.width = 860, .height = 480}) << "set xlabel " << quote(axes.x)
         << "\nset ylabel " << quote(axes.y) << "\nset key outside right top Left reverse\n";
  if (axes.logarithmic) script << "set logscale y\nset format y '%g'\n";
  constexpr std::size_t k_marked = 20;  // more points would hide their line
  std::string plots;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PlotLine& line = lines[i];
    script << "$d" << i << " << END\n";
    for (std::size_t j = 0; j < line.x.size(); ++j) {
      if (axes.logarithmic && line.y[j] <= 0) continue;  // no place on this axis
      script << line.x[j] << ' ' << line.y[j] << '\n';
    }
    script << "END\n";
    const std::string style =
        " lw 2 dt " + std::string(line.dashed ? "2" : "1") + " lc rgb '" + color(line.color) + "' ";
    plots += (plots.empty() ? "plot " : ", ") + ("$d" + std::to_string(i)) +
             (line.x.size() <= k_marked ? " using 1:2 with linespoints pt 7 ps 0.6" : " using 1:2 with lines") + style +
             "title " + quote(line.label);
  }
  return draw(file, script.str() + plots + "\n");
}

Expected<void> plot_bars(const std::filesystem::path& file, const PlotAxes& axes,
                         const std::vector<std::string>& series, const std::vector<BarGroup>& groups) {
  constexpr std::size_t k_level_labels = 6;  // more would run into each other
  const int bars = static_cast<int>(series.size() * groups.size());
  std::ostringstream script;
  script << preamble(file, axes.title, {.width = std::clamp(320 + 16 * bars, 640, 2400), .height = 420})
         << "set xlabel " << quote(axes.x) << "\nset ylabel " << quote(axes.y)
         << "\nset yrange [0:*]\nset style data histograms\nset style histogram clustered gap 1\n"
         << "set style fill solid 0.9 noborder\nset boxwidth 0.9\nset key outside right top Left reverse\n"
         << (groups.size() > k_level_labels ? "set xtics rotate by 45 right (" : "set xtics norotate (");
  for (std::size_t g = 0; g < groups.size(); ++g) script << (g == 0 ? "" : ", ") << quote(groups[g].label) << ' ' << g;
  script << ")\n$data << END\n";
  for (const BarGroup& group : groups) {
    for (const double value : group.values) script << value << ' ';
    script << '\n';
  }
  script << "END\n";
  std::string plots;
  for (std::size_t i = 0; i < series.size(); ++i) {
    plots += (plots.empty() ? "plot $data using " : ", $data using ") + std::to_string(i + 1) + " lc rgb '" + color(i) +
             "' title " + quote(series[i]);
  }
  return draw(file, script.str() + plots + "\n");
}

Expected<void> plot_gantt(const std::filesystem::path& file, const std::string& title, std::size_t organizations,
                          const std::vector<GanttBox>& boxes) {
  std::uint32_t processors = 1;
  for (const GanttBox& box : boxes) processors = std::max(processors, box.processor + 1);
  const int height = std::clamp(130 + 26 * static_cast<int>(processors), 200, 1200);
  std::ostringstream script;
  script << preamble(file, title, {.width = 860, .height = height}) << "set xlabel 'time (s)'\nset ylabel 'processor'\n"
         << "set yrange [" << processors << ":0]\nset ytics " << std::max(1U, processors / 10)
         << "\nset style fill solid 0.85 border rgb '#ffffff'\nset key outside right top Left reverse\nunset grid\n";
  std::string plots;
  for (std::size_t u = 0; u < organizations; ++u) {
    script << "$o" << u << " << END\n";
    std::size_t rows = 0;
    for (const GanttBox& box : boxes) {
      if (box.organization != u) continue;
      script << box.begin << ' ' << box.processor << ' ' << box.end << ' ' << box.processor + 1 << '\n';
      ++rows;
    }
    script << "END\n";
    if (rows == 0) continue;
    plots += (plots.empty() ? "plot " : ", ") + ("$o" + std::to_string(u)) +
             " using 1:2:1:3:2:4 with boxxyerror lc rgb '" + color(u) + "' title 'organization " + std::to_string(u) +
             "'";
  }
  if (plots.empty()) return fail(Errc::invalid_argument, "plot: the schedule is empty");
  return draw(file, script.str() + plots + "\n");
}

}  // namespace shapley::charts
