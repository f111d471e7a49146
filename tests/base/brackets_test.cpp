#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/slurm_text.hpp"

namespace shapley {
namespace {

using Names = std::vector<std::string>;

Names expanded(const std::string& text) {
  auto names = expand_brackets(text);
  if (names) return *std::move(names);
  ADD_FAILURE() << text << ": " << names.error().what;
  return {};
}

TEST(Brackets, ExpandInTheOrderWritten) {
  EXPECT_EQ(expanded("login"), (Names{"login"}));
  EXPECT_EQ(expanded("n[1-3,7]"), (Names{"n1", "n2", "n3", "n7"}));
  EXPECT_EQ(expanded("n[7,1-3]"), (Names{"n7", "n1", "n2", "n3"}));
  EXPECT_EQ(expanded("b,a,b"), (Names{"b", "a", "b"}));
  EXPECT_EQ(expanded("n[1-3,7],gpu[01-02]b,login"), (Names{"n1", "n2", "n3", "n7", "gpu01b", "gpu02b", "login"}));
  EXPECT_EQ(expanded("n1, n2 ,\tn3 "), (Names{"n1", "n2", "n3"}));
  EXPECT_EQ(expanded("rack-1.example.org_x"), (Names{"rack-1.example.org_x"}));
}

TEST(Brackets, SeveralGroupsVaryTheLastFastest) {
  EXPECT_EQ(expanded("r[1-2]n[1-3]"), (Names{"r1n1", "r1n2", "r1n3", "r2n1", "r2n2", "r2n3"}));
  EXPECT_EQ(expanded("r[1-2][8-9]"), (Names{"r18", "r19", "r28", "r29"}));
  EXPECT_EQ(expanded("[1-2]u"), (Names{"1u", "2u"}));
}

TEST(Brackets, LeadingZerosKeepTheirWidth) {
  EXPECT_EQ(expanded("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expanded("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expanded("n[008-11]"), (Names{"n008", "n009", "n010", "n011"}));
  EXPECT_EQ(expanded("n[8-11]"), (Names{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expanded("n[0,00,000]"), (Names{"n0", "n00", "n000"}));
  EXPECT_EQ(expanded("n[999999999999999998-999999999999999999]"),
            (Names{"n999999999999999998", "n999999999999999999"}));
}

TEST(Brackets, TheDigitsCountToTheLengthOfAName) {
  const std::string stem(252, 'n');
  EXPECT_EQ(expanded(stem + "[7,98-100]").back(), stem + "100");
  EXPECT_EQ(expanded(stem + "[001]"), Names{stem + "001"});
}

TEST(Brackets, CollapseNumbersThatFollowEachOther) {
  EXPECT_EQ(collapse_names(Names{}), "");
  EXPECT_EQ(collapse_names(Names{"login"}), "login");
  EXPECT_EQ(collapse_names(Names{"n7"}), "n7");
  EXPECT_EQ(collapse_names(Names{"n1", "n10", "n2", "n3"}), "n[1-3,10]");
  EXPECT_EQ(collapse_names(Names{"n10", "n11", "n8", "n9"}), "n[8-11]");
  EXPECT_EQ(collapse_names(Names{"n08", "n09", "n10", "n9"}), "n[9,08-10]");
  EXPECT_EQ(collapse_names(Names{"gpu1b", "gpu2b", "gpu2", "gpu"}), "gpu,gpu2,gpu[1-2]b");
  EXPECT_EQ(collapse_names(Names{"r1n1", "r1n2", "r2n1", "r2n2"}), "r1n[1-2],r2n[1-2]");
  EXPECT_EQ(collapse_names(Names{"4u", "5u", "u"}), "[4-5]u,u");
}

TEST(Brackets, NumbersOfTooManyDigitsStayAsTheyAre) {
  const Names names{"n1000000000000000000", "n1000000000000000001"};
  EXPECT_EQ(collapse_names(names), names[0] + "," + names[1]);
  EXPECT_EQ(expanded(collapse_names(names)), names);
}

struct BadBrackets {
  std::string text;
  std::string what;
};

class BracketFaults : public testing::TestWithParam<BadBrackets> {};

TEST_P(BracketFaults, NameTheCharacterAndTheReason) {
  const auto names = expand_brackets(GetParam().text);
  ASSERT_FALSE(names.has_value()) << GetParam().text;
  EXPECT_EQ(names.error().code, Errc::invalid_argument);
  EXPECT_EQ(names.error().what, GetParam().what) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BracketFaults,
    testing::Values(
        BadBrackets{"", "character 1: no node is named"}, BadBrackets{"  ", "character 3: no node is named"},
        BadBrackets{"n1,", "character 4: a node name is missing after ','"},
        BadBrackets{",n1", "character 1: a node name is missing before ','"},
        BadBrackets{"n1,,n2", "character 4: a node name is missing before ','"},
        BadBrackets{"n1 n2", "character 4: a ',' is missing before the next name"},
        BadBrackets{"n[1-4", "character 2: '[' without ']'"},
        BadBrackets{"n[1-4,", "character 7: a number is missing at the end"},
        BadBrackets{"n[", "character 3: a number is missing at the end"},
        BadBrackets{"n1-4]", "character 5: ']' without '['"}, BadBrackets{"]", "character 1: ']' without '['"},
        BadBrackets{"n[]", "character 3: a number is missing here"},
        BadBrackets{"n[1-]", "character 5: a number is missing here"},
        BadBrackets{"n[-4]", "character 3: a number is missing here"},
        BadBrackets{"n[1,,2]", "character 5: a number is missing here"},
        BadBrackets{"n[a-b]", "character 3: a number is missing here"},
        BadBrackets{"n[1-4-6]", "character 6: '-' within brackets; only numbers, '-' and ',' are allowed"},
        BadBrackets{"n[1:4]", "character 4: ':' within brackets; only numbers, '-' and ',' are allowed"},
        BadBrackets{"n[1[2]]", "character 4: '[' within brackets; only numbers, '-' and ',' are allowed"},
        BadBrackets{"n[1, 2]", "character 5: a number is missing here"},
        BadBrackets{"n[4-1]", "character 3: range 4-1 runs backwards"},
        BadBrackets{"n[1-010]", "character 3: both ends of a range with leading zeros have the same number of digits"},
        BadBrackets{"n[1-1234567890123456789]", "character 5: number with more than 18 digits"},
        BadBrackets{"n*", "character 2: '*' is not allowed in a node name"},
        BadBrackets{"n1;n2", "character 3: ';' is not allowed in a node name"},
        BadBrackets{"n\x01", "character 2: a byte that is no plain character is not allowed in a node name"},
        BadBrackets{"1-4", "character 1: a node name holds at least one letter"},
        BadBrackets{"n1,[1-4]", "character 4: a node name holds at least one letter"},
        BadBrackets{std::string(256, 'n'), "character 1: a node name has at most 255 characters"},
        BadBrackets{std::string(253, 'n') + "[7,98-101]", "character 1: a node name has at most 255 characters"},
        BadBrackets{std::string(253, 'n') + "[001]", "character 1: a node name has at most 255 characters"},
        BadBrackets{"n1," + std::string(250, 'n') + "[1]x[10]x[10]",
                    "character 4: a node name has at most 255 characters"},
        BadBrackets{"n[1]a[1]a[1]a[1]a[1]a[1]a[1]a[1]a[1]", "character 1: more than 8 bracket groups in one name"}));

TEST(Brackets, TypingErrorsDoNotEatTheMemory) {
  for (const char* text :
       {"n[1-99999999999]", "n[0-1000000]", "n[1-1000]m[1-1001]", "n[1-500000],m[1-500001]",
        "n[1-999999999999999999]m[1-999999999999999999]", "n[1-999999999999999999,1-999999999999999999]"}) {
    const auto names = expand_brackets(text);
    ASSERT_FALSE(names.has_value()) << text;
    EXPECT_EQ(names.error().code, Errc::limit) << text;
    EXPECT_NE(names.error().what.find("more than 1000000 nodes"), std::string::npos) << names.error().what;
  }
}

TEST(Brackets, AMillionNodesAreAllowed) {
  EXPECT_EQ(expanded("n[1-1000]m[1-1000]").size(), k_max_expanded_nodes);
  EXPECT_EQ(expanded("n[1-500000],m[1-500000]").size(), k_max_expanded_nodes);
}

}  // namespace
}  // namespace shapley
