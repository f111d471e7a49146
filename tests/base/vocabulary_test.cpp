#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/contract.hpp"
#include "base/rng.hpp"
#include "base/sorted_records.hpp"
#include "base/text.hpp"
#include "base/types.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley {
namespace {

__extension__ using UInt128 = unsigned __int128;
constexpr Int128 k_max = static_cast<Int128>(~static_cast<UInt128>(0) >> 1U);

TEST(Int128Text, RoundTripsTheEndsOfTheRange) {
  for (const Int128 value :
       {Int128{0}, Int128{-1}, Int128{std::numeric_limits<long>::max()} * 1000, k_max, -k_max - 1}) {
    const auto parsed = parse_int128(to_string(value));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_TRUE(*parsed == value);
  }
  EXPECT_EQ(to_string(k_max), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(-k_max - 1), "-170141183460469231731687303715884105728");
}

TEST(Int128Text, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "170141183460469231731687303715884105728",
                           "-170141183460469231731687303715884105729", "999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_int128(text).has_value()) << text;
  }
}

TEST(Counted, OneHasNoS) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(std::size_t{1204}, "run"), "1204 runs");
}

TEST(Counted, WhatGoesWithTheNounAgrees) {
  constexpr const char* k_text = "run[|s] [was|were] left out";
  EXPECT_EQ(counted_as(1, k_text), "1 run was left out");
  EXPECT_EQ(counted_as(2, k_text), "2 runs were left out");
  EXPECT_EQ(counted_as(3, "left out"), "3 left out");
}

TEST(Rng, FollowsThePublishedSequence) {
  // First outputs of SplitMix64 seeded with 1234567, as in the reference implementation's test vectors.
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317U);
  EXPECT_EQ(rng.next(), 3203168211198807973U);
  EXPECT_EQ(rng.next(), 9817491932198370423U);
}

TEST(Rng, ShuffleReachesEveryPermutationAboutEqually) {
  std::array<int, 6> seen{};
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::vector<int> items{0, 1, 2};
    Rng rng(seed);
    rng.shuffle(std::span(items));
    ++seen.at(static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0)));
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

std::vector<std::string> all_of(const SortedRecords& sorted) {
  std::vector<std::string> records;
  const auto done = sorted.for_each([&](std::string_view record) -> Expected<void> {
    records.emplace_back(record);
    return {};
  });
  EXPECT_TRUE(done) << (done ? "" : done.error().what);
  return records;
}

// Most parts are larger than a block that is read, and some records than all that is kept in memory.
TEST(SortedRecords, come_in_order_from_memory_and_from_the_file) {
  const TempDirectory directory;
  for (const std::size_t memory : {std::size_t{1} << 30U, std::size_t{1} << 19U, std::size_t{1} << 12U}) {
    SortedRecords sorted(directory.path(), memory);
    std::vector<std::string> expected;
    Rng random(7);
    for (int i = 0; i < 3'000; ++i) {
      const std::size_t length = i % 500 == 0 ? 100'000 : random.below(300);
      std::string record(length, static_cast<char>('a' + random.below(26)));
      if (length > 0) record[0] = static_cast<char>(random.below(256));
      ASSERT_TRUE(sorted.add(record));
      expected.push_back(std::move(record));
    }
    std::ranges::sort(expected, {}, [](const std::string& record) { return std::string_view(record); });
    EXPECT_EQ(all_of(sorted), expected) << memory;
    EXPECT_EQ(all_of(sorted), expected) << memory << ", once more";
    EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "the file has no name";
  }
}

TEST(SortedRecords, end_where_the_visitor_or_the_directory_does) {
  const TempDirectory directory;
  SortedRecords sorted(directory / "none", 1);
  const auto refused = sorted.add("record");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::io);
  EXPECT_EQ(refused.error().what,
            "sorting: no temporary file in " + (directory / "none").string() + ": No such file or directory");
  SortedRecords three(directory.path());
  for (const char* record : {"c", "a", "b"}) ASSERT_TRUE(three.add(record));
  int seen = 0;
  const auto stopped = three.for_each([&](std::string_view record) -> Expected<void> {
    ++seen;
    return record == "b" ? Expected<void>(fail(Errc::limit, "enough")) : Expected<void>{};
  });
  EXPECT_EQ(stopped.error().what, "enough");
  EXPECT_EQ(seen, 2);
}

int half(int even) {
  SHAPLEY_REQUIRE(even % 2 == 0);
  return even / 2;
}

TEST(Contract, AConditionThatHoldsCostsNothing) {
  EXPECT_EQ(half(4), 2);
}

#ifdef NDEBUG
TEST(Contract, ReleasesDoNotEvaluateIt) {
  EXPECT_EQ(half(5), 2);
}
#else
TEST(ContractDeathTest, ABrokenConditionEndsTheProgramAndNamesItsPlace) {
  EXPECT_DEATH(half(5), "vocabulary_test.cpp:[0-9]+: the caller breaks a contract: even % 2 == 0 does not hold");
}
#endif

}  // namespace
}  // namespace shapley
