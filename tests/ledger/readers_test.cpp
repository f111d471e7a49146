// What the programs ask a ledger, on books small enough to be counted by hand.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/readers/declarations.hpp"
#include "ledger/readers/jobs.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using testing::must;

SegmentKey key_of(std::uint32_t job, std::int64_t start, std::uint32_t ordinal) {
  return {SegmentKind::run, {job}, {start}, ordinal};
}
Event described_job(std::uint32_t job, std::int64_t submit) {
  JobDescribed event;
  event.job = {job};
  event.submit = {submit};
  event.organization = "a";
  event.array_job = job == 8 ? 6 : 0;
  event.user_id = 1000 + static_cast<std::uint32_t>(submit);
  event.name = "name " + std::to_string(submit);
  event.wckey = "key";
  return event;
}
Event begins(std::uint32_t job, std::int64_t start, std::uint32_t ordinal, std::int64_t begin,
             std::int64_t processors) {
  const ProcessorMillionths held{processors * k_micro};
  return SegmentOpened{key_of(job, start, ordinal), "a", {begin}, held, {{"n1", held}}};
}
Event ends(std::uint32_t job, std::int64_t start, std::uint32_t ordinal, std::int64_t end, const std::string& state) {
  return SegmentClosed{key_of(job, start, ordinal), {end}, CloseReason::ended, state};
}

class Readers : public testing::LedgerTest {
 protected:
  void record(const std::vector<Event>& events) {
    EXPECT_EQ(must(ledger.append(events, {9000})).appended, events.size());
  }
  Ledger ledger = testing::writer(file());
};

// Job 7 was suspended and resized; its number came again. Job 8 was requeued and runs. Job 9's start was retracted.
std::vector<Event> some_runs() {
  return {described_job(7, 1000),
          begins(7, 1010, 0, 1010, 3),
          ends(7, 1010, 0, 1020, "SUSPENDED"),
          begins(7, 1010, 1, 1120, 2),
          ends(7, 1010, 1, 1150, "COMPLETED"),
          described_job(7, 5000),
          begins(7, 5000, 0, 5000, 1),
          ends(7, 5000, 0, 5005, "FAILED"),
          described_job(8, 2000),
          begins(8, 2000, 0, 2000, 1),
          ends(8, 2000, 0, 2007, "NODE_FAIL"),
          begins(8, 3000, 0, 3000, 1),
          ends(8, 3000, 0, 3001, "SUSPENDED"),
          begins(8, 3000, 1, 3005, 4),
          described_job(9, 2500),
          begins(9, 2500, 0, 2500, 1),
          ends(9, 2500, 0, 2600, "COMPLETED"),
          SegmentRetracted{key_of(9, 2500, 0), {2700}},
          described_job(10, 2600),
          begins(10, 2600, 0, 2600, 1)};
}

std::string line_of(const EndedRun& run) {
  return std::to_string(run.job.value) + '@' + std::to_string(run.start.value) + " of " +
         std::to_string(run.submit.value) + ": " + std::to_string(run.length.value) + " s to " +
         std::to_string(run.end.value) + " on " + std::to_string(run.processors.value / k_micro) + ' ' + run.job_state +
         (run.ended ? "" : ", goes on");
}
std::vector<std::string> lines_of(const std::vector<EndedRun>& runs) {
  std::vector<std::string> lines;
  for (const EndedRun& run : runs) lines.push_back(line_of(run));
  return lines;
}

TEST_F(Readers, runs_are_summed_up_from_their_ended_segments) {
  record(some_runs());
  const auto all = must(runs(ledger));
  EXPECT_EQ(lines_of(all),
            (std::vector<std::string>{
                "7@1010 of 1000: 40 s to 1150 on 3 COMPLETED", "7@5000 of 5000: 5 s to 5005 on 1 FAILED",
                "8@2000 of 2000: 7 s to 2007 on 1 NODE_FAIL", "8@3000 of 2000: 1 s to 3001 on 1 SUSPENDED, goes on"}));
  EXPECT_EQ(all[0].organization, "a");
  EXPECT_EQ(all[1].user_id, 6000U);
  EXPECT_EQ(all[1].array_job, 0U);
  EXPECT_EQ(all[2].array_job, 6U);
  EXPECT_EQ(all[2].name, "name 2000");
  EXPECT_EQ(all[2].wckey, "key");
}

TEST_F(Readers, runs_are_bounded_by_their_jobs) {
  record(some_runs());
  EXPECT_EQ(must(runs(ledger, {.submitted_since = Instant{2000}})).size(), 3U);
  EXPECT_EQ(must(runs(ledger, {.submitted_since = Instant{2001}})).size(), 1U);
  // The newest jobs: the second 7, 10 and 9, which have one ended run between them; then 8.
  EXPECT_EQ(must(runs(ledger, {.newest_jobs = 3})).size(), 1U);
  EXPECT_EQ(must(runs(ledger, {.newest_jobs = 4})).size(), 3U);
}

TEST_F(Readers, latest_runs_are_those_that_ended_last) {
  record(some_runs());
  constexpr std::int64_t k_all = 1000;
  auto all = must(runs(ledger));
  for (auto& run : all) {
    run.submit = {};
    run.job_state.clear();
  }
  EXPECT_EQ(lines_of(must(latest_runs(ledger, k_all, k_all))), lines_of(all));
  // 9's run, which was retracted, and 8's second one ended last; whatever is queued after them.
  EXPECT_EQ(lines_of(must(latest_runs(ledger, 2, k_all))), std::vector{line_of(all[3])});
  record({described_job(11, 2650), described_job(12, 2650)});
  EXPECT_EQ(lines_of(must(latest_runs(ledger, 2, k_all))), std::vector{line_of(all[3])});
  // Among the newest three events no run ended.
  EXPECT_TRUE(must(latest_runs(ledger, k_all, 3)).empty());
}

TEST_F(Readers, segments_of_a_run_say_what_is_open_and_retracted) {
  record(some_runs());
  const auto open = must(segments_of_run(ledger, {8}, {3000}));
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].end, Instant{3001});
  EXPECT_EQ(open[1].ordinal, 1U);
  EXPECT_EQ(open[1].begin, Instant{3005});
  EXPECT_EQ(open[1].end, std::nullopt);
  const auto retracted = must(segments_of_run(ledger, {9}, {2500}));
  ASSERT_EQ(retracted.size(), 1U);
  EXPECT_TRUE(retracted[0].retracted);
  EXPECT_TRUE(must(segments_of_run(ledger, {7}, {2500})).empty());
}

TEST_F(Readers, declarations_come_in_the_order_of_recording) {
  const std::vector<Event> declared{ConfigurationLoaded{{2000}, "later"}, OrganizationsDeclared{{1000}, {"a"}},
                                    PeriodDeclared{{1000}, Period::monthly}, ConfigurationLoaded{{1000}, "earlier"},
                                    OwnershipStated{"n1", {1000}, {{{1000}, {{"a", k_whole_node}}}}}};
  record(declared);
  record(some_runs());
  EXPECT_EQ(must(declarations(ledger)), declared);
  EXPECT_EQ(must(configuration_at(ledger, {999})), std::nullopt);
  EXPECT_EQ(must(configuration_at(ledger, {1999}))->text, "earlier");
  EXPECT_EQ(must(configuration_at(ledger, {2000}))->text, "later");
}

TEST_F(Readers, the_last_recorded_day) {
  EXPECT_EQ(must(last_recorded_day(ledger)), std::nullopt);
  record({OrganizationsDeclared{{1000}, {"a"}}});
  State state = std::move(must(ledger.recover()).state);
  for (const std::int64_t day : {86'400, 172'800}) {
    const Instant end{day + 86'400};
    state.advance(end);
    must(ledger.record_standings({day}, state, state.advance(end).standings()));
  }
  EXPECT_EQ(must(last_recorded_day(ledger)), Instant{172'800});
}

// Whether the answer was refused because a row is damaged.
template <typename Answer>
bool is_refused(const Expected<Answer>& answer) {
  return !answer && answer.error().code == Errc::corrupt;
}

// By reader, in the order in which they are written here.
std::vector<bool> refusals(const Ledger& ledger) {
  const StartsAsked starts{.run = {.start = {9000}, .first_event = 0, .released = Instant{0}},
                           .job = {4711},
                           .array_job = {},
                           .submit = {0},
                           .since = {0},
                           .most_listed = 0};
  return {is_refused(find_jobs(ledger, {.since = Instant{0}, .most = 100}, {})),
          is_refused(runs(ledger)),
          is_refused(latest_runs(ledger, 100, 100)),
          is_refused(segments_of_run(ledger, {7}, {5000})),
          is_refused(booked_runs(ledger, {7})),
          is_refused(segments_of_job(ledger, {7})),
          is_refused(last_run(ledger, {7}, {5000})),
          is_refused(earlier_starts(ledger, starts))};
}

// A damaged row makes a reader say so; it never reads as zero, as nothing, or as a run that goes on.
TEST_F(Readers, say_that_a_row_is_damaged) {
  struct Damage {
    const char* sql;
    std::vector<bool> refused;
  };
  int number = 0;
  for (const auto& [sql, refused] :
       {Damage{"SELECT 1", std::vector<bool>(8)},
        Damage{"UPDATE event_jobs SET user_id = 'x' WHERE job = 7",
               {true, true, false, false, false, false, false, false}},
        Damage{"UPDATE event_rows SET processors = NULL WHERE job = 7", std::vector<bool>(8, true)},
        Damage{"DELETE FROM event_rows WHERE seq = (SELECT closed FROM segment_events WHERE job = 7 AND anchor = 5000)",
               {true, true, false, true, true, true, true, false}},
        Damage{"DELETE FROM event_rows WHERE seq = (SELECT opened FROM segment_events WHERE job = 7 AND anchor = 5000)",
               {true, true, true, true, true, true, true, false}},
        Damage{"DELETE FROM words WHERE text = 'a'", {true, true, false, true, true, true, true, true}}}) {
    const std::filesystem::path damaged = directory() / (std::to_string(++number) + ".db");
    Ledger of = testing::writer(damaged);
    must(of.append(some_runs(), {9000}));
    for (const char* trigger :
         {"events_are_not_updated", "events_are_not_deleted", "event_jobs_are_not_updated", "words_are_not_deleted"}) {
      testing::tamper(damaged, "DROP TRIGGER " + std::string(trigger));
    }
    testing::tamper(damaged, sql);
    EXPECT_EQ(refusals(of), refused) << sql;
  }
}

}  // namespace
}  // namespace shapley::ledger
