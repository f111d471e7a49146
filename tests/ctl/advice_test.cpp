// `shapleyctl advise` on a ledger written through the daemon's ledger code, its numbers worked out by hand.
#include "ctl/advice/advice.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/advise.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ctl {
namespace {

using namespace accounting;
using nlohmann::json;

constexpr MicroProcessors k_two{2 * k_micro};

Instant at_second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

void add_run(std::vector<Event>& events, std::uint32_t job, const std::string& organization, const std::string& node,
             std::int64_t begin, std::int64_t end, MicroProcessors processors = k_two) {
  events.push_back(JobDescribed{.job = JobId{job},
                                .submit = at_second(0),
                                .organization = organization,
                                .array_task = std::nullopt,
                                .user_id = 1000,
                                .account = "acct",
                                .partition = "main",
                                .qos = "normal",
                                .name = "job",
                                .wckey = ""});
  const SegmentKey key{.kind = SegmentKind::run, .job = JobId{job}, .anchor = at_second(begin), .ordinal = 0};
  events.push_back(SegmentOpened{key, organization, at_second(begin), processors, {{node, processors}}});
  events.push_back(SegmentClosed{key, at_second(end), CloseReason::ended, "COMPLETED"});
}

// A and B own two processors each. A's four jobs of two processors and ten seconds ran on both nodes at once; B's one
// job waited for them. A job of somebody without nodes, and one wider than B's node, are in the ledger, too.
std::vector<Event> two_organizations() {
  std::vector<Event> events{
      OrganizationsDeclared{at_second(0), {"A", "B"}},
      OwnershipStated{.node = "n1", .effective = at_second(0), .spans = {{at_second(0), {{"A", 1'000'000}}}}},
      OwnershipStated{.node = "n2", .effective = at_second(0), .spans = {{at_second(0), {{"B", 1'000'000}}}}},
      CapacityChanged{"n1", at_second(0), 0, k_two}, CapacityChanged{"n2", at_second(0), 0, k_two}};
  add_run(events, 1, "A", "n1", 0, 10);
  add_run(events, 2, "A", "n2", 0, 10);
  add_run(events, 3, "A", "n1", 10, 20);
  add_run(events, 4, "A", "n2", 10, 20);
  add_run(events, 5, "B", "n2", 20, 30);
  add_run(events, 6, std::string(k_guests), "n1", 20, 30);
  add_run(events, 7, "A", "n1", 40, 50, k_two + k_two);
  return events;
}

class Advice : public testing::Test {
 protected:
  void SetUp() override {
    auto ledger = ledger::testing::writer(file());
    ledger::testing::must(ledger.append(two_organizations(), at_second(60)));
  }
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }
  ledger::testing::TemporaryDirectory directory;
};

void expect_outcome(const json& outcome, double makespan, double mean_flow) {
  EXPECT_DOUBLE_EQ(outcome["makespan"].get<double>(), makespan);
  EXPECT_DOUBLE_EQ(outcome["mean_flow"].get<double>(), mean_flow);
}

TEST_F(Advice, ComparesEveryOrganizationFourWays) {
  const auto report = advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt});
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ((*report)["organizations"].size(), 2U);
  const json& a = (*report)["organizations"][0];
  const json& b = (*report)["organizations"][1];
  EXPECT_EQ(a["organization"], "A");
  EXPECT_EQ(a["processors"], 2);
  EXPECT_EQ(a["runs"], 4);
  EXPECT_EQ(a["left_out_too_wide"], 1);
  EXPECT_EQ((*report)["left_out_without_nodes"], (json{{std::string(k_guests), 1}}));
  expect_outcome(a["as_it_ran"], 20, 15);
  expect_outcome(a["alone"], 40, 25);
  expect_outcome(a["planned_alone"], 40, 25);
  // ILBA lends A the second node once B's job has ended: 10, 20, 20, 30.
  expect_outcome(a["planned_together"], 30, 20);
  expect_outcome(b["as_it_ran"], 30, 30);
  expect_outcome(b["alone"], 10, 10);
  expect_outcome(b["planned_together"], 10, 10);
}

TEST_F(Advice, SaysItInWordsWithTheLimits) {
  const auto report = advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt});
  ASSERT_TRUE(report) << report.error().what;
  const std::string text = render_advice(*report);
  for (const char* part :
       {"A did better than it would have done alone (mean flow 15 s as it ran, 25 s alone).",
        "B would have done better alone (mean flow 30 s as it ran, 10 s alone).",
        "Left out: 1 runs of A that are wider than the smallest organization.", "Limits:", "MOCCA, then ILBA"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST_F(Advice, TimesChooseTheRuns) {
  const auto early = advice_report({.ledger = file(), .since = std::nullopt, .until = at_second(10)});
  ASSERT_TRUE(early) << early.error().what;
  EXPECT_EQ((*early)["organizations"][0]["runs"], 2);
  EXPECT_EQ((*early)["organizations"][1]["runs"], 0);
  const auto none = advice_report({.ledger = file(), .since = at_second(1), .until = std::nullopt});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
}

}  // namespace
}  // namespace shapley::ctl
