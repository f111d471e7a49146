// What names a job's workflow and activity.
#include "workflow/keys.hpp"

#include <gtest/gtest.h>

namespace shapley::workflow {
namespace {

// The workflow and the activity of a job that no dependency ties, as "workflow / activity".
std::string names(const Naming& job, const Settings& settings = {}) {
  return resolve(key_of(job, settings, Level::workflow), 17, false) + " / " +
         resolve(key_of(job, settings, Level::activity), 17, false);
}

TEST(Keys, TheFirstRuleThatAppliesNamesTheWorkflow) {
  EXPECT_EQ(names({.wckey = "night", .name = "align-1", .array_job = 5}), "wckey night / array 5");
  EXPECT_EQ(names({.wckey = "", .name = "align-1", .array_job = 5}), "array 5 / array 5");
  EXPECT_EQ(names({.wckey = "", .name = "align-1"}), "name align / name align");
  EXPECT_EQ(names({.wckey = "", .name = "align"}), "job 17 / name align");
}

TEST(Keys, ADefaultWckeyNamesNothing) {
  EXPECT_EQ(names({.wckey = "*night", .name = "x"}), "job 17 / name x");
  EXPECT_EQ(names({.wckey = "*", .name = "x"}), "job 17 / name x");
}

TEST(Keys, AWorkflowsPrefixEndsAtTheFirstDelimiterAnActivitysAtTheLast) {
  EXPECT_EQ(names({.wckey = "", .name = "genome-align-17"}), "name genome / name genome-align");
}

TEST(Keys, ADelimiterAtAnEndPartsNothing) {
  EXPECT_EQ(names({.wckey = "", .name = "-17"}), "job 17 / name -17");
  EXPECT_EQ(names({.wckey = "", .name = "align-"}), "job 17 / name align-");
}

TEST(Keys, TheDelimiterIsTakenAsAWhole) {
  const Settings settings{.name_delimiter = "__"};
  EXPECT_EQ(names({.wckey = "", .name = "a_b__c__1"}, settings), "name a_b / name a_b__c");
}

TEST(Keys, RulesAreTriedInTheirOrder) {
  const Settings settings{.workflow_key = {KeyRule::job_name_prefix, KeyRule::wckey}, .activity_key = {}};
  EXPECT_EQ(names({.wckey = "night", .name = "align-1", .array_job = 5}, settings), "name align / name align-1");
  EXPECT_EQ(names({.wckey = "night", .name = "align", .array_job = 5}, settings), "wckey night / name align");
}

TEST(Keys, DependenciesNameWhatTheyTie) {
  Settings settings{.workflow_key = {KeyRule::dependency, KeyRule::job_name_prefix}};
  const Key first = key_of({.wckey = "", .name = "align-1"}, settings, Level::workflow);
  EXPECT_EQ(resolve(first, 12, true), "job 12");
  EXPECT_EQ(resolve(first, 17, false), "name align");
  settings.workflow_key = {KeyRule::job_name_prefix, KeyRule::dependency};
  const Key last = key_of({.wckey = "", .name = "align-1"}, settings, Level::workflow);
  EXPECT_EQ(resolve(last, 12, true), "name align");
}

}  // namespace
}  // namespace shapley::workflow
