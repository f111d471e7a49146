// By what rule an import charges runs, and what it needs to know for that.
#include <filesystem>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>

#include "import_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

// Job 1 has 3 CPUs and is billed 24 on two nodes; job 2 is billed nothing.
TEST_F(ImportTest, by_billing_runs_are_charged_what_slurm_billed_and_the_audit_compares_it) {
  const auto billed = [](std::string row, int billing) {
    return row.insert(row.find("cpu="), "billing=" + std::to_string(billing) + ",");
  };
  const auto without_list = [](std::string row) {
    const std::size_t begin = row.find("cpu=");
    return row.erase(begin, row.find('|', begin) - begin);
  };
  const std::string first = row("1", 1, "bio", "COMPLETED", 0, 0, 10, 110, 0, 3, 0, 0, "n[1-2]");
  const std::string second = row("2", 2, "astro", "COMPLETED", 0, 0, 200, 300, 0, 1, 0, 0, "n1");
  ImportQuestion asked = question(billed(first, 24) + second);  // Slurm lists no 0
  const std::filesystem::path by_cpus = directory() / "cpu.yaml";
  std::filesystem::copy_file(asked.config, by_cpus);
  std::ofstream(by_cpus, std::ios::app) << "charge: cpu\n";
  std::ofstream(asked.config, std::ios::app) << "charge: billing\n";
  const std::filesystem::path no_billing = asked.nodes;
  asked.nodes = write("billed-nodes",
                      "NodeName=n1 CPUTot=4 RealMemory=4096 Gres=(null) CfgTRES=cpu=4,mem=4G,billing=20\n"
                      "NodeName=n2 CPUTot=4 RealMemory=4096 Gres=gpu:2 CfgTRES=cpu=4,mem=4G,billing=36,gres/gpu=2\n");
  const auto refusal = [](const ImportQuestion& refused) {
    const auto result = import_history(refused);
    return result ? std::string("none") : result.error().what;
  };
  ImportQuestion bad = asked;
  bad.nodes = no_billing;
  EXPECT_PRED2(contains, refusal(bad),
               no_billing.string() + ": node n1: has no CfgTRES, which says what the node is worth");
  bad.nodes.clear();
  EXPECT_PRED2(contains, refusal(bad),
               "site.yaml: charge: billing needs to know what each node is worth; give --nodes");
  bad = asked;
  bad.sacct = write("unbilled", k_header + billed(first, 24) + without_list(second));
  EXPECT_PRED2(contains, refusal(bad), "unbilled: line 3: AllocTRES: is missing");

  ASSERT_EQ(refusal(asked), "none");
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT job, node, processors, cpus FROM segment_nodes WHERE kind = 'run'"),
            (std::vector<std::string>{"1|n1|16000000|2", "1|n2|8000000|1", "2|n1|1|1"}));
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT node, whole FROM capacity ORDER BY node"),
            (std::vector<std::string>{"n1|20000000", "n2|36000000"}));
  EXPECT_TRUE(audit_against(asked.sacct).findings.empty());
  const auto wrong = audit_against(write("wrong", k_header + billed(first, 23) + billed(second, 1)));
  ASSERT_EQ(wrong.findings.size(), 2U);
  EXPECT_PRED2(contains, wrong.findings[0].what,
               "is charged 24 by Slurm's billing in the ledger, and the record has billing=23");
  EXPECT_PRED2(contains, wrong.findings[1].what,
               "is charged 0 by Slurm's billing in the ledger, and the record has billing=1");
  const auto unknown = audit_against(write("unknown", k_header + without_list(first) + second));
  EXPECT_TRUE(unknown.findings.empty());
  ASSERT_FALSE(unknown.notes.empty());
  EXPECT_PRED2(contains, ::testing::PrintToString(unknown.notes),
               "1 size charged by Slurm's billing and not compared with it: the records lack AllocTRES");

  // The rule of this ledger is billing.
  ImportQuestion later = question(row("3", 3, "bio", "COMPLETED", 0, 0, 400, 500, 0, 1, 0, 0, "n2"));
  later.into = std::exchange(later.ledger, {});
  later.nodes.clear();
  later.config = by_cpus;
  EXPECT_PRED2(contains, refusal(later),
               "cpu.yaml: charge, weights or node_weights are not what " + file().string() +
                   " declared last (charge: billing); import with the configuration that is in force there");
  later.config = asked.config;
  EXPECT_EQ(refusal(later), "none");
}

// What a node has beside CPUs counts, as it does for slurmctld.
TEST_F(ImportTest, by_weights_nodes_and_runs_are_sums_of_what_they_have) {
  ImportQuestion asked = question(row("1", 1, "bio", "COMPLETED", 0, 0, 10, 110, 0, 1, 0, 1, "n2"));
  std::ofstream(asked.config, std::ios::app) << "charge: weights\nweights: {cpu: 1, gres/gpu: 8}\n";
  asked.nodes = write("nodes-with-gpus",
                      "NodeName=n1 CPUTot=4 RealMemory=4096 Gres=(null) CfgTRES=cpu=4,mem=4G,billing=4\n"
                      "NodeName=n2 CPUTot=4 RealMemory=4096 Gres=gpu:2 CfgTRES=cpu=4,mem=4G,billing=4,gres/gpu=2\n");
  ASSERT_TRUE(import_history(asked));
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT node, whole FROM capacity ORDER BY node"),
            (std::vector<std::string>{"n1|4000000", "n2|20000000"}));
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT processors FROM segment_nodes WHERE kind = 'run'"),
            (std::vector<std::string>{"9000000"}));
}

}  // namespace
}  // namespace shapley::ctl
