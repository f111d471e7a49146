// Pages and their plots: what is foreign stays text, what gnuplot draws follows the page's colours.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "charts/picture.hpp"
#include "charts/plot.hpp"

namespace shapley::charts {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HeatLimits, follow_the_amounts) {
  EXPECT_EQ(heat_limits(1, 90), (std::vector<double>{0, 1, 3, 10, 30, 100}));
  EXPECT_EQ(heat_limits(400, 512), (std::vector<double>{0, 120, 240, 360, 480, 600}));
  EXPECT_EQ(heat_limits(0.001, 300).back(), 300);
  EXPECT_EQ(heat_limits(7, 7).size(), 6U);
  EXPECT_GE(heat_limits(7, 7).back(), 7);
}

TEST(ShortLabel, leaves_the_middle_out) {
  EXPECT_EQ(short_label("physics", 13), "physics");
  EXPECT_EQ(short_label("institute_of_things_01", 13), "instit…ngs_01");
  EXPECT_EQ(short_label("größe_größe", 7), "grö…öße");
}

TEST(InlineSvg, has_the_pages_colours_and_no_ids) {
  const BarRow row{.label = "it's <b> & c", .values = {3, -1}};
  const auto svg = inline_svg(
      [&](const std::filesystem::path& file) {
        return plot_rows(file, "hours", {"`id` $(id) @x \\", "b"}, {row}, Shape::narrow);
      },
      "A \"chart\"");
  ASSERT_TRUE(svg) << svg.error().what;
  EXPECT_TRUE(svg->starts_with("<svg role=\"img\" aria-label=\"A &quot;chart&quot;\" style=\"max-width:520px\""));
  EXPECT_TRUE(contains(*svg, "var(--series-0)"));
  EXPECT_TRUE(contains(*svg, "var(--series-1)"));
  EXPECT_TRUE(contains(*svg, "var(--text)"));
  for (const char* none : {"rgb(", " id=", "<defs>", "\"black\"", "<b>", "uid="})
    EXPECT_FALSE(contains(*svg, none)) << none;
  EXPECT_TRUE(contains(*svg, "`id`"));
}

TEST(InlineSvg, leaves_colours_that_it_does_not_know) {
  EXPECT_EQ(
      recolored("<?xml?>\n<svg><path stroke='rgb(  0, 114, 178)'/><path stroke='rgb(1,2,3)'/><g color=\"black\">"),
      "<svg><path stroke='var(--series-0)'/><path stroke='rgb(1,2,3)'/><g color=\"currentColor\">");
  EXPECT_EQ(recolored("no picture"), "");
  EXPECT_EQ(recolored("<svg>rgb("), "<svg>rgb(");
}

TEST(Plot, of_nothing_and_of_one_value_is_drawn) {
  const TimeLine flat{.label = "a",
                      .points = {{.at = {1'790'000'000}, .value = 0}, {.at = {1'790'000'001}, .value = 0}}};
  const TimeAxes axes{.y = "y", .since = {1'790'000'000}, .until = {1'790'000'001}};
  const auto line = inline_svg(
      [&](const std::filesystem::path& file) { return plot_over_time(file, axes, {flat}, Shape::wide); }, "line");
  ASSERT_TRUE(line) << line.error().what;
  EXPECT_TRUE(contains(*line, "var(--series-0)"));
  const Matrix empty{.row_axis = "", .column_axis = "", .unit = "", .diagonal = "", .names = {"a"}, .cells = {{5}}};
  EXPECT_FALSE(plot_matrix("/nonexistent", empty, Shape::wide)) << "only a diagonal";
}

TEST(Plot, says_where_it_could_not_draw) {
  const auto drawn =
      draw("/nonexistent/place.svg", preamble("/nonexistent/place.svg", "", {.width = 9, .height = 9}) + "plot 1\n");
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Errc::io);
  EXPECT_TRUE(contains(drawn.error().what, "/nonexistent/place.svg"));
}

}  // namespace
}  // namespace shapley::charts
