// Pages: what is foreign stays text, and templates have what they name.
#include "tables/page.hpp"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/text.hpp"

namespace shapley::tables {
namespace {

using nlohmann::json;

std::string filled(std::string_view text, const json& values) {
  const std::array templates{Template{"own.mustache", text}};
  return rendered("own.mustache", templates, values);
}

TEST(Page, EscapesValuesAndLeavesMarkup) {
  EXPECT_EQ(filled("<a href=\"{{of}}\">{{of}}</a>{{{markup}}}\n", {{"of", "<'&\">\033"}, {"markup", "<b>{{of}}</b>"}}),
            "<a href=\"&lt;&#39;&amp;&quot;&gt;\\x1b\">&lt;&#39;&amp;&quot;&gt;\\x1b</a><b>{{of}}</b>\n");
  EXPECT_EQ(filled("{{a}} {{b}} {{c}}", {{"a", 3}, {"b", 2.5}, {"c", "{{a}}"}}), "3 2.5 {{a}}");
}

TEST(Page, LinesThatOnlyHaveTagsAddNoLines) {
  const std::string text =
      "<ul>\n{{#rows}}\n<li>{{.}}</li>\n{{/rows}}\n{{^rows}}\n<li>none</li>\n{{/rows}}\n</ul>\n{{#more}}\nmore\n"
      "{{/more}}\nend\n";
  EXPECT_EQ(filled(text, {{"rows", {"a", "b"}}, {"more", false}}), "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\nend\n");
  EXPECT_EQ(filled(text, {{"rows", json::array()}, {"more", true}}), "<ul>\n<li>none</li>\n</ul>\nmore\nend\n");
  EXPECT_EQ(filled(text, {{"rows", nullptr}, {"more", nullptr}}), "<ul>\n<li>none</li>\n</ul>\nend\n");
}

// The checks of development say so; a release leaves it out.
TEST(PageDeathTest, NamesOnlyValuesThatAreThere) {
  EXPECT_DEATH(static_cast<void>(filled("{{absent}}", {{"there", 1}})), "value != nullptr");
  EXPECT_DEATH(static_cast<void>(filled("{{> absent.mustache}}", json::object())), "text != nullptr");
}

TEST(Page, HasItsHeadingAndAPolicyThatLoadsNothing) {
  const std::string text = "{{#page}}\n{{> head.mustache}}\n{{/page}}\n</body></html>\n";
  const std::string page = filled(text, {{"page", page_values("A <title>", "A & heading")}});
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_TRUE(page.ends_with("</head><body>\n<h1>A &amp; heading</h1>\n</body></html>\n"));
  EXPECT_PRED2(contains, page,
               "content=\"default-src 'none';style-src 'unsafe-inline'\"><title>A &lt;title&gt;</title>");
  EXPECT_PRED2(contains, page, "--series-0");
  EXPECT_PRED2(lacks, page, "refresh");
  EXPECT_PRED2(contains, filled(text, {{"page", page_values("A", "A", 30)}}),
               "<meta http-equiv=\"refresh\" content=\"30\">");
}

TEST(Page, HasTablesAsPeopleSeeThem) {
  Table table{.name = "\"><x", .columns = {text_column("<a>"), amount_column("b")}};
  table.rows.push_back(json::array({"'c'", 1}));
  const std::string text = "{{#sheet}}\n{{> sheet.mustache}}\n{{/sheet}}\n";
  const std::string alone = filled(text, {{"sheet", sheet_values(table)}});
  EXPECT_EQ(alone,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"&quot;&gt;&lt;x\"><table><thead><tr>"
            "<th scope=\"col\" class=\"text\">&lt;a&gt;</th><th scope=\"col\">b</th></tr>\n</thead><tbody>\n"
            "<tr><th scope=\"row\" class=\"text\">&#39;c&#39;</th><td>1</td></tr>\n</tbody></table></div>\n");
  Table values{.columns = {text_column("a"), text_column("\"%\"")}};
  EXPECT_EQ(filled(text, {{"sheet", sheet_values(table, "a.csv", values)}}),
            alone +
                "<p><a class=\"download\" download=\"a.csv\" href=\"data:text/csv;charset=utf-8,"
                "a,%22%22%22%25%22%22%22%0A\">Save as a.csv (exact values)</a></p>\n");
  table.rows = json::array({json::array({"institute_for_<b>_and_more", "some_number"})});
  EXPECT_PRED2(contains, filled(text, {{"sheet", sheet_values(table)}}),
               "class=\"text\">institute_<wbr>for_<wbr>&lt;b&gt;_<wbr>and_<wbr>more</th><td>some_number</td>");
  table.columns[1] = text_column("b");
  table.rows = json::array({json::array({"a", std::string(61, 'x')})});
  EXPECT_PRED2(contains, filled(text, {{"sheet", sheet_values(table)}}), "<td class=\"text long\">");
  for (int i = 0; i < 9; ++i) table.columns.push_back(amount_column("more"));
  table.rows = json::array();
  EXPECT_PRED2(contains, filled(text, {{"sheet", sheet_values(table)}}), "<div class=\"wide no-paper\"");
  EXPECT_PRED2(contains, filled(text, {{"sheet", sheet_values(table)}}), "The table is too wide for paper");
}

TEST(Page, HasAFigureBesideItsTable) {
  const json sheet = sheet_values({.name = "t", .columns = {text_column("a")}});
  const std::string alone = filled("{{> beside.mustache}}\n", {{"figure", nullptr}, {"sheet", sheet}});
  EXPECT_TRUE(alone.starts_with("<div class=\"wide\""));
  const json figure{{"is_drawn", true}, {"wide", "<svg>"}, {"narrow", "<svg/>"}, {"notes", {"a < b"}}};
  EXPECT_EQ(filled("{{> beside.mustache}}\n", {{"figure", figure}, {"sheet", sheet}}),
            "<div class=\"beside\"><div>\n<figure><div class=\"narrow\"><svg/></div><div class=\"broad\"><svg></div>"
            "</figure>\n<p class=\"soft\">a &lt; b</p>\n</div><div>\n" +
                alone + "</div></div>\n");
}

}  // namespace
}  // namespace shapley::tables
