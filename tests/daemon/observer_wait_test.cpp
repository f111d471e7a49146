#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::CloseReason;
using protocol::JobRecord;
using protocol::JobState;
using protocol::WaitReason;

JobRecord waiting() {
  return record_of(JobState::pending);
}

JobRecord held() {
  JobRecord r = waiting();
  r.wait = WaitReason::held;
  return r;
}

CloseReason only_reason(const Observation& observation) {
  for (const accounting::Event& event : observation.events) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) return closed->reason;
  }
  ADD_FAILURE() << "nothing was closed";
  return CloseReason::vanished;
}

TEST(ObserverWait, BeginsWhenTheJobBecameEligibleAndEndsWhenItStarted) {
  Bench bench;
  bench.see(waiting(), 104);
  EXPECT_EQ(bench.waits(), "[100,...) 1");
  EXPECT_EQ(only_reason(bench.see(running(120), 122)), CloseReason::started);
  EXPECT_EQ(bench.waits(), "[100,120) 1");
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
}

TEST(ObserverWait, ARequeuedJobDoesNotWaitWhileItsNodesAreCleanedUp) {
  Bench bench;
  JobRecord r = waiting();
  r.completing = true;
  bench.see(r, 104);
  EXPECT_EQ(bench.waits(), "");
  r.completing = false;
  bench.see(r, 106, 104);
  EXPECT_EQ(bench.waits(), "[106,...) 1");
}

TEST(ObserverWait, EligibilityLaterThanSubmission) {
  Bench bench;
  JobRecord r = waiting();
  r.wait = WaitReason::begin_time;
  r.eligible_time = 150;
  bench.see(r, 104);
  EXPECT_EQ(bench.waits(), "");
  r.wait = WaitReason::startable;
  bench.see(r, 152, 104);
  EXPECT_EQ(bench.waits(), "[150,...) 1");
}

TEST(ObserverWait, AReleasedJobWaitsSinceItsReleaseWasSeen) {
  Bench bench;
  bench.see(held(), 104);
  // The record says eligible since 100, but the books knew it to be held at 110.
  bench.see(waiting(), 130, 110);
  EXPECT_EQ(bench.waits(), "[130,...) 1");
}

TEST(ObserverWait, WithoutATimeFromSlurmItBeginsWhenSeen) {
  Bench bench;
  JobRecord r = waiting();
  r.eligible_time = 0;
  bench.see(r, 104);
  EXPECT_EQ(bench.waits(), "[104,...) 1");
}

TEST(ObserverWait, AnEligibleTimeInTheFutureIsNotBelieved) {
  Bench bench;
  JobRecord r = waiting();
  r.eligible_time = 500;
  bench.see(r, 104);
  EXPECT_EQ(bench.waits(), "[104,...) 1");
}

TEST(ObserverWait, EveryReasonButStartableIsNoDemand) {
  for (const WaitReason reason : {WaitReason::held, WaitReason::dependency, WaitReason::begin_time,
                                  WaitReason::array_limit, WaitReason::account_limit, WaitReason::other}) {
    Bench bench;
    JobRecord r = waiting();
    bench.see(r, 104);
    r.wait = reason;
    EXPECT_EQ(only_reason(bench.see(r, 110)), CloseReason::changed);
    EXPECT_EQ(bench.waits(), "[100,110) 1");
    EXPECT_TRUE(bench.see(r, 111).events.empty());
  }
}

TEST(ObserverWait, ABrokenWaitGoesOnUnderANewAnchor) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(held(), 110);
  bench.see(waiting(), 120, 110);
  EXPECT_EQ(bench.waits(), "[100,110) 1; [120,...) 1");
}

TEST(ObserverWait, ARestOfAnArrayAsksForItsTasks) {
  Bench bench;
  JobRecord r = waiting();
  r.array_job_id = 7;
  r.pending_tasks = 10;
  r.requested_cpus = 2;
  bench.see(r, 104);
  r.pending_tasks = 6;
  bench.see(r, 110);
  r.pending_tasks = 0;
  bench.see(r, 120);
  EXPECT_EQ(bench.waits(), "[100,110) 20; [110,120) 12");
}

TEST(ObserverWait, AChangeWithinTheSecondIsSettledInTheNext) {
  Bench bench;
  JobRecord r = waiting();
  r.pending_tasks = 10;
  bench.see(r, 100);
  r.pending_tasks = 6;
  const Observation same_second = bench.see(r, 100);
  EXPECT_TRUE(same_second.unsettled);
  EXPECT_TRUE(same_second.events.empty());
  bench.see(r, 101);
  EXPECT_EQ(bench.waits(), "[100,101) 10; [101,...) 6");
}

TEST(ObserverWait, AnotherOrganizationIsAnotherWait) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = waiting();
  moved.account = "chem";
  const Observation seen = bench.see(moved, 110);
  ASSERT_EQ(count_of<accounting::SegmentOpened>(seen), 1U);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(seen.events.back()).organization, accounting::k_guests);
  EXPECT_EQ(bench.waits(), "[100,110) 1; [110,...) 1");
}

TEST(ObserverWait, CancelledWhilePendingEndsAtItsEnd) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord cancelled = record_of(JobState::ended);
  cancelled.slurm_state = "CANCELLED";
  cancelled.nodes.clear();
  cancelled.start_time = 130;  // Slurm sets both to the time of the cancellation
  cancelled.end_time = 130;
  EXPECT_EQ(only_reason(bench.see(cancelled, 132)), CloseReason::ended);
  EXPECT_EQ(bench.waits(), "[100,130) 1");
  EXPECT_EQ(bench.runs(), "");
}

TEST(ObserverWait, GoneWhilePendingEndsWhereItWasLastKnown) {
  Bench bench;
  bench.see(waiting(), 104);
  const Observation seen = bench.see_gone(7, 120);
  EXPECT_TRUE(seen.warnings.empty());
  EXPECT_EQ(bench.waits(), "[100,120) 1");
}

TEST(ObserverWait, AfterARequeueItWaitsAgain) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  JobRecord again = waiting();
  again.submit_time = 150;
  again.eligible_time = 150;
  again.restart_count = 1;
  bench.see(again, 153, 121);
  EXPECT_EQ(bench.runs(), "[120,150) n1:1");
  EXPECT_EQ(bench.waits(), "[100,120) 1; [150,...) 1");
}

TEST(ObserverWait, OlderRecordsChangeNothing) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(held(), 110);
  bench.see(waiting(), 120, 110);
  EXPECT_TRUE(bench.see(held(), 110).events.empty());
  EXPECT_TRUE(bench.see(waiting(), 104).events.empty());
  bench.see(running(130), 131);
  EXPECT_TRUE(bench.see(waiting(), 120).events.empty());
  EXPECT_TRUE(bench.see(held(), 110).events.empty());
  EXPECT_EQ(bench.waits(), "[100,110) 1; [120,130) 1");
}

TEST(ObserverWait, AForgottenStartWaitsAgain) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  bench.see(waiting(), 140, 121);
  EXPECT_EQ(bench.waits(), "[100,120) 1; [140,...) 1");
}

TEST(ObserverNode, CapacityChangesWithCpusAndUsability) {
  Bench bench;
  const ReadingRules rules = physics_and_guests();
  protocol::NodeRecord node{.name = "n1", .cpus = 16, .usable = true, .tres = {{"cpu", 16}}};
  const auto see = [&](std::int64_t at, std::optional<Instant> last = std::nullopt) {
    const Observation seen = observe_node(bench.state, node, Instant{at}, last, rules);
    for (const accounting::Event& e : seen.events) EXPECT_TRUE(bench.state.apply(e));
    return seen;
  };
  EXPECT_EQ(see(100).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), MicroProcessors{16 * k_micro});
  EXPECT_TRUE(see(105).events.empty());
  node.usable = false;
  EXPECT_EQ(see(110).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), MicroProcessors{0});
  node.usable = true;
  EXPECT_TRUE(see(110, Instant{110}).unsettled);
  EXPECT_TRUE(see(109, Instant{110}).events.empty());
  EXPECT_EQ(see(111, Instant{110}).events.size(), 1U);
  const Observation gone = observe_gone_node(bench.state, "n1", Instant{120}, Instant{111});
  ASSERT_EQ(gone.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(gone.events[0]).processors.value, 0);
}

TEST(ObserverNode, AnUnknownNodeThatOffersNothingIsNoNews) {
  Bench bench;
  const protocol::NodeRecord node{.name = "n1", .cpus = 16, .usable = false, .tres = {}};
  EXPECT_TRUE(observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests()).events.empty());
}

}  // namespace
}  // namespace shapley::daemon
