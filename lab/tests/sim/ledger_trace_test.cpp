#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ledger/store/ledger.hpp"
#include "sim/input/workload_source.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::sim {
namespace {

using accounting::Event;

Event described(std::uint32_t job, std::int64_t submit, std::uint32_t user) {
  accounting::JobDescribed event;
  event.job = {job};
  event.submit = {submit};
  event.organization = "astro";
  event.user_id = user;
  return event;
}
Event opened(std::uint32_t job, std::int64_t anchor, std::uint32_t ordinal, std::int64_t begin, std::int64_t q) {
  return accounting::SegmentOpened{.key = {accounting::SegmentKind::run, {job}, {anchor}, ordinal},
                                   .organization = "astro",
                                   .begin = {begin},
                                   .processors = {q * k_micro},
                                   .nodes = {{.node = "n1", .processors = {q * k_micro}}}};
}
Event closed(std::uint32_t job, std::int64_t anchor, std::uint32_t ordinal, std::int64_t end) {
  return accounting::SegmentClosed{.key = {accounting::SegmentKind::run, {job}, {anchor}, ordinal},
                                   .end = {end},
                                   .reason = accounting::CloseReason::ended,
                                   .job_state = "COMPLETED"};
}

TEST(LedgerTrace, RunsBecomeJobsOfTheirOrganization) {
  const TempDirectory folder;
  const auto file = folder / "ledger.db";
  {
    auto ledger = ledger::Ledger::open(file, ledger::OpenMode::create_or_write).value();
    // Job 7 was suspended for 100 s; its number came again later; job 8 still runs.
    const std::vector<Event> events{described(7, 1000, 17),      opened(7, 1010, 0, 1010, 3), closed(7, 1010, 0, 1020),
                                    opened(7, 1010, 1, 1120, 3), closed(7, 1010, 1, 1150),    described(7, 5000, 18),
                                    opened(7, 5000, 0, 5000, 1), closed(7, 5000, 0, 5005),    described(8, 5001, 18),
                                    opened(8, 5001, 0, 5001, 1)};
    ASSERT_TRUE(ledger.append(events, {6000}));
  }
  EXPECT_TRUE(is_ledger(file));
  const auto trace = load_workload({.trace = file.string(), .generator = {}});
  ASSERT_TRUE(trace) << trace.error().what;
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[0].id, 7);
  EXPECT_EQ(trace->jobs[0].submit.value, 1000);
  EXPECT_EQ(trace->jobs[0].run.value, 40);  // 10 and 30, without the suspension
  EXPECT_EQ(trace->jobs[0].processors, 3);
  EXPECT_EQ(trace->users[trace->jobs[0].user], "17");
  EXPECT_EQ(trace->groups[trace->jobs[0].group], "astro");
  EXPECT_EQ(trace->jobs[1].submit.value, 5000);
  EXPECT_EQ(trace->users[trace->jobs[1].user], "18");
}

// An endless view: a program that reads it never ends.
TEST(LedgerTrace, ALedgerWithAnotherViewOfItsEventsIsRefused) {
  const TempDirectory folder;
  const auto file = folder / "ledger.db";
  ASSERT_TRUE(ledger::Ledger::open(file, ledger::OpenMode::create_or_write));
  ledger::testing::tamper(file,
                          "DROP VIEW events; CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT "
                          "seq + 1 FROM n) SELECT seq, seq AS key FROM n");
  const auto trace = load_workload({.trace = file.string(), .generator = {}});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().what.find("view events is not as the program makes it"), std::string::npos)
      << trace.error().what;
}

}  // namespace
}  // namespace shapley::sim
