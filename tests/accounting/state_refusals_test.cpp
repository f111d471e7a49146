// Which events the books refuse, and which they know to be repetitions.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

TEST_F(StateTest, KnowsRepetitionsFromContradictions) {
  const SegmentOpened opened = run(1, "ann", 0, {{"n1", cores(1)}});
  const std::vector<std::pair<Event, Event>> twins{
      {opened, run(1, "bob", 0, {{"n1", cores(1)}})},
      {closed(opened, 3), closed(opened, 4)},
      {SegmentRetracted{opened.key, at(5)}, SegmentRetracted{opened.key, at(6)}},
      {OrganizationsDeclared{at(0), {"ann", "bob"}}, OrganizationsDeclared{at(0), {"bob", "ann"}}},
      {owned("n1", 0, {{"ann", 1'000'000}}), owned("n1", 0, {{"ann", 999'999}})},
      {capacity("n1", 0, 4), capacity("n1", 0, 5)},
      {PeriodDeclared{at(0), Period::monthly}, PeriodDeclared{at(0), Period::yearly}},
      {JobDescribed{.job = {1},
                    .submit = at(0),
                    .organization = "ann",
                    .array_task = {},
                    .account = "a",
                    .partition = {},
                    .qos = {},
                    .name = {},
                    .wckey = {}},
       JobDescribed{.job = {1},
                    .submit = at(0),
                    .organization = "ann",
                    .array_task = 0,
                    .account = "a",
                    .partition = {},
                    .qos = {},
                    .name = {},
                    .wckey = {}}},
      {ConfigurationLoaded{at(0), "a: 1"}, ConfigurationLoaded{at(0), "a: 2"}},
      {ControllerBegan{7, at(0), std::string(64, 'a'), "ctl1", PeerAnswer::answered},
       ControllerBegan{7, at(0), std::string(64, 'a'), "ctl2", PeerAnswer::answered}},
      {change_to(described(1, "moved"), at(4)), change_to(described(1, "moved again"), at(4))}};
  for (const auto& [fact, contradiction] : twins) {
    apply(fact);
    const std::string before = state_.save();
    apply(fact, Applied::duplicate);
    EXPECT_EQ(state_.save(), before);
    refuse(contradiction, Errc::conflict);
  }
}

TEST_F(StateTest, TellsCloseReasonsApart) {
  const SegmentOpened opened = run(1, "ann", 0, {{"n1", cores(1)}});
  apply(SegmentClosed{opened.key, at(3), CloseReason::ended, "COMPLETED"});
  refuse(SegmentClosed{opened.key, at(3), CloseReason::ended, "FAILED"}, Errc::conflict);
  refuse(SegmentClosed{opened.key, at(3), CloseReason::requeued, "COMPLETED"}, Errc::conflict);
}

TEST_F(StateTest, RefusesSegmentsThatEndBeforeTheyBegin) {
  const SegmentOpened first = run(1, "ann", 5, {{"n1", cores(1)}});
  apply(first);
  refuse(closed(first, 4), Errc::conflict);
  const SegmentOpened second = run(2, "ann", 5, {{"n1", cores(1)}});
  apply(closed(second, 4));
  refuse(second, Errc::conflict);
  // Without effect, but a fact.
  const SegmentOpened third = run(3, "ann", 5, {{"n1", cores(1)}});
  apply(third);
  apply(closed(third, 5));
  EXPECT_EQ(row("ann", 5).used, cores(1));
}

TEST_F(StateTest, RefusesMalformedEvents) {
  const SegmentOpened good = run(1, "ann", 0, {{"n1", cores(1)}, {"n2", cores(1)}});
  const auto changed = [&](auto change) {
    SegmentOpened event = good;
    change(event);
    return event;
  };
  const std::vector<Event> malformed{
      changed([](auto& e) { e.organization.clear(); }),
      changed([](auto& e) { e.organization = "commons"; }),
      changed([](auto& e) { e.processors = cores(3); }),
      changed([](auto& e) { e.begin = {-1}; }),
      changed([](auto& e) { e.key.anchor = k_end_of_time; }),
      changed([](auto& e) { std::swap(e.nodes[0], e.nodes[1]); }),
      changed([](auto& e) { e.nodes[1].node = "n1"; }),
      changed([](auto& e) { e.nodes[0].node.clear(); }),
      changed([](auto& e) { e.nodes[0].processors = {0}; }),
      changed([](auto& e) { e.nodes[0].processors = {-1}; }),
      changed([](auto& e) { e.nodes[0].processors = e.processors = cores(2'000'000); }),
      changed([](auto& e) { e.key.kind = SegmentKind::wait; }),
      wait(1, "ann", 0, -1),
      SegmentClosed{good.key, {-5}, CloseReason::ended, ""},
      SegmentRetracted{good.key, {-5}},
      OrganizationsDeclared{at(0), {"ann", "ann"}},
      OrganizationsDeclared{at(0), {""}},
      owned("", 0, {}),
      owned("n1", 0, {{"ann", 600'000}, {"bob", 600'000}}),
      owned("n1", 0, {{"ann", 300'000}, {"ann", 300'000}}),
      owned("n1", 0, {{"ann", 0}}),
      owned("n1", 0, {{"", 5}}),
      owned("n1", 0, {{"guests", 1'000'000}}),
      OwnershipStated{"n1", at(0), {{at(5), {}}, {at(5), {}}}},
      OwnershipStated{"n1", k_beginning_of_time, {}},
      capacity("", 0, 1),
      capacity("n1", 0, -1),
      PeriodDeclared{{-1}, Period::monthly},
      ConfigurationLoaded{{-1}, ""},
      ControllerBegan{7, at(0), std::string(63, 'a'), "ctl1", PeerAnswer::silent},
      ControllerBegan{7, at(0), std::string(64, 'A'), "ctl1", PeerAnswer::silent},
      ControllerBegan{7, at(0), std::string(64, 'a'), "", PeerAnswer::silent},
      ControllerBegan{-1, at(0), std::string(64, 'a'), "ctl1", PeerAnswer::silent},
  };
  for (const Event& event : malformed) refuse(event, Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::accounting
