// Jobs tied by dependencies, against a naive search of the graph.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "workflow/settings.hpp"
#include "workflow/tracker.hpp"

namespace shapley::workflow {
namespace {

TEST(Components, AJobIsAloneUntilItIsTied) {
  Components components;
  components.observe(7, {});
  EXPECT_EQ(components.name(7), 7U);
  EXPECT_FALSE(components.tied(7));
  components.observe(9, {7});
  EXPECT_EQ(components.name(9), 7U);
  EXPECT_TRUE(components.tied(7));
}

TEST(Components, ATieIsKeptWhenSlurmStrikesItAndWhenItsJobEnds) {
  Components components;
  components.observe(1, {});
  components.observe(2, {1});
  components.observe(3, {2});
  components.remove(1);
  components.observe(2, {});
  EXPECT_EQ(components.name(2), 1U);
  EXPECT_EQ(components.name(3), 1U);
  components.remove(2);
  EXPECT_EQ(components.name(3), 1U);
  EXPECT_TRUE(components.tied(3));
}

TEST(Components, AJobMayComeBeforeTheOneItWaitsFor) {
  Components components;
  components.observe(5, {3});
  EXPECT_FALSE(components.tied(5));
  components.observe(3, {});
  EXPECT_EQ(components.name(5), 3U);
}

TEST(Components, TwoJobsThatWaitForAStrangerAreNotTied) {
  Components components;
  components.observe(5, {3});
  components.observe(6, {3});
  EXPECT_FALSE(components.tied(5));
  EXPECT_FALSE(components.tied(6));
}

TEST(Components, TwoThatMeetSayWhoIsCalledOtherwise) {
  Components components;
  components.observe(4, {});
  components.observe(8, {});
  const auto renamed = components.observe(9, {4, 8});
  ASSERT_EQ(renamed.size(), 2U);
  EXPECT_EQ(renamed[0].from, 9U);
  EXPECT_EQ(renamed[0].to, 4U);
  EXPECT_EQ(renamed[1].from, 8U);
  EXPECT_EQ(renamed[1].to, 4U);
}

TEST(Components, AnIdThatIsUsedAgainBeginsFromZero) {
  Components components;
  components.observe(1, {});
  components.observe(2, {1});
  components.remove(1);
  components.remove(2);
  EXPECT_EQ(components.size(), 0U);
  components.observe(2, {});
  EXPECT_EQ(components.name(2), 2U);
  EXPECT_FALSE(components.tied(2));
}

TEST(Components, AreThoseOfANaiveSearch) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    Components components;
    std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
    const std::uint32_t jobs = 2 + static_cast<std::uint32_t>(rng.below(20));
    for (std::uint32_t told = 0; told < jobs; ++told) {
      const std::uint32_t job = (told * 7) % 23 + 1;  // out of order, each once
      std::vector<std::uint32_t> depends_on;
      for (std::uint64_t i = rng.below(3); i > 0; --i)
        depends_on.push_back(static_cast<std::uint32_t>(rng.below(23)) + 1);
      components.observe(job, depends_on);
      neighbours[job];
      for (const std::uint32_t other : depends_on) {
        neighbours[job].insert(other);
        neighbours[other].insert(job);
      }
    }
    std::set<std::uint32_t> there;
    for (std::uint32_t told = 0; told < jobs; ++told) there.insert((told * 7) % 23 + 1);
    for (const std::uint32_t job : there) {
      std::set<std::uint32_t> reached{job};
      std::vector<std::uint32_t> open{job};
      while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t next : neighbours[at])
          if (there.contains(next) && reached.insert(next).second) open.push_back(next);
      }
      EXPECT_EQ(components.name(job), *reached.begin());
      EXPECT_EQ(components.tied(job), reached.size() > 1);
    }
  }
}

// What names a job's workflow and activity.

// The workflow and the activity of a job that no dependency ties, as "workflow / activity".
std::string names(const Naming& job, const Settings& settings = {}) {
  return resolve(key_of(job, settings, Grouping::workflow), 17, false) + " / " +
         resolve(key_of(job, settings, Grouping::activity), 17, false);
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
  const Key first = key_of({.wckey = "", .name = "align-1"}, settings, Grouping::workflow);
  EXPECT_EQ(resolve(first, 12, true), "job 12");
  EXPECT_EQ(resolve(first, 17, false), "name align");
  settings.workflow_key = {KeyRule::job_name_prefix, KeyRule::dependency};
  const Key last = key_of({.wckey = "", .name = "align-1"}, settings, Grouping::workflow);
  EXPECT_EQ(resolve(last, 12, true), "name align");
}

}  // namespace
}  // namespace shapley::workflow
