// The scenes of shapleyd without its socket.
#include <memory>

#include <gtest/gtest.h>

#include "daemon_stage.hpp"

namespace shapley::daemon {
namespace {

TEST(Scenes, OfTheDaemonTurnOutAsTheyAreWritten) {
  expect_scenes_to_turn_out_as_written("scenes/daemon.txt", 60, [] { return std::make_unique<DaemonStage>(); });
}

TEST(Scenes, OfWrongClocksTurnOutAsTheyAreWritten) {
  expect_scenes_to_turn_out_as_written("scenes/clock.txt", 25, [] { return std::make_unique<DaemonStage>(); });
}

}  // namespace
}  // namespace shapley::daemon
