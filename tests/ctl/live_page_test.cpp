// The page of `report --live` on the books of explain_fixture.hpp.
#include "ctl/report/live_page.hpp"

#include <string>

#include "ctl/offline.hpp"
#include "explain_fixture.hpp"
#include "ledger/reports/report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

class LivePage : public RankedBooks {};

TEST_F(LivePage, SaysWhatStatusAndForecastSay) {
  LiveReport report{.heading = "a < b",
                    .status = must(answers::answer(ledger::StatusRequest{.forecast = true}, {.path = file()})),
                    .no_jobs = "x",
                    .every_s = 60};
  report.status.organizations[0].title = "B <script>";
  const std::string page = live_page(report);
  EXPECT_PRED2(contains, page, "<h1>a &lt; b</h1>");
  EXPECT_PRED2(contains, page, "<meta http-equiv=\"refresh\" content=\"60\">");
  EXPECT_PRED2(contains, page, "<li>B (B &lt;script&gt;): " + report.status.organizations[0].is.sentence + "; ");
  std::size_t at = 0;
  for (const ledger::OrganizationRow& row : report.status.organizations) {
    if (!row.is.rank) continue;
    EXPECT_GT(at = page.find("<li>" + row.is.name, at + 1), 0U) << row.is.name;
  }
  EXPECT_NE(at, std::string::npos) << "in the order of ranks";
  ASSERT_FALSE(report.status.forecast->turns.empty());
  const ledger::ForecastTurn& turn = report.status.forecast->turns[0];
  EXPECT_PRED2(contains, page, turn.first + " passes " + turn.then + " at <time datetime=\"" + turn.at.utc() + "\">");
  EXPECT_PRED2(contains, page, "The jobs are not listed here: x.");
  report.no_jobs.clear();
  EXPECT_PRED2(contains, live_page(report), "No job waits that could start.");
  for (std::uint32_t i = 0; i <= k_most_live_jobs; ++i)
    report.jobs.push_back({i + 1, {.job = i + 1, .organization = "A&B"}});
  const std::string full = live_page(report);
  EXPECT_PRED2(contains, full, "These are the first 500 of 501 records.");
  EXPECT_PRED2(contains, full, "A&amp;B");
  EXPECT_PRED2(lacks, full, "So many jobs wait");
  report.jobs[0].is.array_job = 72;
  report.jobs[0].is.array_task = 3;
  report.truncated = true;
  EXPECT_PRED2(contains, live_page(report), ">72_3</th>");
  EXPECT_PRED2(contains, live_page(report), "So many jobs wait that only those of the lowest numbers are known here.");
}

TEST_F(LivePage, SaysSinceWhenSlurmctldIsAway) {
  LiveReport report{.status = must(answers::answer(ledger::StatusRequest{.forecast = true}, {.path = file()}))};
  EXPECT_PRED2(lacks, live_page(report), "does not hear of slurmctld");
  report.status.plugin = protocol::PluginReport{};
  EXPECT_PRED2(contains, live_page(report), "shapleyd does not hear of slurmctld now, and never has: ");
  report.status.plugin->last_heard_at = report.status.at - Duration{3600};
  EXPECT_PRED2(contains, live_page(report), "now, and heard of it last at <time ");
  report.status.plugin->connected = true;
  EXPECT_PRED2(lacks, live_page(report), "does not hear of slurmctld");
}

TEST_F(LivePage, NamesTheOtherClustersThatRanksCount) {
  LiveReport report{.status = must(answers::answer(ledger::StatusRequest{.forecast = true}, {.path = file()})),
                    .no_jobs = "x"};
  EXPECT_PRED2(lacks, live_page(report), "Ranks ");
  report.status.clusters = {{.cluster = "south",
                             .stated_at = report.status.at - Duration{30},
                             .organizations = {{"A", 40.0}},
                             .heard_at = report.status.at - Duration{10}},
                            {.cluster = "we<st"}};
  const std::string page = live_page(report);
  EXPECT_PRED2(contains, page,
               "<p>Ranks also count the cluster south, which stated 10 s ago: there A is owed 40.0 core-hours.</p>");
  EXPECT_PRED2(contains, page, "<p>Ranks do not count the cluster we&lt;st yet: no statement of it has come.</p>");
}

}  // namespace
}  // namespace shapley::ctl
