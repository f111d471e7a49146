#include "charts/plot.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "charts/picture.hpp"

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

namespace {

constexpr std::array k_palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"};
static_assert(k_palette.size() == k_colors);

// Far more time than the largest plot takes.
constexpr std::chrono::minutes k_patience{5};

Expected<ChildRun> run_gnuplot(const std::string& script) {
  auto run = run_child({"gnuplot", "/dev/stdin"}, {.time = k_patience, .input = script});
  if (run || run.error().code != Errc::not_found) return run;
  return fail(Errc::unavailable,
              "plot: gnuplot does not start; is it installed and in PATH? Install gnuplot (Debian: gnuplot-nox), or "
              "leave the plot out");
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

int width_of(Shape shape) {
  return shape == Shape::wide ? 960 : 400;
}

std::string text_of(double number) {
  std::ostringstream text;
  text.precision(10);
  text << number;
  return text.str();
}

std::string page_preamble(const std::filesystem::path& file, Size size) {
  return preamble(file, "", size) + "set tics out scale 0.5\n";
}

// Labels of an axis at 0, 1, 2, ...
std::string tics(const std::vector<std::string>& labels, Shape shape) {
  std::string list = "(";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", quote(short_label(labels[i], label_length(shape))), i);
  }
  return list + ")";
}

// The format shows hours within few days, days within some months, else months, and always the year.
std::string time_format(Duration span) {
  if (span.value <= 3 * k_day_s) return "\"%H:%M\\n%Y-%m-%d\"";
  return span.value <= 400 * k_day_s ? "\"%m-%d\\n%Y\"" : "'%Y-%m'";
}

// Seconds between labels, so that they do not run into each other.
std::int64_t time_step(Duration span, Shape shape) {
  const std::int64_t most = shape == Shape::wide ? 10 : 4;
  constexpr std::int64_t hour = 3600;
  for (const std::int64_t step : {60L, 300L, 900L, hour, 3 * hour, 6 * hour, 12 * hour, k_day_s, 2 * k_day_s,
                                  5 * k_day_s, 10 * k_day_s, 30 * k_day_s, 60 * k_day_s, 120 * k_day_s}) {
    if (span.value <= step * most) return step;
  }
  return span.value / most;
}

// If there are few points each is marked, because what lies between them is not known.
std::string line_style(std::size_t i, std::size_t points) {
  constexpr std::size_t k_solid = 4;
  constexpr std::size_t k_marked = 60;
  return std::string(points <= k_marked ? " with linespoints pt 7 ps 0.5" : " with lines") + " lw 2.5 dt " +
         (i < k_solid ? "1" : "(12,6)") + " lc rgb '" + color(i) + "' ";
}

// 1, 1.2, 1.5, 2, ... times a power of ten: the smallest that is not below.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double digit : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (digit * power >= least) return digit * power;
  }
  return 10 * power;
}

// Labels of an axis of amounts that do not run into each other.
std::string amount_tics(double smallest, double largest, Shape shape) {
  const double span = std::max(largest, 0.0) - std::min(smallest, 0.0);
  return span > 0 ? text_of(round_step(span / (shape == Shape::wide ? 8 : 3))) : "1";
}

// A range around the values that is not empty: gnuplot would warn.
std::string value_range(double smallest, double largest) {
  if (smallest == 0 && largest == 0) return "[-1:1]";
  const double margin = (std::max(largest, 0.0) - std::min(smallest, 0.0)) / 20;
  const double low = smallest < 0 ? smallest - margin : 0;
  const double high = largest > 0 ? largest + margin : 0;
  return "[" + text_of(low) + ":" + text_of(high) + "]";
}

}  // namespace

std::string color(std::size_t i) {
  return k_palette[i % k_colors];
}

std::string quote(std::string_view text) {
  return in_quotes(printable(text));
}

std::string preamble(const std::filesystem::path& file, const std::string& title, Size size) {
  std::ostringstream script;
  script << "set terminal svg size " << size.width << ',' << size.height
         << " dynamic noenhanced font 'Helvetica,14' background '#ffffff'\n"
         << "set output " << in_quotes(file.native()) << '\n';
  if (!title.empty()) script << "set title " << quote(title) << '\n';
  script << "set border 3 lc rgb '" << k_axis_color << "'\nset tics nomirror textcolor rgb '" << k_text_color << "'\n"
         << "set grid lc rgb '" << k_grid_color << "' lw 1 lt 1\n";
  return script.str();
}

Expected<void> draw(const std::filesystem::path& file, const std::string& script) {
  SHAPLEY_TRY_ASSIGN(const ChildRun run, run_gnuplot(script));
  if (run.end != ChildEnd::exited || run.exit_code != 0) {
    return fail_in_lines(
        Errc::io, fmt::format("plot: gnuplot could not draw {}; can the file be written? It says", file.string()),
        run.errors);
  }
  return {};
}

Expected<void> find_gnuplot() {
  // It would print its version; an empty script prints nothing.
  SHAPLEY_TRY(run_gnuplot(""));
  return {};
}

std::string short_label(std::string_view text, std::size_t most) {
  SHAPLEY_REQUIRE(most > 2);
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(characters.back().size())) {
    characters.push_back(rest.substr(0, first_character(rest).bytes));
  }
  if (characters.size() <= most) return std::string(text);
  const std::size_t ending = most / 2;
  std::string label;
  for (std::size_t i = 0; i + ending + 1 < most; ++i) label += characters[i];
  label += "…";
  for (std::size_t i = characters.size() - ending; i < characters.size(); ++i) label += characters[i];
  return label;
}

Expected<void> plot_over_time(const std::filesystem::path& file, const TimeAxes& axes,
                              const std::vector<TimeLine>& lines, Shape shape) {
  const bool wide = shape == Shape::wide;
  const int height = wide ? 420 : 330 + 20 * static_cast<int>(lines.size());
  std::ostringstream script;
  double smallest = 0;
  double largest = 0;
  std::string plots;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    script << "$d" << i << " << END\n";
    for (const TimePoint& point : lines[i].points) {
      script << (point.begins ? "\n" : "") << point.at.value << ' ' << text_of(point.value) << '\n';
      smallest = std::min(smallest, point.value);
      largest = std::max(largest, point.value);
    }
    script << "END\n";
    plots += (i == 0 ? "plot $d" : ", $d") + std::to_string(i) + " using 1:2" + line_style(i, lines[i].points.size()) +
             "title " + quote(short_label(lines[i].label, label_length(Shape::wide)));
  }
  std::ostringstream head;
  head << page_preamble(file, {.width = width_of(shape), .height = height}) << "set ylabel " << quote(axes.y)
       << "\nset xdata time\nset timefmt '%s'\nset format x " << time_format(axes.until - axes.since)
       << "\nset xrange ['" << axes.since.value << "':'" << axes.until.value << "']\nset yrange "
       << value_range(smallest, largest) << "\nset xzeroaxis lc rgb '" << k_axis_color << "' lw 1.5 lt 1\nset xtics "
       << time_step(axes.until - axes.since, shape) << '\n'
       << (wide ? "set key outside right top Left reverse samplen 3\n"
                // The last label of the axis stands half beyond its end.
                : "set rmargin 5\nset key bmargin left vertical maxcols 1 Left reverse samplen 3\n");
  return draw(file, head.str() + script.str() + plots + "\n");
}

Expected<void> plot_rows(const std::filesystem::path& file, const std::string& x,
                         const std::vector<std::string>& series, const std::vector<BarRow>& rows, Shape shape) {
  std::ostringstream script;
  std::vector<std::string> labels;
  double smallest = 0;
  double largest = 0;
  std::string plots;
  const double thickness = 0.8 / static_cast<double>(series.size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    script << "$d" << s << " << END\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double top = static_cast<double>(i) - 0.4 + static_cast<double>(s) * thickness;
      script << rows[i].values[s] << ' ' << top << ' ' << top + thickness << '\n';
      smallest = std::min(smallest, rows[i].values[s]);
      largest = std::max(largest, rows[i].values[s]);
    }
    script << "END\n";
    plots += (s == 0 ? "plot $d" : ", $d") + std::to_string(s) + " using (0):2:(0):1:2:3 with boxxyerror lc rgb '" +
             color(s) + "' " + (series.size() > 1 ? "title " + quote(series[s]) : std::string("notitle"));
  }
  for (const BarRow& row : rows) labels.push_back(row.label);
  const int bar = series.size() > 1 ? 8 + 9 * static_cast<int>(series.size()) : 22;
  const bool narrow = shape == Shape::narrow;
  const int height = 110 + bar * static_cast<int>(rows.size()) + (narrow ? 18 * static_cast<int>(series.size()) : 0);
  std::ostringstream head;
  head << page_preamble(file, {.width = width_of(shape), .height = height}) << "set xlabel " << quote(x)
       << "\nset xrange " << value_range(smallest, largest) << "\nset yrange ["
       << text_of(static_cast<double>(rows.size()) - 0.5) << ":-0.5]\nunset grid\nset grid x lc rgb '" << k_grid_color
       << "' lw 1 lt 1\nset xtics " << amount_tics(smallest, largest, shape) << "\nset ytics " << tics(labels, shape)
       << "\nset style fill solid 1 noborder\nset key tmargin left " << (narrow ? "vertical maxcols 1" : "horizontal")
       << " Left reverse samplen 1.5\n";
  return draw(file, head.str() + script.str() + plots + "\n");
}

std::vector<double> heat_limits(double smallest, double largest) {
  SHAPLEY_REQUIRE(0 < smallest && smallest <= largest);
  std::vector<double> limits(k_heat_steps + 1);
  // Amounts of one size are distinguished by equal steps, others by factors.
  if (largest < 10 * smallest) {
    const double step = round_step(largest / k_heat_steps);
    for (std::size_t i = 1; i < limits.size(); ++i) limits[i] = static_cast<double>(i) * step;
    return limits;
  }
  // 1, 3, 10, 30, ... : the smallest that is not below the largest amount.
  int exponent = static_cast<int>(std::floor(std::log10(largest)));
  bool three = false;
  const auto limit = [&] { return (three ? 3 : 1) * std::pow(10.0, exponent); };
  while (limit() < largest) {
    exponent += three ? 1 : 0;
    three = !three;
  }
  for (std::size_t i = k_heat_steps; i > 0; --i) {
    limits[i] = limit();
    three = !three;
    exponent -= three ? 1 : 0;
  }
  return limits;
}

Expected<void> plot_matrix(const std::filesystem::path& file, const Matrix& matrix, Shape shape) {
  const std::size_t n = matrix.names.size();
  double smallest = 0;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double amount = matrix.cells[i][j];
      if (i == j || amount <= 0) continue;
      smallest = smallest > 0 ? std::min(smallest, amount) : amount;
      largest = std::max(largest, amount);
    }
  }
  if (largest <= 0) return fail(Errc::invalid_argument, "plot: the matrix is empty");
  const std::vector<double> limits = heat_limits(smallest, largest);
  std::vector<std::ostringstream> steps(k_heat_steps);
  std::ostringstream diagonal;
  bool owned = false;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double amount = matrix.cells[i][j];
      if (amount <= 0) continue;
      const auto above = std::ranges::lower_bound(limits, amount) - limits.begin();
      const auto step = std::min(static_cast<std::size_t>(above) - 1, k_heat_steps - 1);
      (i == j ? diagonal : steps[step]) << j << ' ' << i << '\n';
      owned = owned || i == j;
    }
  }
  std::string data;
  std::string plots;
  const auto add = [&](const std::string& name, const std::string& points, std::string_view rgb,
                       const std::string& title) {
    if (points.empty()) return;
    data += '$' + name + " << END\n" + points + "END\n";
    plots += (plots.empty() ? "plot $" : ", $") + name +
             " using 1:2:($1-0.48):($1+0.48):($2-0.48):($2+0.48) with boxxyerror lc rgb '" + std::string(rgb) +
             "' title " + quote(title);
  };
  for (std::size_t s = 0; s < k_heat_steps; ++s) {
    const std::string title =
        s == 0 ? "up to " + text_of(limits[1]) : text_of(limits[s]) + " to " + text_of(limits[s + 1]);
    add("s" + std::to_string(s), steps[s].str(), heat_color(s), fmt::format("{} {}", title, matrix.unit));
  }
  if (owned) add("own", diagonal.str(), k_own_color, matrix.diagonal);
  const int cell = shape == Shape::wide ? std::clamp(600 / static_cast<int>(n), 19, 60) : 20;
  const bool beside = shape == Shape::wide;
  const int width = beside ? 430 + cell * static_cast<int>(n) : width_of(shape);
  const int height = (beside ? 210 : 340) + cell * static_cast<int>(n);
  const std::string last = text_of(static_cast<double>(n) - 0.5);
  std::ostringstream head;
  head << page_preamble(file, {.width = width, .height = height}) << "set ylabel " << quote(matrix.row_axis)
       << "\nset xlabel " << quote(matrix.column_axis) << "\nset xrange [-0.5:" << last << "]\nset yrange [" << last
       << ":-0.5]\nset xtics rotate by 90 right " << tics(matrix.names, shape) << "\nset ytics "
       << tics(matrix.names, shape) << "\nset style fill solid 1 noborder\n"
       << (beside ? "set key outside right top Left reverse samplen 1.5\n"
                  : "set key tmargin left vertical maxcols 1 Left reverse samplen 1.5\n");
  return draw(file, head.str() + data + plots + "\n");
}

}  // namespace shapley::charts
