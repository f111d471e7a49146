#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::CloseReason;
using protocol::JobRecord;
using protocol::JobState;
using protocol::WaitReason;

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
  for (const WaitReason reason : {WaitReason::array_limit, WaitReason::account_limit, WaitReason::other}) {
    Bench bench;
    JobRecord r = waiting();
    bench.see(r, 104);
    r.wait = reason;
    EXPECT_EQ(only_reason(bench.see(r, 110)), CloseReason::changed);
    EXPECT_EQ(bench.waits(), "[100,110) 1");
    EXPECT_TRUE(bench.see(r, 111).events.empty());
  }
}

TEST(ObserverWait, WhatItsUserSetAsideIsTakenBackAndCountsAnewFromItsReleaseOn) {
  for (const WaitReason reason : {WaitReason::held, WaitReason::dependency, WaitReason::begin_time, WaitReason::nice}) {
    Bench bench;
    bench.see(waiting(), 104);
    JobRecord limited = waiting();
    limited.wait = WaitReason::account_limit;
    bench.see(limited, 106);
    bench.see(waiting(), 108, 106);
    JobRecord aside = waiting();
    aside.wait = reason;
    EXPECT_EQ(count_of<accounting::SegmentRetracted>(bench.see(aside, 110, 108)), 2U);
    EXPECT_EQ(bench.waits(), "");
    EXPECT_FALSE(bench.anything_open());
    EXPECT_TRUE(bench.see(aside, 111, 110).events.empty());
    // Slurm's record says that it could start since 100.
    bench.see(waiting(), 120);
    EXPECT_EQ(bench.waits(), "[120,...) 1");
    bench.see(running(130), 131);
    EXPECT_EQ(bench.waits(), "[120,130) 1");
  }
}

TEST(ObserverWait, ABrokenWaitGoesOnUnderANewAnchor) {
  Bench bench;
  JobRecord limited = waiting();
  limited.wait = WaitReason::account_limit;
  bench.see(waiting(), 104);
  bench.see(limited, 110);
  bench.see(waiting(), 120, 110);
  EXPECT_EQ(bench.waits(), "[100,110) 1; [120,...) 1");
}

TEST(ObserverWait, AReducedRequestWasNeverMore) {
  Bench bench;
  JobRecord r = waiting();
  r.requested_cpus = 8;
  bench.see(r, 104);
  r.requested_cpus = 2;
  const Observation seen = bench.see(r, 110);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 1U);
  EXPECT_EQ(bench.waits(), "[100,...) 2");
  r.requested_cpus = 5;
  bench.see(r, 120);
  EXPECT_EQ(bench.waits(), "[100,120) 2; [120,...) 5");
  r.requested_cpus = 4;
  bench.see(r, 130);
  EXPECT_EQ(bench.waits(), "[100,120) 2; [120,...) 4");
}

TEST(ObserverWait, AReductionThatOnlyTheStartShows) {
  Bench bench;
  JobRecord r = waiting();
  r.requested_cpus = 8;
  bench.see(r, 104);
  bench.see(running(120), 121);
  EXPECT_EQ(bench.waits(), "[100,120) 1");
}

TEST(ObserverWait, WhatRanIsNotTakenBackByALaterRequestOfTheJob) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  bench.see(pending_again(150), 152, 121);
  EXPECT_EQ(bench.waits(), "[100,120) 1") << "a requeue begins a new request";
  JobRecord again = pending_again(150);
  again.wait = WaitReason::startable;
  again.eligible_time = 160;
  bench.see(again, 162, 152);
  EXPECT_EQ(bench.waits(), "[100,120) 1; [160,...) 1");
  JobRecord cancelled = again;
  cancelled.state = JobState::ended;
  cancelled.end_time = 170;
  bench.see(cancelled, 171);
  EXPECT_EQ(bench.waits(), "[100,120) 1");
  EXPECT_TRUE(bench.see(cancelled, 172).events.empty());
}

TEST(ObserverWait, OnlyWhatTheBooksRememberIsTakenBack) {
  Bench bench;
  bench.state = accounting::State({.horizon = Duration{50}});
  bench.see(waiting(), 104);
  bench.state.advance(Instant{200});
  bench.state.compact();
  ASSERT_EQ(bench.state.horizon(), Instant{150});
  JobRecord cancelled = waiting();
  cancelled.state = JobState::ended;
  cancelled.end_time = 210;
  const Observation seen = bench.see(cancelled, 211);
  EXPECT_EQ(count_of<accounting::SegmentRetracted>(seen), 0U) << "that would have all events replayed";
  EXPECT_EQ(bench.waits(), "[100,150) 1");
}

TEST(ObserverWait, AReductionReachesBackToTheHorizon) {
  Bench bench;
  bench.state = accounting::State({.horizon = Duration{50}});
  JobRecord r = waiting();
  r.requested_cpus = 8;
  bench.see(r, 104);
  bench.state.advance(Instant{200});
  bench.state.compact();
  r.requested_cpus = 2;
  bench.see(r, 210);
  EXPECT_EQ(bench.waits(), "[100,150) 8; [150,...) 2");
}

TEST(ObserverWait, AReleaseAfterTheHorizonBeginsWhenItWasSeen) {
  Bench bench;
  bench.state = accounting::State({.horizon = Duration{50}});
  bench.see(waiting(), 104);
  bench.see(held(), 110);
  bench.state.advance(Instant{300});
  bench.state.compact();
  EXPECT_EQ(bench.state.find_job(JobId{7}), nullptr);
  bench.see(waiting(), 310);
  EXPECT_EQ(bench.waits(), "[310,...) 1");
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
  EXPECT_EQ(bench.waits(), "[100,...) 6");
}

TEST(ObserverWait, MovedToAnotherOrganizationItIsWithdrawnFromTheFirst) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord moved = waiting();
  moved.account = "chem";
  const Observation seen = bench.see(moved, 110);
  ASSERT_EQ(count_of<accounting::SegmentOpened>(seen), 1U);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(seen.events.back()).organization, accounting::k_guests);
  EXPECT_EQ(bench.waits(), "[110,...) 1");
}

ReadingRules partitions_of_two() {
  return {protocol::Classifier(
              {{"physics", RuleKind::partition, "phys", 0}, {"chemistry", RuleKind::partition, "chem", 0}}),
          Charging({config::Charge::weights, {{"cpu", 1}}, {}})};
}

TEST(ObserverWait, AListOfPartitionsIsOneOrganizationsDemandWhateverItsOrder) {
  Bench bench(partitions_of_two());
  JobRecord r = waiting();
  r.partition = "chem,phys";
  const Observation seen = bench.see(r, 104);
  EXPECT_EQ(std::get<accounting::SegmentOpened>(seen.events.back()).organization, "chemistry");
  r.partition = "phys,chem";
  EXPECT_TRUE(bench.see(r, 105).events.empty());
  JobRecord started = running(120);
  started.partition = "chem";
  bench.see(started, 121);
  EXPECT_EQ(bench.waits(), "[100,120) 1");
}

TEST(ObserverWait, ADemandThatStartedForAnotherOrganizationIsTakenBack) {
  Bench bench(partitions_of_two());
  JobRecord r = waiting();
  r.partition = "chem,phys";
  bench.see(r, 104);
  JobRecord started = running(120);
  started.partition = "phys";
  bench.see(started, 121);
  EXPECT_EQ(bench.waits(), "");
  EXPECT_EQ(bench.runs(), "[120,...) n1:1");
  const accounting::SegmentKey run{accounting::SegmentKind::run, JobId{7}, Instant{120}, 0};
  EXPECT_EQ(bench.state.find_segment(run)->opened.organization, "physics");
}

TEST(ObserverWait, CancelledWhilePendingIsTakenBack) {
  Bench bench;
  bench.see(waiting(), 104);
  JobRecord cancelled = record_of(JobState::ended);
  cancelled.slurm_state = "CANCELLED";
  cancelled.nodes.clear();
  cancelled.start_time = 130;  // Slurm sets both to the time of the cancellation
  cancelled.end_time = 130;
  EXPECT_EQ(only_reason(bench.see(cancelled, 132)), CloseReason::ended);
  EXPECT_EQ(bench.waits(), "");
  EXPECT_EQ(bench.runs(), "");
  EXPECT_FALSE(bench.anything_open());
  EXPECT_TRUE(bench.see(cancelled, 133).events.empty());
  EXPECT_TRUE(bench.see_gone(7, 400).events.empty());
}

// How the books say that a job is over which was not waiting for its turn.
std::string told_end(const Observation& seen) {
  std::string text;
  for (const accounting::Event& event : seen.events) {
    if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
      text += opened->organization + " asked for " + std::to_string(opened->processors.value / 1'000'000) + " from " +
              std::to_string(opened->begin.value);
    }
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event))
      text += " to " + std::to_string(closed->end.value) + " (" + closed->job_state + ")";
    if (const auto* taken = std::get_if<accounting::SegmentRetracted>(&event))
      text += ", taken back at " + std::to_string(taken->at.value);
  }
  return text;
}

JobRecord cancelled_at(std::int64_t end) {
  JobRecord r = record_of(JobState::ended);
  r.slurm_state = "CANCELLED";
  r.nodes.clear();
  r.end_time = end;
  return r;
}

TEST(ObserverWait, CancelledWhileItCouldNotStartIsOver) {
  for (const WaitReason reason :
       {WaitReason::held, WaitReason::begin_time, WaitReason::dependency, WaitReason::nice, WaitReason::other}) {
    Bench bench;
    JobRecord blocked = waiting();
    blocked.wait = reason;
    bench.see(blocked, 104);
    const Observation seen = bench.see(cancelled_at(140), 141, 104);
    EXPECT_EQ(told_end(seen), "physics asked for 1 from 140 to 140 (CANCELLED), taken back at 141");
    EXPECT_EQ(bench.waits(), "");
    EXPECT_FALSE(bench.anything_open());
    EXPECT_TRUE(bench.see(cancelled_at(140), 160, 150).events.empty());
  }
}

TEST(ObserverWait, CancelledInTheSecondInWhichItWasHeldIsOver) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(held(), 130, 104);
  EXPECT_EQ(told_end(bench.see(cancelled_at(130), 131, 130)),
            "physics asked for 1 from 130 to 130 (CANCELLED), taken back at 131");
  EXPECT_TRUE(bench.see(cancelled_at(130), 132, 131).events.empty());
}

TEST(ObserverWait, AWaitThatEndsWithItsJobSaysSoItself) {
  Bench bench;
  bench.see(waiting(), 104);
  EXPECT_EQ(count_of<accounting::SegmentOpened>(bench.see(cancelled_at(140), 140, 104)), 0U);
  EXPECT_TRUE(bench.see(cancelled_at(140), 160, 150).events.empty());
}

TEST(ObserverWait, HeldAfterARequeueAndCancelledIsASubmissionThatEnded) {
  Bench bench;
  bench.see(running(120), 121);
  JobRecord again = pending_again(150);
  again.wait = WaitReason::held;
  bench.see(again, 151, 150);
  JobRecord over = cancelled_at(190);
  over.submit_time = 150;
  over.restart_count = 1;
  const Observation seen = bench.see(over, 191, 190);
  EXPECT_EQ(told_end(seen), "physics asked for 1 from 190 to 190 (CANCELLED), taken back at 191");
  EXPECT_EQ(count_of<accounting::JobDescribed>(seen), 1U);
  EXPECT_EQ(bench.runs(), "[120,150) n1:1");
}

TEST(ObserverWait, AnEndFromBeforeTheHorizonIsNotWorthAReplay) {
  Bench bench;
  bench.state = accounting::State({.horizon = Duration{50}});
  bench.state.advance(Instant{300});
  bench.state.compact();
  EXPECT_EQ(told_end(bench.see(cancelled_at(140), 300, 299)), "");
}

TEST(ObserverWait, GoneWhilePendingIsTakenBack) {
  Bench bench;
  bench.see(waiting(), 104);
  const Observation seen = bench.see_gone(7, 120);
  EXPECT_TRUE(seen.warnings.empty());
  EXPECT_EQ(only_reason(seen), CloseReason::vanished);
  EXPECT_EQ(bench.waits(), "");
}

TEST(ObserverWait, GoneAfterItRanKeepsItsWait) {
  Bench bench;
  bench.see(waiting(), 104);
  bench.see(running(120), 121);
  bench.see(ended(120, 130), 131);
  EXPECT_TRUE(bench.see_gone(7, 400).events.empty());
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
  EXPECT_EQ(bench.waits(), "[120,130) 1");
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

TEST(ObserverNode, AnUnknownNodeIsNewsIfItIsWorthSomething) {
  Bench bench;
  protocol::NodeRecord node{.name = "n1", .cpus = 0, .usable = false, .tres = {}};
  EXPECT_TRUE(observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests()).events.empty());
  // It drains, and may have runs: what they are charged depends on it.
  node.cpus = 16;
  const Observation drains = observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests());
  ASSERT_EQ(drains.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).processors.value, 0);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).whole.value, 16 * k_micro);
}

}  // namespace
}  // namespace shapley::daemon
