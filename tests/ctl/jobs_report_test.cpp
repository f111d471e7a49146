#include "ledger/reports/jobs_report.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/jobs.hpp"
#include "fake_daemon.hpp"
#include "reports/requests.hpp"
#include "scripted_books.hpp"
#include "tests/support/must.hpp"
#include "tests/support/partial_report.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using ctl::k_example_begin;
using nlohmann::json;

Instant second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

class JobsReport : public testing::Test {
 protected:
  void describe(std::uint32_t job, std::int64_t submit, const std::string& account = "acct") {
    JobDescribed described;
    described.job = JobId{job};
    described.submit = second(submit);
    described.organization = "A";
    described.account = account;
    events.emplace_back(described);
  }

  SegmentKey open(SegmentKind kind, std::uint32_t job, std::int64_t begin, std::uint32_t ordinal = 0,
                  std::optional<std::int64_t> anchor = std::nullopt) {
    const SegmentKey key{.kind = kind, .job = JobId{job}, .anchor = second(anchor.value_or(begin)), .ordinal = ordinal};
    SegmentOpened opened{
        .key = key, .organization = "A", .begin = second(begin), .processors = {2 * k_micro}, .nodes = {}};
    if (kind == SegmentKind::run) opened.nodes = {{"n1", {2 * k_micro}}};
    events.emplace_back(opened);
    return key;
  }

  void close(const SegmentKey& key, std::int64_t end, CloseReason reason, const std::string& state = "") {
    events.emplace_back(SegmentClosed{key, second(end), reason, state});
  }

  json report(const JobsFilter& filter, std::int64_t at = 100, const std::optional<JobsViewer>& viewer = {}) {
    auto ledger = must(Ledger::open(directory / "ledger.db", OpenMode::create_or_write));
    must(ledger.append(events, second(at)));
    auto jobs = must(jobs_report(ledger, filter, second(at), {}, viewer));
    return json_of(jobs);
  }

  json only_job(const JobsFilter& filter = {.all = true}) {
    const json jobs = report(filter)["jobs"];
    EXPECT_EQ(jobs.size(), 1U) << jobs.dump(1);
    return jobs.empty() ? json() : jobs[0];
  }

  TempDirectory directory;
  std::vector<Event> events;
};

// Waits 0-10, runs 10-20, suspended 20-30, runs from 30 on: 2 processors for 10 + 70 seconds at 100.
TEST_F(JobsReport, WorkLeavesOutPauses) {
  describe(7, 0);
  close(open(SegmentKind::wait, 7, 0), 10, CloseReason::started);
  close(open(SegmentKind::run, 7, 10), 20, CloseReason::suspended, "SUSPENDED");
  open(SegmentKind::run, 7, 30, 1, 10);
  const json job = only_job({});
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["processor_seconds"], "160");
  EXPECT_EQ(job["processors"], 2);
  EXPECT_EQ(job["begin"], second(10).value);
  EXPECT_TRUE(job["end"].is_null());
  ASSERT_EQ(job["segments"].size(), 3U);
  EXPECT_EQ(job["segments"][0]["kind"], "wait");
  EXPECT_EQ(job["segments"][1]["reason"], "suspended");
  EXPECT_EQ(job["segments"][1]["nodes"], (json::array({{{"node", "n1"}, {"processors", 2}}})));
  EXPECT_TRUE(job["segments"][2]["end"].is_null());
}

TEST_F(JobsReport, StatesFollowTheLastSegment) {
  describe(7, 0);
  const SegmentKey run = open(SegmentKind::run, 7, 10);
  EXPECT_EQ(only_job()["state"], "running");
  close(run, 20, CloseReason::requeued, "PENDING");
  EXPECT_EQ(only_job()["state"], "pending");
  const SegmentKey again = open(SegmentKind::run, 7, 30);
  EXPECT_EQ(only_job()["state"], "running");
  close(again, 40, CloseReason::suspended, "SUSPENDED");
  EXPECT_EQ(only_job()["state"], "suspended");
  EXPECT_TRUE(report({})["jobs"].empty()) << "a suspended job neither runs nor could start";
  close(open(SegmentKind::run, 7, 50, 1, 30), 60, CloseReason::ended, "TIMEOUT");
  const json ended = only_job();
  EXPECT_EQ(ended["state"], "ended");
  EXPECT_EQ(ended["slurm_state"], "TIMEOUT");
  EXPECT_EQ(ended["end"], second(60).value);
  EXPECT_EQ(ended["processor_seconds"], "60");
}

TEST_F(JobsReport, ARetractedRunCountsForNothingButIsShown) {
  describe(7, 0);
  const SegmentKey run = open(SegmentKind::run, 7, 10);
  events.emplace_back(SegmentRetracted{run, second(50)});
  const json job = only_job();
  EXPECT_EQ(job["state"], "pending");
  EXPECT_EQ(job["processor_seconds"], "0");
  EXPECT_TRUE(job["segments"][0]["retracted"].get<bool>());
  EXPECT_TRUE(report({})["jobs"].empty());
}

TEST_F(JobsReport, AWaitThatWasTakenBackStillShowsWhatBecameOfTheJob) {
  describe(7, 0);
  const SegmentKey wait = open(SegmentKind::wait, 7, 10);
  close(wait, 40, CloseReason::ended, "CANCELLED");
  events.emplace_back(SegmentRetracted{wait, second(41)});
  const json job = only_job();
  EXPECT_EQ(job["state"], "ended");
  EXPECT_EQ(job["slurm_state"], "CANCELLED");
  EXPECT_EQ(job["processors"], 2);
  EXPECT_TRUE(report({})["jobs"].empty());
}

TEST_F(JobsReport, ASubmissionThatAnotherFollowedHasEnded) {
  describe(7, 0);
  close(open(SegmentKind::run, 7, 10), 20, CloseReason::requeued, "PENDING");
  describe(7, 20);
  open(SegmentKind::wait, 7, 30);
  const json jobs = report({.all = true})["jobs"];
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0]["state"], "ended");
  EXPECT_EQ(jobs[0]["end"], second(20).value);
  EXPECT_EQ(jobs[1]["state"], "pending");
}

TEST_F(JobsReport, AJobIdThatSlurmUsedAgainIsTwoJobs) {
  describe(7, 0, "first");
  close(open(SegmentKind::run, 7, 5), 10, CloseReason::ended, "COMPLETED");
  describe(7, 50, "second");
  open(SegmentKind::run, 7, 55);
  const json jobs = report({.all = true})["jobs"];
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0]["account"], "first");
  EXPECT_EQ(jobs[0]["segments"].size(), 1U);
  EXPECT_EQ(jobs[0]["state"], "ended");
  EXPECT_EQ(jobs[1]["account"], "second");
  EXPECT_EQ(jobs[1]["segments"].size(), 1U);
  EXPECT_EQ(jobs[1]["state"], "running");
}

TEST_F(JobsReport, KeepsTheNewestWhenThereAreTooMany) {
  const auto count = static_cast<std::uint32_t>(k_max_reported_jobs);
  for (std::uint32_t job = 1; job <= count; ++job) describe(job, job);
  json all = report({.all = true}, count + 1);
  EXPECT_FALSE(all["truncated"].get<bool>());
  EXPECT_EQ(all["jobs"].size(), k_max_reported_jobs);
  describe(count + 1, count + 1);
  all = report({.all = true}, count + 1);
  EXPECT_TRUE(all["truncated"].get<bool>());
  ASSERT_EQ(all["jobs"].size(), k_max_reported_jobs);
  EXPECT_EQ(all["jobs"].front()["job"], 2U);
  EXPECT_EQ(all["jobs"].back()["job"], count + 1);
}

TEST_F(JobsReport, FindsTasksByTheirArrayAndLooksBackSevenDaysByDefault) {
  JobDescribed task;
  task.job = JobId{12};
  task.submit = second(0);
  task.array_job = 10;
  task.array_task = 2;
  events.emplace_back(task);
  constexpr std::int64_t k_month = 30 * 24 * 3600;
  const auto found = [&](const JobsFilter& filter) { return report(filter, k_month)["jobs"].size(); };
  EXPECT_EQ(found({.all = true}), 0U);
  EXPECT_EQ(found({.all = true, .since = second(0)}), 1U);
  EXPECT_EQ(found({.all = true, .since = second(1)}), 0U);
  EXPECT_EQ(found({.all = true, .jobs = {10}}), 1U);
  EXPECT_EQ(found({.all = true, .jobs = {12}}), 1U);
  EXPECT_EQ(found({.all = true, .jobs = {11}}), 0U);
}

// scontrol update account=..., and the last task of an array, which runs under the array's own number.
TEST_F(JobsReport, TellsTheNewestThatIsKnownOfAJob) {
  JobDescribed rest{.job = JobId{72},
                    .submit = second(0),
                    .organization = "A",
                    .array_job = 72,
                    .array_task = {},
                    .account = "acct",
                    .partition = "short,long",
                    .qos = "normal",
                    .name = "fit",
                    .wckey = ""};
  events.emplace_back(rest);
  rest.account = "moved";
  rest.organization = "B";
  events.emplace_back(change_to(rest, second(9)));
  rest.array_task = 10;
  rest.partition = "long";
  events.emplace_back(change_to(rest, second(10)));
  JobDescribed other = rest;
  other.submit = second(1);
  events.emplace_back(change_to(other, second(20)));
  open(SegmentKind::run, 72, 10);
  const json job = only_job();
  EXPECT_EQ(job["account"], "moved");
  EXPECT_EQ(job["organization"], "B");
  EXPECT_EQ(job["array_task"], 10);
  EXPECT_EQ(job["partition"], "long");
  EXPECT_EQ(job["qos"], "normal");
  const std::string text =
      ctl::render_jobs(partial<ledger::JobsReport>(report({.all = true})), {.format = "job", .header = false}).value();
  EXPECT_EQ(text.substr(text.find_first_not_of(' ')), "72_10\n");
  EXPECT_EQ(report({.all = true, .organizations = {"B"}})["jobs"].size(), 1U);
  EXPECT_EQ(report({.all = true, .organizations = {"A"}})["jobs"].size(), 0U);
  EXPECT_EQ(report({.all = true, .tasks = {{72, 10}}})["jobs"].size(), 1U);
  EXPECT_EQ(report({.all = true, .tasks = {{72, 9}}})["jobs"].size(), 0U);
}

TEST_F(JobsReport, FindsTasksAsSlurmWritesThem) {
  for (std::uint32_t task = 1; task <= 5; ++task) {
    JobDescribed described;
    described.job = JobId{72 + task};
    described.submit = second(0);
    described.array_job = 72;
    described.array_task = task;
    events.emplace_back(described);
  }
  describe(80, 0);
  const auto found = [&](const std::string& text) {
    JobsFilter filter{.all = true};
    must(ctl::add_jobs_named(text, filter));
    const json jobs = report(filter)["jobs"];
    std::string ids;
    for (const json& job : jobs) ids += job["job"].dump() + ' ';
    return ids;
  };
  EXPECT_EQ(found("72_3"), "75 ");
  EXPECT_EQ(found("72_[1-3]"), "73 74 75 ");
  EXPECT_EQ(found("72_[1,4-5%2],80"), "73 76 77 80 ");
  EXPECT_EQ(found("72"), "73 74 75 76 77 ");
  EXPECT_EQ(found("72_9"), "");
  JobsFilter filter;
  for (const char* wrong : {"72_", "_3", "x", "72_x", "72_3_4", "72_[1-", "4294967296", "", "72_[0-99999]"}) {
    const auto added = ctl::add_jobs_named(wrong, filter);
    ASSERT_FALSE(added) << wrong;
    EXPECT_EQ(added.error().code, Errc::invalid_argument) << wrong;
    EXPECT_TRUE(added.error().what.starts_with("-j: '")) << added.error().what;
  }
}

TEST_F(JobsReport, FindsPartsOfHeterogeneousJobsAsSlurmWritesThem) {
  for (std::uint32_t part = 0; part <= 2; ++part) {
    JobDescribed described;
    described.job = JobId{20 + part};
    described.submit = second(0);
    described.het_job = 20;
    events.emplace_back(described);
  }
  describe(23, 0);
  const auto found = [&](const std::string& text) {
    JobsFilter filter{.all = true};
    EXPECT_TRUE(ctl::add_jobs_named(text, filter));
    std::string ids;
    const json jobs = report(filter)["jobs"];
    for (const json& job : jobs) ids += job["job"].dump() + ' ';
    return ids;
  };
  EXPECT_EQ(found("20+0"), "20 ");
  EXPECT_EQ(found("20+1,23"), "21 23 ");
  EXPECT_EQ(found("20"), "20 21 22 ");
  EXPECT_EQ(found("20+3"), "") << "another job's number";
  EXPECT_EQ(found("4294967295+4294967295"), "");
  JobsFilter filter;
  for (const char* wrong : {"20+", "+1", "20+x", "20+1+2", "20+1_3"})
    EXPECT_FALSE(ctl::add_jobs_named(wrong, filter)) << wrong;
}

TEST_F(JobsReport, AFilterSurvivesTheWire) {
  const JobsFilter filter{.all = true,
                          .since = second(3),
                          .organizations = {"A", "B's"},
                          .accounts = {"x"},
                          .user_ids = {0, 4'000'000'000U},
                          .users = {{"max", 4'000'000'000U}, {"eve"}},
                          .jobs = {1},
                          .tasks = {{72, 3}, {72, 0}},
                          .parts = {{3, 1}}};
  const json request = request_of("jobs", filter);
  EXPECT_EQ(request_of("jobs", must(request_from<JobsFilter>(json::parse(request.dump())))), request);
  EXPECT_EQ(json_of(request_from<JobsFilter>(json::object()).value()), json::object());
}

TEST_F(JobsReport, FaultyFiltersAreRefusedByName) {
  for (const char* request : {R"({"all": 1})", R"({"since": "noon"})", R"({"accounts": "x"})", R"({"accounts": [1]})",
                              R"({"organizations": {}})", R"({"user_ids": [-1]})", R"({"user_ids": ["a"]})",
                              R"({"jobs": [4294967296]})", R"({"jobs": [1.5]})", R"({"tasks": [72]})",
                              R"({"tasks": [[72, -1]]})", R"({"tasks": [[72, 1, 2]]})", R"({"parts": [[3]]})", "[]"}) {
    const auto parsed = request_from<JobsFilter>(json::parse(request));
    ASSERT_FALSE(parsed) << request;
    EXPECT_EQ(parsed.error().code, Errc::invalid_argument) << request;
  }
}

TEST(JobsForPeople, SayWhoHasHadNoStart) {
  const json report{{"at", k_example_begin.value + 125},
                    {"jobs", json::array()},
                    {"no_start", {{{"organization", "A"}, {"since", k_example_begin.value}}}}};
  const std::string text = ctl::render_jobs(partial<ledger::JobsReport>(report), {.header = false}).value();
  EXPECT_EQ(text, "Waits:   A has startable jobs and has had no start since 2026-11-18T11:06:40Z (2 min)\n");
  EXPECT_EQ(ctl::render_jobs(partial<ledger::JobsReport>(report), {.parsable = true, .header = false}).value(), "");
  EXPECT_EQ(ctl::render_jobs(partial<ledger::JobsReport>(report), {.format = "job", .header = false}).value(), "");
}

TEST(JobsForPeople, SayThatOthersAreLeftOut) {
  json report{{"at", 0}, {"jobs", json::array()}, {"private", true}};
  EXPECT_EQ(ctl::render_jobs(partial<ledger::JobsReport>(report), {.header = false}).value(),
            "Private: only your own jobs and those of accounts that you coordinate (PrivateData in slurm.conf)\n");
  EXPECT_EQ(ctl::render_jobs(partial<ledger::JobsReport>(report), {.parsable = true, .header = false}).value(), "");
  report["private"] = false;
  EXPECT_EQ(ctl::render_jobs(partial<ledger::JobsReport>(report), {.header = false}).value(), "");
}

TEST_F(JobsReport, OfAViewerHoldsTheViewersJobsAndThoseOfTheirAccounts) {
  const std::vector<std::string> accounts{"a", "b", "it's"};
  for (std::uint32_t i = 0; i < 6; ++i) {
    describe(10 + i, i, accounts[i % 3]);
    std::get<JobDescribed>(events.back()).user_id = 1000 + i / 2;
  }
  const json all = report({.all = true});
  ASSERT_EQ(all["jobs"].size(), 6U);
  events.clear();
  for (const JobsViewer& viewer :
       {JobsViewer{.user_id = 1001}, JobsViewer{.user_id = 7}, JobsViewer{.user_id = 1000, .accounts = {"it's", "b"}},
        JobsViewer{.user_id = 7, .accounts = {"a"}}}) {
    json expected = json::array();
    for (const json& job : all["jobs"]) {
      const bool own = job["user_id"] == viewer.user_id;
      const bool coordinated =
          std::ranges::find(viewer.accounts, job["account"].get<std::string>()) != viewer.accounts.end();
      if (own || coordinated) expected.push_back(job);
    }
    EXPECT_EQ(report({.all = true}, 100, viewer)["jobs"], expected);
  }
}

}  // namespace
}  // namespace shapley::ledger
