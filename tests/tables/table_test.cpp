// Tables for people, programs and spreadsheets.
#include "tables/table.hpp"

#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text.hpp"

namespace shapley::tables {
namespace {

using nlohmann::json;

Paint paint_sign(const json& value) {
  return value.get<int>() < 0 ? Paint::bad : Paint::good;
}
std::string thousands(const json& value) {
  return std::to_string(value.get<int>() / 1000) + "k";
}

constexpr Field k_fields[] = {
    left({"name", "Name", "who"}),
    Field{"size", "Size", "how much, in bytes", "size_bytes", thousands, paint_sign},
    left({"note", "Note", "what else"}),
};

json three_rows() {
  return json::array({{{"name", "physics"}, {"size_bytes", 12345}, {"note", "first"}},
                      {{"name", "maths"}, {"size_bytes", -6000}, {"note", nullptr}},
                      {{"name", "Bücher"}, {"size_bytes", 7000}}});
}

Table table_of(std::string_view format, const json& rows = three_rows()) {
  return {.columns = must(parse_columns(format, k_fields)), .rows = rows};
}
std::string shown(std::string_view format, const PeopleStyle& style = {}, const json& rows = three_rows()) {
  return people_text(table_of(format, rows), style);
}
std::string exact(std::string_view format, const json& rows = three_rows()) {
  return parsable_text(table_of(format, rows), false);
}
std::string refusal(std::string_view format) {
  return parse_columns(format, k_fields).error().what;
}

TEST(Table, AlignsColumnsAndEndsNoLineInBlanks) {
  EXPECT_EQ(shown("name,size,note"),
            "Name    Size Note\n"
            "------- ---- -----\n"
            "physics  12k first\n"
            "maths    -6k -\n"
            "Bücher    7k -\n");
}

TEST(Table, TruncatedCellsEndWithPlusAndWidthsCountCharacters) {
  EXPECT_EQ(shown("name%-4,size%2"),
            "Name S+\n"
            "---- --\n"
            "phy+ 1+\n"
            "mat+ -+\n"
            "Büc+ 7k\n");
  EXPECT_EQ(shown("name%1", {.header = false}), "+\n+\n+\n");
}

TEST(Table, WidthsChooseAlignment) {
  EXPECT_EQ(shown("name%9,size%-5,name%-7", {.header = false}),
            "  physics 12k   physics\n"
            "    maths -6k   maths\n"
            "   Bücher 7k    Bücher\n");
}

TEST(Table, ProgramsGetExactValuesAndFieldNames) {
  EXPECT_EQ(parsable_text(table_of("NAME, Size%3 ,note")),
            "name|size|note\n"
            "physics|12345|first\n"
            "maths|-6000|\n"
            "Bücher|7000|\n");
  EXPECT_EQ(exact("size"), "12345\n-6000\n7000\n");
}

TEST(Table, ANameWithTheSeparatorStaysOneField) {
  const json rows = json::array({{{"name", "a|b"}, {"size_bytes", 1000}, {"note", "||"}}});
  EXPECT_EQ(exact("name,size,note", rows), "a\\x7cb|1000|\\x7c\\x7c\n");
  EXPECT_EQ(shown("name", {.header = false}, rows), "a|b\n") << "for people it is text";
}

TEST(Table, ColoursOnlyWhenAskedAndOnlyTheText) {
  EXPECT_EQ(shown("size%4", {.header = false, .colour = true}),
            " \033[32m12k\033[0m\n"
            " \033[31m-6k\033[0m\n"
            "  \033[32m7k\033[0m\n");
}

TEST(Table, AValueCanNeitherDriveTheTerminalNorForgeALine) {
  const json rows = json::array({{{"name", "a\033[2Jb\nc\u202e"}, {"size_bytes", 1000}}});
  const std::string escaped = "a\\x1b[2Jb\\x0ac\\u202e\n";
  EXPECT_EQ(shown("name", {.header = false}, rows), escaped);
  EXPECT_EQ(exact("name", rows), escaped);
  EXPECT_EQ(shown("name%6", {.header = false}, rows), "a\\x1b+\n") << "widths count what is shown";
}

TEST(Table, EmptyReportStillHasItsHeader) {
  EXPECT_EQ(shown("name,size", {}, json::array()), "Name Size\n---- ----\n");
}

TEST(Table, FaultyFormatsAreRefusedByName) {
  EXPECT_EQ(refusal("name,colour"), "format: no field is called 'colour'; there are name, size, note");
  EXPECT_EQ(refusal(" , "), "format: names no field; there are name, size, note");
  for (const char* format : {"name%", "name%0", "name%x", "name%4x", "name%1001", "name%-1001"}) {
    EXPECT_EQ(refusal(format), "format: '" + std::string(format) +
                                   "': the width after '%' must be 1 to 1000, or negative to align left");
  }
}

TEST(Table, FieldHelpListsNamesAndMeanings) {
  EXPECT_EQ(field_help(k_fields),
            "name  who\n"
            "size  how much, in bytes\n"
            "note  what else\n");
}

std::string fitted_to(std::size_t terminal, const json& rows) {
  Table table = table_of("name%-10,size", rows);
  fit_names(table, "name", terminal);
  return people_text(table, {.header = false});
}

TEST(Table, NamesFollowTheTerminalAndStayDistinguishable) {
  const json rows = json::array({{{"name", "institute-north"}, {"size_bytes", 1000}},
                                 {{"name", "institute-south"}, {"size_bytes", 2000}},
                                 {{"name", "library"}, {"size_bytes", 3000}}});
  const std::string whole = "institute-north 1k\ninstitute-south 2k\nlibrary         3k\n";
  EXPECT_EQ(fitted_to(0, rows), whole) << "no terminal";
  EXPECT_EQ(fitted_to(80, rows), whole);
  EXPECT_EQ(fitted_to(18, rows), "institute-no+ 1k\ninstitute-so+ 2k\nlibrary       3k\n");
  EXPECT_EQ(fitted_to(17, rows), "institute-n+ 1k\ninstitute-s+ 2k\nlibrary      3k\n");
  EXPECT_EQ(fitted_to(16, rows), whole) << "they would look alike";
  EXPECT_EQ(fitted_to(5, rows), whole) << "that does not fit anyhow";
  EXPECT_EQ(fitted_to(0, three_rows()), "physics    12k\nmaths      -6k\nBücher      7k\n");
  EXPECT_EQ(fitted_to(5, three_rows()), "physics 12k\nmaths   -6k\nBücher   7k\n");
}

// A user who is asked for a reason could make a colleague's spreadsheet calculate it.
TEST(Csv, HasNoFormulasInNamesAndReasons) {
  const Table table{.columns = {{.name = "organization", .member = "name"}, {.name = "reason"}, {.name = "amount"}},
                    .rows = json::array({{{"name", "=HYPERLINK(\"http://x/\")"}, {"reason", "+1"}, {"amount", -3}},
                                         {{"name", "@SUM(A1)"}, {"reason", "-1+1"}, {"amount", "-0.5"}}})};
  EXPECT_EQ(csv_text(table),
            "organization,reason,amount\n"
            "\"'=HYPERLINK(\"\"http://x/\"\")\",+1,-3\n"
            "'@SUM(A1),'-1+1,-0.5\n");
}

TEST(Table, RowsMayBeListsOfValues) {
  Table table{.columns = {text_column("Of"), amount_column("a"), amount_column("b")}};
  table.rows.push_back(json::array({"x", 1.5, nullptr}));
  table.rows.push_back(json::array({"y|", "z", true}));
  EXPECT_EQ(people_text(table), "Of   a   b\n-- --- ---\nx  1.5   -\ny|   z yes\n");
  EXPECT_EQ(parsable_text(table), "Of|a|b\nx|1.5|\ny\\x7c|z|yes\n");
  EXPECT_EQ(csv_text(table), "Of,a,b\nx,1.5,\ny|,z,yes\n");
  EXPECT_EQ(cells_for_people(table).back(), (std::vector<std::string>{"y|", "z", "yes"}));
}

TEST(Table, AColumnIsTakenOutByItsName) {
  Table table = table_of("name,size,note");
  drop_column(table, "size");
  drop_column(table, "size");
  EXPECT_EQ(parsable_text(table), "name|note\nphysics|first\nmaths|\nBücher|\n");
}

TEST(PlainNumber, NumbersLoseNeedlessZeros) {
  EXPECT_EQ(plain_number(3), "3");
  EXPECT_EQ(plain_number(-0.25), "-0.25");
  EXPECT_EQ(plain_number(0.333333), "0.333333");
  EXPECT_EQ(plain_number(2.0), "2");
  EXPECT_EQ(plain_number(100.0), "100");
  EXPECT_EQ(plain_number(-0.0), "0");
  EXPECT_EQ(plain_number(0.0000001), "1e-07");
}

TEST(Paint, ColoursAreEscapeSequencesAroundTheText) {
  EXPECT_EQ(painted("x", Paint::good, true), "\033[32mx\033[0m");
  EXPECT_EQ(painted("x", Paint::bad, true), "\033[31mx\033[0m");
  EXPECT_EQ(painted("x", Paint::dim, true), "\033[2mx\033[0m");
  EXPECT_EQ(painted("x", Paint::none, true), "x");
  EXPECT_EQ(painted("x", Paint::bad, false), "x");
}

std::string through_a_printable_stream(const std::string& text) {
  std::ostringstream out;
  const PrintableStream guard(out);
  out << text;
  return out.str();
}

TEST(JsonText, StaysJsonOfTheSameValueBehindAPrintableStream) {
  const json report{{"controls", std::string("\0\033\x7f\u0080\u009f\n\t\\", 10)},
                    {"directions", "\u061c\u200e\u202e\u2066\u2028"},
                    {"others", "\ufeff\uffff\U0001fffe\U000e0041 B\u00fccher \U0001f600"},
                    {"a\u202e\033", {1, 2.5, nullptr}}};
  const std::string text = through_a_printable_stream(json_text(report));
  EXPECT_EQ(json::parse(text), report) << text;
  EXPECT_PRED2(contains, text, "B\u00fccher \U0001f600");
  EXPECT_EQ(text.find_first_of("\033\x7f"), std::string::npos);
}

TEST(JsonText, TextThatIsNotUtf8IsReplaced) {
  EXPECT_EQ(json::parse(json_text(json{{"name", "a\xff"}}))["name"], "a\ufffd");
}

}  // namespace
}  // namespace shapley::tables
