#include "protocol/classifier.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace shapley::protocol {
namespace {

// The rules of every case below, in this order.
const std::vector<Rule> k_example_rules = {
    {"physics", RuleKind::account, "physics", 0}, {"physics", RuleKind::user, "", 1001},
    {"Biology", RuleKind::account, "BIO", 0},     {"Biology", RuleKind::partition, "genome", 0},
    {"Biology", RuleKind::qos, "longbio", 0},     {"math", RuleKind::group, "", 500},
    {"math", RuleKind::account, "root", 0},
};

JobTraits job_of_account(std::string_view account) {
  JobTraits job;
  job.account = account;
  return job;
}

struct Case {
  const char* why;
  std::string account;
  std::vector<std::string> ancestors;
  std::string partition;
  std::string qos;
  std::uint32_t user_id;
  std::uint32_t group_id;
  std::string expected;
};

class Classification : public testing::TestWithParam<Case> {};

TEST_P(Classification, IsTheFirstRuleThatMatches) {
  const Case& c = GetParam();
  const Classifier classifier(k_example_rules);
  EXPECT_EQ(classifier.organization_of({.account = c.account,
                                        .account_ancestors = c.ancestors,
                                        .partition = c.partition,
                                        .qos = c.qos,
                                        .user_id = c.user_id,
                                        .group_id = c.group_id}),
            c.expected)
      << c.why;
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Classification,
    testing::Values(
        Case{"nothing known: guests", "", {}, "", "", 0, 0, ""},
        Case{"no rule: guests", "chem", {"science"}, "normal", "normal", 7, 7, ""},
        Case{"own account", "physics", {}, "", "", 0, 0, "physics"},
        Case{"parent account", "optics", {"physics", "science"}, "", "", 0, 0, "physics"},
        Case{"grandparent account", "laser", {"optics", "physics"}, "", "", 0, 0, "physics"},
        Case{"account typed in capitals by the user", "PhysicS", {}, "", "", 0, 0, "physics"},
        Case{"account typed in capitals in the rule", "bio", {}, "", "", 0, 0, "Biology"},
        Case{"a longer name is another account", "physics2", {}, "", "", 0, 0, ""},
        Case{"a shorter name is another account", "physic", {}, "", "", 0, 0, ""},
        Case{"partition", "", {}, "genome", "", 0, 0, "Biology"},
        Case{"names of partitions are case-sensitive, as Slurm does", "", {}, "Genome", "", 0, 0, ""},
        Case{"qos", "", {}, "", "longbio", 0, 0, "Biology"}, Case{"user", "", {}, "", "", 1001, 0, "physics"},
        Case{"group", "", {}, "", "", 0, 500, "math"},
        Case{"a user's number is no group", "", {}, "", "", 500, 1001, ""},
        Case{"an account's name is no partition", "genome", {}, "physics", "bio", 0, 0, ""},
        Case{"first rule wins across kinds", "bio", {}, "genome", "", 1001, 500, "physics"},
        Case{"a later kind does not overtake", "chem", {}, "genome", "", 0, 500, "Biology"},
        // The order of the rules decides, not the distance in the account tree.
        Case{"a nearer account does not overtake an earlier rule", "bio", {"physics"}, "", "", 0, 0, "physics"},
        Case{"the root account catches the rest", "chem", {"science", "root"}, "", "", 0, 0, "math"}));

std::vector<std::string> choices(const Classifier& classifier, const JobTraits& job) {
  std::vector<std::string> names;
  classifier.for_each_organization(job, [&](std::string_view name) { names.emplace_back(name); });
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(Classifier, SeveralPartitionsAreBookedUnderTheLastRuleWhateverTheirOrder) {
  const Classifier classifier({{"early", RuleKind::partition, "early", 0},
                               {"physics", RuleKind::account, "physics", 0},
                               {"A", RuleKind::partition, "a", 0},
                               {"B", RuleKind::partition, "b", 0}});
  const auto asks_for = [](std::string_view partitions, std::string_view account = "") {
    JobTraits job = job_of_account(account);
    job.partition = partitions;
    return job;
  };
  for (const char* list : {"a,b", "b,a", ",b,,a,b,"}) {
    EXPECT_EQ(classifier.organization_of(asks_for(list)), "B") << list;
    EXPECT_EQ(classifier.organization_of(asks_for(list, "physics")), "physics") << list;
  }
  EXPECT_EQ(choices(classifier, asks_for("b,a")), (Names{"A", "B"}));
  EXPECT_EQ(choices(classifier, asks_for("b,a", "physics")), (Names{"physics", "physics"}));
  for (const char* list : {"a,other", "other,a"}) {
    EXPECT_EQ(classifier.organization_of(asks_for(list)), "") << list << ": guests come last";
    EXPECT_EQ(choices(classifier, asks_for(list)), (Names{"", "A"}));
  }
  for (const char* list : {"early,a", "a,early"}) {
    EXPECT_EQ(classifier.organization_of(asks_for(list, "physics")), "physics") << list;
    EXPECT_EQ(choices(classifier, asks_for(list, "physics")), (Names{"early", "physics"})) << "it may start in either";
  }
  EXPECT_EQ(classifier.organization_of(asks_for("early", "physics")), "early");
  EXPECT_EQ(classifier.organization_of(asks_for(",")), "");
  EXPECT_EQ(choices(classifier, asks_for("")), (Names{""}));
}

TEST(Classifier, WithoutRulesEveryJobIsAGuests) {
  EXPECT_EQ(Classifier{}.organization_of(job_of_account("physics")), "");
  EXPECT_EQ(Classifier(std::vector<Rule>{}).organization_of(job_of_account("physics")), "");
}

TEST(Classifier, ReadsAccountsFromSlurmsOwnStrings) {
  const std::array<const char*, 3> ancestors = {nullptr, "Physics", "root"};
  const Classifier classifier(k_example_rules);
  JobTraits job = job_of_account("optics");
  job.account_ancestors = std::span<const char* const>(ancestors);
  EXPECT_EQ(classifier.organization_of(job), "physics");
}

TEST(Classifier, CopiesAnswerForThemselves) {
  auto original = std::make_unique<Classifier>(k_example_rules);
  const Classifier copy = *original;
  original.reset();
  EXPECT_EQ(copy.organization_of(job_of_account("bio")), "Biology");
}

}  // namespace
}  // namespace shapley::protocol
