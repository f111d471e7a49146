// slurmctld comes back without records that it had: killed before it saved them, or without the state that it saved.
#include <gtest/gtest.h>

#include "daemon/books/losses.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using Lines = std::vector<std::string>;

constexpr Instant at(std::int64_t t) {
  return {k_begin + t};
}

class StateLossTest : public ServiceTest {
 protected:
  // A feeder of a slurmctld that starts now; `before`: until when the records were looked at by its spool.
  void come_back(std::uint64_t instance, std::int64_t before = 0) {
    service->end_session();
    protocol::Hello hello = feeder_hello(instance);
    hello.observing_since = now;
    hello.observed_before = before;
    service->begin_session(hello, Instant{now});
    sequence = service->acknowledged(instance);
  }
  void wait(std::int64_t seconds) {
    now += seconds;
    service->tick(Instant{now});
  }
  [[nodiscard]] Lines counted() const {
    return rows("SELECT job, begin - " + std::to_string(k_begin) + ", end - " + std::to_string(k_begin) +
                ", reason FROM segments WHERE kind = 'run' AND retracted IS NULL ORDER BY job, begin");
  }
  [[nodiscard]] nlohmann::json told() { return ask(R"({"request":"status"})")["daemon"]["state_losses"]; }
};

TEST_F(StateLossTest, RunsThatWereSavedEndWhereTheyWereSeenLastAndYoungOnesAreRetracted) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 50})});
  EXPECT_EQ(told()["count"], 0);
  EXPECT_EQ(told()["last"], nullptr);
  now += 30;
  see({running({.id = 2, .node = "n2", .cpus = 2, .start = now - 1})});
  now += 10;
  come_back(2);
  snapshot({});
  EXPECT_EQ(counted(), Lines{"1|-50|30|vanished"});
  const nlohmann::json expected{{"count", 1},
                                {"closed", 1},
                                {"closed_processor_seconds", 4 * 80},
                                {"retracted", 1},
                                {"retracted_processor_seconds", 2},
                                {"last",
                                 {{"at", now},
                                  {"seen", k_begin + 30},
                                  {"closed", 1},
                                  {"closed_processor_seconds", 4 * 80},
                                  {"retracted", 1},
                                  {"retracted_processor_seconds", 2}}}};
  EXPECT_EQ(told(), expected);
  restart();
  EXPECT_EQ(told(), expected) << "the ledger knows it";
  EXPECT_EQ(rows("SELECT json_extract(payload, '$.closed'), json_extract(payload, '$.retracted') FROM events "
                 "WHERE kind = 'state_lost'"),
            Lines{"1|1"});
}

// On a quiet cluster nothing but signs of life is sent for hours: that the feeder was connected says that the run went
// on.
TEST_F(StateLossTest, WhereNothingChangedTheConnectionSaysUntilWhenARunWasSeen) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 1})});
  wait(3970);
  see({});
  wait(30);
  service->end_session();
  now += 20;
  come_back(2);
  snapshot({});
  EXPECT_EQ(counted(), Lines{"1|-1|3997|vanished"});
}

// The machine is switched off, and StateSaveLocation was on a tmpfs: neither the spool nor slurmctld's state is there.
TEST_F(StateLossTest, AfterARebootAFileBesideTheLedgerSaysUntilWhenARunWasSeen) {
  for (const bool in_order : {true, false}) {
    const std::int64_t begin = now;
    const std::uint32_t job = in_order ? 1 : 2;
    come_back(in_order ? 1 : 3);
    snapshot({running({.id = job, .start = begin - 1})});
    wait(3970);
    see({});
    wait(30);
    if (in_order) service->stop(Instant{now});
    restart();
    now += 20;
    come_back(in_order ? 2 : 4);
    snapshot({});
    EXPECT_EQ(rows("SELECT end - " + std::to_string(begin) +
                   " FROM segments WHERE kind = 'run' AND job = " + std::to_string(job)),
              Lines{"3997"});
    now += 20;
  }
}

TEST_F(StateLossTest, WhatTheNextFeederFoundInTheSpoolSaysItToo) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 1})});
  service->end_session();
  now += 200;
  restart();  // of the daemon, too, with the whole machine
  now += 20;
  come_back(2, k_begin + 190);
  snapshot({});
  EXPECT_EQ(counted(), Lines{"1|-1|190|vanished"});
  EXPECT_EQ(told()["last"]["seen"], k_begin + 190);
}

// slurmctld that is down purges nothing, however long.
TEST_F(StateLossTest, ALossIsReportedAlsoAfterALongTime) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 100})});
  service->end_session();
  now += 5000;  // MinJobAge is 300
  come_back(2);
  snapshot({});
  EXPECT_EQ(counted(), Lines{"1|-100|0|vanished"});
  EXPECT_EQ(told()["closed"], 1);
}

// The new life was fed into the spool while shapleyd was away: what it observed is not when the old runs were seen.
TEST_F(StateLossTest, WhatTheNewLifeObservedDoesNotLengthenRunsOfTheOldOne) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 100}), running({.id = 2, .node = "n2", .start = now - 100})});
  service->end_session();
  now += 10;
  come_back(2);
  protocol::JobUpdate other = running({.id = 2, .node = "n2", .start = now + 3});
  other.submit_time = now + 2;
  now += 50;
  see({other, running({.id = 3, .cpus = 1, .start = now})});
  now += 50;
  snapshot({other, running({.id = 3, .cpus = 1, .start = k_begin + 60})});
  EXPECT_EQ(counted(), (Lines{"1|-100|0|vanished", "2|-100|0|vanished", "2|13||", "3|60||"}));
  EXPECT_EQ(told()["closed"], 2);
  EXPECT_EQ(told()["count"], 1);
}

TEST_F(StateLossTest, ASlurmctldThatHasItsRunsLosesNothing) {
  connect(1);
  snapshot({running({.id = 1, .start = now - 100})});
  service->end_session();
  now += 10;
  come_back(2);
  snapshot({running({.id = 1, .start = k_begin - 100})});
  EXPECT_EQ(told()["count"], 0);
  EXPECT_FALSE(service->books().state().jobs_with_open_segments().empty());
}

TEST(LastLook, IsTheLatestOfWhatIsKnown) {
  LastLook look;
  look.begin_session({.since = at(100), .before = at(80)});
  look.note_read(at(90), at(50));
  EXPECT_EQ(look.before_restart(), std::nullopt) << "of the feeder before";
  look.note_read(at(100), at(50));
  EXPECT_EQ(look.before_restart(), at(80));
  EXPECT_EQ(look.restart()->observed_since, at(100));
  look.begin_session({.since = at(200), .before = at(190)});
  look.note_read(at(200), at(195));
  EXPECT_EQ(look.before_restart(), at(80)) << "it went away again before it was known what it had lost";
  look.end_snapshot();
  EXPECT_EQ(look.before_restart(), std::nullopt);
  EXPECT_EQ(look.refined(at(10), at(500)), at(190));
  EXPECT_EQ(look.refined(at(10), at(150)), at(10)) << "that was later";
  EXPECT_EQ(look.refined(at(300), at(500)), at(300));
}

TEST(LastLook, OfAFeederThatIsBackIsNone) {
  LastLook look;
  look.begin_session({.since = at(100)});
  look.note_read(at(300), at(250));
  EXPECT_EQ(look.before_restart(), std::nullopt);
  LastLook first;
  first.begin_session({.since = at(100)});
  first.note_read(at(100), std::nullopt);
  EXPECT_EQ(first.before_restart(), std::nullopt) << "there are no books yet";
}

// Times without a look at slurmctld's records: the watch alone, then in a service.

using accounting::GapCause;
using accounting::ObservationGap;

TEST(ObservationWatch, ALifeThatBeginsAfterTheLastOneEndedEndsAGap) {
  ObservationWatch watch(at(0), {});
  watch.note_connected(at(100));
  // slurmctld saved its state at the end of its life before: it went down with the plugin.
  watch.begin_session({.since = at(130), .controller_ran = at(104)});
  // What the old life had not delivered says until when it looked.
  EXPECT_EQ(watch.note_read(at(101)), std::nullopt);
  const ObservationGap gap{at(101), at(130), GapCause::slurmctld_down};
  EXPECT_EQ(watch.note_read(at(131)), gap);
  EXPECT_EQ(watch.gap(), gap);
  EXPECT_EQ(watch.note_read(at(132)), std::nullopt) << "once";
}

TEST(ObservationWatch, AStateThatWasSavedMeanwhileSaysThatSlurmctldRan) {
  ObservationWatch watch(at(0), {});
  watch.begin_session({.since = at(160), .before = at(100), .controller_ran = at(150)});
  EXPECT_EQ(watch.note_read(at(160)), (ObservationGap{at(100), at(160), GapCause::unobserved}));
}

TEST(ObservationWatch, DroppedObservationsAreAGapThoughThePluginWasThere) {
  ObservationWatch watch(at(0), {});
  watch.begin_session({.since = at(500), .controller_ran = at(-50), .dropped = true});
  EXPECT_EQ(watch.note_read(at(510)), (ObservationGap{at(0), at(500), GapCause::dropped}));
}

TEST(ObservationWatch, ThereIsNoGapWhere) {
  const Observing later{.since = at(50)};
  ObservationWatch first_ever(std::nullopt, {});
  first_ever.begin_session(later);
  EXPECT_EQ(first_ever.note_read(at(50)), std::nullopt) << "there were no books before";

  ObservationWatch old_plugin(at(0), {});
  old_plugin.begin_session({});
  EXPECT_EQ(old_plugin.note_read(at(900)), std::nullopt) << "it does not say";

  ObservationWatch same_life(at(60), {});
  same_life.begin_session(later);
  EXPECT_EQ(same_life.note_read(at(900)), std::nullopt) << "the daemon was away, the plugin was not";

  ObservationWatch known(at(0), {{at(0), at(50), GapCause::unobserved}});
  known.begin_session(later);
  EXPECT_EQ(known.note_read(at(900)), std::nullopt) << "it is on record";

  ObservationWatch a_second(at(49), {});
  a_second.begin_session(later);
  EXPECT_EQ(a_second.note_read(at(50)), std::nullopt) << "times are whole seconds";
}

TEST(ObservationWatch, AfterAWrongClockItsTimeIsTheGap) {
  ObservationWatch watch(at(0), {});
  watch.note_connected(at(100));
  watch.begin_session({.since = at(400)});  // by the wrong clock
  const ObservationGap gap{at(100), at(130), GapCause::wrong_clock};
  EXPECT_EQ(watch.end_wrong_clock(at(130)), gap);
  EXPECT_EQ(watch.gap(), gap);
  EXPECT_EQ(watch.note_read(at(900)), std::nullopt) << "the feeder's times are not compared";
  watch.begin_session({});
  EXPECT_EQ(watch.end_wrong_clock(at(950)), (ObservationGap{at(900), at(950), GapCause::wrong_clock}));
  EXPECT_EQ(watch.end_wrong_clock(at(950)), std::nullopt) << "no time has passed";
  EXPECT_EQ(watch.end_wrong_clock(at(952)), (ObservationGap{at(950), at(952), GapCause::wrong_clock}));
  EXPECT_EQ(watch.gap(), (ObservationGap{at(900), at(952), GapCause::wrong_clock})) << "it went on";
  ObservationWatch first_ever(std::nullopt, {});
  EXPECT_EQ(first_ever.end_wrong_clock(at(130)), std::nullopt) << "there were no books before";
}

// Of a service, with what a feeder says in its Hello.
class GapsTest : public ServiceTest {
 protected:
  void connect_since(std::uint64_t instance, std::int64_t since, std::int64_t before, std::int64_t ran) {
    protocol::Hello hello = feeder_hello(instance);
    hello.observing_since = since;
    hello.observed_before = before;
    hello.controller_ran_at = ran;
    service->begin_session(hello, Instant{now});
    sequence = service->acknowledged(instance);
  }
  [[nodiscard]] Lines gaps() const {
    return rows("SELECT json_extract(payload, '$.begin') - " + std::to_string(k_begin) +
                ", json_extract(payload, '$.end') - " + std::to_string(k_begin) +
                ", json_extract(payload, '$.cause') FROM events WHERE kind = 'observation_gap' ORDER BY seq");
  }
  [[nodiscard]] nlohmann::json told() { return ask(R"({"request":"status"})")["daemon"]["gaps"]; }
};

TEST_F(GapsTest, APluginThatWasAwayForAMinuteLeavesAGapAndTheRunsThatItsRecordsImply) {
  connect_since(1, now, 0, 0);
  snapshot({running({.id = 1, .start = now - 5})});
  EXPECT_EQ(told()["count"], 0);
  EXPECT_EQ(told()["last_begin"], nullptr);
  now += 30;
  service->tick(Instant{now});  // connected, and nothing changed
  service->end_session();
  now += 60;
  connect_since(2, now, 0, now - 3);
  // Two jobs that began and were requeued meanwhile, one of them twice; one that had been requeued before the first
  // look.
  const auto requeued = [&](std::uint32_t id, std::uint32_t restarts, std::int64_t submit) {
    protocol::JobUpdate job = waiting({.id = id, .start = submit});
    job.submit_time = submit;
    job.restart_count = restarts;
    return job;
  };
  snapshot({running({.id = 1, .start = k_begin - 5}), requeued(2, 1, now - 10), requeued(3, 2, now - 20),
            requeued(4, 5, k_begin - 100)});
  EXPECT_EQ(gaps(), Lines{"30|90|unobserved"});
  EXPECT_EQ(service->intake().lost_runs(), 3U);
  EXPECT_EQ(told()["count"], 1);
  EXPECT_EQ(told()["seconds"], 60);
  EXPECT_EQ(told()["unobserved_seconds"], 60);
  EXPECT_EQ(told()["last_begin"], k_begin + 30);
  EXPECT_EQ(told()["last_end"], k_begin + 90);
  EXPECT_EQ(told()["last_cause"], "unobserved");
  restart();
  connect_since(2, k_begin + 90, 0, k_begin + 87);
  snapshot({running({.id = 1, .start = k_begin - 5})});
  EXPECT_EQ(gaps().size(), 1U) << "the same plugin again";
  EXPECT_EQ(told()["count"], 1) << "the ledger remembers";
}

TEST_F(GapsTest, AShortRestartOfSlurmctldSaysThatNothingRan) {
  connect_since(1, now, 0, 0);
  snapshot({});
  service->end_session();
  now += 5;
  connect_since(2, now, now - 4, now - 4);
  snapshot({});
  EXPECT_EQ(gaps(), Lines{"1|5|slurmctld_down"});
  EXPECT_EQ(told()["unobserved_seconds"], 0);
}

}  // namespace
}  // namespace shapley::daemon
