// `shapleyctl advise` on the jobs that wait, its numbers worked out by hand.
#include <gtest/gtest.h>

#include "ctl/advice/advice.hpp"
#include "tests/support/must.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

Expected<json> pending_advice_report(const json& queue) {
  const auto report = ctl::pending_advice_report(partial<ledger::QueueReport>(queue));
  if (!report) return tl::unexpected(report.error());
  return json_of(*report);
}

std::string render_pending_advice(const json& report) {
  return ctl::render_pending_advice(partial<PendingReport>(report));
}

// A and B own two processors each. A: an array of two tasks, ten seconds on two processors each, submitted after one of
// four seconds on one. B: nothing. A job of a guest, one without a limit, and one wider than B.
json queue() {
  return json::parse(R"({"at": 1795249851, "truncated": false,
    "organizations": [{"organization": "A", "processors": 2}, {"organization": "B", "processors": 2.5},
                      {"organization": "commons", "processors": 8}, {"organization": "guests", "processors": 0}],
    "jobs": [
      {"job": 1, "organization": "A", "processors": 2, "tasks": 2, "submit": 20, "time_limit_s": 10},
      {"job": 3, "organization": "A", "processors": 1, "tasks": 1, "submit": 10, "time_limit_s": 4},
      {"job": 4, "organization": "guests", "processors": 1, "tasks": 3, "submit": 10, "time_limit_s": 4},
      {"job": 5, "organization": "A", "processors": 1, "tasks": 1, "submit": 10, "time_limit_s": null},
      {"job": 6, "organization": "A", "processors": 3, "tasks": 1, "submit": 10, "time_limit_s": 4}]})");
}

void expect_outcome(const json& outcome, double makespan, double mean_flow) {
  EXPECT_DOUBLE_EQ(outcome["makespan"].get<double>(), makespan);
  EXPECT_NEAR(outcome["mean_flow"].get<double>(), mean_flow, 1e-9);
}

TEST(PendingAdvice, PlansTheQueueThreeWays) {
  const auto report = must(pending_advice_report(queue()));
  ASSERT_EQ((report)["organizations"].size(), 2U);
  const json& a = (report)["organizations"][0];
  EXPECT_EQ(a["jobs"], 3);
  // In order of submission: the narrow one until 4, then the others until 14 and 24.
  expect_outcome(a["in_order"], 24, 14);
  // The widest first: 10, 20, 24.
  expect_outcome(a["planned_alone"], 24, 18);
  // On both clusters nothing ends later, and something ends sooner.
  EXPECT_LE(a["planned_together"]["makespan"].get<double>(), 24);
  EXPECT_LT(a["planned_together"]["mean_flow"].get<double>(), 18);
  const json& b = (report)["organizations"][1];
  EXPECT_EQ(b["processors"], 2);
  EXPECT_EQ(b["jobs"], 0);
}

TEST(PendingAdvice, SaysWhatIsLeftOutAndWhatTheModelDoesNotKnow) {
  const auto report = pending_advice_report(queue());
  ASSERT_TRUE(report);
  EXPECT_EQ((*report)["left_out"], (json{{"of organizations that own no processor", 3},
                                         {"without a time limit", 1},
                                         {"wider than what the organization owns", 1}}));
  const std::string text = render_pending_advice(*report);
  for (const char* part :
       {"A: its pending jobs would be done sooner together", "B has no job that waits",
        "Left out: 3 jobs of organizations that own no processor.\n",
        "Left out: 1 job wider than what the organization owns.\n", "Every job takes its time limit"}) {
    EXPECT_PRED2(contains, text, part) << part << '\n';
  }
}

// C owns one processor. A's wide jobs are planned nevertheless, on the clusters that they fit.
TEST(PendingAdvice, ATinyOrganizationLeavesNoJobOfOthersOut) {
  json with_tiny = queue();
  with_tiny["organizations"].push_back({{"organization", "C"}, {"processors", 1}});
  const auto report = must(pending_advice_report(with_tiny));
  const auto before = pending_advice_report(queue());
  ASSERT_TRUE(before);
  EXPECT_EQ((report)["left_out"], (*before)["left_out"]);
  const json& a = (report)["organizations"][0];
  EXPECT_EQ(a["jobs"], 3);
  EXPECT_EQ(a["in_order"], (*before)["organizations"][0]["in_order"]);
  EXPECT_EQ(a["planned_alone"], (*before)["organizations"][0]["planned_alone"]);
  // Least loaded first: B's cluster, then C's, then A's own, from which 20 go to B's 0 and the narrow one to C's.
  expect_outcome(a["planned_together"], 10, 8);
  EXPECT_PRED2(contains, render_pending_advice(report), "Planned together is ILBA without MOCCA");
}

TEST(PendingAdvice, WhereNothingCanBePlannedItSaysWhy) {
  json wide = queue();
  wide["jobs"] = json::array({wide["jobs"][4]});
  const auto report = must(pending_advice_report(wide));
  const std::string text = render_pending_advice(report);
  EXPECT_PRED2(contains, text, "A has no job that waits and can be planned.");
  EXPECT_PRED2(contains, text, "Left out: 1 job wider than what the organization owns.\n");
  wide["organizations"] = json::array();
  EXPECT_PRED2(contains, render_pending_advice(*pending_advice_report(wide)), "No organization owns processors");
}

TEST(PendingAdvice, AQueueThatIsTooLongIsNotPlanned) {
  json huge = queue();
  huge["jobs"][0]["tasks"] = 100'001;
  const auto report = pending_advice_report(huge);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::limit);
}

}  // namespace
}  // namespace shapley::ctl
