// What Slurm says of a site, what a configuration gets wrong of it, and the first configuration that it is made of.
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/configuration.hpp"
#include "ctl/adoption/slurm_site.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/slurm/run_program.hpp"
#include "fake_daemon.hpp"
#include "no_terminal.hpp"
#include "tests/config/parsed.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using Lines = std::vector<std::string>;

// ---- commands ----

Expected<CommandOutput> shell(const std::string& text, std::chrono::milliseconds limit = std::chrono::hours(1)) {
  return run_command({"/bin/sh", "-c", text}, limit);
}

TEST(Command, GivesWhatWasWrittenAndHowItEnded) {
  const auto output = must(shell("echo out; echo err >&2; cat; exit 3"));
  EXPECT_EQ(output.out, "out\n") << "standard input is empty";
  EXPECT_EQ(output.err, "err\n");
  EXPECT_EQ(output.exit_code, 3);
  // More than a pipe holds, on both ends.
  const auto large = shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2");
  ASSERT_TRUE(large.has_value());
  EXPECT_EQ(large->out.size(), 300000U);
  EXPECT_EQ(large->err.size(), 300000U);
}

TEST(Command, EndsInAnyCase) {
  EXPECT_EQ(run_command({"/no/such/program"}, std::chrono::seconds(1)).error().code, Errc::unavailable);
  EXPECT_EQ(shell("kill -9 $$").error().what, "/bin/sh: was killed by a signal");
  const auto hangs = shell("exec sleep 3600", std::chrono::milliseconds(50));
  EXPECT_EQ(hangs.error().code, Errc::unavailable);
  EXPECT_PRED2(contains, hangs.error().what, "no end within");
}

TEST(Command, HasNoShell) {
  const auto output = run_command({"/bin/echo", "$(id); `id` > x | y"}, std::chrono::hours(1));
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->out, "$(id); `id` > x | y\n");
}

// ---- what Slurm says ----

constexpr const char* k_config =
    "Configuration data as of 2026-11-23T18:00:00\n"
    "AccountingStorageType   = accounting_storage/slurmdbd\n"
    "ClusterName             = consort\n"
    "SlurmUser               = slurm(64030)\n"
    "SlurmUserNot            = other\n";
constexpr const char* k_partitions =
    "PartitionName=batch AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Nodes=n[1-6]\n"
    "PartitionName=phys AllowGroups=ALL AllowAccounts=Physics,astro AllowQos=ALL Nodes=n[1-2] TRES=cpu=16,billing=1 "
    "TRESBillingWeights=CPU=0.1\n"
    "PartitionName=biology AllowGroups=ALL DenyAccounts=physics AllowQos=ALL Nodes=n3 "
    "TRESBillingWeights=CPU=2.0,Mem=0.25G\n";
constexpr const char* k_nodes =
    "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=8 Gres=(null) OS=Linux 6.1 Partitions=batch,phys Reason=x "
    "Partitions=no\n"
    "NodeName=n2 CPUTot=8 Gres=(null) Partitions=batch,phys\n"
    "NodeName=n3 CPUTot=16 Gres=(null) Partitions=batch,biology\n"
    "NodeName=n4 CPUTot=16 Gres=gpu:a100:4(S:0-1) Partitions=batch\n"
    "NodeName=n5 CPUTot=16 Gres=gpu:a100:4(S:0-1) Partitions=batch\n"
    "NodeName=n6 CPUTot=4\n";
constexpr const char* k_associations =
    "root||\nroot||root\nphysics|root|\nphysics||alice\nastro|physics|\nastro||alice\nastro||bob\nbiology|root|"
    "\nguests|root|\n";

SlurmSite site() {
  SlurmSite slurm{.cluster = "consort",
                  .slurm_user = "slurm",
                  .accounting = parse_associations(k_associations),
                  .partitions = parse_partitions(k_partitions),
                  .nodes = parse_nodes(k_nodes)};
  slurm.accounting->qos = {"normal", "high"};
  return slurm;
}

TEST(SlurmSite, IsReadFromTheCommandsOutput) {
  EXPECT_EQ(config_value(k_config, "ClusterName"), "consort");
  EXPECT_EQ(config_value(k_config, "SlurmUser"), "slurm(64030)");
  EXPECT_EQ(config_value(k_config, "Cluster"), "");
  const SlurmSite slurm = site();
  EXPECT_EQ(slurm.partitions, (std::vector<SlurmPartition>{{"batch", {}, {"n1", "n2", "n3", "n4", "n5", "n6"}, {}},
                                                           {"phys", {"physics", "astro"}, {"n1", "n2"}, "CPU=0.1"},
                                                           {"biology", {}, {"n3"}, "CPU=2.0,Mem=0.25G"}}));
  ASSERT_EQ(slurm.nodes.size(), 6U);
  EXPECT_EQ(slurm.nodes[0], (SlurmNode{"n1", 8, "", {"batch", "phys"}}));
  EXPECT_EQ(slurm.nodes[3], (SlurmNode{"n4", 16, "gpu:a100:4(S:0-1)", {"batch"}}));
  EXPECT_EQ(slurm.accounting->accounts,
            (std::vector<SlurmAccount>{
                {"root", ""}, {"physics", "root"}, {"astro", "physics"}, {"biology", "root"}, {"guests", "root"}}));
  EXPECT_EQ(slurm.accounting->users, (Lines{"alice", "bob", "root"}));
}

// ---- unknown names ----

using config::parsed;

const std::string k_misspelt =
    "organizations:\n"
    "  - name: p\n"
    "    accounts: [Physics, fysics]\n"
    "    partitions: [batch, bach]\n"
    "    qos: [HIGH, low]\n"
    "    users: [alice, carol, \"17\"]\n"
    "    groups: [unknown]\n"
    "    nodes: [\"n[1-3]\", \"n[6-9],nn99\"]\n";

TEST(UnknownNames, AreListedWithTheirLines) {
  const SlurmComparison comparison = compare_with_slurm(parsed(k_misspelt), site());
  EXPECT_EQ(config::format_faults(comparison.unknown, "f"),
            "f:3: organization 'p': account 'fysics' is unknown to Slurm; correct the name, or see what there is: "
            "sacctmgr show account\n"
            "f:4: organization 'p': partition 'bach' is unknown to Slurm; correct the name, or see what there is: "
            "scontrol show partition\n"
            "f:5: organization 'p': QOS 'low' is unknown to Slurm; correct the name, or see what there is: sacctmgr "
            "show qos\n"
            "f:6: organization 'p': user 'carol' has no association and is unknown to Slurm; correct the name, or see "
            "what there is: sacctmgr show associations\n"
            "f:8: organization 'p': nodes n[7-9],nn99 are unknown to Slurm; correct the name, or see what there is: "
            "scontrol show nodes");
  EXPECT_EQ(comparison.notes,
            (Lines{"no rule names these accounts of Slurm, so their jobs are guests' unless another rule matches: "
                   "biology, guests",
                   "no organization claims these nodes of Slurm, so what runs there is credited to commons: n[4-5]"}));
}

// astro is below physics, whose rule comes first.
TEST(UnknownNames, ARuleThatNeverMatchesIsDoubtedWithBothLines) {
  const auto doubts = [](const std::string& organizations) {
    return config::format_faults(compare_with_slurm(parsed("organizations:\n" + organizations), site()).doubts, "f");
  };
  EXPECT_EQ(doubts("  - {name: p, accounts: [Physics]}\n  - {name: a, accounts: [astro]}\n"),
            "f:3: organization 'a': the rule of account 'astro' never matches: the account is below 'physics', whose "
            "rule of 'p' in line 2 comes first; name 'a' before 'p'");
  EXPECT_EQ(doubts("  - {name: a, accounts: [astro]}\n  - {name: p, accounts: [physics]}\n"), "");
  EXPECT_EQ(doubts("  - {name: p, accounts: [physics, astro]}\n  - {name: b, accounts: [biology]}\n"), "")
      << "of one organization it makes no difference";
}

TEST(Prices, OfPartitionsOfTheSameNodesThatDifferAreDoubted) {
  const std::string organizations = "organizations:\n  - {name: p, accounts: [physics], nodes: [\"n[1-6]\"]}\n";
  SlurmSite slurm = site();
  slurm.accounting.reset();
  EXPECT_EQ(config::format_faults(compare_with_slurm(parsed(organizations), slurm).doubts, "f"), "");
  const auto configuration = parsed("charge: billing\n" + organizations);
  const SlurmComparison comparison = compare_with_slurm(configuration, slurm);
  const std::string remedy =
      ". A node is worth what the dearest bills for it, and its owner is credited less for jobs of the others; give "
      "partitions of the same nodes the same weights, or choose charge: dominant";
  const std::string says = "charge: billing: the partitions of ";
  ASSERT_EQ(comparison.doubts.size(), 2U);
  EXPECT_EQ(
      comparison.doubts[0].what + "; " + comparison.doubts[0].remedy,
      says + "n3 have different TRESBillingWeights: batch (no weights: CPUs), biology (CPU=2.0,Mem=0.25G)" + remedy);
  EXPECT_EQ(comparison.doubts[1].what + "; " + comparison.doubts[1].remedy,
            says + "n[1-2] have different TRESBillingWeights: batch (no weights: CPUs), phys (CPU=0.1)" + remedy);
  ASSERT_EQ(comparison.notes.size(), 2U);
  EXPECT_PRED2(contains, comparison.notes.front(), "may be billed 0 in phys (CPU=0.1). Such a job is booked");

  for (SlurmPartition& partition : slurm.partitions) partition.billing = "CPU=1.0";
  const SlurmComparison alike = compare_with_slurm(configuration, slurm);
  EXPECT_TRUE(alike.doubts.empty());
  EXPECT_EQ(alike.notes.size(), 1U);
}

TEST(UnknownNames, WithoutSlurmdbdAreThoseOfNodesAndPartitions) {
  SlurmSite slurm = site();
  slurm.accounting.reset();
  const SlurmComparison comparison = compare_with_slurm(parsed(k_misspelt), slurm);
  EXPECT_EQ(comparison.unknown.size(), 2U);
  EXPECT_EQ(comparison.notes[0], "Slurm runs without slurmdbd: accounts, users and QOS cannot be compared");
}

// ---- the first configuration ----

std::vector<std::string> nodes_of(const config::OrganizationConfig& organization) {
  std::vector<std::string> nodes;
  for (const auto& claim : organization.nodes) nodes.insert(nodes.end(), claim.nodes.begin(), claim.nodes.end());
  return nodes;
}

TEST(Proposal, IsMadeOfAccountsAndOfWhoMayUseWhat) {
  const auto text = must(propose_configuration(site()));
  const config::Configuration proposed = parsed(text);
  EXPECT_EQ(proposed.mode, config::Mode::observe);
  EXPECT_EQ(proposed.slurm_user, "slurm");
  EXPECT_EQ(name_of(proposed.contribution), "hindsight");
  EXPECT_EQ(name_of(config::Configuration{}.contribution), "direct_contr") << "the built-in default";
  ASSERT_EQ(proposed.organizations.size(), 3U) << text;
  EXPECT_EQ(proposed.organizations[0].name, "biology");
  EXPECT_EQ(nodes_of(proposed.organizations[0]), Lines{"n3"}) << "a partition of its name";
  EXPECT_EQ(proposed.organizations[1].name, "guests-org") << "guests is taken";
  EXPECT_EQ(proposed.organizations[1].rules.at(0).name, "guests");
  EXPECT_EQ(nodes_of(proposed.organizations[1]), Lines{});
  EXPECT_EQ(proposed.organizations[2].name, "physics");
  EXPECT_EQ(nodes_of(proposed.organizations[2]), (Lines{"n1", "n2"})) << "a partition for it and its sub-account alone";
  EXPECT_NE(text.find("\n#   \"n[4-5]\": 16 CPUs each, gpu:a100:4(S:0-1), partition batch\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n#   \"n6\": 4 CPUs each, in no partition\n"), std::string::npos) << text;
  const SlurmComparison comparison = compare_with_slurm(proposed, site());
  EXPECT_TRUE(comparison.unknown.empty());
}

TEST(SlurmSite, HasNodesThatSlurmHidesWhileTheyArePoweredDown) {
  // Nodes of State=CLOUD: `scontrol show nodes` has no line of them, their partitions name them.
  SlurmSite slurm = site();
  slurm.partitions = parse_partitions(
      "PartitionName=batch AllowAccounts=ALL Nodes=n[1-6],c[1-3]\n"
      "PartitionName=cloud AllowAccounts=biology Nodes=c[2-3]\n"
      "PartitionName=empty AllowAccounts=ALL Nodes=(null)\n");
  add_hidden_nodes(slurm);
  ASSERT_EQ(slurm.nodes.size(), 9U);
  EXPECT_EQ(slurm.nodes[6], (SlurmNode{"c1", 0, "", {"batch"}}));
  EXPECT_EQ(slurm.nodes[8], (SlurmNode{"c3", 0, "", {"batch", "cloud"}}));
  const auto known = compare_with_slurm(parsed("organizations:\n  - name: p\n    nodes: [\"c[1-4]\"]\n"), slurm);
  EXPECT_EQ(config::format_faults(known.unknown, "f"),
            "f:3: organization 'p': node c4 is unknown to Slurm; correct the name, or see what there is: scontrol show "
            "nodes");
  const std::string text = propose_configuration(slurm).value_or("");
  EXPECT_PRED2(contains, text, "nodes: [\"c[2-3]\"]\n");
  EXPECT_PRED2(contains, text, "\n#   \"c1\": CPUs not shown by Slurm while powered down, partition batch\n");
}

// Hindsight weighs every coalition of ten organizations, guests and commons; of more it is an estimate.
TEST(Proposal, RanksByHindsightWhereItWeighsEveryCoalition) {
  SlurmSite slurm = site();
  slurm.accounting->accounts.clear();
  for (int i = 1; i <= 10; ++i) slurm.accounting->accounts.push_back({"a" + std::to_string(i), "root"});
  EXPECT_EQ(name_of(parsed(must(propose_configuration(slurm))).contribution), "hindsight");
  slurm.accounting->accounts.push_back({"a11", "root"});
  EXPECT_EQ(name_of(parsed(must(propose_configuration(slurm))).contribution), "direct_contr");
}

TEST(Proposal, WithoutSlurmdbdIsMadeOfPartitions) {
  SlurmSite slurm = site();
  slurm.accounting.reset();
  slurm.slurm_user = "ctl";
  const config::Configuration proposed = parsed(propose_configuration(slurm).value_or(""));
  EXPECT_EQ(proposed.slurm_user, "ctl");
  ASSERT_EQ(proposed.organizations.size(), 3U);
  EXPECT_EQ(proposed.organizations[0].rules.at(0).kind, RuleKind::partition);
  EXPECT_EQ(nodes_of(proposed.organizations[0]), (Lines{"n4", "n5"})) << "of batch alone";
}

TEST(Proposal, IsSoundWhateverTheNames) {
  SlurmSite slurm = site();
  slurm.accounting->accounts = {{"a:\"b\"#x", "root"}, {"a__b__x", "root"},    {std::string(100, 'z'), "root"},
                                {"loop", "pool"},      {"pool", "loop"},       {"commons", "root"},
                                {"two words", "root"}, {"line\nbreak", "root"}};
  slurm.partitions = {{"looped", {"loop"}, {}}};
  slurm.cluster = "two\nlines";
  const std::string text = propose_configuration(slurm).value_or("");
  EXPECT_EQ(parsed(text).organizations.size(), 5U);
  EXPECT_PRED2(contains, text, "  - name: \"two_words\"\n    accounts: [\"two words\"]\n");
  EXPECT_PRED2(contains, text,
               "\n# Left out, because no rule can name it (a comma, or a blank around it): \"line?break\"\n");
  EXPECT_EQ(parse_partitions("PartitionName=p AllowGroups=ALL AllowAccounts=phys group,Bio AllowQos=ALL Nodes=n1\n")
                .at(0)
                .accounts,
            (std::vector<std::string>{"phys group", "bio"}));
  slurm.accounting->accounts.clear();
  EXPECT_EQ(propose_configuration(slurm).error().code, Errc::not_found);
}

// What an administrator hears who lets one of two controllers begin.

using nlohmann::json;

TEST(Begin, SaysWhetherItWasNeeded) {
  const TempDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = no_terminal(out, err);
  bool is_needed = true;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            EXPECT_EQ(request["request"], "begin");
                            if (std::exchange(is_needed, false)) return json{{"allowed", true}};
                            return json{{"error", {{"code", "conflict"}, {"what", "that is not needed"}}}};
                          }));
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code = run_begin(endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(*code, ExitCode::success);
  EXPECT_EQ(out.str(), "this shapleyd writes with the ledger that it has as soon as slurmctld's plugin connects\n");
  EXPECT_EQ(run_begin(endpoint, environment).error().code, Errc::conflict);
}

// What an administrator hears who says that the cluster was renamed.

TEST(RenameCluster, TellsTheDaemonWithTheReason) {
  const TempDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = no_terminal(out, err);
  const FakeDaemon daemon(
      directory / "s", FakeDaemon::welcoming([](const json& request) {
        EXPECT_EQ(request["request"], "rename_cluster");
        EXPECT_EQ(request["reason"], "moved");
        if (request["cluster"] == "apple") {
          return json{{"error", {{"code", "invalid_argument"}, {"what", "it is called so already"}}}};
        }
        return json{{"cluster", request["cluster"]}, {"before", "apple"}};
      }));
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code = run_rename_cluster({.name = "newton", .reason = "moved"}, endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(*code, ExitCode::success);
  EXPECT_EQ(out.str(), "the ledger is of cluster newton from now on, which was called apple\n");
  EXPECT_EQ(run_rename_cluster({.name = "apple", .reason = "moved"}, endpoint, environment).error().code,
            Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::ctl
