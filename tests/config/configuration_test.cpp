#include "config/configuration.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/events/event_check.hpp"
#include "config/checks.hpp"
#include "parsed.hpp"

namespace shapley::config {
namespace {

TEST(Configuration, LeavesTheDefaultsOfWhatTheFileDoesNotSay) {
  const Configuration c = parsed("organizations: [{name: physics}]");
  EXPECT_EQ(c.ledger, "/var/lib/shapley/ledger.db");
  EXPECT_EQ(c.socket, "/run/shapley/shapleyd.sock");
  EXPECT_EQ(c.slurm_user, "slurm");
  EXPECT_EQ(c.contribution, accounting::parse_estimator("direct_contr"));
  EXPECT_EQ(c.off, accounting::EstimatorSet{});
  EXPECT_EQ(c.rule, accounting::KeyRule::braking);
  EXPECT_EQ(c.guarantee, 500'000);
  EXPECT_EQ(c.guests, accounting::Guests::last);
  EXPECT_EQ(c.order, Order::strict);
  EXPECT_EQ(c.rank_weight, 10000U);
  EXPECT_EQ(c.mode, Mode::priorities);
  EXPECT_EQ(c.period, Period::none);
  EXPECT_EQ(c.stale_after, Duration{300});
  EXPECT_EQ(c.weights, (std::vector<std::pair<std::string, std::int64_t>>{{"cpu", 1}}));
  ASSERT_EQ(c.organizations.size(), 1U);
  EXPECT_EQ(c.organizations[0].name, "physics");
  EXPECT_EQ(c.organizations[0].title, "");
  EXPECT_TRUE(c.organizations[0].rules.empty());
  EXPECT_TRUE(c.organizations[0].nodes.empty());
}

TEST(Configuration, ReadsEveryKey) {
  const Configuration c = parsed(R"(
ledger: /srv/books/ledger.db
socket: /run/other.sock
slurm_user: "1005"
contribution: direct_contr
hindsight: off
order: weighted
rank_weight: 500
mode: observe
period: quarterly
stale_after: 2h
weights: {cpu: 1, gres/gpu: 32, "gres/gpu:a100": 64}
organizations:
  - name: Physics-1.a_b
    title: "Institut für Physik: Optik"
    accounts: [Physics, astro]
    partitions: [Gpu]
    qos: [HIGH]
    users: [alice, 1001]
    groups: [staff]
    nodes:
      - n[1-2]
      - {nodes: "gpu1,gpu2", share: 1/3, from: 2026-01-01, until: 2030-01-01T12:00:00Z}
signing_key: /etc/shapley/head.key
peer: /run/peer/shapleyd.sock
listen: 10.0.0.1:7020
munge_socket: /run/other/munge.socket
rule: published
guarantee: 1/4
guests: ranked
)");
  EXPECT_EQ(c.ledger, "/srv/books/ledger.db");
  EXPECT_EQ(c.socket, "/run/other.sock");
  EXPECT_EQ(c.signing_key, "/etc/shapley/head.key");
  EXPECT_EQ(c.peer, "/run/peer/shapleyd.sock");
  EXPECT_EQ(c.listen, "10.0.0.1:7020");
  EXPECT_EQ(c.munge_socket, "/run/other/munge.socket");
  EXPECT_EQ(parsed("peer: none\norganizations: [{name: a}]").peer, "");
  EXPECT_EQ(parsed("peer: ctl2:7020\norganizations: [{name: a}]").peer, "ctl2:7020");
  EXPECT_EQ(parsed("listen: none\norganizations: [{name: a}]").listen, "");
  EXPECT_EQ(parsed("signing_key: none\norganizations: [{name: a}]").signing_key, "");
  EXPECT_EQ(c.slurm_user, "1005");
  EXPECT_EQ(c.contribution, accounting::parse_estimator("direct_contr"));
  EXPECT_EQ(c.off, accounting::estimators_with(&accounting::EstimatorRow::has_key));
  EXPECT_EQ(c.rule, accounting::KeyRule::horizon);
  EXPECT_EQ(ranking_statement(c, {}).horizon, 0);
  EXPECT_EQ(ranking_statement(c, {}).running_weight, 0);
  EXPECT_EQ(c.guarantee, 250'000);
  EXPECT_EQ(c.guests, accounting::Guests::ranked);
  EXPECT_EQ(c.order, Order::weighted);
  EXPECT_EQ(c.rank_weight, 500U);
  EXPECT_EQ(c.mode, Mode::observe);
  EXPECT_EQ(c.period, Period::quarterly);
  EXPECT_EQ(c.stale_after, Duration{7200});
  EXPECT_EQ(c.weights,
            (std::vector<std::pair<std::string, std::int64_t>>{{"cpu", 1}, {"gres/gpu", 32}, {"gres/gpu:a100", 64}}));
  ASSERT_EQ(c.organizations.size(), 1U);
  const OrganizationConfig& o = c.organizations[0];
  EXPECT_EQ(o.name, "Physics-1.a_b");
  EXPECT_EQ(o.title, "Institut für Physik: Optik");
  EXPECT_EQ(o.line, 14);
  ASSERT_EQ(o.nodes.size(), 2U);
  EXPECT_EQ(o.nodes[0].nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(o.nodes[0].share, Share{});
  EXPECT_EQ(o.nodes[0].from, k_beginning_of_time);
  EXPECT_EQ(o.nodes[0].until, k_end_of_time);
  EXPECT_EQ(o.nodes[0].line, 22);
  EXPECT_EQ(o.nodes[1].nodes, (std::vector<std::string>{"gpu1", "gpu2"}));
  EXPECT_EQ(o.nodes[1].share, (Share{1, 3}));
  EXPECT_EQ(o.nodes[1].from, Instant{1767225600});   // date -u -d 2026-01-01 +%s
  EXPECT_EQ(o.nodes[1].until, Instant{1893499200});  // date -u -d '2030-01-01 12:00' +%s
  EXPECT_EQ(o.nodes[1].line, 23);
}

TEST(Configuration, HasAnAmountOfMemoryOrNone) {
  const auto memory = [](const std::string& line) {
    return parsed(line + "organizations: [{name: a, accounts: [x]}]").hindsight_memory;
  };
  EXPECT_EQ(memory("hindsight_memory: 512M\n"), 512 << 20);
  EXPECT_EQ(memory("hindsight_memory: auto\n"), 0);
  EXPECT_EQ(memory(""), 0);
}

TEST(Configuration, SaysHowJobsStartInHindsight) {
  const auto jobs = [](const std::string& line) {
    return parsed(line + "organizations: [{name: a, accounts: [x]}]").hindsight_jobs;
  };
  EXPECT_EQ(jobs("hindsight_jobs: whole\n"), HindsightJobs::whole);
  EXPECT_EQ(jobs("hindsight_jobs: parts\n"), HindsightJobs::parts);
  EXPECT_EQ(jobs(""), HindsightJobs::unchanged);
}

TEST(Configuration, OrdersRulesByKindAndFoldsWhatSlurmFolds) {
  // Kinds are tried in this order, whatever the order of the keys.
  const Configuration c = parsed(R"(
organizations:
  - groups: [Staff]
    users: [Alice]
    qos: [HIGH]
    partitions: [Gpu]
    accounts: [Physics, ASTRO]
    name: physics
)");
  const std::vector<Rule>& rules = c.organizations.at(0).rules;
  ASSERT_EQ(rules.size(), 6U);
  const std::vector<std::pair<RuleKind, std::string>> expected = {
      {RuleKind::account, "physics"}, {RuleKind::account, "astro"}, {RuleKind::partition, "Gpu"},
      {RuleKind::qos, "high"},        {RuleKind::user, "Alice"},    {RuleKind::group, "Staff"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(rules[i].kind, expected[i].first) << i;
    EXPECT_EQ(rules[i].name, expected[i].second) << i;
  }
  EXPECT_EQ(rules[0].line, 7);
  EXPECT_EQ(rules[5].line, 3);
}

TEST(Configuration, KeepsTheOrderOfOrganizations) {
  const Configuration c = parsed("organizations: [{name: z}, {name: a}, {name: m}]");
  ASSERT_EQ(c.organizations.size(), 3U);
  EXPECT_EQ(c.organizations[0].name, "z");
  EXPECT_EQ(c.organizations[1].name, "a");
  EXPECT_EQ(c.organizations[2].name, "m");
}

TEST(Configuration, FollowsAliases) {
  const Configuration c = parsed(R"(
organizations:
  - {name: a, nodes: [{nodes: &pool "p[1-2]", share: 1/2}]}
  - {name: b, nodes: [{nodes: *pool, share: 1/2}]}
)");
  ASSERT_EQ(c.organizations.size(), 2U);
  EXPECT_EQ(c.organizations[1].nodes.at(0).nodes, (std::vector<std::string>{"p1", "p2"}));
}

TEST(Configuration, OneNameMayBeAnAccountHereAndAPartitionThere) {
  EXPECT_EQ(
      parsed("organizations: [{name: a, accounts: [x]}, {name: b, partitions: [x], users: [x]}]").organizations.size(),
      2U);
}

TEST(Configuration, ThreeThirdsAreAWhole) {
  const Configuration c = parsed(R"(
organizations:
  - {name: a, nodes: [{nodes: n1, share: 1/3}]}
  - {name: b, nodes: [{nodes: n1, share: 33.3333%}]}
  - {name: c, nodes: [{nodes: n1, share: 1/3}]}
)");
  EXPECT_EQ(c.organizations.size(), 3U);
}

TEST(Configuration, OfAnEarlierReleaseIsReadWithoutKeysThatThereAreNoMore) {
  const std::string text = "running_weight: 0.1\nhorizon: 30d\nperiod: monthly\norganizations: [{name: a}]\n";
  EXPECT_FALSE(parse(text));
  const auto recorded = parse_recorded(text);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->configuration.period, Period::monthly);
  EXPECT_EQ(recorded->configuration.organizations.front().name, "a");
  EXPECT_EQ(recorded->former,
            (std::vector<std::string>{"running_weight: what runs counts in full, by the rule that brakes",
                                      "horizon: ranks do not look a fixed time ahead any more"}));
  EXPECT_TRUE(parse_recorded("organizations: [{name: a}]\n")->former.empty());
  const auto refused = parse_recorded("horizon: 30d\ncolour: red\norganizations: [{name: a}]\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().size(), 1U) << "what no release had";
}

TEST(Configuration, OfAnEarlierReleaseIsReadWithoutAnEstimatorThatThereIsNoMore) {
  const std::string text = "mode: observe\ncontribution: shapley_rate\norganizations: [{name: a}]\n";
  const auto refused = parse(text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      format_faults(refused.error(), "f.yaml"),
      "f.yaml:2: contribution: shapley_rate: there is no such estimator any more: hindsight is nearer to the exact "
      "Shapley value, with GPU nodes, too; write hindsight, or direct_contr, which is easiest to audit "
      "(docs/operating/choosing.md)");
  const auto recorded = parse_recorded(text);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->configuration.mode, Mode::observe);
  EXPECT_EQ(recorded->configuration.contribution, accounting::k_default_estimator);
  EXPECT_EQ(
      recorded->former,
      (std::vector<std::string>{"contribution: shapley_rate: there is no such estimator any more: hindsight is nearer "
                                "to the exact Shapley value, with GPU nodes, too"}));
}

TEST(FormatFaults, WritesFileLineFaultAndRemedy) {
  EXPECT_EQ(format_faults({{0, "the file is empty", "fill it"}, {7, "unknown key 'x'", "known keys: y"}}, "f.yaml"),
            "f.yaml: the file is empty; fill it\nf.yaml:7: unknown key 'x'; known keys: y");
  EXPECT_EQ(format_faults({}, "f.yaml"), "");
}

TEST(Configuration, AnOrganizationWithoutRulesAndNodesIsDoubted) {
  const auto file = parse("organizations:\n  - {name: a, accounts: [x]}\n  - {name: b, nodes: [n1]}\n  - name: c\n");
  ASSERT_TRUE(file);
  const std::vector<Fault> found = doubts(*file);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].what, "organization 'c' has neither rules nor nodes");
}

TEST(Consortium, IsReadWithItsDefaults) {
  EXPECT_EQ(parsed("organizations: [{name: a}]").consortium, ConsortiumConfig{});
  const Configuration c = parsed(R"(organizations: [{name: physics}, {name: biology}, {name: library}]
consortium:
  name: Uni
  weight: 0.001
  every: 1h
  clusters:
    - {name: South, standing: "[fd00::2]:7020", public_key: /etc/south.pub}
    - name: north
      standing: /srv/north.json
      public_key: /etc/north.pub
      weight: 1000
      stale_after: 2h
      as: {physics: physik, biology: bio}
)");
  const OtherClusterConfig south{.name = "south",
                                 .standing = "[fd00::2]:7020",
                                 .public_key = "/etc/south.pub",
                                 .stale_after = {},
                                 .names = {},
                                 .line = 7};
  const OtherClusterConfig north{.name = "north",
                                 .standing = "/srv/north.json",
                                 .public_key = "/etc/north.pub",
                                 .weight = 1'000'000'000,
                                 .stale_after = Duration{7200},
                                 .names = {{"biology", "bio"}, {"physics", "physik"}},
                                 .line = 8};
  EXPECT_EQ(c.consortium,
            (ConsortiumConfig{.name = "Uni", .weight = 1000, .every = Duration{3600}, .clusters = {south, north}}));
  EXPECT_TRUE(accounting::check(consortium_statement(c, {"SHA256:1", "SHA256:2"}, Instant{1})).has_value());
}

// Of two controllers the active one states.
TEST(Consortium, AClusterOfTwoControllersHasAPlaceForEach) {
  const auto places = [](const std::string& standing) {
    const auto read = parse(
        "organizations: [{name: a}]\nconsortium: {name: u, clusters: [{name: s, public_key: /k, standing: " + standing +
        "}]}");
    return read ? read->consortium.clusters.at(0).standing : format_faults(read.error(), "f");
  };
  EXPECT_EQ(places("[ctl1:7020, '[fd00::2]:7020']"), "ctl1:7020, [fd00::2]:7020");
  EXPECT_EQ(places("[ctl1:7020]"), "ctl1:7020");
  EXPECT_NE(places("[ctl1:7020, /srv/s]").find("'/srv/s' is a path in a list; name one file"), std::string::npos);
  EXPECT_NE(places("[ctl1]").find("'ctl1' is neither HOST:PORT nor an absolute path"), std::string::npos);
  EXPECT_NE(places("[]").find("0 places; write where"), std::string::npos);
}

TEST(Consortium, MayExchangeTwoNames) {
  const Configuration c = parsed(
      "organizations: [{name: a}, {name: b}]\n"
      "consortium: {name: u, clusters: [{name: s, standing: /s, public_key: /k, as: {a: b, b: a}}]}\n");
  EXPECT_EQ(c.consortium.clusters.at(0).names, (std::vector<accounting::NameElsewhere>{{"b", "a"}, {"a", "b"}}));
}

TEST(Consortium, ThisClusterItselfIsAFault) {
  const Configuration file = parsed(
      "signing_key: /k\norganizations: [{name: a, nodes: [n1]}]\n"
      "consortium:\n  name: u\n  clusters:\n    - {name: south, standing: /s, public_key: /k}\n"
      "    - {name: north, standing: /n, public_key: /k}\n");
  EXPECT_TRUE(consortium_faults(file, "west").empty());
  EXPECT_EQ(format_faults(consortium_faults(file, "North"), "f"),
            "f:7: consortium: cluster 'north' is this cluster itself; name only the other clusters in the list");
  EXPECT_TRUE(doubts(file).empty());
}

TEST(Consortium, WithoutASigningKeyIsDoubted) {
  EXPECT_EQ(format_faults(doubts(parsed("organizations: [{name: a, nodes: [n1]}]\n"
                                        "consortium: {name: u, clusters: [{name: s, standing: /s, public_key: /k}]}")),
                          "f"),
            "f: consortium: without a signing_key this cluster states no standing to the others; name a key that "
            "shapleyctl keygen made");
}

TEST(Configuration, FormerNamesAreFaults) {
  const Configuration file = parsed("organizations:\n  - {name: a, accounts: [x]}\n  - {name: old, nodes: [n1]}\n");
  EXPECT_TRUE(former_name_faults(file, {}).empty());
  const accounting::FormerNames former{{"old", {.today = "a", .merged = true, .at = {1'795'000'000}}},
                                       {"gone", {.today = "a", .merged = false, .at = {1'795'000'000}}}};
  EXPECT_EQ(format_faults(former_name_faults(file, former), "f"),
            "f:3: organization 'old' was merged into a by a correction of the books of 2026-11-18; write a");
}

TEST(Configuration, ARuleOfAUserWhoHasOneAlreadyIsDoubted) {
  const Configuration file = parsed(
      "slurm_user: root\n"
      "organizations:\n  - name: a\n    users: [root]\n  - name: b\n    users: [\"0\"]\n    groups: [\"0\"]\n");
  EXPECT_EQ(format_faults(doubts(file), "f"),
            "f:6: organization 'b': the rule of user '0' never matches: it is user 'root' of line 4, whose rule comes "
            "first; leave the user in one place");
}

std::string many_organizations(int count) {
  std::string text = "organizations: [";
  for (int i = 1; i <= count; ++i) text += (i == 1 ? "{name: o" : ", {name: o") + std::to_string(i) + "}";
  return text + "]\n";
}

// With guests and commons 32 players, the most that hindsight is kept for.
TEST(Configuration, KeepsHindsightOfThirtyOrganizationsByDefault) {
  const accounting::EstimatorId hindsight = accounting::parse_estimator("hindsight").value();
  const auto keeps = [&](const std::string& text) { return kept_estimators(parsed(text)).contains(hindsight); };
  EXPECT_TRUE(keeps(many_organizations(2)));
  EXPECT_TRUE(keeps(many_organizations(30)));
  EXPECT_TRUE(keeps("contribution: hindsight\n" + many_organizations(30)));
  EXPECT_TRUE(keeps("contribution: hindsight\nhindsight: on\n" + many_organizations(2)));
  EXPECT_FALSE(keeps("hindsight: off\n" + many_organizations(2)));
  EXPECT_FALSE(keeps(many_organizations(31)));
  accounting::EstimatorSet others = kept_estimators(parsed("hindsight: off\n" + many_organizations(2)));
  others.insert(hindsight);
  EXPECT_EQ(others, accounting::EstimatorSet::all()) << "no other one is left out";
}

// Of organizations that are named; guests and commons count, too. An estimator without a key cannot be turned off.
TEST(Configuration, LeavesOutAnEstimatorOfMoreOrganizationsThanItIsForAndDoubtsThatItIsWanted) {
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    const accounting::EstimatorRow& row = accounting::estimators()[id.value];
    if (row.most_organizations == std::numeric_limits<std::size_t>::max()) continue;
    const std::string name(row.name);
    const auto doubts_of = [&](const std::string& text) {
      std::string found;
      for (const Fault& doubt : doubts(parsed(text))) {
        if (doubt.what.starts_with(name)) found += doubt.what + "; " + doubt.remedy;
      }
      return found;
    };
    const int most = static_cast<int>(row.most_organizations) - 2;
    EXPECT_TRUE(kept_estimators(parsed(many_organizations(most))).contains(id));
    EXPECT_EQ(doubts_of(many_organizations(most)), "");
    EXPECT_FALSE(kept_estimators(parsed(many_organizations(most + 1))).contains(id));
    const std::string off = "; write " + name + ": off to say that this is as it should be";
    EXPECT_EQ(doubts_of(many_organizations(most + 1)), name + " is not kept for more than " + std::to_string(most) +
                                                           " organizations; the other estimators are" +
                                                           (row.has_key ? off : ""));
    if (row.has_key) {
      EXPECT_EQ(doubts_of(name + ": off\n" + many_organizations(most + 1)), "");
    }
  }
}

}  // namespace
}  // namespace shapley::config
