// What explain makes of Slurm's own commands: their output, the site factor that a rank asks for (against the plugin's
// own code), and programs that do not answer.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "ctl/commands/explain.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "ctl/slurm/reasons.hpp"
#include "ctl/slurm/run_program.hpp"
#include "ctl/slurm/wished_priority.hpp"
#include "text.hpp"

extern "C" {
#include "plugin/priority/site_factor.h"
}

namespace shapley::ctl {
namespace {

using nlohmann::json;

RC_GTEST_PROP(WishedSite, IsWhatThePluginComputes, ()) {
  const bool strict = *rc::gen::arbitrary<bool>();
  const bool levels = *rc::gen::arbitrary<bool>();
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 60);
  const auto position = *rc::gen::inRange<std::uint32_t>(0, ranks);
  const auto level = levels ? *rc::gen::inRange<std::uint32_t>(0, k_shapley_max_level + 1) : 0;
  const auto others = *rc::gen::element<std::uint64_t>(0, 1, 3'500, 1'000'000, 80'000'000, 500'000'000, 4'000'000'000);
  const auto weight = *rc::gen::element<std::uint32_t>(0, 1, 10, 1'000, 100'000, 2'147'483'647, 4'000'000'000);
  const shapley_steps_t steps =
      strict ? shapley_steps_strict(others, ranks, levels) : shapley_steps_weighted(weight, ranks, levels);
  const std::uint32_t by_rank =
      strict ? shapley_site_strict(steps.rank, ranks, position) : shapley_site_weighted(weight, ranks, position);
  const RankRule rule{.strict = strict,
                      .weight = weight,
                      .others_max = static_cast<std::int64_t>(others),
                      .ranks = ranks,
                      .levels = levels};
  RC_ASSERT(wished_site(rule, position, level) == std::int64_t{by_rank} + std::int64_t{steps.level} * level);
}

// A cluster of two partitions, of which `urgent` has the higher tier.
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
  return "PartitionName=main AllowGroups=ALL PriorityJobFactor=1 PriorityTier=1 State=UP\n"
         "PartitionName=urgent AllowGroups=ALL PriorityJobFactor=1 PriorityTier=9 State=UP\n";
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
  const auto run = [](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words[0] == "squeue")
      return "72_1|RUNNING|7|None|(null)|main|normal|0|(null)|x\n72_[2-9]|PENDING|9|Resources|afterok:5|main|normal|0||"
             "N/A\n";
    return fail(Errc::unavailable, "away");
  };
  const json facts = slurm_facts("72", run);
  EXPECT_EQ(facts["job"]["state"], "PENDING");
  EXPECT_EQ(facts["job"]["dependency"], "afterok:5");
  EXPECT_TRUE(facts["job"]["start"].is_null());
  EXPECT_TRUE(facts["parts"].is_null());
  EXPECT_TRUE(facts["tiers"].is_null());
}

TEST(SlurmFacts, SayWhenSlurmIsNotThere) {
  EXPECT_EQ(slurm_facts("1", {})["asked"], false);
  const json away =
      slurm_facts("1", [](const auto&) { return fail(Errc::not_found, "squeue is not on this machine"); });
  EXPECT_EQ(away, (json{{"asked", false}, {"why", "squeue is not on this machine"}}));
}

// Three ranks and no weights: a step of 10001, 10000 for the last. A is the second: 20001.
TEST(Priority, AgreesWithTheBooksOrSaysWhy) {
  json facts = slurm_facts("4711", cluster);
  facts["parts"][0]["site"] = 20001;
  facts["parts"][0]["age"] = 101;
  EXPECT_EQ(compare_priority(daemon_says(), facts, "A")["agrees"], true);
  EXPECT_EQ(compare_priority(daemon_says(), facts, "B")["agrees"], false);
  EXPECT_EQ(compare_priority(daemon_says(), facts, "B")["wished_site"], 30002);
  const auto why = [&](const json& priorities, const json& slurm, const char* organization = "A") {
    const json verdict = compare_priority(priorities, slurm, organization);
    EXPECT_NE(verdict["agrees"], true);
    return verdict["why"].is_null() ? std::string() : verdict["why"].get<std::string>();
  };
  EXPECT_TRUE(contains(why(daemon_says("observe"), facts), "mode observe"));
  EXPECT_TRUE(contains(why(nullptr, facts), "daemon"));
  EXPECT_TRUE(contains(why(daemon_says(), slurm_not_asked("x")), "Slurm was not asked"));
  EXPECT_TRUE(contains(why(daemon_says(), facts, "Z"), "has no rank in force"));
  json other = facts;
  other["job"]["priority"] = 0;
  EXPECT_TRUE(contains(why(daemon_says(), other), "held"));
  other = facts;
  other["job"]["state"] = "RUNNING";
  EXPECT_TRUE(contains(why(daemon_says(), other), "does not wait"));
  other = facts;
  other["job"]["priority"] = 999;
  EXPECT_TRUE(contains(why(daemon_says(), other), "set directly"));
  other = facts;
  other["parts"][0]["site"] = -2147483648;
  EXPECT_TRUE(contains(why(daemon_says(), other), "set directly"));
  EXPECT_EQ(compare_priority(daemon_says(), other, "A")["set_directly"], true);
  other = facts;
  other["parts"] = json::array();
  EXPECT_TRUE(contains(why(daemon_says(), other), "sprio tells no parts"));
  other = facts;
  other["parts"][0]["site"] = 7;
  other["parts"][0]["qos"] = 19994;
  json away = daemon_says();
  away["plugin_connected"] = false;
  EXPECT_TRUE(contains(why(away, other), "not connected"));
  other["weights"]["bounded"] = false;
  EXPECT_TRUE(contains(why(daemon_says(), other), "NO_NORMAL"));
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
  const std::string text = render_explanation(report);
  EXPECT_TRUE(contains(text,
                       "Slurm:    state PENDING, reason Priority: jobs of a higher priority are before it. "
                       "Slurm expects it to start at 2026-11-23T21:00:00 (local time).\n"))
      << text;
  EXPECT_TRUE(contains(text, "Slurm:    jobs of urgent go first whatever their rank: a higher PriorityTier.\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "Priority: 20102 = SITE 20001 (rank and level) + age 100 - nice -1.\n"
                       "          Its rank is in it as the books ask for.\n"))
      << text;
  EXPECT_TRUE(contains(text, "keeps its rank up to 2026-12-01T00:00:00Z, when a period ends or a node changes hands."))
      << text;
  EXPECT_TRUE(contains(text, "Within A: 1 other job waits for 4 processors, 1 of them for longer;")) << text;
  EXPECT_FALSE(contains(text, "mode observe")) << text;
  report["priorities"]["mode"] = "observe";
  EXPECT_TRUE(contains(render_explanation(report), "Ranks are not in force (mode observe): ")) << text;
  EXPECT_TRUE(contains(text, "key 0.0 (ranks look 7 days ahead)")) << text;
}

TEST(Reasons, AreSentences) {
  EXPECT_TRUE(contains(reason_sentence("Dependency"), "depends on"));
  EXPECT_TRUE(contains(reason_sentence("AssocGrpCpuLimit"), "limit of its account"));
  EXPECT_TRUE(contains(reason_sentence("QOSMaxJobsPerUserLimit"), "limit of its QOS"));
  EXPECT_TRUE(contains(reason_sentence("ReqNodeNotAvail, UnavailableNodes:n1"), "down, drained or reserved"));
  EXPECT_EQ(reason_sentence("Unheard"), "Slurm calls its reason so");
}

TEST(RunProgram, PassesArgumentsAsTheyAre) {
  const auto text = run_program({"echo", "a;b", "$HOME", "*"});
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(*text, "a;b $HOME *\n");
}

TEST(RunProgram, EndsWithWhatIsNotThereFailsOrTakesTooLong) {
  const auto code = [](const std::vector<std::string>& words) {
    return run_program(words, std::chrono::milliseconds(50)).error().code;
  };
  EXPECT_EQ(code({"no-such-program-4711"}), Errc::not_found);
  EXPECT_EQ(code({"sleep", "86400"}), Errc::unavailable);
  EXPECT_EQ(run_program({"false"}).error().code, Errc::unavailable);
  EXPECT_EQ(run_program({"head", "-c", "8000000", "/dev/zero"}).error().code, Errc::limit);
}

}  // namespace
}  // namespace shapley::ctl
