// By what rule an import charges runs, and what it needs to know for that.
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/offline.hpp"
#include "import_fixture.hpp"
#include "tests/sacct/true_site.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using ledger::testing::must;

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

// 130 CPUs on a node of 128 and one of 8, of which another run holds some later.
TEST_F(ImportTest, a_run_on_nodes_of_unequal_size_gets_what_it_held) {
  ImportQuestion asked = question(row("1", 1, "bio", "COMPLETED", 0, 0, 10, 110, 0, 130, 0, 0, "n[1-2]") +
                                  row("2", 2, "bio", "COMPLETED", 0, 0, 200, 300, 0, 100, 50000, 1, "n[1-2]") +
                                  row("3", 3, "astro", "COMPLETED", 0, 0, 250, 260, 0, 6, 6000, 0, "n2"));
  asked.nodes = write("unequal",
                      "NodeName=n1 CPUTot=128 RealMemory=128000 Gres=gpu:4\n"
                      "NodeName=n2 CPUTot=8 RealMemory=8000 Gres=gpu:1\n");
  EXPECT_EQ(must(import_history(asked)).notes, std::vector<std::string>{});
  EXPECT_EQ(ledger::testing::rows(file(),
                                  "SELECT job, node, processors / 1000000, cpus FROM segment_nodes WHERE kind = 'run'"),
            (std::vector<std::string>{"1|n1|122|122", "1|n2|8|8", "2|n1|98|98", "2|n2|2|2", "3|n2|6|6"}));
  EXPECT_TRUE(expect_recorded(asked.sacct).clean());
}

// The parts of runs that the ledger has are as they are: what is added gets what they leave.
TEST_F(ImportTest, what_is_added_to_a_ledger_fits_beside_what_it_has) {
  const std::string first = row("1", 1, "bio", "COMPLETED", 0, 0, 10, 110, 0, 6, 0, 0, "n2");
  ImportQuestion asked = question(first);
  asked.nodes = write("unequal", "n1 128\nn2 8\n");
  must(import_history(asked));
  // The end of this run was not seen, and is later than the ledger has it.
  std::vector<accounting::Event> seen;
  auto opened = ledger::testing::opened(4, k_begin + 200, "bio", 7, "n2");
  opened.nodes.front().cpus = 7;
  seen.emplace_back(opened);
  seen.emplace_back(ledger::testing::closed(opened, k_begin + 210, accounting::CloseReason::vanished));
  must(ledger::testing::writer(file()).append(seen, {1789999999}));
  asked = question(first + row("2", 2, "astro", "COMPLETED", 0, 0, 50, 150, 0, 20, 0, 0, "n[1-2]") +
                   row("3", 3, "astro", "COMPLETED", 0, 0, 250, 260, 0, 20, 0, 0, "n[1-2]") +
                   row("4", 4, "bio", "COMPLETED", 0, 0, 200, 300, 0, 7, 0, 0, "n2"));
  asked.into = std::exchange(asked.ledger, {});
  asked.nodes.clear();
  must(import_history(asked));
  EXPECT_EQ(
      ledger::testing::rows(file(), "SELECT job, node, cpus FROM segment_nodes WHERE kind = 'run' AND job IN (2, 3)"),
      (std::vector<std::string>{"2|n1|18", "2|n2|2", "3|n1|19", "3|n2|1"}));
  expect_recorded(asked.sacct);
}

// Random sites on which all runs had room. By CPUs an organization got the CPUs of its runs, each second; what the
// books have of it is psi [SR13 Eq. 3], here summed up naively from the rows.
TEST_F(ImportTest, what_runs_got_are_their_cpus_whatever_nodes_they_had) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const sacct::testing::TrueSite site = sacct::testing::SiteMaker(seed).make();
    std::string rows, nodes;
    std::map<std::string, std::int64_t> psi{{"astro", 0}, {"bio", 0}};
    constexpr std::int64_t k_end = sacct::testing::k_seconds;
    int job = 0;
    for (const sacct::SacctRow& run : site.rows) {
      std::string list;
      for (const std::string& node : run.nodes) list += (list.empty() ? "" : ",") + node;
      const char* account = ++job % 2 == 0 ? "astro" : "bio";
      rows += row(std::to_string(job), job, account, "COMPLETED", 0, 0, static_cast<int>(run.start->value),
                  static_cast<int>(run.end->value), 0, static_cast<int>(run.cpus), static_cast<int>(run.memory),
                  run.gres.empty() ? 0 : static_cast<int>(run.gres[0].count), list.c_str());
      for (std::int64_t t = run.start->value; t < run.end->value; ++t)
        psi[account] += static_cast<std::int64_t>(run.cpus) * (k_end - t);
    }
    for (const auto& [name, node] : site.nodes) {
      nodes += "NodeName=" + name + " CPUTot=" + std::to_string(node.cpus) +
               " RealMemory=" + std::to_string(node.memory) +
               " Gres=gpu:" + std::to_string(node.gres.empty() ? 0 : node.gres[0].count) + "\n";
    }
    std::filesystem::remove(file());
    write("site.yaml",
          "ledger: /var/lib/shapley/ledger.db\nslurm_user: root\ncharge: cpu\norganizations:\n"
          "  - name: astro\n    accounts: [astro]\n    nodes: [n1]\n  - name: bio\n    accounts: [bio]\n");
    ImportQuestion asked = question(rows);
    asked.nodes = write("random", nodes);
    EXPECT_EQ(must(import_history(asked)).notes, std::vector<std::string>{}) << seed;
    EXPECT_TRUE(expect_recorded(asked.sacct).clean());
    EXPECT_TRUE(must(ledger::audit(ledger::testing::reader(file()))).clean());
    const nlohmann::json report =
        json_of(must(answers::answer(ledger::StatusAtRequest{.at = Instant{k_begin + k_end}}, {.path = file()})));
    for (const nlohmann::json& organization : report["organizations"]) {
      const auto naive = psi.find(organization["name"].get<std::string>());
      if (naive != psi.end()) EXPECT_EQ(organization["psi"], std::to_string(naive->second)) << seed;
    }
  }
}

// What Slurm bills for a run goes to those of its nodes that are worth it.
TEST_F(ImportTest, by_billing_no_node_is_charged_more_than_it_is_worth) {
  const std::string billed = "1|1|u|7|bio|COMPLETED|" + format(k_begin) + "|" + format(k_begin) + "|" +
                             format(k_begin + 10) + "|" + format(k_begin + 110) +
                             "|00:00:00|16|billing=416,cpu=16,gres/gpu=4,mem=1G|n[1-2]\n";
  ImportQuestion asked = question(billed);
  std::ofstream(asked.config, std::ios::app) << "charge: billing\n";
  const std::string fat =
      "NodeName=n1 CPUTot=128 RealMemory=128000 Gres=gpu:4 CfgTRES=cpu=128,billing=528,gres/gpu=4\n";
  asked.nodes = write("unequal", fat + "NodeName=n2 CPUTot=8 RealMemory=8000 Gres=(null) CfgTRES=cpu=8,billing=8\n");
  must(import_history(asked));
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT node, processors, cpus FROM segment_nodes WHERE kind = 'run'"),
            (std::vector<std::string>{"n1|408000000|8", "n2|8000000|8"}));
  std::filesystem::remove(file());
  asked.nodes = write("unbilled", fat + "NodeName=n2 CPUTot=8 RealMemory=8000 Gres=(null) CfgTRES=cpu=8,mem=8000M\n");
  const auto refused = import_history(asked);
  ASSERT_FALSE(refused);
  EXPECT_PRED2(contains, refused.error().what,
               "unbilled: node n2: has no billing in CfgTRES, which says what the node");
}

}  // namespace
}  // namespace shapley::ctl
