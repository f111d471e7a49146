#include "sim/output/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "sim/system/program.hpp"

namespace shapley::sim {

namespace {

// Okabe and Ito's palette, which colour-blind readers can distinguish and which prints well in grey.
constexpr std::array k_colors{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"};

std::string color(std::size_t i) {
  return k_colors[i % k_colors.size()];
}

// A single-quoted string of gnuplot, where only the quote itself is special.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

std::string preamble(const std::filesystem::path& file, const std::string& title, int width, int height) {
  std::ostringstream script;
  script << "set terminal svg size " << width << ',' << height
         << " dynamic noenhanced font 'Helvetica,14' background '#ffffff'\n"
         << "set output " << quoted(file.string()) << "\nset title " << quoted(title)
         << "\nset border 3 lc rgb '#444444'\nset tics nomirror textcolor rgb '#222222'\n"
         << "set grid lc rgb '#dddddd' lw 1 lt 1\n";
  return script.str();
}

Expected<void> draw(const std::filesystem::path& file, const std::string& script) {
  std::string name = (std::filesystem::temp_directory_path() / "shapley-plot.XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return fail(Errc::io, "plot: no temporary file in " + name);
  close(descriptor);
  std::ofstream(name) << script;
  const auto status = run_program({"gnuplot", name});
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!status) {
    return fail(status.error().code,
                "plot: " + status.error().what + " Install gnuplot (Debian: gnuplot-nox), or leave the plot out");
  }
  if (*status != 0)
    return fail(Errc::io, "plot: gnuplot could not draw " + file.string() + "; can the file be written?");
  return {};
}

}  // namespace

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
  script << preamble(file, title, 800, 90 + 34 * static_cast<int>(rows.size()) + 60)
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
  script << preamble(file, axes.title, 860, 480) << "set xlabel " << quoted(axes.x) << "\nset ylabel " << quoted(axes.y)
         << "\nset key outside right top Left reverse\n";
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
             "title " + quoted(line.label);
  }
  return draw(file, script.str() + plots + "\n");
}

Expected<void> plot_bars(const std::filesystem::path& file, const PlotAxes& axes,
                         const std::vector<std::string>& series, const std::vector<BarGroup>& groups) {
  constexpr std::size_t k_level_labels = 6;  // more would run into each other
  const int bars = static_cast<int>(series.size() * groups.size());
  std::ostringstream script;
  script << preamble(file, axes.title, std::clamp(320 + 16 * bars, 640, 2400), 420) << "set xlabel " << quoted(axes.x)
         << "\nset ylabel " << quoted(axes.y)
         << "\nset yrange [0:*]\nset style data histograms\nset style histogram clustered gap 1\n"
         << "set style fill solid 0.9 noborder\nset boxwidth 0.9\nset key outside right top Left reverse\n"
         << (groups.size() > k_level_labels ? "set xtics rotate by 45 right (" : "set xtics norotate (");
  for (std::size_t g = 0; g < groups.size(); ++g) script << (g == 0 ? "" : ", ") << quoted(groups[g].label) << ' ' << g;
  script << ")\n$data << END\n";
  for (const BarGroup& group : groups) {
    for (const double value : group.values) script << value << ' ';
    script << '\n';
  }
  script << "END\n";
  std::string plots;
  for (std::size_t i = 0; i < series.size(); ++i) {
    plots += (plots.empty() ? "plot $data using " : ", $data using ") + std::to_string(i + 1) + " lc rgb '" + color(i) +
             "' title " + quoted(series[i]);
  }
  return draw(file, script.str() + plots + "\n");
}

Expected<void> plot_gantt(const std::filesystem::path& file, const std::string& title, std::size_t organizations,
                          const std::vector<GanttBox>& boxes) {
  std::uint32_t processors = 1;
  for (const GanttBox& box : boxes) processors = std::max(processors, box.processor + 1);
  const int height = std::clamp(130 + 26 * static_cast<int>(processors), 200, 1200);
  std::ostringstream script;
  script << preamble(file, title, 860, height) << "set xlabel 'time (s)'\nset ylabel 'processor'\n"
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

}  // namespace shapley::sim
