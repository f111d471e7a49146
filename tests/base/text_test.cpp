#include "base/text.hpp"

#include <gtest/gtest.h>

namespace shapley {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, IsSplitIntoOnePartMoreThanThereAreSeparators) {
  EXPECT_EQ(split("a|bc|d", '|'), (Parts{"a", "bc", "d"}));
  EXPECT_EQ(split("|a||", '|'), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("a|b", ','), Parts{"a|b"});
  EXPECT_EQ(split("", '|'), Parts{""});
}

TEST(Text, LosesBlanksAtBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\t \r"), "a b");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("a"), "a");
}

TEST(Text, IsFoldedInAsciiAlone) {
  EXPECT_EQ(lower("Physics_AZ@[09"), "physics_az@[09");
  EXPECT_EQ(lower("\xc3\x84"), "\xc3\x84") << "a letter with a diaeresis, in UTF-8";
}

}  // namespace
}  // namespace shapley
