// Verdicts over recordings that are made here: by hand, and from schedules of the simulator.
#include "sim/emulation/judge.hpp"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "tests/sim/naive_ref.hpp"

namespace shapley::sim {
namespace {

// Jobs of three organizations that often wait, as if a slurmctld had started them in the order of this policy.
Recording recording_of(std::uint64_t seed, const char* policy) {
  Rng rng(seed);
  scheduling::Instance instance{{2, 1, 1}, {}, {40}};
  for (int j = 0; j < 30; ++j) {
    instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(30))},
                             {static_cast<std::int64_t>(1 + rng.below(9))},
                             static_cast<std::uint32_t>(rng.below(3))});
  }
  Recording recording{.window = "made",
                      .policy = "made",
                      .rule = policy,
                      .owned = {2, 1, 1},
                      .length = 40,
                      .residual = 5,
                      .priorities_written = 60};
  for (const scheduling::Job& job : instance.jobs) {
    recording.runs.push_back({.organization = job.organization,
                              .submit = job.release.value,
                              .start = {},
                              .end = {},
                              .requested = job.duration.value});
  }
  const auto made = make_policy(policy, instance, {});
  for (const scheduling::Start& start : scheduling::simulate(instance, **made).schedule) {
    RecordedRun& run = recording.runs[start.job];
    run.start = start.start.value;
    const std::int64_t end = start.start.value + instance.jobs[start.job].duration.value;
    if (end <= recording.length) run.end = end;
  }
  return recording;
}

Verdict verdict_of(const Recording& recording) {
  auto verdict = judge(recording);
  EXPECT_TRUE(verdict.has_value()) << (verdict ? "" : verdict.error().what);
  return verdict.value_or(Verdict{});
}

TEST(Judge, ARecordingOfItsOwnRuleIsFaithful) {
  int unfair = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Verdict verdict = verdict_of(recording_of(seed, "fcfs"));
    EXPECT_EQ(verdict.fidelity, 0);
    EXPECT_EQ(verdict.unfairness, verdict.unfairness_simulated);
    EXPECT_EQ(verdict.due, verdict.due_simulated);
    EXPECT_EQ(verdict.before_older, 0U);
    EXPECT_DOUBLE_EQ(verdict.written_a_start * static_cast<double>(verdict.starts), 60);
    unfair += verdict.unfairness > 0 ? 1 : 0;
    Recording other = recording_of(seed, "fcfs");
    other.rule = "round_robin";
    EXPECT_EQ(verdict_of(other).unfairness, verdict.unfairness);
    EXPECT_EQ(verdict_of(recording_of(seed, "ref")).unfairness, 0);
  }
  EXPECT_GT(unfair, 10);
}

// Every distance by single seconds: psi by the sum over unit parts, REF and phi* as they are printed in the paper.
TEST(Judge, DistancesAreThoseOfTheWords) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Recording recording = recording_of(seed, "round_robin");
    std::vector<double> psi(3);
    double total = 0;
    for (const RecordedRun& run : recording.runs) {
      if (!run.start) continue;
      for (std::int64_t s = *run.start; s < recording.length && s < run.end.value_or(recording.length); ++s)
        psi[run.organization] += static_cast<double>(recording.length - s);
    }
    const auto instance = instance_of(recording);
    ASSERT_TRUE(instance.has_value());
    const naive::Ref ref(*instance);
    double work = 0;
    for (const naive::Running& run : ref.grand().started) {
      work += static_cast<double>(std::min(run.start + instance->jobs[run.job].duration.value, recording.length) -
                                  run.start);
    }
    constexpr std::uint32_t k_all = 7;
    double unfairness = 0;
    std::vector<double> gap(3);
    for (std::uint32_t u = 0; u < 3; ++u) {
      unfairness += std::abs(psi[u] - static_cast<double>(ref.psi(k_all, u, recording.length)));
      gap[u] = psi[u] - static_cast<double>(ref.scaled_phi(k_all, u, recording.length)) / 6;
      total += gap[u];
    }
    double due = 0;
    for (const double each : gap) due += std::abs(each - total / 3);
    const Verdict verdict = verdict_of(recording);
    EXPECT_EQ(static_cast<double>(verdict.work), work);
    EXPECT_DOUBLE_EQ(verdict.unfairness, unfairness / work);
    EXPECT_NEAR(verdict.due, due / work, 1e-9);
  }
}

// Nothing waits, so each run of 12 that lasts three seconds instead of two has a unit part more, at second 2 of 20.
TEST(Judge, InEachDrawSomeRunsLastLonger) {
  Recording recording{.rule = "fcfs", .owned = {12}, .length = 20};
  for (int i = 0; i < 12; ++i)
    recording.runs.push_back({.organization = 0, .submit = 0, .start = 0, .end = 2, .requested = 2});
  const double longer = verdict_of(recording).sensitivity * 24 * 8 / 18;
  EXPECT_NEAR(longer, std::round(longer), 1e-9);
  EXPECT_GT(longer, 0);
  EXPECT_LT(longer, 40) << "of 96, one in ten";
}

TEST(Judge, JobsThatHadNotEndedHaveTheirRequestedDuration) {
  Recording recording{.rule = "fcfs", .owned = {1, 1}, .length = 10};
  recording.runs = {
      {.organization = 0, .submit = 0, .start = 0, .end = 4, .requested = 3, .processors = 1},    // as it was
      {.organization = 0, .submit = 0, .start = 1, .end = {}, .requested = 5, .processors = 1},   // ran for 9
      {.organization = 1, .submit = 2, .start = 4, .end = 14, .requested = 30, .processors = 1},  // ended too late
      {.organization = 1, .submit = 2, .start = {}, .end = {}, .requested = 7, .processors = 2},
      {.organization = 1, .submit = 3, .start = 12, .end = 15, .requested = 6, .processors = 1},  // too late
      {.organization = 1, .submit = 4, .start = 5, .end = 5, .requested = 6, .processors = 1},    // in one second
      {.organization = 1, .submit = 10, .start = 11, .end = 12, .requested = 1, .processors = 1}};
  const auto instance = instance_of(recording);
  ASSERT_TRUE(instance.has_value());
  std::vector<std::int64_t> durations;
  for (const scheduling::Job& job : instance->jobs) durations.push_back(job.duration.value);
  EXPECT_EQ(durations, (std::vector<std::int64_t>{4, 9, 30, 7, 7, 6, 1}));
  // 4 parts from 0 on, 9 from 1 on; 6 from 4 on, one at 5.
  EXPECT_EQ(recorded_psi(recording), (std::vector<std::int64_t>{10 + 9 + 8 + 7 + 45, 21 + 5}));
}

TEST(Judge, CountsStartsBeforeAnOlderJobOfTheSameOrganization) {
  Recording recording{.rule = "fcfs", .owned = {2, 1}, .length = 30};
  const auto ran = [&](std::uint32_t organization, std::int64_t submit, std::optional<std::int64_t> start) {
    recording.runs.push_back({.organization = organization, .submit = submit, .start = start, .end = {}});
    if (start) recording.runs.back().end = *start + 1;
  };
  ran(0, 1, 9);
  ran(0, 1, 12);
  ran(0, 3, 10);  // before the one of 12
  ran(0, 4, 12);  // in the same second
  ran(0, 4, 11);  // before the one of 12, not before the one of its own second
  ran(1, 2, 20);
  ran(1, 0, {});   // has not started in 30 s: the one of 20 came before it
  ran(1, 25, 26);  // so did this one
  const Verdict verdict = verdict_of(recording);
  EXPECT_EQ(verdict.before_older, 4U);
  EXPECT_EQ(verdict.longest_before_older, 10);
  EXPECT_EQ(verdict.runs, 8U);
  EXPECT_EQ(verdict.starts, 7U);
}

// The first organization ran for five seconds on the second one's node, and the third one for three on the first one's
// until a processor comes free at 5. So the first one has got 15 more than it gave, less the 6 that it gave, and the
// third one 6. On its own node the first one would be even, and would go first.
TEST(Judge, TheRuleHasTheProcessorsThatSlurmChose) {
  const auto ran_on = [](std::uint32_t first, std::uint32_t third) {
    return Recording{.rule = "direct_contr",
                     .owned = {1, 1, 0},
                     .length = 20,
                     .runs = {{.organization = 0, .submit = 0, .start = 0, .end = 5, .owner = first, .place = 1},
                              {.organization = 2, .submit = 2, .start = 2, .end = 30, .owner = third, .place = 2},
                              {.organization = 0, .submit = 3, .start = 8, .end = 11, .owner = first, .place = 4},
                              {.organization = 2, .submit = 3, .start = 5, .end = 8, .owner = first, .place = 3}}};
  };
  EXPECT_EQ(verdict_of(ran_on(1, 0)).fidelity, 0);
  EXPECT_GT(verdict_of(ran_on(0, 1)).fidelity, 0);
}

// A owns one processor, B three, and A's job of four runs: neither could have run it alone, so each is due half of its
// psi of 4 * 155. The cluster that ranks by that runs it, too.
TEST(Judge, WholeJobsAreJudgedByWhatCoalitionsCouldRun) {
  const Recording recording{
      .rule = "hindsight_whole@braking/0.5",
      .owned = {1, 3},
      .length = 20,
      .runs = {{.organization = 0, .submit = 0, .start = 0, .end = 10, .requested = 10, .processors = 4, .limit = 60}},
      .kinds = {{1, 3}}};
  const Verdict verdict = verdict_of(recording);
  EXPECT_EQ(verdict.work, 40);
  EXPECT_EQ(verdict.unfairness, 0);
  EXPECT_EQ(verdict.fidelity, 0);
  EXPECT_DOUBLE_EQ(verdict.due, (310 + 310) / 40.0);
  EXPECT_DOUBLE_EQ(verdict.due_ref, verdict.due);
  const auto instance = whole_instance_of(recording);
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->requested[0].value, 60);
}

// B's jobs may use B's processor of kind 1 only, so A's on kind 0 take nothing from it.
TEST(Judge, WholeJobsUseTheirKindOnly) {
  Recording recording{
      .rule = "fcfs",
      .owned = {2, 1},
      .length = 20,
      .runs = {{.organization = 0, .submit = 0, .start = 0, .end = 10, .requested = 10, .processors = 2, .limit = 60},
               {.organization = 1, .submit = 1, .start = 1, .end = 11, .requested = 10, .processors = 1, .kind = 1}},
      .kinds = {{2, 0}, {0, 1}}};
  EXPECT_EQ(verdict_of(recording).fidelity, 0);
  EXPECT_EQ(verdict_of(recording).due, 0);
  recording.runs[1].kind = 0;
  EXPECT_GT(verdict_of(recording).fidelity, 0) << "it would have waited until 10";
  recording.runs[1].kind = 2;
  EXPECT_EQ(judge(recording).error().what, "runs[1]: there is no kind 2 of processors");
  recording.kinds = {{3}};
  EXPECT_EQ(judge(recording).error().what, "kinds[0]: expected a number of processors for each organization");
}

TEST(Judge, RefusesWhatCannotBe) {
  const auto refusal = [](RecordedRun run) {
    const auto verdict = judge({.rule = "fcfs", .owned = {1}, .length = 9, .runs = {run}});
    return verdict ? std::string() : verdict.error().what;
  };
  EXPECT_NE(refusal({.organization = 1}).find("runs[0]: no such organization"), std::string::npos);
  EXPECT_NE(refusal({.submit = 3, .start = 2}).find("started before"), std::string::npos);
  EXPECT_NE(refusal({.submit = 3, .end = 4}).find("ended before"), std::string::npos);
  EXPECT_NE(refusal({.submit = -1}).find("before the window"), std::string::npos);
  EXPECT_NE(refusal({.processors = 0}).find("1 to 100,000 processors"), std::string::npos);
  EXPECT_NE(refusal({.submit = 3, .start = 3, .owner = 1}).find("no organization owns its node"), std::string::npos);
  EXPECT_NE(refusal({.submit = 3, .owner = 0}).find("no organization owns its node"), std::string::npos);
  EXPECT_NE(refusal({.submit = 3}).find("no run started"), std::string::npos);
}

}  // namespace
}  // namespace shapley::sim
