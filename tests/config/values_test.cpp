#include "config/values.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace shapley::config {
namespace {

std::optional<std::int64_t> share(std::string_view text) {
  const auto parsed = parse_share(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

TEST(Share, IsReadFromFractionPercentageAndDecimal) {
  EXPECT_EQ(share("1"), 1'000'000);
  EXPECT_EQ(share("1/1"), 1'000'000);
  EXPECT_EQ(share("100%"), 1'000'000);
  EXPECT_EQ(share("100 %"), 1'000'000);
  EXPECT_EQ(share("1/4"), 250'000);
  EXPECT_EQ(share("25%"), 250'000);
  EXPECT_EQ(share("0.25"), 250'000);
  EXPECT_EQ(share("33.3%"), 333'000);
  EXPECT_EQ(share("33.3333%"), 333'333);
  EXPECT_EQ(share("999999999/999999999"), 1'000'000);
  EXPECT_EQ(share("0.000001"), 1);
}

TEST(Share, IsRoundedDownSoThatPartsOfOneNeverExceedIt) {
  EXPECT_EQ(share("1/3"), 333'333);
  EXPECT_EQ(share("2/3"), 666'666);
  EXPECT_EQ(share("99.99999%"), 999'999);
  EXPECT_EQ(share("0.9999999"), 999'999);
}

TEST(Share, OutsideItsRangeIsRefused) {
  for (const char* text :
       {"0",    "0%",   "0/5", "4/3",  "1.01", "101%", "0.0000001", "1/1000001", "1000000000/1000000001",
        "-1/3", "1/-3", "1/0", "",     "%",    "/",    "1/",        "/3",        "1/3/3",
        "1e-1", ".5",   "1.",  "half", "1 /3", "+1",   "0x1",       "1/3%",      "1..2"}) {
    EXPECT_EQ(share(text), std::nullopt) << text;
  }
}

TEST(Part, IsAShareOrNothing) {
  for (const char* text : {"0", "0%", "0.0", "0/5"}) EXPECT_EQ(*parse_part(text), 0) << text;
  EXPECT_EQ(*parse_part("0.5"), 500'000);
  EXPECT_EQ(*parse_part("1"), 1'000'000);
  for (const char* text : {"", "1.1", "-0.5", "half", "0.0000001", "1/0"}) {
    EXPECT_FALSE(parse_part(text).has_value()) << text;
  }
}

TEST(Duration, HasSecondsAsItsUnit) {
  const auto duration = [](std::string_view text) {
    return parse_duration(text, Duration{1}, Duration{366 * 24 * 3600});
  };
  EXPECT_EQ(duration("300")->value, 300);
  EXPECT_EQ(duration("45s")->value, 45);
  EXPECT_EQ(duration("5m")->value, 300);
  EXPECT_EQ(duration("1h")->value, 3600);
  EXPECT_EQ(duration("7d")->value, 7 * 24 * 3600);
  EXPECT_EQ(duration("8784h")->value, 366 * 24 * 3600);
  for (const char* text :
       {"", "0", "0m", "-5", "5 m", "5min", "m", "1.5h", "5M", "367d", "8785h", "9999999999", "5mm"}) {
    EXPECT_FALSE(duration(text).has_value()) << text;
  }
  EXPECT_EQ(parse_duration("0", Duration{0}, k_longest_duration)->value, 0);
  EXPECT_EQ(parse_duration("365d", Duration{0}, k_longest_duration), k_longest_duration);
}

TEST(Memory, HasBytesAsItsUnit) {
  EXPECT_EQ(*parse_memory("16777216"), 16 << 20);
  EXPECT_EQ(*parse_memory("16384K"), 16 << 20);
  EXPECT_EQ(*parse_memory("16M"), 16 << 20);
  EXPECT_EQ(*parse_memory("3G"), std::int64_t{3} << 30U);
  EXPECT_EQ(*parse_memory("1T"), k_most_memory);
  for (const char* text :
       {"", "0", "M", "15M", "16777215", "2T", "1025G", "-1G", "1.5G", "1g", "1 G", "1GB", "99999999999999999999"})
    EXPECT_FALSE(parse_memory(text).has_value()) << text;
  for (const char* text : {"512M", "3G", "1T", "16385K", "16777217"}) EXPECT_EQ(memory_text(*parse_memory(text)), text);
}

TEST(Integer, KeepsItsRange) {
  const IntegerRange range{1, 1000};
  EXPECT_EQ(*parse_integer("1", range), 1);
  EXPECT_EQ(*parse_integer("1000", range), 1000);
  for (const char* text : {"", "0", "1001", "-1", "1.0", "1 ", " 1", "1e3", "99999999999999999999", "ten", "+1"}) {
    EXPECT_FALSE(parse_integer(text, range).has_value()) << text;
  }
}

TEST(FormatShare, WritesNoMoreDigitsThanItNeeds) {
  EXPECT_EQ(format_share(1'000'000), "100 %");
  EXPECT_EQ(format_share(333'333), "33.3333 %");
  EXPECT_EQ(format_share(500'000), "50 %");
  EXPECT_EQ(format_share(1), "0.0001 %");
  EXPECT_EQ(format_share(1'500'000), "150 %");
  EXPECT_EQ(format_share(10'100), "1.01 %");
}

TEST(Nearest, FindsSlipsOfThePenAndNothingElse) {
  constexpr std::array<std::string_view, 4> k_known = {"ledger", "socket", "order", "organizations"};
  EXPECT_EQ(nearest("leger", k_known), "ledger");
  EXPECT_EQ(nearest("Ledger", k_known), "ledger");
  EXPECT_EQ(nearest("ldeger", k_known), "ledger");
  EXPECT_EQ(nearest("sokcet", k_known), "socket");
  EXPECT_EQ(nearest("organisations", k_known), "organizations");
  EXPECT_EQ(nearest("oder", k_known), "order");
  EXPECT_EQ(nearest("priority", k_known), "");
  EXPECT_EQ(nearest("", k_known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), k_known), "");
}

TEST(Shown, FitsOneLineOfATerminal) {
  EXPECT_EQ(shown("plain"), "'plain'");
  EXPECT_EQ(shown("a\nb\x1b[2J"), "'a\\x0ab\\x1b[2J'");
  EXPECT_EQ(shown(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(shown(std::string(59, 'x') + "\u20ac"), "'" + std::string(59, 'x') + "...'") << "no half character";
  EXPECT_EQ(shown(std::string(100, '\x9b')), "'...'");
}

}  // namespace
}  // namespace shapley::config
