#include "config/values.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "config/configuration.hpp"
#include "parsed.hpp"

namespace shapley::config {
namespace {

std::optional<std::int64_t> share(std::string_view text) {
  const auto parsed = parse_share(text);
  return parsed ? std::optional(parsed->parts_per_million()) : std::nullopt;
}

TEST(Share, IsReadFromFractionPercentageAndDecimal) {
  EXPECT_EQ(share("1"), 1'000'000);
  EXPECT_EQ(share("1/1"), 1'000'000);
  EXPECT_EQ(share("100%"), 1'000'000);
  EXPECT_EQ(share("100 %"), 1'000'000);
  EXPECT_EQ(share("1/4"), 250'000);
  EXPECT_EQ(share("25%"), 250'000);
  EXPECT_EQ(share("0.25"), 250'000);
  EXPECT_EQ(share("33.3%"), 333'000);
  EXPECT_EQ(share("33.3333%"), 333'333);
  EXPECT_EQ(share("999999999/999999999"), 1'000'000);
  EXPECT_EQ(share("0.000001"), 1);
}

TEST(Share, IsRoundedDownSoThatPartsOfOneNeverExceedIt) {
  EXPECT_EQ(share("1/3"), 333'333);
  EXPECT_EQ(share("2/3"), 666'666);
  EXPECT_EQ(share("99.99999%"), 999'999);
  EXPECT_EQ(share("0.9999999"), 999'999);
}

TEST(Share, OutsideItsRangeIsRefused) {
  for (const char* text :
       {"0",    "0%",   "0/5", "4/3",  "1.01", "101%", "0.0000001", "1/1000001", "1000000000/1000000001",
        "-1/3", "1/-3", "1/0", "",     "%",    "/",    "1/",        "/3",        "1/3/3",
        "1e-1", ".5",   "1.",  "half", "1 /3", "+1",   "0x1",       "1/3%",      "1..2"}) {
    EXPECT_EQ(share(text), std::nullopt) << text;
  }
}

TEST(Part, IsAShareOrNothing) {
  for (const char* text : {"0", "0%", "0.0", "0/5"}) EXPECT_EQ(*parse_part(text), 0) << text;
  EXPECT_EQ(*parse_part("0.5"), 500'000);
  EXPECT_EQ(*parse_part("1"), 1'000'000);
  for (const char* text : {"", "1.1", "-0.5", "half", "0.0000001", "1/0"}) {
    EXPECT_FALSE(parse_part(text).has_value()) << text;
  }
}

TEST(Weight, IsADecimalFromAThousandthToAThousand) {
  EXPECT_EQ(*parse_weight("0.001"), 1'000);
  EXPECT_EQ(*parse_weight("1"), 1'000'000);
  EXPECT_EQ(*parse_weight("1.5"), 1'500'000);
  EXPECT_EQ(*parse_weight("999.999999"), 999'999'999);
  EXPECT_EQ(*parse_weight("1000"), 1'000'000'000);
  for (const char* text : {"", "0", "0.0009999", "1001", "1000.000001", "1/2", "50%", "-1", ".5", "1.", "x"}) {
    EXPECT_FALSE(parse_weight(text).has_value()) << text;
  }
}

TEST(Duration, HasSecondsAsItsUnit) {
  const auto duration = [](std::string_view text) {
    return parse_duration(text, Duration{1}, Duration{366 * 24 * 3600});
  };
  EXPECT_EQ(duration("300")->value, 300);
  EXPECT_EQ(duration("45s")->value, 45);
  EXPECT_EQ(duration("5m")->value, 300);
  EXPECT_EQ(duration("1h")->value, 3600);
  EXPECT_EQ(duration("7d")->value, 7 * 24 * 3600);
  EXPECT_EQ(duration("8784h")->value, 366 * 24 * 3600);
  for (const char* text :
       {"", "0", "0m", "-5", "5 m", "5min", "m", "1.5h", "5M", "367d", "8785h", "9999999999", "5mm"}) {
    EXPECT_FALSE(duration(text).has_value()) << text;
  }
  EXPECT_EQ(parse_duration("0", Duration{0}, k_longest_duration)->value, 0);
  EXPECT_EQ(parse_duration("365d", Duration{0}, k_longest_duration), k_longest_duration);
}

TEST(Memory, HasBytesAsItsUnit) {
  EXPECT_EQ(*parse_memory("16777216"), 16 << 20);
  EXPECT_EQ(*parse_memory("16384K"), 16 << 20);
  EXPECT_EQ(*parse_memory("16M"), 16 << 20);
  EXPECT_EQ(*parse_memory("3G"), std::int64_t{3} << 30U);
  EXPECT_EQ(*parse_memory("1T"), k_most_memory);
  for (const char* text :
       {"", "0", "M", "15M", "16777215", "2T", "1025G", "-1G", "1.5G", "1g", "1 G", "1GB", "99999999999999999999"})
    EXPECT_FALSE(parse_memory(text).has_value()) << text;
  for (const char* text : {"512M", "3G", "1T", "16385K", "16777217"}) EXPECT_EQ(memory_text(*parse_memory(text)), text);
}

TEST(Integer, KeepsItsRange) {
  const IntegerRange range{1, 1000};
  EXPECT_EQ(*parse_integer("1", range), 1);
  EXPECT_EQ(*parse_integer("1000", range), 1000);
  for (const char* text : {"", "0", "1001", "-1", "1.0", "1 ", " 1", "1e3", "99999999999999999999", "ten", "+1"}) {
    EXPECT_FALSE(parse_integer(text, range).has_value()) << text;
  }
}

TEST(FormatShare, WritesOnlyTheDigitsThatItNeeds) {
  EXPECT_EQ(format_share(1'000'000), "100 %");
  EXPECT_EQ(format_share(333'333), "33.3333 %");
  EXPECT_EQ(format_share(500'000), "50 %");
  EXPECT_EQ(format_share(1), "0.0001 %");
  EXPECT_EQ(format_share(1'500'000), "150 %");
  EXPECT_EQ(format_share(10'100), "1.01 %");
}

TEST(Nearest, FindsSlipsOfThePenAndNothingElse) {
  constexpr std::array<std::string_view, 4> k_known = {"ledger", "socket", "order", "organizations"};
  EXPECT_EQ(nearest("leger", k_known), "ledger");
  EXPECT_EQ(nearest("Ledger", k_known), "ledger");
  EXPECT_EQ(nearest("ldeger", k_known), "ledger");
  EXPECT_EQ(nearest("sokcet", k_known), "socket");
  EXPECT_EQ(nearest("organisations", k_known), "organizations");
  EXPECT_EQ(nearest("oder", k_known), "order");
  EXPECT_EQ(nearest("priority", k_known), "");
  EXPECT_EQ(nearest("", k_known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), k_known), "");
}

TEST(Shown, FitsOneLineOfATerminal) {
  EXPECT_EQ(shown("plain"), "'plain'");
  EXPECT_EQ(shown("a\nb\x1b[2J"), "'a\\x0ab\\x1b[2J'");
  EXPECT_EQ(shown(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(shown(std::string(59, 'x') + "\u20ac"), "'" + std::string(59, 'x') + "...'") << "no half character";
  EXPECT_EQ(shown(std::string(100, '\x9b')), "'...'");
}

// within_organization and workflows: the file's settings, an organization's own, and what is refused.

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
