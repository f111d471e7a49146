// What hindsight says that it takes in memory against what the allocator gave out, counted here; and that jobs which
// ended cost no room in each coalition's schedule, however old a job is that still waits.
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>
#include <malloc.h>

#include "accounting/state/ranking.hpp"
#include "state_fixture.hpp"

namespace {

std::size_t given_out = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  void* piece = std::malloc(bytes);
  if (piece == nullptr) throw std::bad_alloc();
  given_out += malloc_usable_size(piece);
  return piece;
}
void operator delete(void* piece) noexcept {
  given_out -= piece == nullptr ? 0 : malloc_usable_size(piece);
  std::free(piece);
}
void operator delete(void* piece, std::size_t /*bytes*/) noexcept {
  operator delete(piece);
}

namespace shapley::accounting {
namespace {

constexpr std::size_t k_organizations = 8;

EstimatorId hindsight() {
  return parse_estimator("hindsight").value();
}

// A job of each organization waits from the beginning; then the first one has arrays of 64 tasks of a second, which
// start one by one, each of them by an event of its own.
State books_with(std::uint32_t jobs, const StateOptions& options) {
  State state(options);
  std::vector<std::string> names;
  for (std::size_t u = 0; u < k_organizations; ++u) names.push_back("o" + std::to_string(u));
  EXPECT_TRUE(state.apply(OrganizationsDeclared{at(0), names}));
  for (std::uint32_t u = 0; u < k_organizations; ++u) {
    EXPECT_TRUE(state.apply(owned("n" + std::to_string(u), 0, {{names[u], k_whole_node}})));
    EXPECT_TRUE(state.apply(capacity("n" + std::to_string(u), 0, 4)));
    EXPECT_TRUE(state.apply(wait(1'000'000 + u, names[u], 1, 2)));
  }
  for (std::uint32_t i = 1; i <= jobs; ++i) {
    SegmentOpened job = run(i, "o0", 10 + 3 * i, {{"n0", cores(1)}});
    job.released = at(10 + 3 * (i - i % 64));
    job.waited_as = {2'000'000 + i / 64};
    EXPECT_TRUE(state.apply(job));
    EXPECT_TRUE(state.apply(closed(job, 11 + 3 * i)));
    if (i % 5 == 0) (void)state.ranking(hindsight());
  }
  (void)state.ranking(hindsight());
  return state;
}

TEST(HindsightMemory, IsWhatTheAllocatorGaveOut) {
  for (const std::uint32_t jobs : {500U, 8'000U}) {
    const std::size_t before = given_out;
    const State without = books_with(jobs, {.left_out = {hindsight()}});
    const std::size_t other = given_out - before;
    const State with = books_with(jobs, {});
    const double really = static_cast<double>(given_out - before - 2 * other);
    const auto said = static_cast<double>(with.bytes_of_coalitions());
    EXPECT_GT(said, .8 * really) << jobs;
    EXPECT_LT(said, 1.6 * really) << jobs;
    EXPECT_LT(without.bytes_of_coalitions(), 1U);
  }
}

// In 128 of 255 schedules the part and the end of a job were 6,144 bytes.
TEST(HindsightMemory, FollowsTheJobsThatEndedOnceNotInEverySchedule) {
  const State few = books_with(8'000, {});
  const State many = books_with(24'000, {});
  const std::size_t more = many.bytes_of_coalitions() - few.bytes_of_coalitions();
  EXPECT_LT(more / 16'000, 1'000U);
}

}  // namespace
}  // namespace shapley::accounting
