#include "ctl/output/table.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "ctl/output/csv.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

Paint paint_sign(const json& value) {
  return value.get<int>() < 0 ? Paint::bad : Paint::good;
}
std::string thousands(const json& value) {
  return std::to_string(value.get<int>() / 1000) + "k";
}

constexpr std::array k_fields{
    Field{.name = "name", .member = "name", .title = "Name", .meaning = "who", .align = Align::left},
    Field{.name = "size",
          .member = "size_bytes",
          .title = "Size",
          .meaning = "how much, in bytes",
          .people = thousands,
          .paint = paint_sign},
    Field{.name = "note", .member = "note", .title = "Note", .meaning = "what else", .align = Align::left},
};

json three_rows() {
  return json::array({{{"name", "physics"}, {"size_bytes", 12345}, {"note", "first"}},
                      {{"name", "maths"}, {"size_bytes", -6000}, {"note", nullptr}},
                      {{"name", "Bücher"}, {"size_bytes", 7000}}});
}

std::string shown(std::string_view format, const TableStyle& style, const json& rows = three_rows()) {
  const auto columns = parse_columns(format, k_fields);
  return columns ? render_table(*columns, rows, style) : "error: " + columns.error().what;
}

TEST(Table, AlignsColumnsAndEndsNoLineInBlanks) {
  EXPECT_EQ(shown("name,size,note", {}),
            "Name    Size Note\n"
            "------- ---- -----\n"
            "physics  12k first\n"
            "maths    -6k -\n"
            "Bücher    7k -\n");
}

TEST(Table, TruncatedCellsEndWithPlusAndWidthsCountCharacters) {
  EXPECT_EQ(shown("name%-4,size%2", {}),
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
  EXPECT_EQ(shown("NAME, Size%3 ,note", {.form = Form::parsable}),
            "name|size|note\n"
            "physics|12345|first\n"
            "maths|-6000|\n"
            "Bücher|7000|\n");
  EXPECT_EQ(shown("size", {.form = Form::parsable, .header = false}), "12345\n-6000\n7000\n");
}

TEST(Table, ANameWithTheSeparatorStaysOneField) {
  const json rows = json::array({{{"name", "a|b"}, {"size_bytes", 1000}, {"note", "||"}}});
  EXPECT_EQ(shown("name,size,note", {.form = Form::parsable, .header = false}, rows), "a\\x7cb|1000|\\x7c\\x7c\n");
  EXPECT_EQ(shown("name", {.header = false}, rows), "a|b\n") << "for people it is text";
}

TEST(Table, ColoursOnlyWhenAskedAndOnlyTheText) {
  EXPECT_EQ(shown("size%4", {.header = false, .colour = true}),
            " \033[32m12k\033[0m\n"
            " \033[31m-6k\033[0m\n"
            "  \033[32m7k\033[0m\n");
  EXPECT_EQ(shown("size", {.form = Form::parsable, .header = false, .colour = true}), "12345\n-6000\n7000\n");
}

TEST(Table, AValueCanNeitherDriveTheTerminalNorForgeALine) {
  const json rows = json::array({{{"name", "a\033[2Jb\nc\u202e"}, {"size_bytes", 1000}}});
  const std::string escaped = "a\\x1b[2Jb\\x0ac\\u202e\n";
  EXPECT_EQ(shown("name", {.header = false}, rows), escaped);
  EXPECT_EQ(shown("name", {.form = Form::parsable, .header = false}, rows), escaped);
  EXPECT_EQ(shown("name%6", {.header = false}, rows), "a\\x1b+\n") << "widths count what is shown";
}

TEST(Table, EmptyReportStillHasItsHeader) {
  EXPECT_EQ(shown("name,size", {}, json::array()), "Name Size\n---- ----\n");
}

TEST(Table, FaultyFormatsAreRefusedByName) {
  EXPECT_EQ(shown("name,colour", {}), "error: format: no field is called 'colour'; there are name, size, note");
  EXPECT_EQ(shown(" , ", {}), "error: format: names no field; there are name, size, note");
  for (const char* format : {"name%", "name%0", "name%x", "name%4x", "name%1001", "name%-1001"}) {
    EXPECT_EQ(shown(format, {}), "error: format: '" + std::string(format) +
                                     "': the width after '%' must be 1 to 1000, or negative to align left");
  }
}

TEST(Table, FieldHelpListsNamesAndMeanings) {
  EXPECT_EQ(render_field_help(k_fields),
            "name  who\n"
            "size  how much, in bytes\n"
            "note  what else\n");
}

std::string fitted_to(std::size_t terminal, const json& rows) {
  auto columns = parse_columns("name%-10,size", k_fields).value();
  fit_names(columns, "name", rows, terminal);
  return render_table(columns, rows, {.header = false});
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

// Whoever is asked for a reason could make a colleague's spreadsheet calculate it.
TEST(Csv, HasNoFormulasInNamesAndReasons) {
  constexpr std::array<Field, 3> k_columns{Field{.name = "organization", .member = "name", .title = "", .meaning = ""},
                                           Field{.name = "reason", .member = "reason", .title = "", .meaning = ""},
                                           Field{.name = "amount", .member = "amount", .title = "", .meaning = ""}};
  const json rows = json::array({{{"name", "=HYPERLINK(\"http://x/\")"}, {"reason", "+1"}, {"amount", -3}},
                                 {{"name", "@SUM(A1)"}, {"reason", "-1+1"}, {"amount", "-0.5"}}});
  EXPECT_EQ(render_csv(k_columns, rows),
            "organization,reason,amount\n"
            "\"'=HYPERLINK(\"\"http://x/\"\")\",+1,-3\n"
            "'@SUM(A1),'-1+1,-0.5\n");
}

}  // namespace
}  // namespace shapley::ctl
