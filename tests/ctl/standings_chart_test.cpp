// The line of the chart "Standings over time" against the books at instants between its points: where the books do not
// go straight, neither does the line.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/calendar.hpp"
#include "interval_fixture.hpp"
#include "page_fixture.hpp"

namespace shapley::ctl {
namespace {

using Line = std::vector<std::pair<double, double>>;  // ascending by x, in pixels; y goes down

// The first organization's, as it is drawn for a wide page.
Line drawn_line(const std::string& page) {
  const std::size_t figure = page.find("aria-label=\"Standings over time\"", page.find("<div class=\"broad\"><svg"));
  const std::string svg = page.substr(figure, page.find("</svg>", figure) - figure);
  Line line;
  for (std::size_t at = svg.find("'var(--series-0)'"); at != std::string::npos;
       at = svg.find("'var(--series-0)'", at + 1)) {
    const std::size_t begin = svg.find(" d='", at) + 4;
    const std::string path = svg.substr(begin, svg.find('\'', begin) - begin);
    Line points;
    for (std::size_t i = path.find_first_of("ML"); i != std::string::npos; i = path.find_first_of("ML", i + 1)) {
      char* comma = nullptr;
      const double x = std::strtod(path.c_str() + i + 1, &comma);
      points.emplace_back(x, std::strtod(comma + 1, nullptr));
    }
    // The two points of the key come first.
    if (points.size() > line.size() + 2) line.assign(points.begin() + 2, points.end());
  }
  return line;
}

double at_x(const Line& line, double x) {
  const auto next = std::ranges::find_if(line, [x](const auto& point) { return point.first >= x; });
  if (next == line.end()) return line.back().second;
  if (next == line.begin()) return next->second;
  const auto& before = *std::prev(next);
  return before.second + (next->second - before.second) * (x - before.first) / (next->first - before.first);
}

class StandingsChart : public Page {
 protected:
  std::string first;

  // Of the organization that the configuration names first, whose line is drawn first.
  [[nodiscard]] double books_at(Instant t) const {
    const json status = must(offline_status({.ledger = file(), .at = t, .contribution = std::nullopt}));
    for (const json& row : status["organizations"]) {
      if (row["name"] == first) return row["standing_core_hours"].get<double>();
    }
    throw std::runtime_error("no row of " + first);
  }

  // The line runs from `since` to `until`; its largest deviation from the books, as a part of all that they show.
  [[nodiscard]] double deviation(Instant since, Instant until) const {
    const Outcome made = run("--no-audit -S " + format_instant(since).substr(0, 19) + " -E " +
                             format_instant(until).substr(0, 19) + " -o " + out());
    EXPECT_EQ(made.exit_code, 0) << made.err;
    const Line line = drawn_line(content_of(fs::path(out()) / "index.html"));
    if (line.size() < 2) return 1;
    const double length = static_cast<double>((until - since).value);
    std::mt19937 random(7);
    std::vector<std::pair<double, double>> compared;  // pixels by the line, core-hours by the books
    for (int i = 0; i < 60; ++i) {
      const Instant t = since + Duration{static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(length))};
      const double part = static_cast<double>((t - since).value) / length;
      const double x = line.front().first + part * (line.back().first - line.front().first);
      compared.emplace_back(at_x(line, x), books_at(t));
    }
    // Where the axis lies: from the instants at which the books are lowest and highest.
    const auto [low, high] = std::ranges::minmax(compared, {}, &std::pair<double, double>::second);
    const double scale = (high.second - low.second) / (high.first - low.first);
    EXPECT_LT(scale, 0) << "what is owed lies above";
    double largest = 0;
    for (const auto& [pixels, hours] : compared)
      largest = std::max(largest, std::fabs(low.second + (pixels - low.first) * scale - hours));
    return largest / (high.second - low.second);
  }
};

TEST_F(StandingsChart, goes_through_the_books_within_an_hour_and_within_days) {
  write_site(file(), Period::none);
  first = "astro";
  EXPECT_LT(deviation(at_second(-900), at_second(1'900)), 0.03);
  fs::remove(file());
  write_consortium(file(), consortium_names(3));
  first = "physics";
  const Instant month = *parse_instant("2026-11-01");
  EXPECT_LT(deviation(month, month + Duration{3 * k_day_s}), 0.03);
}

TEST_F(StandingsChart, says_in_plain_lines_where_the_books_do_not_have_all_of_the_time) {
  write_site(file(), Period::none);
  EXPECT_EQ(run("--no-audit --no-charts -S 2026-10-01 -E 2027-01-01 -o " + out()).exit_code, 0);
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_TRUE(contains(page, "<p>Not all of that time: the books begin at 2026-10-31T23:43:20Z.</p>"));
  EXPECT_TRUE(
      contains(page, "<p>Not all of that time: the ledger recorded something last at 2026-11-01T00:33:20Z.</p>"));
  EXPECT_FALSE(contains(page, "\\x0a"));
}

}  // namespace
}  // namespace shapley::ctl
