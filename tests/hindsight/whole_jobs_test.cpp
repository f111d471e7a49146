// Pools by kind and jobs that start whole: an example by hand, and instances whose values two other programs agree on.
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/hindsight/compared_schedules.hpp"

namespace shapley::hindsight {
namespace {

// A owns 1 processor, B 3; A's job of 4 processors runs from 0 to 10. Neither could have run it alone.
TEST(WholeJobs, CountNothingWhereTheyDoNotFit) {
  for (const bool is_whole : {false, true}) {
    Pair<Int128> pair(2, 1);
    pair.change_capacity(0, 0, 1);
    pair.change_capacity(1, 0, 3);
    pair.add({.release = 0, .amount = 4, .organization = 0, .duration = 10, .width = is_whole ? 4 : 0});
    ASSERT_NO_FATAL_FAILURE(pair.compare_at(20));
    const std::vector<std::int64_t> expected =
        is_whole ? std::vector<std::int64_t>{0, 0, 620} : std::vector<std::int64_t>{210, 0, 620};
    for (std::size_t slot = 0; slot < expected.size(); ++slot) EXPECT_EQ(pair.utility(slot), expected[slot]);
  }
}

// A narrow job starts beside a wide one that waits for longer.
TEST(WholeJobs, StartInOrderIfTheyFit) {
  Pair<Int128> pair(1, 1);
  pair.change_capacity(0, 0, 3);
  pair.add({.release = 0, .amount = 2, .duration = 4, .width = 2});
  pair.add({.release = 1, .amount = 3, .duration = 2, .width = 3});
  pair.add({.release = 2, .amount = 1, .duration = 5, .width = 1});
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(9));
  // 2 (9+8+7+6), 7+6+5+4+3, 3 (2+1)
  EXPECT_EQ(pair.utility(0), 60 + 25 + 9);
}

// Half a processor of either is a processor of both, but not for a job of one alone.
TEST(WholeJobs, TakeWholeProcessorsOfWhatIsOwnedInParts) {
  Pair<Int128> pair(2, 500'000, 1, 2);
  for (std::size_t u = 0; u < 2; ++u) {
    pair.change_capacity(u, 0, 1);
    pair.add({.release = 0, .amount = 1, .organization = u, .duration = 3, .width = 1});
  }
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(3));
  for (const std::size_t alone : {0U, 1U}) EXPECT_EQ(pair.utility(alone), 0);
  EXPECT_EQ(pair.utility(2), 2 * 500'000 * (3 + 2 + 1));
}

// It asked for two and was charged three of the four: it starts where two are free, and the next one waits for one.
TEST(WholeJobs, StartWhereTheirWidthFitsWhateverTheyAreCharged) {
  Pair<Int128> pair(1, 1);
  pair.change_capacity(0, 0, 4);
  pair.add({.release = 0, .amount = 2, .duration = 4, .width = 2});
  const std::size_t charged = pair.add({.release = 1, .amount = 2, .duration = 5, .width = 2});
  pair.add({.release = 2, .amount = 1, .duration = 1, .width = 1});
  pair.charge(charged, 3);
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(9));
  // 2 (9+8+7+6), 3 (8+7+6+5+4), and 5: from 4 on there is one free
  EXPECT_EQ(pair.utility(0), 60 + 90 + 5);
  pair.charge(charged, 1);
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(9));
  EXPECT_EQ(pair.utility(0), 60 + 30 + 7);
}

// The kinds of a form are tried in its order.
TEST(WholeJobs, TakeADearerKindIfTheirOwnIsFull) {
  Pair<Int128> pair(1, 1);
  pair.change_capacity(0, 0, 2, 0);
  pair.change_capacity(0, 0, 2, 1);
  pair.add({.release = 0, .amount = 2, .duration = 6, .kinds = {0, 1}, .width = 2});
  pair.add({.release = 1, .amount = 1, .duration = 6, .kinds = {0, 1}, .width = 1});
  pair.add({.release = 2, .amount = 2, .duration = 1, .kinds = {1}, .width = 2});
  pair.add({.release = 2, .amount = 1, .duration = 1, .kinds = {1}, .width = 1});
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(9));
  // 2 (9+8+7+6+5+4), 8+7+6+5+4+3, 7, and the wide one at 7: 2 * 2
  EXPECT_EQ(pair.utility(0), 78 + 33 + 7 + 4);
}

// {"k", "T", "m": [kind][organization], "jobs": [release, duration, organization, q, kind, whether its duration is
// known], and v of every coalition by one pool of copies, "today", and by kinds and whole jobs, "rigid"}. Of one
// release they are in order.
TEST(WholeJobs, HaveTheValuesOfTheGoldenInstances) {
  std::ifstream lines(SHAPLEY_HINDSIGHT_KINDS);
  int instances = 0;
  for (std::string line; std::getline(lines, line); ++instances) {
    SCOPED_TRACE("line " + std::to_string(instances + 1));
    const nlohmann::json instance = nlohmann::json::parse(line);
    const std::size_t organizations = instance["k"];
    for (const bool is_rigid : {false, true}) {
      Pair<Int128> pair(organizations, 1);
      for (std::size_t kind = 0; kind < instance["m"].size(); ++kind) {
        for (std::size_t u = 0; u < organizations; ++u)
          pair.change_capacity(u, 0, instance["m"][kind][u], is_rigid ? kind : 0);
      }
      std::uint64_t order = 0;
      for (const auto& job : instance["jobs"]) {
        naive::Request request{.release = job[0], .amount = job[3], .organization = job[2]};
        request.order = ++order * Pair<Int128>::k_parts;
        if (job[5] == 1) request.duration = job[1];
        if (is_rigid) {
          request.kinds = {job[4].get<std::size_t>()};
          request.width = job[3];
        }
        pair.add(request);
      }
      ASSERT_NO_FATAL_FAILURE(pair.compare_at(instance["T"]));
      const auto& expected = instance[is_rigid ? "rigid" : "today"];
      for (std::size_t slot = 0; slot + 1 < expected.size(); ++slot)
        ASSERT_EQ(pair.utility(slot), expected[slot + 1].get<std::int64_t>()) << "coalition " << slot + 1;
    }
  }
  EXPECT_EQ(instances, 200);
}

}  // namespace
}  // namespace shapley::hindsight
