// `shapleyctl explain --me`: what Slurm's commands say of the jobs that wait, and the table that a user gets.
#include "ctl/commands/explain_own.hpp"

#include <random>

#include <unistd.h>

#include "ctl/slurm/own_queue.hpp"
#include "explain_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

TEST(OwnQueue, reads_limits_as_slurm_writes_them) {
  EXPECT_EQ(limit_seconds("5:00"), 300);
  EXPECT_EQ(limit_seconds("2-12:30:01"), 2 * 86'400 + 12 * 3600 + 30 * 60 + 1);
  for (const char* none : {"UNLIMITED", "INVALID", "", "x-1:00", "1:-5"}) EXPECT_EQ(limit_seconds(none), std::nullopt);
  EXPECT_EQ(limit_text(2 * 3600), "120:00");
}

TEST(OwnQueue, reads_what_is_idle_by_partition_and_leaves_other_lines_out) {
  const auto run = [](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words.front() == "sinfo") return "main|12/4/0/16\nwide|0/5/1/8\nwide|0/2/6/8\nnonsense\nbad|1/2\n";
    return "9|9|1|main|normal|4|5:00|Priority|7|2001-09-09T02:00:00|acct_A|N/A|(null)|(null)|OK|(null)\n"
           "72|72_[1-3]|2|main,wide|normal|1|UNLIMITED|Resources|9|N/A|acct|with|bars\n";
  };
  const auto idle = idle_cpus(run);
  EXPECT_EQ(fitting_in(idle, "main", {})->cpus, 4);
  for (const char* both : {"main,wide", "wide,main"}) {
    EXPECT_EQ(fitting_in(idle, both, {})->cpus, 7);
    EXPECT_EQ(fitting_in(idle, both, {})->partition, "wide");
    EXPECT_EQ(fitting_in(idle, both, {})->nodes, 2);
    EXPECT_EQ(fitting_in(idle, both, {.cpus_per_task = 4})->cpus, 4);
  }
  EXPECT_EQ(fitting_in(idle, "main,wide", {.least_nodes = 2})->partition, "wide");
  EXPECT_FALSE(fitting_in(idle, "absent", {}));
  const auto records = must(pending_records(run));
  ASSERT_EQ(records.size(), 1U) << "a line with other columns is left out";
  EXPECT_EQ(records[0].time_limit_s, 300);
  EXPECT_EQ(format_instant(*records[0].start), "2001-09-09T02:00:00Z");
  EXPECT_EQ(estimate_in("Job 5 to start at 2001-09-09T01:46:41Z using 4 processors"), Instant{1'000'000'001});
  EXPECT_EQ(estimate_in("allocation failure: Requested node configuration is not available"), std::nullopt);
}

// All ways to choose nodes are tried, and the one with the most whole tasks is the right one.
TEST(OwnQueue, counts_what_fits_on_unequal_nodes_as_choosing_them_one_by_one_does) {
  std::mt19937_64 random(31);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  int none = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<std::int64_t> idle(static_cast<std::size_t>(below(8)));
    for (std::int64_t& cpus : idle) cpus = below(3) == 0 ? 0 : below(20);
    JobWishes wishes{.cpus_per_task = 1 + below(6), .least_nodes = 1 + below(4)};
    if (below(2) == 0) wishes.most_nodes = wishes.least_nodes + below(3);
    std::int64_t most = 0;
    for (std::uint32_t chosen = 0; chosen < (1U << idle.size()); ++chosen) {
      std::int64_t nodes = 0;
      std::int64_t tasks = 0;
      bool has_idle_ones = false;  // nodes without room for a task
      for (std::size_t n = 0; n < idle.size(); ++n) {
        if ((chosen >> n & 1U) == 0) continue;
        ++nodes;
        tasks += idle[n] / wishes.cpus_per_task;
        has_idle_ones = has_idle_ones || idle[n] < wishes.cpus_per_task;
      }
      if (has_idle_ones || nodes < wishes.least_nodes || nodes > wishes.most_nodes.value_or(nodes)) continue;
      most = std::max(most, tasks * wishes.cpus_per_task);
    }
    EXPECT_EQ(fitting_cpus(idle, wishes), most) << i;
    none += most == 0 ? 1 : 0;
  }
  EXPECT_GT(none, 50);
  EXPECT_LT(none, 450);
}

TEST(OwnQueue, reads_what_scontrol_shows_of_the_job_itself) {
  std::string output;
  const auto run = [&](const std::vector<std::string>&) -> Expected<std::string> { return output; };
  output = "JobId=73 ArrayJobId=72 ArrayTaskId=1 TresPerJob=gres:gpu:1\nJobId=72 JobName= MinMemoryCPU=1G\n";
  EXPECT_FALSE(wishes_of(72, run)->asks_for_more);
  EXPECT_EQ(wishes_of(72, run)->memory, "--mem-per-cpu=1G");
  EXPECT_TRUE(wishes_of(73, run)->asks_for_more);
  EXPECT_EQ(wishes_of(73, run)->memory, "");
  EXPECT_FALSE(wishes_of(7, run));
  output =
      "JobId=7 NumNodes=3-4 NumCPUs=8 NumTasks=2 CPUs/Task=4 ReqB:S:C:T=0:0:*:* TRES=cpu=8,node=2,billing=8 "
      "Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=4 MinTmpDiskNode=0 Contiguous=0 "
      "Licenses=(null)\n";
  EXPECT_EQ(wishes_of(7, run)->cpus_per_task, 4);
  EXPECT_EQ(wishes_of(7, run)->least_nodes, 2);
  EXPECT_EQ(wishes_of(7, run)->most_nodes, 4);
  EXPECT_FALSE(wishes_of(7, run)->asks_for_more);
  output = "JobId=7 NumNodes=3 ReqTRES=cpu=8,mem=1G,node=2\n";
  EXPECT_EQ(wishes_of(7, run)->least_nodes, 2);
  EXPECT_EQ(wishes_of(7, run)->most_nodes, std::nullopt);
  for (const char* more : {"Socks/Node=2", "ReqB:S:C:T=0:0:4:*", "ReqB:S:C:T=0:0:*:1", "NtasksPerN:B:S:C=4:0:*:*",
                           "CoreSpec=1", "MinTmpDiskNode=1G", "Contiguous=1", "Licenses=a:1", "MinCPUsNode=2"}) {
    output = std::string("JobId=7 ") + more + '\n';
    EXPECT_TRUE(wishes_of(7, run)->asks_for_more) << more;
  }
}

PendingRecord record_of(const std::string& qos_and_account, const std::string& more) {
  const auto records = must(pending_records([&](const std::vector<std::string>&) -> Expected<std::string> {
    return "9|9|1|main|" + qos_and_account + "|4|5:00|Priority|7|N/A|" + qos_and_account + '|' + more + '\n';
  }));
  return records.empty() ? PendingRecord{} : records.front();
}

TEST(OwnQueue, takes_squeues_words_for_none_as_none) {
  for (const char* none : {"(null)", "N/A", ""}) {
    EXPECT_EQ(record_of(none, "N/A|||OK|").qos, "") << none;
    EXPECT_EQ(record_of(none, "N/A|||OK|").account, "") << none;
  }
  EXPECT_EQ(record_of("high", "N/A|||OK|").qos, "high");
}

TEST(OwnQueue, knows_which_jobs_ask_for_more_than_processors_and_time) {
  for (const char* plain : {"N/A|(null)|(null)|OK|(null)", "N/A||(null)|YES|"})
    EXPECT_FALSE(record_of("a", plain).asks_for_more) << plain;
  for (const char* more :
       {"gres:gpu:1|||OK|", "N/A|n[1-2]||OK|", "N/A||maint|OK|", "N/A|||NO|", "N/A|||USER|", "N/A|||OK|rack1|rack2"}) {
    EXPECT_EQ(record_of("a", more).job, 9U) << more;
    EXPECT_TRUE(record_of("a", more).asks_for_more) << more;
  }
}

// Of the books of explain_fixture.hpp: job 3 of A waits for two processors, and B has the better rank.
class OwnJobsTable : public RankedBooks {
 protected:
  void SetUp() override {
    RankedBooks::SetUp();
    told = explained("3");
    told["priorities"] = strict_priorities();
    jobs = json_of(ledger::JobsReport{.at = second(40)});
    json row = json_of(ledger::JobRow{.is = {.job = 3, .organization = "A"}, .state = "pending"});
    jobs["jobs"].push_back(row);
    ledger::QueueReport waiting{.at = second(40)};
    waiting.jobs = {{.job = 3, .organization = "A", .processors = 2}, {.job = 4, .organization = "B", .processors = 2}};
    queue = json_of(waiting);
    environment.run_program = [this](const std::vector<std::string>& words) -> Expected<std::string> {
      if (words[0] == "sinfo") return idle;
      if (words[0] == "sh") {
        // slurmctld puts every estimate off by what waits.
        constexpr std::int64_t k_delay_s = 300;
        const bool is_least = std::ranges::find(words, "--time=1:00") != words.end();
        tested.push_back(words);
        return "sbatch: Job 9 to start at " + utc(k_delay_s + (is_least ? 40 : tested_start)) + " using 1 processors";
      }
      if (words[0] == "scontrol") return "JobId=" + words.back() + " JobName=a b " + scontrol_says + '\n';
      if (words.back() == "--format=%A|%Q") return "3|10000\n4|40003\n";
      const std::string me = std::to_string(::geteuid());
      const std::string no_more = "|N/A|(null)|(null)|OK|(null)\n";
      return "3|" + shown_as + '|' + me + '|' + partitions + "|normal|" + cpus + "|1:00:00|Priority|10000|N/A|acct_A|" +
             asks_for + '\n' + other("4", "Resources|40003|" + utc(640)) + others + "8|8|" + me +
             "|main|normal|2|1:00:00|Dependency|1|N/A|acct_A" + no_more;
    };
  }

  static std::string utc(std::int64_t at) { return format_instant(second(at)).substr(0, 19); }
  // Another user's job: its number, and its reason, priority and start.
  static std::string other(const std::string& job, const std::string& words) {
    return job + '|' + job + '|' + std::to_string(::geteuid() + 1) + "|main|normal|2|1:00:00|" + words +
           "|acct_B|N/A|(null)|(null)|OK|(null)\n";
  }

  json shown() {
    std::filesystem::remove(directory / "s");
    const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([this](const json& asked_for) {
                              if (asked_for["request"] == "jobs") return jobs;
                              return asked_for["request"] == "queue" ? queue : told;
                            }));
    out.str("");
    printed_by({.me = true, .json = true}, {.socket = directory / "s", .timeout = std::chrono::minutes(4)});
    return json::parse(out.str());
  }

  json told, jobs, queue;
  std::vector<std::vector<std::string>> tested;
  std::int64_t tested_start = 40;
  std::string partitions = "main";
  std::string asks_for = "N/A|(null)|(null)|OK|(null)";
  std::string others;  // lines of squeue
  std::string idle = "main|1/1/0/2\n";
  std::string cpus = "2", shown_as = "3";  // of job 3
  std::string scontrol_says = "NumNodes=1 MinMemoryNode=0";
};

TEST_F(OwnJobsTable, has_ones_own_jobs_with_places_and_what_would_start_now) {
  const json report = shown();
  ASSERT_EQ(report["jobs"].size(), 2U) << "the job of another user is not among them";
  const json& job = report["jobs"][0];
  EXPECT_EQ(job["job_id"], "3");
  EXPECT_EQ(job["place"]["position"], 2);
  EXPECT_EQ(job["before"][0]["organization"], "B");
  EXPECT_EQ(job["goes_first"], false);
  EXPECT_EQ(job["by_slurm"], nullptr);
  // One CPU is idle, and job 4 is to start in ten minutes.
  EXPECT_EQ(job["fits_now"], (json{{"cpus", 1}, {"time_limit_s", 600}}));
  ASSERT_EQ(tested.size(), 2U) << "the least job, and the one of the advice";
  for (const auto& words : tested) EXPECT_NE(std::ranges::find(words, "--ntasks=1"), words.end());
  EXPECT_NE(std::ranges::find(tested[0], "--time=1:00"), tested[0].end());
  EXPECT_NE(std::ranges::find(tested[1], "--time=10:00"), tested[1].end());
  EXPECT_EQ(report["jobs"][1]["organization"], "");
  EXPECT_EQ(report["jobs"][1]["fits_now"], nullptr) << "it could not start whatever is idle";
  const std::string text = render_own_jobs(must(from_json<OwnJobs>(report)));
  EXPECT_PRED2(contains, text, "2026-11-18T11:07:20Z; all times are UTC.");
  // Nothing starts or ends: A passes B at 50.
  EXPECT_EQ(job["by_rule"], second(50).value);
  EXPECT_PRED2(contains, text, " 1 job: B 1 2026-11-18T11:07:30Z -       Priority   1 CPU, limit of 10 min\n");
  EXPECT_PRED2(contains, parsable_own_jobs(must(from_json<OwnJobs>(report))),
               "3|A|main|2|3600|Priority|2|2|1|B:1|no|2026-11-18T11:07:30Z||1|600\n");
}

TEST_F(OwnJobsTable, advises_nothing_that_sbatch_would_not_start_now) {
  tested_start = 640;
  EXPECT_EQ(shown()["jobs"][0]["fits_now"], nullptr);
  EXPECT_EQ(tested.size(), 2U);
}

TEST_F(OwnJobsTable, advises_nothing_to_a_job_that_asks_for_more_than_processors_and_time) {
  asks_for = "gres:gpu:1|(null)|(null)|OK|(null)";
  EXPECT_EQ(shown()["jobs"][0]["fits_now"], nullptr);
  EXPECT_TRUE(tested.empty());
}

TEST_F(OwnJobsTable, advises_nothing_to_a_job_with_resources_that_squeue_does_not_show) {
  for (const char* says : {"MinMemoryNode=0 TresPerJob=gres:gpu:2", "TresPerTask=gres:gpu:1", "TresPerSocket=gres:x"}) {
    scontrol_says = says;
    EXPECT_EQ(shown()["jobs"][0]["fits_now"], nullptr) << says;
  }
  EXPECT_TRUE(tested.empty());
}

TEST_F(OwnJobsTable, tests_with_the_memory_that_the_job_asks_for) {
  for (const auto& [says, option] :
       {std::pair("MinMemoryNode=4000M", "--mem=4000M"), std::pair("MinMemoryCPU=500M", "--mem-per-cpu=500M")}) {
    scontrol_says = says;
    tested.clear();
    EXPECT_EQ(shown()["jobs"][0]["fits_now"]["cpus"], 1);
    ASSERT_EQ(tested.size(), 2U);
    EXPECT_EQ(std::ranges::find(tested[0], option), tested[0].end()) << "the least job";
    EXPECT_NE(std::ranges::find(tested[1], option), tested[1].end()) << says;
  }
}

TEST_F(OwnJobsTable, tests_with_the_nodes_and_tasks_that_the_job_asks_for) {
  idle = "main|12/4/0/16\nmain|11/5/0/16\nmain|10/6/0/16\nmain|8/8/0/16\n";
  cpus = "32";
  const auto tested_with = [this](const std::string& says) {
    scontrol_says = says;
    tested.clear();
    const json fits = shown()["jobs"][0]["fits_now"];
    EXPECT_EQ(tested.size(), fits.is_null() ? 0U : 2U) << says;
    return fits;
  };
  const auto has = [this](const char* option) {
    return std::ranges::find(tested.back(), option) != tested.back().end();
  };
  EXPECT_EQ(tested_with("NumNodes=1 TRES=cpu=32,node=1")["cpus"], 23);
  EXPECT_EQ(tested_with("NumNodes=2-2 TRES=cpu=32,node=2")["cpus"], 14);
  EXPECT_TRUE(has("--nodes=2-2"));
  EXPECT_TRUE(has("--ntasks=14"));
  EXPECT_EQ(tested_with("NumNodes=3-3 CPUs/Task=4 TRES=cpu=32,node=2")["cpus"], 16);
  EXPECT_TRUE(has("--nodes=2-3"));
  EXPECT_TRUE(has("--ntasks=4"));
  EXPECT_TRUE(has("--cpus-per-task=4"));
  EXPECT_EQ(tested_with("NumNodes=4 TRES=cpu=32,node=3")["cpus"], 23);
  EXPECT_TRUE(has("--nodes=3-4"));
  EXPECT_EQ(tested_with("NumNodes=5-5 TRES=cpu=32,node=5"), nullptr) << "four nodes have idle ones";
  EXPECT_EQ(tested_with("NumNodes=2-2 TRES=cpu=32,node=2 Socks/Node=2"), nullptr);
}

TEST_F(OwnJobsTable, advises_nothing_to_a_part_of_a_heterogeneous_job) {
  asks_for = "N/A|(null)|(null)|OK|(null)";
  shown_as = "3+0";
  EXPECT_EQ(shown()["jobs"][0]["fits_now"], nullptr);
  EXPECT_TRUE(tested.empty());
}

TEST_F(OwnJobsTable, tests_the_partition_whose_idle_processors_it_advises) {
  partitions = "absent,main";
  EXPECT_EQ(shown()["jobs"][0]["fits_now"]["cpus"], 1);
  ASSERT_EQ(tested.size(), 2U);
  for (const auto& words : tested) EXPECT_NE(std::ranges::find(words, "--partition=main"), words.end());
}

TEST_F(OwnJobsTable, takes_no_job_that_cannot_start_for_one_before) {
  others = other("5", "BeginTime|50000|" + utc(160)) + other("6", "JobHeldUser|0|" + utc(160));
  EXPECT_EQ(shown()["jobs"][0]["fits_now"]["time_limit_s"], 600);
  others = other("5", "Resources|50000|" + utc(160));
  EXPECT_EQ(shown()["jobs"][0]["fits_now"]["time_limit_s"], 120);
}

TEST_F(OwnJobsTable, says_that_the_daemon_lists_the_newest_jobs_only) {
  EXPECT_FALSE(shown().contains("truncated"));
  jobs["truncated"] = true;
  const json report = shown();
  EXPECT_EQ(report["truncated"], true);
  EXPECT_PRED2(contains, render_own_jobs(must(from_json<OwnJobs>(report))),
               "The daemon lists the newest 10000 jobs only: of older ones no place is shown.\n");
}

TEST_F(OwnJobsTable, says_why_places_and_slurms_words_are_missing) {
  environment.run_program = nullptr;
  const json report = shown();
  ASSERT_EQ(report["jobs"].size(), 1U);
  EXPECT_EQ(report["no_slurm"], "this program runs no others here");
  jobs["jobs"] = json::array();
  EXPECT_PRED2(contains, render_own_jobs(must(from_json<OwnJobs>(shown()))),
               "waits at 2026-11-18T11:07:20Z.\nSlurm:    not asked: this program runs no others here.\n");
}

// It may have a limit, and jobs before it, that are not known.
TEST_F(OwnJobsTable, of_a_slurm_that_does_not_answer_is_what_the_daemon_knows) {
  environment.run_program = [](const std::vector<std::string>& words) -> Expected<std::string> {
    return fail(Errc::unavailable, words.front() + ": no end within 5 s");
  };
  const json report = shown();
  ASSERT_EQ(report["jobs"].size(), 1U);
  EXPECT_EQ(report["no_slurm"], "squeue: no end within 5 s");
  EXPECT_EQ(report["no_places"], "squeue: no end within 5 s");
  OwnJobs own = must(from_json<OwnJobs>(report));
  EXPECT_PRED2(contains, render_own_jobs(own), " ?     ? B ");
  EXPECT_PRED2(contains, render_own_jobs(own),
               "Places are not known: squeue: no end within 5 s. So Before is of organizations with better ranks.\n");
  own.jobs[0].before.clear();
  EXPECT_PRED2(contains, render_own_jobs(own), " ?     ? none by rank ");
}

}  // namespace
}  // namespace shapley::ctl
