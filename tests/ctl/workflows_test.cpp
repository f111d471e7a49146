// What `shapleyctl workflows` prints of an answer.
#include "ctl/commands/workflows.hpp"

#include <gtest/gtest.h>

namespace shapley::ctl {
namespace {

using nlohmann::json;

json example() {
  return json::parse(R"({"organizations": [{
    "organization": "physics", "at": 1795249851, "eta": 0.5, "threshold": 0.2, "unfair": true,
    "before": {"eta": 1.0, "at": 1795249841}, "highest": null, "truncated": false,
    "workflows": [
      {"workflow": "name b", "pending": 4, "blocked": 1, "running": 0, "finished": 2, "pending_work": 1.0,
       "pending_work_before": null, "levels": [3, 15], "raised_jobs": 2,
       "activities": [{"activity": "name b", "waiting_processors": 4, "running_processors": 0, "median_s": 50.0,
                       "performance": 1.0, "relative_duration": 1.0, "pending_work": 1.0, "delta": 2}]},
      {"workflow": "name a", "pending": 1, "blocked": 0, "running": 1, "finished": 0, "pending_work": 0.5,
       "pending_work_before": 0.25, "levels": null, "raised_jobs": 0, "activities": []}]}]})");
}

TEST(WorkflowsView, ShowsEtaNowAndBeforeAndEveryWorkflow) {
  EXPECT_EQ(render_workflows(example(), false),
            "physics: eta 0.50 at 2026-11-21T08:30:51Z, above the threshold of 0.20: jobs of those that wait most go "
            "first\n"
            "before: 1.00 at 2026-11-21T08:30:41Z; highest: none\n"
            "\n"
            "Workflow                 Pending Blocked Running Finished    W Before Levels Raised\n"
            "------------------------ ------- ------- ------- -------- ---- ------ ------ ------\n"
            "name b                         4       1       0        2 1.00      -   3-15      2\n"
            "name a                         1       0       1        0 0.50   0.25      -      0\n");
}

TEST(WorkflowsView, TheLongFormShowsActivities) {
  const std::string text = render_workflows(example(), true);
  EXPECT_NE(text.find("\nWorkflow                 Activity                 Q R Median    P    T    w Delta\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nname b                   name b                   4 0     50 1.00 1.00 1.00     2\n"),
            std::string::npos)
      << text;
}

TEST(WorkflowsView, SaysSoWhenThereIsNothing) {
  EXPECT_EQ(render_workflows(json{{"organizations", json::array()}}, false),
            "No organization has within_organization: workflow_fairness.\n");
  json idle = example();
  idle["organizations"][0]["workflows"] = json::array();
  EXPECT_NE(render_workflows(idle, false).find("No job of it runs or waits.\n"), std::string::npos);
  idle["organizations"][0]["hidden_workflows"] = 1200;
  const std::string text = render_workflows(idle, false);
  EXPECT_NE(text.find("1,200 workflows have jobs of others, which are private here (PrivateData in slurm.conf).\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("No job of it"), std::string::npos) << text;
}

}  // namespace
}  // namespace shapley::ctl
