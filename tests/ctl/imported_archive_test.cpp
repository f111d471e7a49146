// Closed periods of a ledger whose events were all recorded on one day: an import of eleven months.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/exit_code.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ImportedArchives : public testing::Test {
 protected:
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), arguments, "TZ=UTC");
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return directory.path() / name; }
  ledger::testing::TemporaryDirectory directory;
};

// Of February to December 2024, one run every seven hours on average, many of them across the end of their month.
std::string eleven_months() {
  std::string rows =
      "JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|AllocCPUS|AllocTRES|NodeList\n";
  const Instant first = *parse_instant("2024-02-01");
  const std::int64_t length = (*parse_instant("2024-12-25") - first).value;
  constexpr std::int64_t k_jobs = 1'100;
  const auto text = [](Instant t) { return format_instant(t).substr(0, 19); };
  for (std::int64_t job = 1; job <= k_jobs; ++job) {
    const Instant submit = first + Duration{length * job / k_jobs};
    const Instant start = submit + Duration{job % 50 * 60};
    const Instant end = start + Duration{job % 3 == 0 ? 5 * k_day_s : 3'600 + job};
    rows += std::to_string(job) + "|u|7|" + (job % 2 == 0 ? "astro" : "bio") + "|COMPLETED|" + text(submit) + "|" +
            text(submit) + "|" + text(start) + "|" + text(end) + "|00:00:00|1|cpu=1,mem=100M,node=1|n" +
            std::to_string(job % 2 + 1) + "\n";
  }
  return rows;
}

TEST_F(ImportedArchives, every_month_goes_to_its_own_file) {
  std::ofstream(path("site.yaml")) << "slurm_user: root\nperiod: monthly\norganizations:\n"
                                      "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }]\n"
                                      "  - name: bio\n    accounts: [bio]\n    nodes: [{ nodes: n2 }]\n";
  std::ofstream(path("sacct")) << eleven_months();
  for (const char* name : {"ledger.db", "twin.db"}) {
    const Outcome imported = run("import --sacct " + path("sacct").string() + " --config " +
                                 path("site.yaml").string() + " --ledger " + path(name).string());
    ASSERT_EQ(imported.exit_code, code(ExitCode::success)) << imported.err;
  }
  const Outcome archived = run("archive " + path("ledger.db").string());
  ASSERT_EQ(archived.exit_code, code(ExitCode::success)) << archived.err;
  for (const char* month : {"02", "03", "04", "05", "06", "07", "08", "09", "10", "11"}) {
    EXPECT_TRUE(fs::exists(path("archives") / ("ledger.2024-" + std::string(month) + ".db.xz"))) << archived.out;
  }
  const json audit =
      json::parse(run("audit --json " + path("ledger.db").string() + " --against " + path("sacct").string()).out);
  EXPECT_TRUE(audit["clean"].get<bool>()) << audit.dump(1);
  EXPECT_EQ(audit["missing"], nullptr);
  for (const char* question :
       {"status --json --at 2024-02-20", "status --json --at 2024-07-01T03:00:00", "statement --json --month 2024-05",
        "statement --json -S 2024-08-20 -E 2024-10-10", "history --json --by month -S 2024-02-01 -E 2025-01-01"}) {
    const Outcome expected = run(question + (" --ledger " + path("twin.db").string()));
    ASSERT_EQ(expected.exit_code, code(ExitCode::success)) << expected.err;
    EXPECT_EQ(run(question + (" --ledger " + path("ledger.db").string())).out, expected.out) << question;
  }
}

TEST_F(ImportedArchives, what_keeps_closed_periods_is_said) {
  // A run of the first month, learned in the last one.
  const auto late = ledger::testing::opened(90'001, ledger::testing::month_begin(0).value + 4'000, "physics", 1, "n2");
  const Instant learned = ledger::testing::month_begin(4) + Duration{k_day_s};
  ledger::testing::write_months(path("ledger.db"), 5, 12, {{learned, late}});
  const Outcome outcome = run("archive " + path("ledger.db").string());
  EXPECT_EQ(outcome.exit_code, code(ExitCode::success)) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "nothing to archive: of its closed periods but the last one 3 stay: events that "))
      << outcome.out;
}

}  // namespace
}  // namespace shapley::ctl
