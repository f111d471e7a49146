// What explain makes of Slurm's own commands: their output, the site factor that a rank asks for (against the plugin's
// own code), and programs that do not answer.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "ctl/commands/explain.hpp"
#include "ctl/report/live_page.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "ctl/slurm/place.hpp"
#include "ctl/slurm/run_program.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

extern "C" {
#include "plugin/priority/site_factor.h"
}

namespace shapley::ctl {
namespace {

using nlohmann::json;

json slurm_facts(const std::string& job, const ProgramRunner& run) {
  return json_of(ctl::slurm_facts(job, run));
}

json slurm_not_asked(const std::string& why) {
  return json_of(ctl::slurm_not_asked(why));
}

json place_not_known(const std::string& why) {
  return json_of(ctl::place_not_known(why));
}

json compare_priority(const json& priorities, const json& slurm, const std::string& organization) {
  const auto of_daemon = priorities.is_null() ? std::nullopt : std::optional(partial<ledger::Priorities>(priorities));
  return json_of(ctl::compare_priority(of_daemon, partial<SlurmFacts>(slurm), organization));
}

json place_of(std::uint32_t job, const std::string& organization, const json& queue,
              const PendingPriorities& priorities, const json& rows) {
  std::vector<ledger::RankedRow> ranked;
  for (const json& row : rows) ranked.push_back(partial<ledger::RankedRow>(row));
  return json_of(ctl::place_of(job, organization, partial<ledger::QueueReport>(queue), priorities, ranked));
}

std::string explanation_of(const json& report) {
  return ctl::render_explanation(partial<Explanation>(report));
}

RC_GTEST_PROP(WishedSite, IsWhatThePluginComputes, ()) {
  const bool levels = *rc::gen::arbitrary<bool>();
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 60);
  const auto position = *rc::gen::inRange<std::uint32_t>(0, ranks);
  const auto level = levels ? *rc::gen::inRange<std::uint32_t>(0, k_shapley_max_level + 1) : 0;
  const auto others = *rc::gen::element<std::uint64_t>(0, 1, 3'500, 1'000'000, 80'000'000, 500'000'000, 4'000'000'000);
  const auto weight = *rc::gen::element<std::uint32_t>(0, 1, 10, 1'000, 100'000, 2'147'483'647, 4'000'000'000);
  const RankRule rule{
      .weight = weight, .others_max = static_cast<std::int64_t>(others), .ranks = ranks, .levels = levels};

  const shapley_steps_t weighted = shapley_steps_weighted(weight, ranks, levels);
  RC_ASSERT(weighted_site(rule, position, level) ==
            std::int64_t{shapley_site_weighted(weight, ranks, position)} + std::int64_t{weighted.level} * level);

  const shapley_steps_t strict = shapley_steps_strict(others, ranks, levels);
  const StrictSteps steps = strict_steps(rule);
  RC_ASSERT(steps.step == strict.rank);
  RC_ASSERT(steps.level_step == strict.level);
  RC_ASSERT(steps.labels == strict.labels);
  const auto label = *rc::gen::inRange<std::uint32_t>(0, strict.labels);
  RC_ASSERT(label_in(shapley_site_of_label(&strict, label, level), steps, level) == std::int64_t{label});
  const std::int64_t beyond = shapley_site_of_label(&strict, strict.labels - 1, level) + steps.step;
  RC_ASSERT(!label_in(beyond, steps, level));
  if (steps.step > 1) RC_ASSERT(!label_in(shapley_site_of_label(&strict, label, level) + 1, steps, level));
  // Jobs that are not in line have the least labels.
  if (strict.labels >= ranks)
    RC_ASSERT(label_in(shapley_site_strict(strict.rank, ranks, position), steps, 0) ==
              std::int64_t{ranks} - 1 - position);
}

// A cluster of two partitions, of which `urgent` has the higher tier and is hidden.
Expected<std::string> cluster(const std::vector<std::string>& words) {
  if (words[0] == "squeue") return "4711|PENDING|20102|Priority|(null)|main|normal|0|(null)|2026-11-23T21:00:00\n";
  if (words[0] == "sprio") return "4711|main|20102|20002|100|0|0|0|0|0|0|\n";
  if (words[2] == "config")
    return "Configuration data as of 2026-11-23\n"
           "PriorityParameters      = socket=/run/x\n"
           "PriorityType            = priority/shapley\n"
           "PriorityWeightAge       = 0\n"
           "PriorityWeightTRES      = (null)\n"
           "PriorityFlags           = \n";
  const bool shows_hidden = std::ranges::find(words, "-a") != words.end();
  return std::string("PartitionName=main AllowGroups=ALL PriorityJobFactor=1 PriorityTier=1 State=UP\n") +
         (shows_hidden ? "PartitionName=urgent AllowGroups=ALL PriorityJobFactor=1 PriorityTier=9 State=UP\n" : "");
}

json daemon_says(const std::string& mode = "priorities") {
  return {{"mode", mode},    {"order", "strict"}, {"rank_weight", 1000},      {"ranks", {"B", "A", "guests"}},
          {"levels", false}, {"level", 0},        {"plugin_connected", true}, {"plugin_age_s", 1}};
}

TEST(SlurmFacts, AreReadFromFixedColumns) {
  const json facts = slurm_facts("4711", cluster);
  EXPECT_EQ(facts["asked"], true);
  EXPECT_EQ(facts["job"]["reason"], "Priority");
  EXPECT_TRUE(facts["job"]["dependency"].is_null());
  EXPECT_EQ(facts["job"]["priority"], 20102);
  EXPECT_EQ(facts["parts"][0]["site"], 20002);
  EXPECT_EQ(facts["parts"][0]["age"], 100);
  EXPECT_EQ(facts["weights"], (json{{"type", "priority/shapley"}, {"bounded", true}, {"others_max", 0}}));
  EXPECT_EQ(facts["tiers"], (json{{"main", 1}, {"urgent", 9}}));
}

TEST(SlurmFacts, SumTheWeightsAsThePluginDoes) {
  const auto run = [](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words[0] == "scontrol" && words[2] == "config")
      return "PriorityType = priority/shapley\nPriorityWeightAge = 1000\nPriorityWeightQOS = 2500\n"
             "PriorityWeightTRES = cpu=10.5,gres/gpu=200\nPriorityFlags = NO_NORMAL_PART\n";
    return cluster(words);
  };
  const json weights = slurm_facts("4711", run)["weights"];
  EXPECT_EQ(weights["others_max"], 3711);
  EXPECT_EQ(weights["bounded"], false);
}

TEST(SlurmFacts, OfAnArrayArePendingOnes) {
  const char* start = "N/A";
  const auto run = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words[0] == "squeue")
      return "72_1|RUNNING|7|None|(null)|main|normal|0|(null)|x\n72_[2-9]|PENDING|9|Resources|afterok:5|main|normal|0|"
             "|" +
             std::string(start) + "\n";
    return fail(Errc::unavailable, "away");
  };
  const json facts = slurm_facts("72", run);
  EXPECT_EQ(facts["job"]["state"], "PENDING");
  EXPECT_EQ(facts["job"]["dependency"], "afterok:5");
  EXPECT_TRUE(facts["job"]["start"].is_null());
  EXPECT_TRUE(facts["parts"].is_null());
  EXPECT_TRUE(facts["tiers"].is_null());
  start = "2026-11-24T02:36:45";
  EXPECT_EQ(json(slurm_facts("72", run))["job"]["start"], "2026-11-24T02:36:45Z");
}

TEST(SlurmFacts, SayWhenSlurmIsNotThere) {
  EXPECT_EQ(slurm_facts("1", {})["asked"], false);
  const json away =
      slurm_facts("1", [](const auto&) { return fail(Errc::not_found, "squeue is not on this machine"); });
  EXPECT_EQ(away, (json{{"asked", false}, {"why", "squeue is not on this machine"}}));
}

TEST(SlurmFacts, OfAJobThatSlurmHasPurgedAreThatItDoesNotKnowIt) {
  const auto run = [](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words[0] == "squeue")
      return fail(Errc::unavailable, "squeue failed: slurm_load_jobs error: Invalid job id specified");
    return cluster(words);
  };
  const json facts = slurm_facts("4711", run);
  EXPECT_EQ(facts["asked"], true);
  EXPECT_TRUE(facts["job"].is_null());
  EXPECT_EQ(compare_priority(daemon_says(), facts, "A")["why"], "Slurm does not know the job any more");
}

// Slurm leaves in the record of a job that is over why it had waited.
TEST(SlurmFacts, OfAJobThatIsOverAreNotWhyItHadWaited) {
  const auto told = [](const std::string& state, const std::string& reason) {
    return SlurmJob{.state = state, .reason = reason}.reported_reason().value_or("");
  };
  EXPECT_EQ(told("PENDING", "JobHeldUser"), "JobHeldUser");
  EXPECT_EQ(told("PENDING", "None"), "");
  EXPECT_EQ(told("REQUEUE_HOLD", "JobHeldUser"), "JobHeldUser");
  for (const char* reason :
       {"JobHeldUser", "Priority", "Dependency", "AssocGrpCpuLimit", "Reservation night was deleted"})
    EXPECT_EQ(told("CANCELLED", reason), "") << reason;
  EXPECT_EQ(told("FAILED", "RaisedSignal:9(Killed)"), "RaisedSignal:9(Killed)");
  EXPECT_EQ(told("DEADLINE", "DeadLine"), "DeadLine");
}

TEST(SlurmFacts, OfAFederatedJobAreWhereItRan) {
  std::vector<std::vector<std::string>> asked;
  std::string rows;
  const auto run = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    asked.push_back(words);
    return rows;
  };
  constexpr std::uint32_t k_federated = 67'108'869;
  rows = "north|REVOKED|2026-11-23T10:00:05\nsouth|CANCELLED by 0|2026-11-23T10:00:05\nnorth|PENDING|Unknown\n";
  const auto ran = ran_elsewhere(k_federated, run);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->cluster, "south");
  EXPECT_EQ(ran->state, "CANCELLED");
  EXPECT_EQ(std::ranges::count(asked.at(0), "--jobs=67108869"), 1);
  rows = "north|REVOKED|2026-11-23T10:00:05\nsouth|PENDING|Unknown\n";
  EXPECT_FALSE(ran_elsewhere(k_federated, run));
  // It ran on this cluster, and is only pending on the others.
  const auto here = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words.front() == "scontrol") return "ClusterName             = north\n";
    return "north|COMPLETED|2026-11-23T10:00:05\nsouth|PENDING|Unknown\n";
  };
  EXPECT_FALSE(ran_elsewhere(k_federated, here));
  asked.clear();
  EXPECT_FALSE(ran_elsewhere(4711, run)) << "no job of a federation";
  EXPECT_TRUE(asked.empty());
}

// sprio has no line of such a job.
TEST(Priority, OfAJobWhoseTimeHasNotComeIsNotCompared) {
  for (const char* reason : {"BeginTime", "Dependency", "JobArrayTaskLimit"}) {
    json facts = slurm_facts("4711", cluster);
    facts["parts"] = json::array();
    facts["job"]["reason"] = reason;
    const json verdict = compare_priority(daemon_says(), facts, "A");
    EXPECT_TRUE(verdict["agrees"].is_null());
    EXPECT_EQ(verdict["why"], "sprio does not list it, because it is not its time yet (" + std::string(reason) +
                                  "); Slurm gives it its place in the order when it could start");
  }
  json basic = slurm_facts("4711", cluster);
  basic["parts"] = nullptr;
  basic["weights"]["type"] = "priority/basic";
  EXPECT_EQ(compare_priority(daemon_says(), basic, "A")["why"],
            "PriorityType is priority/basic: ranks do not order jobs");
}

// Three ranks and no weights: a step of 10001, 10000 for the least label.
TEST(Priority, AgreesWithTheBooksOrSaysWhy) {
  json facts = slurm_facts("4711", cluster);
  facts["parts"][0]["site"] = 20001;
  facts["parts"][0]["age"] = 101;
  const json rest = compare_priority(daemon_says(), facts, "A");
  EXPECT_EQ(rest["agrees"], true);
  EXPECT_TRUE(rest["wished_site"].is_null());
  EXPECT_EQ(
      rest["place"],
      (json{{"label", 1}, {"labels", 214'726}, {"step", 10'001}, {"level_step", 0}, {"level", 0}, {"in_line", false}}));
  json in_line = facts;
  in_line["parts"][0]["site"] = 10'000 + 10'001 * 812;
  in_line["parts"][0]["priority"] = in_line["job"]["priority"] = 10'101 + 10'001 * 812;
  EXPECT_EQ(compare_priority(daemon_says(), in_line, "A")["place"]["label"], 812);
  EXPECT_EQ(compare_priority(daemon_says(), in_line, "A")["place"]["in_line"], true);
  json weighted = daemon_says();
  weighted["order"] = "weighted";
  EXPECT_EQ(compare_priority(weighted, facts, "A")["agrees"], false);
  EXPECT_EQ(compare_priority(weighted, facts, "A")["wished_site"], 500);
  // With levels a step is wider by fifteen of them, 2 each; and nothing was widened before the first level.
  json levels = daemon_says();
  levels["levels"] = true;
  EXPECT_EQ(compare_priority(levels, facts, "A")["place"]["step"], 10'001);
  levels["level"] = 3;
  EXPECT_EQ(compare_priority(levels, facts, "A")["agrees"], false);
  facts["parts"][0]["site"] = 10'000 + 10'031 + 3 * 2;
  facts["parts"][0]["age"] = 65;
  EXPECT_EQ(
      compare_priority(levels, facts, "A")["place"],
      (json{{"label", 1}, {"labels", 214'084}, {"step", 10'031}, {"level_step", 2}, {"level", 3}, {"in_line", false}}));
  facts["parts"][0]["site"] = 20001;
  facts["parts"][0]["age"] = 101;
  const auto why = [&](const json& priorities, const json& slurm, const char* organization = "A") {
    const json verdict = compare_priority(priorities, slurm, organization);
    EXPECT_NE(verdict["agrees"], true);
    return verdict["why"].is_null() ? std::string() : verdict["why"].get<std::string>();
  };
  EXPECT_PRED2(contains, why(daemon_says("observe"), facts), "mode observe");
  EXPECT_PRED2(contains, why(nullptr, facts), "daemon");
  EXPECT_PRED2(contains, why(daemon_says(), slurm_not_asked("x")), "Slurm was not asked");
  EXPECT_PRED2(contains, why(daemon_says(), facts, "Z"), "has no rank in force");
  json other = facts;
  other["job"]["priority"] = 0;
  EXPECT_PRED2(contains, why(daemon_says(), other), "held");
  other = facts;
  other["job"]["state"] = "RUNNING";
  EXPECT_PRED2(contains, why(daemon_says(), other), "does not wait");
  other = facts;
  other["job"]["priority"] = 999;
  EXPECT_PRED2(contains, why(daemon_says(), other), "set directly");
  other = facts;
  other["parts"][0]["site"] = -2147483648;
  EXPECT_PRED2(contains, why(daemon_says(), other), "set directly");
  EXPECT_EQ(compare_priority(daemon_says(), other, "A")["set_directly"], true);
  other = facts;
  other["parts"] = json::array();
  EXPECT_PRED2(contains, why(daemon_says(), other), "sprio does not list it");
  other = facts;
  other["parts"][0]["site"] = 7;
  other["parts"][0]["qos"] = 19994;
  json away = daemon_says();
  away["plugin_connected"] = false;
  EXPECT_PRED2(contains, why(away, other), "not connected");
  other["weights"]["bounded"] = false;
  EXPECT_PRED2(contains, why(daemon_says(), other), "NO_NORMAL");
}

TEST(Priority, IsPrintedAsASum) {
  json facts = slurm_facts("4711", cluster);
  facts["parts"][0]["site"] = 20001;
  facts["parts"][0]["nice"] = -1;
  const json row{{"name", "A"},
                 {"rank", 2},
                 {"sentence", "is even with the others"},
                 {"key_core_hours", 0.0},
                 {"below_guarantee", false},
                 {"owned", 1},
                 {"used", 0}};
  json report{{"job",
               {{"job_id", "4711"},
                {"user_id", 4'000'000'000U},
                {"account", "a"},
                {"partition", "main"},
                {"qos", "normal"},
                {"submit_utc", "2026-11-23T18:00:00Z"},
                {"organization", "A"},
                {"state", "waiting"},
                {"since", 100},
                {"processors", 1}}},
              {"rule", {{"kind", "account"}, {"name", "a"}, {"organization", "A"}, {"through", "itself"}}},
              {"organization", row},
              {"ranked", 3},
              {"ranking", {{"horizon_s", 604800}}},
              {"ahead", {{"jobs", 0}, {"processors", 0}, {"organizations", json::array()}}},
              {"own", {{"jobs", 1}, {"processors", 4}, {"longer", 1}}},
              {"turns", {{"next", json::array()}, {"by_date", true}, {"until_utc", "2026-12-01T00:00:00Z"}}},
              {"past", false},
              {"at", 160},
              {"waits_for", nullptr},
              {"priorities", daemon_says()},
              {"slurm", facts}};
  report["priority"] = compare_priority(report["priorities"], facts, "A");
  const std::string text = explanation_of(report);
  EXPECT_PRED2(contains, text,
               "Slurm:    state PENDING, reason Priority: jobs of a higher priority are before it. "
               "Slurm expects it to start at 2026-11-23T21:00:00Z.\n");
  EXPECT_PRED2(contains, text, "Slurm:    jobs of urgent go first whatever their rank: a higher PriorityTier.\n");
  EXPECT_PRED2(contains, text,
               "Priority: 20102 = SITE 20001 (place and level) + age 100 - nice -1.\n"
               "          SITE 20001 = 10000 + 10001 x 1 (place) + 0 (level), as the books ask for. It has no "
               "place in line: ");
  EXPECT_PRED2(contains, text,
               "keeps its rank up to 2026-12-01T00:00:00Z, when a period ends or a node changes hands.");
  EXPECT_PRED2(contains, text, "Within A: 1 other job waits for 4 processors, and for longer than this one;");
  EXPECT_PRED2(lacks, text, "mode observe");
  report["priorities"]["mode"] = "observe";
  EXPECT_PRED2(contains, explanation_of(report), "Ranks are not in force (mode observe): ") << text;
  EXPECT_PRED2(contains, text, "key 0.0 (ranks look 7 days ahead)");
}

// Of the books: A may start 5 processors more than B, C 2 fewer and lacks 3 to its guarantee.
json rows_of_three() {
  const auto row = [](const char* name, std::int64_t lead, std::int64_t lacking) {
    return json{{"name", name}, {"lead", lead}, {"lacking", lacking}, {"owned", 20}, {"waiting_jobs", 1}};
  };
  json commons = row("commons", 0, 0);
  commons["lead"] = commons["lacking"] = nullptr;
  return {row("A", 12, -4), row("B", 7, -1), row("C", 5, 3), commons};
}

json queue_of_three() {
  const auto job = [](std::uint32_t number, const char* organization, std::int64_t processors, std::int64_t tasks) {
    return json{{"job", number}, {"organization", organization}, {"processors", processors}, {"tasks", tasks}};
  };
  json task = job(12, "A", 2, 1);
  task.update({{"array_job", 10}, {"array_task", 3}});
  return {{"truncated", false},
          {"jobs",
           {job(1, "B", 4, 1), job(2, "A", 1, 1), job(3, "B", 2, 1), job(10, "A", 2, 3), task, job(20, "C", 8, 1)}}};
}

// squeue in no order. Job 30 is not in the queue: it could not start. 12 is a task of array 10 and goes before its
// rest.
Expected<std::string> squeue_lists(const std::vector<std::string>& words) {
  EXPECT_EQ(words[0], "squeue");
  EXPECT_EQ(std::ranges::count(words, "--array-unique"), 1) << "else it shows all of an array as one";
  return "20|400\n3|500\n1|700\n2|700\n10|600\n12|600\n30|900\nnoise\n";
}

TEST(Place, CountsWhatGoesBeforeByOrganization) {
  const auto priorities = pending_priorities(squeue_lists);
  ASSERT_TRUE(priorities);
  ASSERT_EQ(priorities->size(), 7U);
  const auto of = [&](std::uint32_t job, const char* organization) {
    return place_of(job, organization, queue_of_three(), *priorities, rows_of_three());
  };
  const json place = of(3, "B");
  EXPECT_EQ(place["known"], true);
  EXPECT_EQ(place["position"], 7);
  EXPECT_EQ(place["of"], 8);
  EXPECT_EQ(place["before"], (json{{{"organization", "A"}, {"jobs", 5}, {"processors", 9}},
                                   {{"organization", "B"}, {"jobs", 1}, {"processors", 4}}}));
  // 4 processors of B go before it: A is 12 - (7 - 4) ahead of that, C 5 - (7 - 4), but 3 for its guarantee.
  EXPECT_EQ(place["leads"],
            (json{{{"organization", "A"}, {"processors", 9}}, {{"organization", "C"}, {"processors", 3}}}));
  EXPECT_EQ(of(1, "B")["position"], 1);
  EXPECT_EQ(of(2, "A")["position"], 2) << "equal priorities: by number";
  EXPECT_EQ(of(12, "A")["position"], 3);
  EXPECT_EQ(of(10, "A")["position"], 4) << "an array's rest after its tasks";
  EXPECT_EQ(of(20, "C")["leads"], json::array()) << "below its guarantee, which the others are not";
  EXPECT_EQ(of(30, "A")["known"], false);
  EXPECT_EQ(of(99, "A")["known"], false);
}

// The page of all jobs gives each the place that explain gives it.
TEST(Place, OfEachJobOnThePageIsItsOwn) {
  const auto priorities = *pending_priorities(squeue_lists);
  const std::vector<PlacedJob> jobs = in_turn(partial<ledger::QueueReport>(queue_of_three()), priorities);
  ASSERT_EQ(jobs.size(), 6U);
  std::int64_t last = 0;
  for (const PlacedJob& job : jobs) {
    EXPECT_EQ(job.place, json(place_of(job.is.job, job.is.organization, queue_of_three(), priorities,
                                       rows_of_three()))["position"]);
    EXPECT_GT(job.place, std::exchange(last, job.place));
  }
  EXPECT_EQ(jobs[2].is.job_id(), "10_3");
  EXPECT_EQ(jobs[3].is.job_id(), "10");
}

// The daemon's queue and squeue are of two instants: an array that was split in between, and a job that has started.
TEST(Place, IsCountedInTheDaemonsQueueWhateverSqueueShows) {
  const PendingPriorities before_the_split{{1, 700}, {2, 700}, {3, 500}, {10, 600}};
  const auto of = [&](std::uint32_t job, const char* organization) {
    return place_of(job, organization, queue_of_three(), before_the_split, rows_of_three());
  };
  EXPECT_EQ(of(12, "A")["position"], 3) << "by the priority of its array";
  EXPECT_EQ(of(3, "B")["position"], 7);
  EXPECT_EQ(of(3, "B")["of"], 8) << "all of the queue";
  EXPECT_EQ(of(20, "C")["why"], "squeue does not list it among those that wait");
  const auto jobs = in_turn(partial<ledger::QueueReport>(queue_of_three()), before_the_split);
  ASSERT_EQ(jobs.size(), 6U) << "the page leaves none out";
  EXPECT_EQ(jobs.back().is.job, 20U);
}

TEST(Place, IsASentence) {
  json report{{"job",
               {{"job_id", "3"},
                {"user_id", 4'000'000'000U},
                {"account", "b"},
                {"partition", "main"},
                {"qos", ""},
                {"submit_utc", "x"},
                {"organization", "B"},
                {"state", "waiting"},
                {"since", 100},
                {"processors", 2}}},
              {"rule", {{"kind", "account"}, {"name", "b"}, {"organization", "B"}, {"through", "itself"}}},
              {"organization", {{"name", "B"}, {"rank", nullptr}}},
              {"ahead", {{"jobs", 0}, {"processors", 0}, {"organizations", json::array()}}},
              {"own", {{"jobs", 0}, {"processors", 0}, {"longer", 0}}},
              {"turns", {{"next", json::array()}, {"by_date", false}, {"until_utc", nullptr}, {"until", 200}}},
              {"past", false},
              {"at", 160},
              {"waits_for", "startable"},
              {"priorities", daemon_says()},
              {"slurm", slurm_not_asked("x")},
              {"priority", compare_priority(daemon_says(), slurm_not_asked("x"), "B")}};
  report["place"] = place_of(3, "B", queue_of_three(), *pending_priorities(squeue_lists), rows_of_three());
  EXPECT_PRED2(contains, explanation_of(report),
               "Place: 7th of 8 that wait, 2nd of B: A 5 jobs with 9 processors and B 1 job with 4 go before it.\n"
               "By leads A may start 9 more processors and C 3 before it.\n");
  report["place"]["position"] = 112;
  report["place"]["before"] = {{{"organization", "A"}, {"jobs", 1}, {"processors", 1}}};
  report["place"]["leads"] = {{{"organization", "A"}, {"processors", nullptr}}};
  EXPECT_PRED2(contains, explanation_of(report),
               "Place: 112th of 8 that wait, 1st of B: A 1 job with 1 processor goes before it.\n"
               "By leads A may start all that the cluster has before it.\n");
  report["place"]["position"] = 21;
  report["place"]["before"] = json::array();
  EXPECT_PRED2(contains, explanation_of(report), "Place: 21st of 8 that wait, 1st of B: no job goes before it.\n");
  report["place"] = place_not_known("jobs of others are private here (PrivateData)");
  EXPECT_PRED2(contains, explanation_of(report),
               "Place: not known: jobs of others are private here (PrivateData).\nBefore it: ");
}

TEST(Reasons, AreSentences) {
  EXPECT_PRED2(contains, reason_sentence("Dependency"), "depends on");
  EXPECT_PRED2(contains, reason_sentence("AssocGrpCpuLimit"), "limit of its account");
  EXPECT_PRED2(contains, reason_sentence("QOSMaxJobsPerUserLimit"), "limit of its QOS");
  EXPECT_PRED2(contains, reason_sentence("ReqNodeNotAvail, UnavailableNodes:n1"), "down, drained or reserved");
  EXPECT_EQ(reason_sentence("Unheard"), "Slurm calls its reason so");
}

TEST(Reasons, AreThereForEveryWordOfSlurm) {
  std::ifstream in(std::filesystem::path(SHAPLEY_SOURCE_DIR) / "tests/ctl/slurm_reasons.txt");
  int words = 0;
  for (std::string word; std::getline(in, word);) {
    if (word.starts_with('#')) continue;
    ++words;
    EXPECT_NE(reason_sentence(word), "Slurm calls its reason so") << word;
  }
  EXPECT_EQ(words, 221);
  EXPECT_PRED2(contains, reason_sentence("PartitionConfig"), "limits of its partition");
  EXPECT_PRED2(contains, reason_sentence("NonZeroExitCode"), "exit code other than 0");
  EXPECT_PRED2(contains, reason_sentence("RaisedSignal:9(Killed)"), "a signal");
  EXPECT_PRED2(contains, reason_sentence("AssocMaxCpuPerJobLimit"),
               "more than its account or user may have in one job");
  EXPECT_PRED2(contains, reason_sentence("QOSMinGRES"), "less than its QOS");
  // What slurmctld writes out instead of a name.
  for (const char* text :
       {"launch failed requeued held", "job requeued in held state", "user env retrieval failed requeued held",
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
        "Reservation night was deleted", "burst_buffer/lua: Stage-out in progress",
        "uid 1000 not in group permitted to use this partition (bio). groups allowed: bio"}) {
    EXPECT_NE(reason_sentence(text), "Slurm calls its reason so") << text;
  }
}

TEST(RunProgram, PassesArgumentsAsTheyAre) {
  const auto text = run_program({"echo", "a;b", "$HOME", "*"});
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(*text, "a;b $HOME *\n");
}

// What a user's shell says of Slurm's commands: none of it reaches them, and the rest does.
TEST(RunProgram, SlurmsCommandsAnswerThePlainQuestion) {
  const std::vector<std::string> kept{"HOME=/root",
                                      "PATH=/bin",
                                      "SLURM_CONF=/etc/slurm/slurm.conf",
                                      "SLURM_CONF_SERVER=ctl1",
                                      "SLURM_JWT=token",
                                      "SLURM_SACK_SOCKET=/run/sack",
                                      "SLURM_SACK_KEY=k",
                                      "SLURM_SACK_JWKS=j"};
  std::vector<std::string> callers = kept;
  for (const char* variable : {"SQUEUE_FORMAT=%i",
                               "SQUEUE_STATES=R",
                               "SPRIO_FORMAT=%i",
                               "SBATCH_PARTITION=gpu",
                               "SCONTROL_ALL=1",
                               "SACCT_FORMAT=JobID",
                               "SINFO_PARTITION=gpu",
                               "SLURM_CLUSTERS=other",
                               "SLURM_TIME_FORMAT=relative",
                               "SLURM_BITSTR_LEN=8",
                               "SLURM_HINT=nomultithread",
                               "SLURM_JOB_ID=7",
                               "SALLOC_ACCOUNT=a",
                               "SACCTMGR_X=1",
                               "SSHARE_X=1",
                               "SRUN_X=1",
                               "LANG=de_DE.UTF-8",
                               "LC_TIME=ja_JP.UTF-8",
                               "LANGUAGE=de",
                               "TZ=Asia/Tokyo"})
    callers.emplace_back(variable);
  std::vector<std::string> expected = kept;
  expected.emplace_back("LC_ALL=C.UTF-8");
  expected.emplace_back("TZ=UTC0");
  EXPECT_EQ(neutral_environment(callers), expected);
  ASSERT_EQ(::setenv("SQUEUE_FORMAT", "%i", 1), 0);
  const auto text = run_program({"env"});
  ASSERT_EQ(::unsetenv("SQUEUE_FORMAT"), 0);
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_FALSE(contains(*text, "SQUEUE_FORMAT"));
  EXPECT_PRED2(contains, *text, "LC_ALL=C.UTF-8\nTZ=UTC0\n");
}

TEST(RunProgram, AboutAnotherClusterItsNameIsAnOptionOfEachCommandThatTakesIt) {
  using Words = std::vector<std::string>;
  const auto about = [](const Words& words) { return about_cluster(words, "south"); };
  EXPECT_EQ(about({"squeue", "--noheader"}), (Words{"squeue", "--clusters=south", "--noheader"}));
  EXPECT_EQ(about({"sh", "-c", "sbatch \"$@\"", "sh", "--test-only"}),
            (Words{"sh", "-c", "sbatch \"$@\"", "sh", "--clusters=south", "--test-only"}));
  EXPECT_EQ(about({"sacctmgr", "-n"}), (Words{"sacctmgr", "-n"})) << "it asks for the cluster by name";
  EXPECT_EQ(about_cluster({"squeue"}, ""), Words{"squeue"});
}

TEST(RunProgram, EndsWithWhatIsNotThereFailsOrTakesTooLong) {
  const auto code = [](const std::vector<std::string>& words) {
    return run_program(words, std::chrono::milliseconds(50)).error().code;
  };
  EXPECT_EQ(code({"no-such-program-4711"}), Errc::unavailable);
  EXPECT_EQ(code({"sleep", "86400"}), Errc::unavailable);
  EXPECT_EQ(run_program({"false"}).error().what, "false failed");
  EXPECT_EQ(run_program({"sh", "-c", "echo Invalid job id >&2; echo more >&2; exit 1"}).error().what,
            "sh failed: Invalid job id");
  EXPECT_EQ(run_program({"head", "-c", "8000000", "/dev/zero"}).error().code, Errc::limit);
}

}  // namespace
}  // namespace shapley::ctl
