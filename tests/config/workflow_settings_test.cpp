// within_organization and workflows: the file's settings, an organization's own, and what is refused.
#include <string>

#include <gtest/gtest.h>

#include "config/configuration.hpp"
#include "parsed.hpp"

namespace shapley::config {
namespace {

using workflow::KeyRule;
using workflow::Mode;

std::string faults_of(const std::string& yaml) {
  const auto configuration = parse(yaml);
  return configuration ? "none" : format_faults(configuration.error(), "f");
}

TEST(WorkflowSettings, AreFifoUnlessSaid) {
  const Configuration c = parsed("organizations: [{name: physics}]");
  EXPECT_FALSE(c.workflows.fairness);
  EXPECT_FALSE(c.organizations.at(0).workflows.fairness);
}

TEST(WorkflowSettings, ReadEveryKey) {
  const Configuration c = parsed(R"(
within_organization: workflow_fairness
workflows:
  workflow_key: [dependency, wckey]
  activity_key: []
  name_delimiter: "__"
  mode: phases_mid_median
  relative_duration: on
  threshold: 1/4
organizations: [{name: physics}]
)");
  const workflow::Settings expected{.fairness = true,
                                    .workflow_key = {KeyRule::dependency, KeyRule::wckey},
                                    .activity_key = {},
                                    .name_delimiter = "__",
                                    .mode = Mode::phases_mid_median,
                                    .relative_duration = true,
                                    .threshold_ppm = 250'000};
  EXPECT_EQ(c.workflows, expected);
  EXPECT_EQ(c.organizations.at(0).workflows, expected);
}

TEST(WorkflowSettings, OfAnOrganizationChangeOnlyTheKeysThatItNames) {
  const Configuration c = parsed(R"(
organizations:
  - {name: physics, within_organization: workflow_fairness, workflows: {threshold: 0.5}}
  - {name: biology, within_organization: fifo}
  - {name: chemistry}
within_organization: workflow_fairness
workflows: {workflow_key: [array], threshold: 0.1}
)");
  const workflow::Settings& physics = c.organizations.at(0).workflows;
  EXPECT_TRUE(physics.fairness);
  EXPECT_EQ(physics.threshold_ppm, 500'000);
  EXPECT_EQ(physics.workflow_key, std::vector{KeyRule::array});
  EXPECT_FALSE(c.organizations.at(1).workflows.fairness);
  EXPECT_TRUE(c.organizations.at(2).workflows.fairness);
  EXPECT_EQ(c.organizations.at(2).workflows.threshold_ppm, 100'000);
}

TEST(WorkflowSettings, FaultsAreReportedAllAtOnce) {
  EXPECT_EQ(
      faults_of(R"(organizations:
  - name: physics
    within_organization: fairness
    workflows:
      workflow_key: [wckeys, array, array]
      activity_key: wckey
      name_delimiter: ""
      mode: median
      relative_duration: yes
      threshold: 2
      tau: 1
)"),
      "f:3: organization 'physics': within_organization: 'fairness' is not known; write fifo or workflow_fairness\n"
      "f:5: organization 'physics': workflows: workflow_key: 'wckeys' is not known; did you mean wckey? Allowed: "
      "wckey, array, job_name_prefix or dependency\n"
      "f:5: organization 'physics': workflows: workflow_key: a rule is named twice; name it once\n"
      "f:6: organization 'physics': workflows: activity_key is text where a list is expected; write a list such as "
      "[wckey, array], or "
      "[] for none\n"
      "f:7: organization 'physics': workflows: name_delimiter: '' is no delimiter; write 1 to 8 characters "
      "without blanks\n"
      "f:8: organization 'physics': workflows: mode: 'median' is not known; write elapsed_only_upper_median, "
      "phases_upper_median or phases_mid_median\n"
      "f:9: organization 'physics': workflows: relative_duration: 'yes' is not known; write on or off\n"
      "f:10: organization 'physics': workflows: threshold: '2' is no threshold; a share is at most 1, or 100%\n"
      "f:11: organization 'physics': workflows: unknown key 'tau'; known keys: workflow_key, activity_key, "
      "name_delimiter, mode, relative_duration and threshold");
}

}  // namespace
}  // namespace shapley::config
