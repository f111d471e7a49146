#include "charts/gnuplot.hpp"

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <vector>

#include <unistd.h>

#include "base/child_process.hpp"
#include "base/printable.hpp"

namespace shapley::charts {

namespace {

constexpr std::array k_palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"};
static_assert(k_palette.size() == k_colors);

// Far more than the largest plot takes.
constexpr std::chrono::minutes k_patience{5};

Expected<ChildRun> run_gnuplot(const std::string& argument) {
  auto run = run_child({"gnuplot", argument}, {.time = k_patience});
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
  std::string name = (std::filesystem::temp_directory_path() / "shapley-plot.XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return fail(Errc::io, "plot: no temporary file in " + name);
  close(descriptor);
  std::ofstream(name) << script;
  const auto run = run_gnuplot(name);
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!run) return tl::unexpected<Error>(run.error());
  if (run->end != ChildEnd::exited || run->exit_code != 0) {
    return fail(Errc::io,
                "plot: gnuplot could not draw " + file.string() + "; can the file be written? It says: " + run->errors);
  }
  return {};
}

Expected<void> find_gnuplot() {
  // It would print its version; an empty script prints nothing.
  SHAPLEY_TRY(run_gnuplot("/dev/null"));
  return {};
}

}  // namespace shapley::charts
