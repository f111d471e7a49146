// psi_sp: the numbers printed in the paper, and the closed form against its definition.
#include "game/utility.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::game {
namespace {

struct SegmentUtilityInput {
  Instant begin;
  Instant end;  // k_end_of_time while it runs
  ProcessorMillionths processors;
};

// The sum of one segment, as it is known at t.
UtilitySum sum_of(const SegmentUtilityInput& segment, Instant t) {
  UtilitySum sum;
  if (t <= segment.begin) return sum;
  if (segment.end <= t) {
    sum.add_finished(segment.processors, segment.begin, segment.end);
  } else {
    sum.add_running(segment.processors, segment.begin);
  }
  return sum;
}
Utility segment_utility(const SegmentUtilityInput& segment, Instant t) {
  return sum_of(segment, t).utility_at(t);
}
CpuTime segment_work(const SegmentUtilityInput& segment, Instant t) {
  return sum_of(segment, t).work_at(t);
}

struct Job {
  std::int64_t begin;
  std::int64_t length;
};

// SR13 Figure 2: the nine jobs of O(1) on three processors; J9 runs from 10 to 14.
const std::vector<Job> k_figure_2{{0, 3}, {0, 4}, {0, 3}, {3, 6}, {3, 3}, {4, 6}, {6, 3}, {9, 3}, {10, 4}};

Int128 psi_of(const std::vector<Job>& jobs, std::int64_t t) {
  Int128 sum = 0;
  for (const Job& job : jobs) sum += segment_utility({{job.begin}, {job.begin + job.length}, {1}}, {t}).value;
  return sum;
}

// The definition: every unit part begun at i is worth t - i.
Int128 naive_utility(const SegmentUtilityInput& segment, Instant t) {
  Int128 sum = 0;
  for (std::int64_t i = segment.begin.value; i < std::min(segment.end, t).value; ++i) {
    sum += Int128{segment.processors.value} * (t.value - i);
  }
  return sum;
}

rc::Gen<SegmentUtilityInput> segments() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 100), rc::gen::inRange(0, 60), rc::gen::inRange(0, 5'000'000)),
                      [](const std::tuple<int, int, int>& s) {
                        const auto [begin, length, processors] = s;
                        return SegmentUtilityInput{{begin}, {begin + length}, {processors}};
                      });
}

std::vector<Job> without(std::vector<Job> jobs, std::size_t index) {
  jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(index));
  return jobs;
}

std::vector<Job> moved(std::vector<Job> jobs, std::size_t index, std::int64_t begin) {
  jobs[index].begin = begin;
  return jobs;
}

TEST(Utility, GivesTheNumbersOfFigure2) {
  // "utility in time 13 does not take into account the last uncompleted unit of the job J9": 262; in time 14 all parts:
  // 297.
  EXPECT_EQ(psi_of(k_figure_2, 13), 262);
  EXPECT_EQ(psi_of(k_figure_2, 14), 297);
  // "If there was no job of O(2), then J9 would be started in time 9 instead of 10": +4.
  EXPECT_EQ(psi_of(moved(k_figure_2, 8, 9), 14), 297 + 4);
  // "if J6 was started one time unit later": -6, the size of J6.
  EXPECT_EQ(psi_of(moved(k_figure_2, 5, 5), 14), 297 - 6);
  // "If the job J9 was not scheduled at all": -10.
  EXPECT_EQ(psi_of(without(k_figure_2, 8), 14), 297 - 10);
  // "The flow time in time 14 is equal to 3+4+...+14=70": all jobs were released at 0.
  std::int64_t flow_time = 0;
  for (const Job& job : k_figure_2) flow_time += job.begin + job.length;
  EXPECT_EQ(flow_time, 70);
}

TEST(Utility, IsZeroUntilASecondHasPassed) {
  const SegmentUtilityInput segment{{10}, {20}, {k_micro}};
  EXPECT_EQ(segment_utility(segment, {9}).value, 0);
  EXPECT_EQ(segment_utility(segment, {10}).value, 0);
  EXPECT_EQ(segment_utility(segment, {11}).value, k_micro);
  EXPECT_EQ(segment_work(segment, {9}).value, 0);
  EXPECT_EQ(segment_work(segment, {11}).value, k_micro);
  EXPECT_EQ(segment_work(segment, {99}).value, 10 * k_micro);
}

TEST(Utility, IsExactAtTheEndsOfItsRange) {
  // A million processors for a whole year, seen ten years later.
  const std::int64_t year = 31'536'000;
  const SegmentUtilityInput segment{{1'800'000'000}, {1'800'000'000 + year}, {1'000'000'000'000}};
  const Instant t{1'800'000'000 + 10 * year};
  const Int128 expected = Int128{1'000'000'000'000} * (Int128{year} * 10 * year - Int128{year} * (year - 1) / 2);
  EXPECT_EQ(segment_utility(segment, t).value, expected);
}

RC_GTEST_PROP(Utility, EqualsTheSumOverUnitParts, ()) {
  const SegmentUtilityInput segment = *segments();
  const Instant t{*rc::gen::inRange(0, 300)};
  RC_ASSERT(segment_utility(segment, t).value == naive_utility(segment, t));
}

RC_GTEST_PROP(Utility, IgnoresHowWorkIsCut, ()) {
  const SegmentUtilityInput whole = *segments();
  const Instant t{*rc::gen::inRange(0, 300)};
  // Cut in time, and into processors side by side.
  const Instant cut{*rc::gen::inRange(whole.begin.value, whole.end.value + 1)};
  const ProcessorMillionths part{*rc::gen::inRange<std::int64_t>(0, whole.processors.value + 1)};
  const Utility in_time =
      segment_utility({whole.begin, cut, whole.processors}, t) + segment_utility({cut, whole.end, whole.processors}, t);
  const Utility side_by_side = segment_utility({whole.begin, whole.end, part}, t) +
                               segment_utility({whole.begin, whole.end, whole.processors - part}, t);
  RC_ASSERT(segment_utility(whole, t) == in_time);
  RC_ASSERT(segment_utility(whole, t) == side_by_side);
}

RC_GTEST_PROP(Utility, NeverGainsByDelay, ()) {
  const SegmentUtilityInput segment = *segments();
  const Duration delay{*rc::gen::inRange(0, 50)};
  const Instant t{*rc::gen::inRange(0, 300)};
  RC_ASSERT(segment_utility({segment.begin + delay, segment.end + delay, segment.processors}, t) <=
            segment_utility(segment, t));
}

RC_GTEST_PROP(Utility, SumEqualsTheSumOfItsSegments, ()) {
  const auto finished = *rc::gen::container<std::vector<SegmentUtilityInput>>(segments());
  const auto running = *rc::gen::container<std::vector<SegmentUtilityInput>>(segments());
  const auto removed = *rc::gen::container<std::vector<SegmentUtilityInput>>(segments());
  const Instant t{*rc::gen::inRange(200, 400)};
  UtilitySum sum;
  for (const auto& s : removed) sum.add_finished(s.processors, s.begin, s.end);
  for (const auto& s : removed) sum.add_running(s.processors, s.begin);
  Int128 expected = 0;
  Int128 work = 0;
  for (const auto& s : finished) {
    sum.add_finished(s.processors, s.begin, s.end);
    expected += naive_utility(s, t);
    work += s.processors.value * Int128{(std::min(s.end, t) - s.begin).value};
  }
  for (const auto& s : running) {
    sum.add_running(s.processors, s.begin);
    const SegmentUtilityInput open{s.begin, k_end_of_time, s.processors};
    expected += naive_utility(open, t);
    work += s.processors.value * Int128{(t - s.begin).value};
  }
  for (const auto& s : removed) sum.remove_running(s.processors, s.begin);
  for (const auto& s : removed) sum.remove_finished(s.processors, s.begin, s.end);
  RC_ASSERT(sum.utility_at(t).value == expected);
  RC_ASSERT(sum.work_at(t).value == work);
  RC_ASSERT(UtilitySum::from(sum.coefficients()) == sum);
}

}  // namespace
}  // namespace shapley::game
