// A site with two organizations and two nodes, and rows of sacct for it, by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ctl/import/import.hpp"
#include "ledger/audit/audit.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/naive_sacct.hpp"

namespace shapley::ctl {

inline constexpr const char* k_header =
    "JobID|JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|AllocCPUS|AllocTRES|NodeList\n";

class ImportTest : public ledger::testing::LedgerTest {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    write("site.yaml",
          "ledger: /var/lib/shapley/ledger.db\nslurm_user: root\n"
          "organizations:\n"
          "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }, { nodes: n2, until: 2026-03-10 }]\n"
          "  - name: bio\n    accounts: [bio]\n    nodes: [{ nodes: n2, from: 2026-03-10 }]\n");
    write("nodes",
          "NodeName=n1 CPUTot=4 RealMemory=4096 Gres=(null)\nNodeName=n2 CPUTot=4 RealMemory=4096 Gres=gpu:2\n");
  }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(directory() / name) << text;
    return directory() / name;
  }
  [[nodiscard]] ImportQuestion question(const std::string& rows) {
    ImportQuestion question;
    question.sacct = write("sacct", k_header + rows);
    question.config = directory() / "site.yaml";
    question.ledger = file();
    question.nodes = directory() / "nodes";
    question.reason = "before the consortium decides";
    question.now = {1790000000};
    return question;
  }
  // A row "id/raw account state submit eligible start end suspended cpus mem(MiB) gpus nodes", seconds after
  // 2026-03-09T08:00:00; negative: Unknown.
  static std::string row(const std::string& id, int raw, const char* account, const char* state, int submit,
                         int eligible, int start, int end, int suspended, int cpus, int memory, int gpus,
                         const char* nodes) {
    const auto at = [](int second) {
      if (second < 0) return std::string("Unknown");
      std::string text = format(k_begin + second);
      return text;
    };
    char pause[16];
    std::snprintf(pause, sizeof pause, "%02d:%02d:%02d", suspended / 3600, suspended / 60 % 60, suspended % 60);
    std::string tres = "cpu=" + std::to_string(cpus) + ",mem=" + std::to_string(memory) + "M,node=1";
    if (gpus > 0) tres += ",gres/gpu=" + std::to_string(gpus);
    return id + "|" + std::to_string(raw) + "|u|7|" + account + "|" + state + "|" + at(submit) + "|" + at(eligible) +
           "|" + at(start) + "|" + at(end) + "|" + pause + "|" + std::to_string(cpus) + "|" + tres + "|" + nodes + "\n";
  }
  static std::string format(std::int64_t t) {
    const std::time_t seconds = t;
    std::tm fields{};
    gmtime_r(&seconds, &fields);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &fields);
    return text;
  }
  static constexpr std::int64_t k_begin = 1773043200;

  // An array's two tasks, a requeue, a suspension, a resize, a run over midnight, one that goes on, one that never ran.
  [[nodiscard]] static std::string year() {
    return row("72_1", 72, "astro", "COMPLETED", 0, 10, 60, 660, 0, 2, 1024, 0, "n1") +
           row("72_2", 73, "astro", "COMPLETED", 0, 10, 60, 660, 0, 2, 1024, 0, "n1") +
           row("74", 74, "bio", "REQUEUED", 5, 5, 100, 200, 0, 4, 4096, 0, "n2") +
           row("74", 74, "bio", "COMPLETED", 200, 321, 700, 1000, 0, 4, 4096, 0, "n2") +
           row("75", 75, "bio", "COMPLETED", 300, 300, 1000, 2000, 400, 1, 1024, 1, "n2") +
           row("76", 76, "bio", "RESIZING", 300, 300, 3000, 3100, 0, 8, 2048, 0, "n[1-2]") +
           row("76", 76, "bio", "COMPLETED", 300, 300, 3000, 3400, 0, 4, 1024, 0, "n1") +
           row("77", 77, "guest", "TIMEOUT", 57000, 57000, 57500, 58100, 0, 4, 1024, 0, "n2") +
           row("78", 78, "astro", "CANCELLED by 7", 400, 400, -1, 500, 0, 0, 0, 0, "None assigned") +
           row("79", 79, "astro", "RUNNING", 58000, 58000, 58200, -1, 0, 1, 512, 0, "n1");
  }
  static std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  ledger::AuditReport audit_against(const std::filesystem::path& sacct) {
    const auto ledger = ledger::testing::reader(file());
    return ledger::testing::must(ledger::audit_against(ledger, sacct));
  }
  // That the ledger has the runs of these rows: by the audit, and by a plain parser of its own, with which the audit
  // and the import share no code. Returns the audit's report.
  ledger::AuditReport expect_recorded(const std::filesystem::path& sacct) {
    ledger::AuditReport report = audit_against(sacct);
    for (const ledger::Finding& finding : report.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
    // (job, start) -> its end, and for how long it held its processors; -1: it goes on
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> recorded;
    for (const shapley::test::NaiveRow& row : shapley::test::naive_rows(text_of(sacct))) {
      if (row.start < 0) continue;
      // The last row of a resized run has the run's start.
      recorded[{row.job, row.start}] = {row.end, row.end < 0 ? -1 : row.end - row.start - row.suspended};
    }
    const std::vector<std::string> booked =
        ledger::testing::rows(file(),
                              "SELECT job, anchor, iif(COUNT(*) = COUNT(end), MAX(end), -1), iif(COUNT(*) = "
                              "COUNT(end), SUM(end - begin), -1) FROM segments WHERE kind = 'run' AND retracted IS "
                              "NULL GROUP BY job, anchor");
    EXPECT_FALSE(recorded.empty());
    for (const auto& [run, held] : recorded) {
      const std::string row = std::to_string(run.first) + "|" + std::to_string(run.second) + "|" +
                              std::to_string(held.first) + "|" + std::to_string(held.second);
      EXPECT_EQ(std::ranges::count(booked, row), 1) << row;
    }
    return report;
  }
  std::vector<std::string> runs() {
    return ledger::testing::rows(
        file(),
        "SELECT job, anchor - 1773043200, ordinal, begin - 1773043200, end - 1773043200, organization, processors, "
        "reason FROM segments WHERE kind = 'run' AND retracted IS NULL ORDER BY job, anchor, ordinal");
  }
};

}  // namespace shapley::ctl
