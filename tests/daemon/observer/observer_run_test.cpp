#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::CloseReason;
using protocol::JobRecord;
using protocol::JobState;

TEST(ObserverRun, BeginsAtStartTimeNotWhenSeen) {
  Bench bench;
  bench.see(running(120), 123);
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
}

TEST(ObserverRun, EndsAtEndTime) {
  Bench bench;
  bench.see(running(120), 123);
  bench.see(ended(120, 160), 163);
  EXPECT_EQ(bench.runs(), "[120,160) n1:1");
  EXPECT_EQ(last_reason(bench), CloseReason::ended);
}

TEST(ObserverRun, ARunThatWasNeverSeenRunningIsBookedFromItsFinalRecord) {
  Bench bench;
  bench.see(ended(120, 160), 163);
  EXPECT_EQ(bench.runs(), "[120,160) n1:1");
}

TEST(ObserverRun, ARunOfNoSecondsIsNoSegment) {
  Bench bench;
  bench.see(ended(120, 120), 163);
  EXPECT_EQ(bench.runs(), "");
}

TEST(ObserverRun, TheSameRecordAgainYieldsNothing) {
  Bench bench;
  const std::vector<std::pair<JobRecord, std::int64_t>> life{
      {running(120), 121},
      {suspended(120, 130, 10), 131},
      {flipped(running(120), 140, 10), 141},
      {flipped(ended(120, 160), 140, 10), 161},
  };
  for (const auto& [record, at] : life) {
    bench.see(record, at);
    EXPECT_TRUE(bench.see(record, at).events.empty());
    EXPECT_TRUE(bench.see(record, at + 50).events.empty());
  }
  for (const auto& [record, at] : life) EXPECT_TRUE(bench.see(record, at).events.empty()) << "at " << at;
}

TEST(ObserverRun, SuspensionEndsASegmentAndResumptionBeginsAnother) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 133);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1");
  EXPECT_EQ(last_reason(bench), CloseReason::suspended);
  bench.see(flipped(running(120), 150, 10), 151);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [150,...) n1:1");
  bench.see(flipped(ended(120, 170), 150, 10), 171);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [150,170) n1:1");
}

// Seen running, then suspended unseen, and resumed in the second in which it ended: the books say what its gap is.
TEST(ObserverRun, ASuspensionThatNobodySawBeforeAResumeInTheLastSecondIsOne) {
  Bench bench;
  bench.see(running(120), 120);
  bench.see(flipped(ended(120, 130), 130, 4), 135);
  EXPECT_EQ(bench.runs(), "[120,124) n1:1; [130,130) n1:1");
  std::vector<CloseReason> reasons;
  for (const accounting::Event& event : bench.history) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) reasons.push_back(closed->reason);
  }
  EXPECT_EQ(reasons, (std::vector{CloseReason::suspended, CloseReason::ended}));
}

TEST(ObserverRun, ARunThatWasSuspendedFromItsFirstSecondToItsLastIsKnownWithoutOne) {
  Bench bench;
  bench.see(flipped(ended(120, 130), 130, 0), 131);
  EXPECT_EQ(bench.runs(), "[120,120) n1:1; [130,130) n1:1");
  EXPECT_EQ(bench.closed_run_seconds(), 0);
  EXPECT_TRUE(bench.see(flipped(ended(120, 130), 130, 0), 140).events.empty());
}

TEST(ObserverRun, ARecordFromBeforeARunWasTakenBackIsNoNews) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(record_of(protocol::JobState::pending), 125);
  EXPECT_EQ(bench.runs(), "");
  EXPECT_TRUE(bench.see(running(120), 124).events.empty());
  EXPECT_TRUE(bench.see(running(120), 125).unsettled);
  bench.see(running(120), 126);
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
}

struct UnseenFlips {
  const char* name;
  std::vector<std::pair<JobRecord, std::int64_t>> seen;
  const char* runs;
};

class ObserverUnseenFlips : public testing::TestWithParam<UnseenFlips> {};

TEST_P(ObserverUnseenFlips, KeepRunSecondsExact) {
  Bench bench;
  for (const auto& [record, at] : GetParam().seen) bench.see(record, at);
  EXPECT_EQ(bench.runs(), GetParam().runs);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ObserverUnseenFlips,
    testing::Values(
        // Suspended and resumed between two scans: 15 of the 30 seconds until the resumption at 150 were run.
        UnseenFlips{
            "one", {{running(120), 121}, {flipped(running(120), 150, 15), 155}}, "[120,135) n1:1; [150,...) n1:1"},
        // The run was seen for the first time after a resumption.
        UnseenFlips{"first_sight", {{flipped(running(120), 150, 15), 155}}, "[120,135) n1:1; [150,...) n1:1"},
        // Suspended, resumed and suspended again: 12 of 40 seconds.
        UnseenFlips{"ends_suspended", {{running(120), 121}, {suspended(120, 160, 12), 165}}, "[120,132) n1:1"},
        // Seen suspended at 130, then resumed and suspended unseen, running 7 seconds in between.
        UnseenFlips{"hidden_stretch",
                    {{running(120), 121}, {suspended(120, 130, 10), 131}, {suspended(120, 170, 17), 172}},
                    "[120,130) n1:1; [130,137) n1:1"},
        // The same, and running again when seen.
        UnseenFlips{"hidden_stretch_then_running",
                    {{running(120), 121}, {suspended(120, 130, 10), 131}, {flipped(running(120), 180, 17), 182}},
                    "[120,130) n1:1; [130,137) n1:1; [180,...) n1:1"},
        // Ended after an unseen suspension.
        UnseenFlips{
            "ended", {{running(120), 121}, {flipped(ended(120, 190), 150, 15), 191}}, "[120,135) n1:1; [150,190) n1:1"},
        // Cancelled while suspended: end_time is the time of the suspension.
        UnseenFlips{"cancelled_suspended",
                    {{running(120), 121}, {flipped(ended(120, 160), 160, 22), 191}},
                    "[120,142) n1:1; [160,160) n1:1"},
        UnseenFlips{"never_seen_cancelled_suspended",
                    {{flipped(ended(120, 160), 160, 22), 191}},
                    "[120,142) n1:1; [160,160) n1:1"},
        // Suspended and resumed within one second: no gap.
        UnseenFlips{"within_a_second", {{running(120), 121}, {flipped(running(120), 150, 30), 155}}, "[120,...) n1:1"}),
    [](const auto& test) { return test.param.name; });

TEST(ObserverRun, AnEndThatComesAfterASuspensionCountsNoSecondOfIt) {
  // Suspended at 160, killed there at 190: Slurm counts 190 - 120 - 30 seconds.
  Bench bench;
  bench.see(running(120), 121);
  JobRecord r = flipped(ended(120, 190), 160, 40);
  r.total_suspended_s = 30;
  bench.see(r, 191);
  EXPECT_EQ(bench.runs(), "[120,160) n1:1");
}

TEST(ObserverRun, SuspendedInTheSecondOfItsStart) {
  Bench bench;
  bench.see(running(120), 120);
  const Observation same_second = bench.see(suspended(120, 120, 0), 120);
  EXPECT_TRUE(same_second.unsettled);
  EXPECT_TRUE(same_second.events.empty());
  bench.see(suspended(120, 120, 0), 121);
  EXPECT_EQ(bench.runs(), "[120,120) n1:1");
}

TEST(ObserverRun, AnOlderRecordOfALiveRunYieldsNothing) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see(suspended(120, 130, 10), 131);
  bench.see(flipped(running(120), 140, 10), 141);
  EXPECT_TRUE(bench.see(running(120), 129).events.empty());
  EXPECT_TRUE(bench.see(suspended(120, 130, 10), 139).events.empty());
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [140,...) n1:1");
}

TEST(ObserverRun, ResizeCutsAtResizeTime) {
  Bench bench;
  JobRecord r = running(120);
  r.nodes = {{"n1", 1}, {"n2", 2}};
  bench.see(r, 121);
  r.nodes = {{"n1", 1}};
  r.resize_time = 140;
  bench.see(r, 143);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1 n2:2; [140,...) n1:1");
  EXPECT_EQ(last_reason(bench), CloseReason::resized);
  EXPECT_TRUE(bench.see(r, 150).events.empty());
}

TEST(ObserverRun, AnUnseenResizeOfAnEndedRunIsStillCut) {
  Bench bench;
  JobRecord r = running(120);
  r.nodes = {{"n1", 1}, {"n2", 2}};
  bench.see(r, 121);
  JobRecord end = ended(120, 170);
  end.nodes = {{"n1", 1}};
  end.resize_time = 140;
  bench.see(end, 171);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1 n2:2; [140,170) n1:1");
}

TEST(ObserverRun, OtherWeightsDoNotRewriteARunningSegment) {
  Bench bench;
  JobRecord r = running(120);
  bench.see(r, 121);
  Bench reweighted({protocol::Classifier(), Charging({config::Charge::weights, {{"cpu", 5}}, {}})});
  for (const accounting::Event& e : bench.history) ASSERT_TRUE(reweighted.state.apply(e));
  EXPECT_TRUE(reweighted.see(r, 130).events.empty());
  // Not even when the segment began with a resize.
  r.resize_time = 120;
  EXPECT_TRUE(reweighted.see(r, 131).events.empty());
}

TEST(ObserverRun, TheOrganizationIsFixedAtTheStart) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord moved = suspended(120, 130, 10);
  moved.account = "chem";
  bench.see(moved, 131);
  JobRecord resumed = flipped(running(120), 140, 10);
  resumed.account = "chem";
  const Observation seen = bench.see(resumed, 141);
  ASSERT_EQ(seen.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(seen.events[0]).organization, "physics");
}

TEST(ObserverRun, NoRuleMeansGuests) {
  Bench bench;
  JobRecord r = running(120);
  r.account = "chem";
  const Observation seen = bench.see(r, 121);
  ASSERT_EQ(count_of<accounting::SegmentOpened>(seen), 1U);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(seen.events.back()).organization, accounting::k_guests);
}

TEST(ObserverRun, AStartTimeThatSlurmMovedReplacesTheFirst) {
  // Nodes that had to boot: Slurm starts the clock anew when they are up.
  Bench bench;
  bench.see(running(120), 121);
  const Observation seen = bench.see(running(180), 181);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 1U);
  bench.see(ended(180, 200), 201);
  EXPECT_EQ(bench.closed_run_seconds(), 20);
}

TEST(ObserverRun, APendingRecordFromBeforeTheStartTakesNothingBack) {
  Bench bench;
  bench.see(running(120), 121);
  EXPECT_TRUE(bench.see(record_of(JobState::pending), 119).events.empty());
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
}

TEST(ObserverRun, ALateRecordOfAnEarlierRunIsCountedAsFarAsItWasSeen) {
  Bench bench;
  JobRecord second = running(280);
  second.submit_time = 155;
  bench.see(second, 281);
  bench.see(running(120), 130);
  EXPECT_EQ(bench.runs(), "[120,130) n1:1; [280,...) n1:1");
  EXPECT_TRUE(bench.see(running(120), 131).events.empty());
}

TEST(ObserverRun, AJobThatIsGoneEndsWhereItWasLastKnownAlive) {
  Bench bench;
  bench.see(running(120), 121);
  const Observation seen = bench.see_gone(7, 140);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1");
  EXPECT_EQ(last_reason(bench), CloseReason::vanished);
  EXPECT_EQ(seen.warnings.size(), 1U);
  EXPECT_TRUE(bench.see_gone(7, 150).events.empty());
}

TEST(ObserverRun, GoneBeforeItsBeginIsClampedToIt) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see_gone(7, 90);
  EXPECT_EQ(bench.runs(), "[120,120) n1:1");
}

TEST(ObserverRun, TheFinalRecordOfAVanishedRunAddsWhatWasMissing) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see_gone(7, 140);
  bench.see(ended(120, 200), 500);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1; [140,200) n1:1");
}

TEST(ObserverRun, AVanishedRunThatIsThereAgainGoesOn) {
  Bench bench;
  bench.see(running(120), 121);
  bench.see_gone(7, 140);
  bench.see(running(120), 170);
  EXPECT_EQ(bench.runs(), "[120,140) n1:1; [140,...) n1:1");
}

TEST(ObserverRun, ContradictoryTimesAreClampedWithAWarning) {
  Bench backwards;
  EXPECT_EQ(backwards.see(ended(120, 90), 200).warnings.size(), 1U);
  EXPECT_EQ(backwards.runs(), "");

  Bench future_end;
  EXPECT_EQ(future_end.see(ended(120, 900), 200).warnings.size(), 1U);
  EXPECT_EQ(future_end.runs(), "[120,200) n1:1");

  Bench too_much_run;
  EXPECT_EQ(too_much_run.see(suspended(120, 150, 4000), 160).warnings.size(), 1U);
  EXPECT_EQ(too_much_run.runs(), "[120,150) n1:1");

  Bench negative;
  EXPECT_EQ(negative.see(suspended(120, 150, -5), 160).warnings.size(), 1U);
  EXPECT_EQ(negative.runs(), "");
}

TEST(ObserverRun, AStartInTheFutureWaitsUntilTimeHasCaughtUp) {
  Bench bench;
  const Observation early = bench.see(running(120), 110);
  EXPECT_TRUE(early.unsettled);
  EXPECT_EQ(bench.runs(), "");
  bench.see(running(120), 121);
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
}

TEST(ObserverRun, ARunWithoutProcessorsIsNoSegment) {
  Bench bench;
  JobRecord r = running(120);
  r.nodes.clear();
  bench.see(r, 121);
  EXPECT_EQ(bench.runs(), "");
}

TEST(ObserverDescription, OncePerSubmission) {
  Bench bench;
  JobRecord held = record_of(JobState::pending);
  held.wait = protocol::WaitReason::held;
  EXPECT_EQ(count_of<accounting::JobDescribed>(bench.see(held, 101)), 1U);
  EXPECT_EQ(count_of<accounting::JobDescribed>(bench.see(held, 105)), 0U);
  EXPECT_EQ(count_of<accounting::JobDescribed>(bench.see(running(120), 121)), 0U);
  EXPECT_EQ(count_of<accounting::JobDescribed>(bench.see(pending_again(150), 152)), 0U);
  JobRecord next = running(280);
  next.submit_time = 150;
  EXPECT_EQ(count_of<accounting::JobDescribed>(bench.see(next, 281)), 1U);
}

TEST(ObserverDescription, CarriesWhatAuditorsNeed) {
  Bench bench;
  JobRecord r = running(120);
  r.array_job_id = 5;
  r.array_task_id = 3;
  r.name = "fit";
  r.qos = "normal";
  r.partition = "batch";
  const Observation seen = bench.see(r, 121);
  const auto& d = std::get<accounting::JobDescribed>(seen.events.at(0));
  EXPECT_EQ(d.submit.value, 100);
  EXPECT_EQ(d.organization, "physics");
  EXPECT_EQ(d.array_job, 5U);
  EXPECT_EQ(d.array_task, 3U);
  EXPECT_EQ(d.name, "fit");
  EXPECT_EQ(d.qos, "normal");
  EXPECT_EQ(d.partition, "batch");
  EXPECT_EQ(d.user_id, 1000U);
}

}  // namespace
}  // namespace shapley::daemon
