#include "ctl/output/paint.hpp"

#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/printable_stream.hpp"
#include "ctl/output/json_text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

TEST(Paint, ColoursAreEscapeSequencesAroundTheText) {
  EXPECT_EQ(painted("x", Paint::good, true), "\033[32mx\033[0m");
  EXPECT_EQ(painted("x", Paint::bad, true), "\033[31mx\033[0m");
  EXPECT_EQ(painted("x", Paint::dim, true), "\033[2mx\033[0m");
  EXPECT_EQ(painted("x", Paint::none, true), "x");
  EXPECT_EQ(painted("x", Paint::bad, false), "x");
}

std::string through_a_printable_stream(const std::function<void(std::ostream&)>& print) {
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    print(out);
  }
  return out.str();
}

TEST(Paint, OurColoursPassAPrintableStreamAndNothingElse) {
  const std::string text = "a " + painted("red", Paint::bad, true) + "\n\033[2J \033[7mb\033";
  EXPECT_EQ(through_a_printable_stream([&](std::ostream& out) { print_painted(out, text); }),
            "a \033[31mred\033[0m\n\\x1b[2J \\x1b[7mb\\x1b");
  EXPECT_EQ(through_a_printable_stream([](std::ostream& out) { print_painted(out, "plain\n"); }), "plain\n");
}

TEST(JsonText, StaysJsonOfTheSameValueBehindAPrintableStream) {
  const json report{{"controls", std::string("\0\033\x7f\u0080\u009f\n\t\\", 10)},
                    {"directions", "\u061c\u200e\u202e\u2066\u2028"},
                    {"others", "\ufeff\uffff\U0001fffe\U000e0041 B\u00fccher \U0001f600"},
                    {"a\u202e\033", {1, 2.5, nullptr}}};
  const std::string text = through_a_printable_stream([&](std::ostream& out) { out << json_text(report); });
  EXPECT_EQ(json::parse(text), report) << text;
  EXPECT_NE(text.find("B\u00fccher \U0001f600"), std::string::npos) << text;
  EXPECT_EQ(text.find_first_of("\033\x7f"), std::string::npos);
}

TEST(JsonText, TextThatIsNotUtf8IsReplaced) {
  EXPECT_EQ(json::parse(json_text(json{{"name", "a\xff"}}))["name"], "a\ufffd");
}

}  // namespace
}  // namespace shapley::ctl
