// Until when slurmctld's records were looked at, and the times without a look.
#include <gtest/gtest.h>

#include "daemon/books/losses.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {
namespace {

constexpr Instant at(std::int64_t t) {
  return {k_begin + t};
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

// Times without a look at slurmctld's records.

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

}  // namespace
}  // namespace shapley::daemon
