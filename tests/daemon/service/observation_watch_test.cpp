// When nobody looked at slurmctld's records: the watch alone, then in a service.
#include "daemon/books/observation_watch.hpp"

#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using accounting::GapCause;
using accounting::ObservationGap;
using Lines = std::vector<std::string>;

constexpr Instant at(std::int64_t seconds) {
  return Instant{k_begin + seconds};
}

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

  ObservationWatch wrong_clock(at(0), {});
  wrong_clock.begin_session(later);
  wrong_clock.distrust();
  EXPECT_EQ(wrong_clock.note_read(at(900)), std::nullopt);

  ObservationWatch a_second(at(49), {});
  a_second.begin_session(later);
  EXPECT_EQ(a_second.note_read(at(50)), std::nullopt) << "times are whole seconds";
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
  // Two jobs that began and were requeued meanwhile, one of them twice; one that had been requeued before anybody
  // looked.
  const auto requeued = [&](std::uint32_t id, std::uint32_t restarts, std::int64_t submit) {
    protocol::JobRecord job = waiting({.id = id, .start = submit});
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
