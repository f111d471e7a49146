#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/checks.hpp"
#include "config/configuration.hpp"
#include "config/settings.hpp"
#include "tests/config/parsed.hpp"

namespace shapley::config {
namespace {

using accounting::OwnershipSpan;
using accounting::OwnershipStated;

constexpr Instant k_2026{1767225600};  // date -u -d 2026-01-01 +%s
constexpr Instant k_2027{1798761600};
constexpr Instant k_2030{1893456000};

std::vector<OwnershipStated> stated(const std::string& yaml) {
  const auto configuration = parse(yaml);
  if (!configuration) {
    ADD_FAILURE() << format_faults(configuration.error(), "test");
    return {};
  }
  return ownership_statements(*configuration, Instant{42});
}

TEST(Ownership, OfWholeNodesIsOneSpanEach) {
  const auto statements = stated("organizations: [{name: a, nodes: [\"n[2,1]\"]}, {name: b, nodes: [m]}]");
  const std::vector<OwnershipStated> expected = {
      {"m", Instant{42}, {{k_beginning_of_time, {{"b", 1'000'000}}}}},
      {"n1", Instant{42}, {{k_beginning_of_time, {{"a", 1'000'000}}}}},
      {"n2", Instant{42}, {{k_beginning_of_time, {{"a", 1'000'000}}}}},
  };
  EXPECT_EQ(statements, expected);
}

TEST(Ownership, ChangesHandsAtItsDates) {
  const auto statements = stated(R"(
organizations:
  - {name: a, nodes: [{nodes: n, share: 1/3, from: 2026-01-01, until: 2030-01-01}]}
  - {name: b, nodes: [{nodes: n, share: 2/3, from: 2027-01-01}]}
)");
  const std::vector<OwnershipSpan> expected = {
      {k_beginning_of_time, {}},  // commons
      {k_2026, {{"a", 333'333}}},
      {k_2027, {{"a", 333'333}, {"b", 666'667}}},  // the whole node
      {k_2030, {{"b", 666'666}}},
  };
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, OfSharesThatSumToOneLeavesNothing) {
  const auto owners = [](const std::string& shares_of_a, const std::string& share_of_b) {
    const auto statements = stated("organizations: [{name: a, nodes: [" + shares_of_a +
                                   "]}, {name: b, nodes: [{nodes: n, share: " + share_of_b +
                                   "}]}, {name: c, nodes: [{nodes: n, share: 1/3}]}]");
    return statements.at(0).spans.at(0).owners;
  };
  using Owners = std::vector<accounting::OwnerPart>;
  const std::string third = "{nodes: n, share: 1/3}";
  EXPECT_EQ(owners(third, "1/3"), (Owners{{"a", 333'333}, {"b", 333'333}, {"c", 333'334}})) << "the last one's";
  EXPECT_EQ(owners("{nodes: n, share: 1/6}, {nodes: n, share: 1/6}", "1/3"),
            (Owners{{"a", 333'333}, {"b", 333'333}, {"c", 333'334}}))
      << "claims of one organization add up exactly";
  EXPECT_EQ(owners(third, "33.3333%"), (Owners{{"a", 333'333}, {"b", 333'333}, {"c", 333'333}})) << "not a third";
}

TEST(Ownership, EndsInCommons) {
  const auto statements = stated("organizations: [{name: a, nodes: [{nodes: n, until: 2026-01-01}]}]");
  const std::vector<OwnershipSpan> expected = {{k_beginning_of_time, {{"a", 1'000'000}}}, {k_2026, {}}};
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, MergesWhatDoesNotChange) {
  // One claim follows the other without a gap, and a second part of the same organization adds up.
  const auto statements = stated(R"(
organizations:
  - name: a
    nodes:
      - {nodes: n, share: 1/4, until: 2026-01-01}
      - {nodes: n, share: 25%, from: 2026-01-01}
      - {nodes: n, share: 0.5}
)");
  const std::vector<OwnershipSpan> expected = {{k_beginning_of_time, {{"a", 750'000}}}};
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, WithoutAnOwnerIsNotStated) {
  EXPECT_TRUE(stated("organizations: [{name: a}]").empty());
}

// What changes from one file to another, and which users this machine does not know.

using Lines = std::vector<std::string>;

constexpr Instant k_now{1795244400};  // 2026-11-21T07:00:00Z

Lines between(const std::string& before, const std::string& after) {
  return differences(parsed(before), parsed(after), k_now);
}

const std::string k_two =
    "organizations:\n"
    "  - {name: physics, accounts: [phys, astro], nodes: [\"n[1-4]\"]}\n"
    "  - {name: biology, users: [\"0\"], nodes: [\"n[5-6]\"]}\n";

TEST(Difference, OfAFileAndItselfIsNone) {
  EXPECT_EQ(between(k_two, k_two), Lines{});
  EXPECT_EQ(between(k_two, "# other words\nmode: priorities\n" + k_two), Lines{}) << "what was not said before holds";
}

TEST(Difference, NamesKeys) {
  EXPECT_EQ(between(k_two, "mode: observe\nrule: published\nnode_weights: {\"n[1-2]\": 4}\n" + k_two),
            (Lines{"key rule: braking -> published", "key mode: priorities -> observe",
                   "key node_weights: none -> n[1-2]: 4"}));
  EXPECT_EQ(between("guarantee: 0.5\n" + k_two, "guarantee: 0.25\n" + k_two), Lines{"key guarantee: 0.5 -> 0.25"})
      << "organizations that follow the file are not named each";
}

TEST(Difference, NamesClusters) {
  const std::string south = "{name: south, standing: /s.json, public_key: /s.pub";
  const std::string north = "{name: north, standing: \"n:7020\", public_key: /n.pub";
  const auto with = [](const std::string& keys, const std::string& clusters) {
    return "consortium: {name: uni, " + keys + "clusters: [" + clusters + "]}\n" + k_two;
  };
  EXPECT_EQ(between(k_two, with("weight: 1.25, ", south + "}")),
            (Lines{"key consortium: none -> uni, weight 1.25, every 1 minute",
                   "cluster south: new, standing /s.json, public_key /s.pub, weight 1, stale_after auto"}));
  EXPECT_EQ(between(with("", south + "}, " + north + ", as: {physics: physik}}"),
                    with("", north + ", weight: 999.000001, stale_after: 2h}")),
            (Lines{"cluster south: no longer named; what is owed there does not count any more",
                   "cluster north: standing n:7020, public_key /n.pub, weight 1, stale_after auto, physics as physik "
                   "-> standing n:7020, public_key /n.pub, weight 999.000001, stale_after 2 hours"}));
}

TEST(Difference, KnowsEveryKey) {
  for (const Row<Configuration>& row : file_rows()) {
    EXPECT_EQ(row.text == nullptr, row.key.name == "organizations") << row.key.name;
  }
}

TEST(Difference, NamesWhatAnOrganizationSaysOfItsOwn) {
  const std::string own =
      "organizations:\n"
      "  - {name: physics, accounts: [phys, astro], nodes: [\"n[1-4]\"], workflows: {activity_key: []}}\n"
      "  - {name: biology, users: [\"0\"], nodes: [\"n[5-6]\"], within_organization: workflow_fairness}\n";
  const std::string rest = ", name_delimiter '-', mode elapsed_only_upper_median, relative_duration off, threshold ";
  const std::string by = "workflow_key [wckey, array, job_name_prefix, dependency], activity_key ";
  const std::string whole = by + "[array, job_name_prefix]" + rest + "0.2";
  EXPECT_EQ(between(k_two, own), (Lines{"organization physics: workflows " + whole + " -> " + by + "[]" + rest + "0.2",
                                        "organization biology: within_organization fifo -> workflow_fairness"}));
  EXPECT_EQ(between(k_two, "within_organization: workflow_fairness\nworkflows: {threshold: 0.1}\n" + k_two),
            (Lines{"key within_organization: fifo -> workflow_fairness",
                   "key workflows: " + whole + " -> " + by + "[array, job_name_prefix]" + rest + "0.1"}))
      << "organizations that follow the file are not named each";
}

TEST(Difference, NamesOrganizationsRulesAndNodes) {
  EXPECT_EQ(between(k_two,
                    "organizations:\n"
                    "  - {name: chemistry, accounts: [chem], nodes: [n9]}\n"
                    "  - {name: physics, title: Physics, guarantee: 0.1, accounts: [phys], nodes: [\"n[1-2]\"]}\n"),
            (Lines{"organization chemistry: new", "organization physics: title '' -> 'Physics'",
                   "organization physics: guarantee 0.5 -> 0.1",
                   "organization biology: no longer named; it keeps its row and its standing in the books",
                   "account chem: new, -> chemistry", "account astro: no longer named, was of physics",
                   "user 0: no longer named, was of biology", "nodes n[5-6]: biology -> commons",
                   "nodes n9: commons -> chemistry", "nodes n[3-4]: physics -> commons"}));
}

TEST(Difference, NamesWhatChangesHands) {
  EXPECT_EQ(between(k_two,
                    "organizations:\n"
                    "  - {name: biology, accounts: [astro], users: [\"0\"], nodes: [\"n[5-6]\", {nodes: n4, from: "
                    "2027-01-01}]}\n"
                    "  - {name: physics, accounts: [phys], nodes: [\"n[1-3]\", {nodes: n4, until: 2027-01-01}]}\n"),
            (Lines{"organizations: another order, which breaks ties of rank and says whose rules are tried first",
                   "account astro: physics -> biology, for runs that begin from then on",
                   "nodes n4: physics -> physics, from 2027-01-01T00:00:00Z biology"}));
  EXPECT_EQ(between(k_two,
                    "organizations:\n"
                    "  - {name: physics, accounts: [astro, phys], nodes: [\"n[1-4]\"]}\n"
                    "  - {name: biology, users: [\"0\"], nodes: [{nodes: \"n[5-6]\", share: 1/2}]}\n"),
            (Lines{"rules: another order, which matters for jobs that several match",
                   "nodes n[5-6]: biology -> biology 0.5"}));
}

TEST(Identities, OfThisMachine) {
  const Configuration known =
      parsed("slurm_user: root\norganizations: [{name: a, accounts: [x], users: [root, \"17\"], groups: [root]}]");
  const auto identities = identify(known);
  ASSERT_TRUE(identities.has_value()) << format_faults(identities.error(), "test");
  EXPECT_EQ(identities->rules, (std::vector<std::uint32_t>{0, 0, 17, 0}));
  EXPECT_EQ(identities->slurm_user, 0U);
}

TEST(Identities, UnknownOnesAreFaultsAllAtOnce) {
  const auto unknown =
      identify(parsed("slurm_user: no-user-of-this-name\n"
                      "organizations:\n"
                      "  - name: a\n"
                      "    users: [no-such-user]\n"
                      "    groups: [no-such-group]\n"));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(
      format_faults(unknown.error(), "f"),
      "f: slurm_user: user 'no-user-of-this-name' is unknown on this machine; name the user that slurmctld runs as "
      "(SlurmUser in slurm.conf)\n"
      "f:4: organization 'a': user 'no-such-user' is unknown on this machine; correct the name, create it, or give "
      "the numeric id\n"
      "f:5: organization 'a': group 'no-such-group' is unknown on this machine; correct the name, create it, or "
      "give the numeric id");
}

}  // namespace
}  // namespace shapley::config
