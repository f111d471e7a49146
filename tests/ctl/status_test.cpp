// Golden tables: a fixed report, the exact text.
#include "ctl/commands/status.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "ctl/output/health.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

json fixed_report() {
  return json::parse(R"({
    "report_version": 1, "at": 1795244400, "at_utc": "2026-11-21T07:00:00Z",
    "period": {"name": "monthly", "begin": 1793491200, "begin_utc": "2026-11-01T00:00:00Z"},
    "contribution": "direct_contr",
    "organizations": [
      {"name": "physics", "rank": 1, "standing_core_hours": 12.4375, "key_core_hours": -0.5,
       "sentence": "is owed 12.4 core-hours by the others, on average this period", "psi": "1234567890.25", "phi": "79999999999",
       "phi_direct": "79999999999", "phi_rate": "81000000000.000001", "got_core_hours": 0.5, "given_core_hours": 1520.25,
       "got_processor_seconds": "1800", "given_processor_seconds": "5472900", "owned": 64, "used": 0, "lent": 32.5,
       "borrowed": 0, "waiting": 8, "running_jobs": 0, "waiting_jobs": 2},
      {"name": "a-very-long-organization", "rank": 2, "standing_core_hours": 0, "key_core_hours": 0,
       "sentence": "is even with the others", "psi": "0", "phi": "0", "phi_direct": "0", "phi_rate": "0",
       "got_core_hours": 0, "given_core_hours": 0, "got_processor_seconds": "0", "given_processor_seconds": "0",
       "owned": 0, "used": 0, "lent": 0, "borrowed": 0, "waiting": 0, "running_jobs": 0, "waiting_jobs": 0},
      {"name": "guests", "rank": 3, "standing_core_hours": -3.125, "key_core_hours": -3.125,
       "sentence": "owes the others 3.1 core-hours, on average this period", "psi": "19732545333", "phi": "0", "phi_direct": "0", "phi_rate": "0",
       "got_core_hours": 1519.75, "given_core_hours": 0, "got_processor_seconds": "5471100",
       "given_processor_seconds": "0", "owned": 0, "used": 33, "lent": 0, "borrowed": 33, "waiting": 400,
       "running_jobs": 2, "waiting_jobs": 100},
      {"name": "commons", "rank": null, "key_core_hours": null, "standing_core_hours": 0.00041,
       "sentence": "is owed less than 0.001 core-hours by the others, on average this period", "psi": "0", "phi": "2588", "phi_direct": "2588",
       "phi_rate": "0", "got_core_hours": 0, "given_core_hours": 0, "got_processor_seconds": "0",
       "given_processor_seconds": "0", "owned": 4, "used": 0, "lent": 0.5, "borrowed": 0, "waiting": 0,
       "running_jobs": 0, "waiting_jobs": 0}],
    "conservation": {"sum_psi": "1", "sum_phi_direct": "1", "sum_phi_rate": "1", "holds": true}
  })");
}

json with_daemon(json report) {
  report["daemon"] = {{"version", "0.1.0"}, {"pid", 4711},          {"started_at", 1795244400 - 18720},
                      {"order", "strict"},  {"mode", "priorities"}, {"ledger", "/var/lib/shapley/ledger.db"},
                      {"events", 12345},    {"lost_runs", 0}};
  report["plugin"] = {{"connected", true},
                      {"program", "priority/shapley 0.1.0"},
                      {"slurm_version", "22.05.8"},
                      {"cluster", "consort"},
                      {"last_heard_at", 1795244400}};
  return report;
}

TEST(Status, ForPeople) {
  EXPECT_EQ(render_status(with_daemon(fixed_report()), {}).value(),
            "2026-11-21T07:00:00Z  contribution direct_contr  monthly period since 2026-11-01T00:00:00Z\n"
            "Organization             Rank Standing    Key     Psi     Phi Owned Used Lent Borrowed Waiting Pending\n"
            "------------------------ ---- -------- ------ ------- ------- ----- ---- ---- -------- ------- -------\n"
            "physics                     1    +12.4 -0.500  1.23e9 8.00e10    64    0 32.5        0       8       2\n"
            "a-very-long-organization    2      0.0    0.0       0       0     0    0    0        0       0       0\n"
            "guests                      3     -3.1   -3.1 1.97e10       0     0   33    0       33     400     100\n"
            "commons                     - +0.00041      -       0    2588     4    0  0.5        0       0       0\n"
            "\n"
            "physics is owed 12.4 core-hours by the others, on average this period.\n"
            "a-very-long-organization is even with the others.\n"
            "guests owes the others 3.1 core-hours, on average this period.\n"
            "\n"
            "Books:   balanced: Sum(psi) = Sum(phi), to the unit\n"
            "Ledger:  /var/lib/shapley/ledger.db, 12,345 events\n"
            "Daemon:  shapleyd 0.1.0, pid 4711, up 5 h 12 min, order strict, mode priorities\n"
            "Plugin:  connected, priority/shapley 0.1.0, Slurm 22.05.8, cluster consort, last heard just now\n");
}

TEST(Status, ATitleStandsInTheSentenceAndIsAField) {
  json report = fixed_report();
  report["organizations"][0]["title"] = "Institute of Physics";
  const std::string text = render_status(report, {}).value();
  EXPECT_TRUE(contains(
      text, "\nphysics (Institute of Physics) is owed 12.4 core-hours by the others, on average this period.\n"))
      << text;
  EXPECT_EQ(render_status(report, {.format = "title", .header = false}).value(), "Institute of Physics\n-\n-\n-\n");
}

// Fifty organizations whose names differ at the end only, in rank order.
json fifty() {
  json report = fixed_report();
  const json row = report["organizations"][0];
  report["organizations"] = json::array();
  for (int i = 1; i <= 50; ++i) {
    json next = row;
    next["name"] = "institute-of-applied-sciences-" + std::to_string(100 + i);
    next["rank"] = i;
    next["no_start_since"] = 1795244400 - 60;
    report["organizations"].push_back(std::move(next));
  }
  return report;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Status, FiftyOrganizationsGiveTenSentences) {
  const std::string text = render_status(fifty(), {}).value();
  EXPECT_EQ(count_of(text, " is owed 12.4 core-hours by the others, on average this period.\n"), 10U);
  EXPECT_EQ(count_of(text, "Waits:   institute-of"), 10U);
  EXPECT_TRUE(contains(text, "\nand 40 others\n")) << text;
  EXPECT_TRUE(contains(text, "\nWaits:   and 40 others\n")) << text;
  json eleven = fifty();
  eleven["organizations"].erase(eleven["organizations"].begin() + 11, eleven["organizations"].end());
  EXPECT_FALSE(contains(render_status(eleven, {}).value(), "and 1 other"));
}

TEST(Status, NamesStayDistinguishableHoweverNarrowTheTerminal) {
  for (const std::size_t columns : {std::size_t{0}, std::size_t{60}, std::size_t{100}, std::size_t{200}}) {
    const std::string text = render_status(fifty(), {.columns = columns}).value();
    for (int i = 1; i <= 50; ++i) {
      EXPECT_TRUE(contains(text, "\ninstitute-of-applied-sciences-" + std::to_string(100 + i) + ' ')) << columns;
    }
  }
}

TEST(Status, FewOrManyAreChosen) {
  json report = fifty();
  EXPECT_EQ(choose_rows(report, {}, 3).value(), 47U);
  ASSERT_EQ(report["organizations"].size(), 3U);
  EXPECT_EQ(report["organizations"][2]["rank"], 3);
  const std::string text = render_status(report, {.left_out = 47}).value();
  EXPECT_TRUE(contains(text, "\nand 47 others\n\n")) << text;
  report = fixed_report();
  EXPECT_EQ(choose_rows(report, {"guests", "physics"}, 0).value(), 0U);
  ASSERT_EQ(report["organizations"].size(), 2U);
  EXPECT_EQ(report["organizations"][1]["name"], "guests");
  const auto unknown = choose_rows(report, {"nosuch"}, 0);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::invalid_argument);
  EXPECT_EQ(unknown.error().what, "the books know no organization 'nosuch'; they know physics, guests");
}

TEST(Status, SaysWhichConfigurationIsInForceAndThatALaterOneWasRefused) {
  json report = with_daemon(fixed_report());
  report["daemon"]["configuration"] = {{"file", "/etc/shapley/shapleyd.yaml"},
                                       {"hash", std::string(60, 'a') + "beef"},
                                       {"loaded_at", 1795244400 - 18720},
                                       {"refused_at", nullptr},
                                       {"refusal", nullptr}};
  const std::string in_force =
      "\nConfig:  /etc/shapley/shapleyd.yaml, SHA-256 aaaaaaaaaaaaaaaa..., in force since 2026-11-21T01:48:00Z\n";
  const std::string sound = render_status(report, {}).value();
  EXPECT_NE(sound.find("mode priorities" + in_force + "Plugin:  "), std::string::npos) << sound;
  report["daemon"]["configuration"]["refused_at"] = 1795244400 - 60;
  report["daemon"]["configuration"]["refusal"] = "/etc/shapley/shapleyd.yaml:3: no such key\nx";
  const std::string refused = render_status(report, {}).value();
  EXPECT_NE(refused.find(in_force + "Config:  REFUSED at 2026-11-21T06:59:00Z: /etc/shapley/shapleyd.yaml:3: no such "
                                    "key\\x0ax; the one above stays in force\nPlugin:  "),
            std::string::npos)
      << refused;
}

TEST(Status, SaysWhatIsPrivate) {
  json report = with_daemon(fixed_report());
  const auto line = [&](const json& jobs, const json& usage) {
    report["daemon"]["privacy"] = {{"jobs", jobs}, {"usage", usage}, {"told_at", 1}};
    const std::string text = render_status(report, {}).value();
    const std::size_t at = text.find("\nPrivate: ");
    return at == std::string::npos ? std::string() : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  const std::string rest = " of others, to all but operators and coordinators (PrivateData in slurm.conf)";
  EXPECT_EQ(line(false, false), "");
  EXPECT_EQ(line(true, false), "Private: jobs" + rest);
  EXPECT_EQ(line(false, true), "Private: usage" + rest);
  EXPECT_EQ(line(true, true), "Private: jobs and usage" + rest);
  report["plugin"]["connected"] = true;
  EXPECT_EQ(line(nullptr, nullptr),
            "Private: others' jobs and usage, because the plugin does not say whether they are; it is older than "
            "shapleyd");
  report["plugin"]["connected"] = false;
  EXPECT_EQ(line(nullptr, nullptr), "");
}

TEST(Status, SaysWhenNobodyLookedAndWhetherThatMatters) {
  json report = with_daemon(fixed_report());
  json& gaps = report["daemon"]["gaps"];
  gaps = {{"count", 0}, {"seconds", 0}, {"unobserved_seconds", 0}, {"last_begin", nullptr}};
  EXPECT_EQ(render_status(report, {}).value().find("Gaps:"), std::string::npos);
  gaps = {{"count", 1},
          {"seconds", 5},
          {"unobserved_seconds", 0},
          {"last_begin", 1795244400 - 70},
          {"last_end", 1795244400 - 65},
          {"last_cause", "slurmctld_down"}};
  const std::string down = render_status(report, {}).value();
  EXPECT_NE(down.find("\nGaps:    1 gap of observation, 5 s; the last one from 2026-11-21T06:58:50Z to "
                      "2026-11-21T06:58:55Z, while slurmctld was down\n"),
            std::string::npos)
      << down;
  gaps["count"] = 2;
  gaps["seconds"] = 65;
  gaps["unobserved_seconds"] = 60;
  gaps["last_cause"] = "unobserved";
  const std::string unobserved = render_status(report, {}).value();
  EXPECT_NE(
      unobserved.find("\nGaps:    2 gaps of observation, 1 min; the last one from 2026-11-21T06:58:50Z to "
                      "2026-11-21T06:58:55Z, while slurmctld ran without the plugin; runs requeued in 1 min of it "
                      "and who waited then are not in the books\n"),
      std::string::npos)
      << unobserved;
  const auto is_painted = [&] { return health_lines(report, true).find("\x1b[31mGaps:") != std::string::npos; };
  EXPECT_TRUE(is_painted());
  gaps["last_end"] = 1795244400 - 8 * 86'400;
  EXPECT_FALSE(is_painted()) << "a week is long enough to see it";
}

TEST(Status, SaysWhatSlurmctldLost) {
  json report = with_daemon(fixed_report());
  json& losses = report["daemon"]["state_losses"];
  losses = {{"count", 0}, {"last", nullptr}};
  EXPECT_EQ(render_status(report, {}).value().find("State:"), std::string::npos);
  losses = {{"count", 2},
            {"last",
             {{"at", 1795244400 - 65},
              {"seen", 1795244400 - 70},
              {"closed", 1},
              {"closed_processor_seconds", 4800},
              {"retracted", 0},
              {"retracted_processor_seconds", 0}}}};
  const std::string lost = render_status(report, {}).value();
  EXPECT_NE(lost.find("\nState:   slurmctld lost runs 2 times, last at 2026-11-21T06:58:55Z: 1 run (4,800 "
                      "processor-seconds) counted until the last look; the last look was at 2026-11-21T06:58:50Z; "
                      "shapleyctl import --into takes what Slurm's accounting has of them\n"),
            std::string::npos)
      << lost;
  const auto is_painted = [&] { return health_lines(report, true).find("\x1b[31mState:") != std::string::npos; };
  EXPECT_TRUE(is_painted());
  losses["last"]["at"] = 1795244400 - 8 * 86'400;
  EXPECT_FALSE(is_painted()) << "a week is long enough to see it";
}

TEST(Status, SaysWhosePluginIsRefused) {
  json report = with_daemon(fixed_report());
  json& cluster = report["daemon"]["cluster"];
  cluster = {{"name", "box"}, {"refused", nullptr}};
  EXPECT_EQ(render_status(report, {}).value().find("Cluster:"), std::string::npos);
  cluster["refused"] = {{"cluster", "trial"}, {"state_location", nullptr}, {"times", 1}, {"last_at", 1795244400 - 65}};
  EXPECT_NE(render_status(report, {})
                .value()
                .find("\nCluster: REFUSED: the plugin of cluster trial, 1 time, last at 2026-11-21T06:58:55Z; this "
                      "ledger is of "
                      "cluster box (one that was renamed: shapleyctl rename-cluster)\n"),
            std::string::npos);
  cluster["refused"]["state_location"] = "/var/trial";
  cluster["refused"]["times"] = 2;
  EXPECT_NE(
      render_status(report, {})
          .value()
          .find("\nCluster: REFUSED: the plugin of a second slurmctld of this cluster, whose StateSaveLocation is "
                "/var/trial, 2 times, last at 2026-11-21T06:58:55Z\n"),
      std::string::npos);
}

json observing_report() {
  json report = with_daemon(fixed_report());
  report["ranks_act"] = false;
  report["daemon"]["mode"] = "observe";
  const std::array<json, 4> would{2, 1, 3, nullptr};
  for (std::size_t i = 0; i < would.size(); ++i) report["organizations"][i]["would_rank"] = would[i];
  return report;
}

TEST(Status, ObserveSaysWhatWouldHaveBeenAndThatNothingWas) {
  const std::string text = render_status(observing_report(), {}).value();
  EXPECT_NE(text.find("Organization             WouldRank Standing "), std::string::npos) << text;
  EXPECT_NE(text.find("\nphysics                          2    +12.4 "), std::string::npos) << text;
  EXPECT_NE(text.find("\nRanks:   not in force (mode observe): priorities are untouched; with mode priorities: "
                      "a-very-long-organization, physics, guests\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(render_status(with_daemon(fixed_report()), {}).value().find("Ranks:"), std::string::npos);
}

TEST(Status, SaysWhoGoesBeforeOneThatIsOwedMore) {
  json report = with_daemon(fixed_report());
  report["ranking"] = {{"sentences", {"guests will be owed more", "physics runs on few"}}};
  EXPECT_NE(render_status(report, {})
                .value()
                .find("core-hours, on average this period.\n\nRanks:   guests will be owed more.\nRanks:   physics "
                      "runs on few.\nBooks:   balanced"),
            std::string::npos);
}

TEST(Status, SaysWhoHasHadNoStart) {
  json report = with_daemon(fixed_report());
  EXPECT_EQ(render_status(report, {}).value().find("Waits:"), std::string::npos);
  report["organizations"][0]["no_start_since"] = 1795244400 - 11'520;
  report["organizations"][1]["no_start_since"] = nullptr;
  const std::string text = render_status(report, {}).value();
  EXPECT_NE(
      text.find("core-hours, on average this period.\n\nWaits:   physics has startable jobs and has had no start since "
                "2026-11-21T03:48:00Z (3 h 12 min)\nBooks:   balanced"),
      std::string::npos)
      << text;
  EXPECT_EQ(render_status(report, {.format = "organization%-8,no_start_since", .header = false}).value(),
            "physics  2026-11-21T03:48:00Z\n"
            "a-very-+                    -\nguests                      -\ncommons                     -\n");
  EXPECT_EQ(render_status(report, {.format = "no_start_since", .parsable = true, .header = false}).value(),
            "1795232880\n\n\n\n");
}

TEST(Status, ObserveForPrograms) {
  const std::string text = render_status(observing_report(), {.parsable = true}).value();
  EXPECT_TRUE(text.starts_with("organization|would_rank|standing|")) << text;
  EXPECT_NE(text.find("\nphysics|2|"), std::string::npos) << text;
  EXPECT_EQ(render_status(observing_report(), {.format = "organization,rank,would_rank", .parsable = true}).value(),
            "organization|rank|would_rank\nphysics|1|2\na-very-long-organization|2|1\nguests|3|3\ncommons||\n");
}

TEST(Status, ForPrograms) {
  EXPECT_EQ(render_status(with_daemon(fixed_report()), {.parsable = true}).value(),
            "organization|rank|standing|psi|phi|owned|used|lent|borrowed|waiting|waiting_jobs|key\n"
            "physics|1|12.4375|1234567890.25|79999999999|64|0|32.5|0|8|2|-0.5\n"
            "a-very-long-organization|2|0|0|0|0|0|0|0|0|0|0\n"
            "guests|3|-3.125|19732545333|0|0|33|0|33|400|100|-3.125\n"
            "commons||0.00041|0|2588|4|0|0.5|0|0|0|\n");
}

TEST(Status, LongForm) {
  EXPECT_EQ(render_status(fixed_report(), {.long_form = true, .parsable = true, .header = false}).value(),
            "physics|1|12.4375|1234567890.25|79999999999|81000000000.000001||0.5|1520.25|64|0|32.5|0|8|0|2|-0.5\n"
            "a-very-long-organization|2|0|0|0|0||0|0|0|0|0|0|0|0|0|0\n"
            "guests|3|-3.125|19732545333|0|0||1519.75|0|0|33|0|33|400|2|100|-3.125\n"
            "commons||0.00041|0|2588|0||0|0|4|0|0.5|0|0|0|0|\n");
}

TEST(Status, ChosenColumnsComeAlone) {
  EXPECT_EQ(render_status(with_daemon(fixed_report()), {.format = "organization%-8,given,sentence%20"}).value(),
            "Organiz+   Given             In words\n"
            "-------- ------- --------------------\n"
            "physics  1,520.2 is owed 12.4 core-h+\n"
            "a-very-+     0.0 is even with the ot+\n"
            "guests       0.0 owes the others 3.1+\n"
            "commons      0.0 is owed less than 0+\n");
  EXPECT_EQ(render_status(fixed_report(), {.format = "owed"}).error().code, Errc::invalid_argument);
}

TEST(Status, ColoursOnlyTheStandings) {
  const std::string text =
      render_status(fixed_report(), {.format = "standing", .header = false, .colour = true}).value();
  EXPECT_EQ(text,
            "   \033[32m+12.4\033[0m\n"
            "     0.0\n"
            "    \033[31m-3.1\033[0m\n"
            "\033[32m+0.00041\033[0m\n");
}

TEST(Status, UnbalancedBooksCannotBeMissed) {
  json report = fixed_report();
  report["conservation"] = {{"sum_psi", "5"}, {"sum_phi_direct", "5"}, {"sum_phi_rate", "4.5"}, {"holds", false}};
  const std::string text = render_status(report, {}).value();
  EXPECT_NE(text.find("Books:   NOT BALANCED: Sum(psi) 5, Sum(phi) direct 5, rate 4.5; run shapleyctl audit\n"),
            std::string::npos)
      << text;
}

TEST(Status, BooksWithoutAnEvent) {
  const json report{{"at_utc", "1970-01-01T00:00:00Z"},
                    {"contribution", "shapley_rate"},
                    {"period", {{"name", "none"}, {"begin", nullptr}, {"begin_utc", nullptr}}},
                    {"organizations", json::array()},
                    {"conservation", {{"holds", true}}}};
  const std::string text = render_status(report, {}).value();
  EXPECT_EQ(text.substr(0, text.find('\n')), "1970-01-01T00:00:00Z  contribution shapley_rate  no event yet");
}

TEST(Health, OfflineReportsHaveNone) {
  EXPECT_EQ(health_lines(fixed_report(), false), "");
}

TEST(Health, AMissingPluginAndLostRunsAreSaid) {
  json report = with_daemon(fixed_report());
  report["daemon"]["lost_runs"] = 3;
  report["plugin"] = {{"connected", false}, {"last_heard_at", 1795244400 - 125}};
  EXPECT_EQ(health_lines(report, false),
            "Ledger:  /var/lib/shapley/ledger.db, 12,345 events\n"
            "Daemon:  shapleyd 0.1.0, pid 4711, up 5 h 12 min, order strict, mode priorities\n"
            "Lost:    3 runs ended before their start was seen; shapleyctl audit --against names them\n"
            "Plugin:  NOT CONNECTED, last heard 2 min ago; the ranks do not act; see slurmctld's log (grep shapley)\n");
  report["plugin"] = {{"connected", false}};
  EXPECT_NE(health_lines(report, false).find("NOT CONNECTED, never heard;"), std::string::npos);
}

TEST(Health, WhatHindsightGaveUpForMemoryIsSaid) {
  json report = with_daemon(fixed_report());
  report["hindsight_bounded"] = nullptr;
  EXPECT_EQ(health_lines(report, false).find("Memory:"), std::string::npos);
  report["hindsight_bounded"] = {{"coalitions", "pairs"},
                                 {"since", 1795244400 - 65},
                                 {"needed_bytes", std::int64_t{3} << 30},
                                 {"bound_bytes", 1 << 30}};
  EXPECT_NE(
      health_lines(report, false)
          .find("Memory:  hindsight keeps pairs instead of all coalitions since 2026-11-21T06:58:55Z: it took 3,072 "
                "MiB and may have 1,024 (hindsight_memory)\n"),
      std::string::npos)
      << health_lines(report, false);
  report["hindsight_bounded"]["coalitions"] = "none";
  EXPECT_NE(health_lines(report, false).find("hindsight keeps nothing since"), std::string::npos);
}

TEST(Health, AConnectedPluginThatIsSilentIsSaid) {
  json report = with_daemon(fixed_report());
  report["plugin"]["sign_of_life_s"] = 10;
  report["plugin"]["last_heard_at"] = 1795244400 - 12;
  EXPECT_NE(health_lines(report, false).find("cluster consort, last heard 12 s ago\n"), std::string::npos);
  report["plugin"]["last_heard_at"] = 1795244400 - 1020;
  EXPECT_NE(
      health_lines(report, false)
          .find("Plugin:  connected, priority/shapley 0.1.0, Slurm 22.05.8, cluster consort, SILENT: last heard 17 "
                "min ago, and it gives a sign of life every 10 s; slurmctld hangs or is very busy (scontrol "
                "ping)\n"),
      std::string::npos)
      << health_lines(report, false);
}

TEST(Health, ARebuildIsSaidAndHowFarItIs) {
  json report = with_daemon(fixed_report());
  report["daemon"]["rebuild"] = nullptr;
  EXPECT_EQ(health_lines(report, false).find("Rebuild"), std::string::npos);
  report["daemon"]["rebuild"] = {{"since", 1795244400}, {"percent", nullptr}};
  EXPECT_NE(health_lines(report, false)
                .find("Rebuild: when the feed has caught up; late events came, standings and "
                      "ranks are still those of 2026-11-21T07:00:00Z\n"),
            std::string::npos)
      << health_lines(report, false);
  report["daemon"]["rebuild"]["percent"] = 37;
  EXPECT_NE(health_lines(report, false).find("Rebuild: 37 %; late events"), std::string::npos);
}

TEST(Health, AClockInDoubtIsSaidAndWhatWaitsForIt) {
  json report = with_daemon(fixed_report());
  report["daemon"]["clock"] = nullptr;
  report["daemon"]["held_observations"] = nullptr;
  report["daemon"]["dropped_observations"] = 0;
  EXPECT_EQ(health_lines(report, false).find("Clock"), std::string::npos);
  report["daemon"]["clock"] = {{"since", 1795244400}, {"ahead_s", 40 * 24 * 3600}, {"exact", true}};
  report["daemon"]["held_observations"] = {
      {"since", 1795244400}, {"messages", 3}, {"observed_from", 1798700400}, {"observed_to", 1798700500}};
  report["daemon"]["dropped_observations"] = 1200;
  const std::string lines = health_lines(report, false);
  EXPECT_NE(
      lines.find("Clock:   IN DOUBT since 2026-11-21T07:00:00Z: the wall clock is 40 d 0 h ahead of the time that "
                 "shapleyd trusts\n"
                 "Clock:   observations wait since 2026-11-21T07:00:00Z; they claim to be of 2026-12-31T07:00:00Z "
                 "and later\n"
                 "Clock:   1,200 messages of a wrong clock were dropped since the start of shapleyd\n"),
      std::string::npos)
      << lines;
  report["daemon"]["clock"]["ahead_s"] = -7200;
  EXPECT_NE(health_lines(report, false).find("the wall clock is 2 h 0 min behind the time that shapleyd trusts\n"),
            std::string::npos)
      << health_lines(report, false);
}

TEST(Health, OneOfTwoControllersSaysWhichItIs) {
  json report = with_daemon(fixed_report());
  report["daemon"]["controller"] =
      json::parse(R"({"host": "ctl1", "role": "active", "state": "writes", "feeder_held": false,
    "peer": "/run/peer.sock", "peer_answers": true, "peer_host": "ctl2", "peer_role": "standby", "peer_events": 100,
    "heard_s": 0, "behind": null, "in_step": true, "fault": null, "set_aside": []})");
  json& controller = report["daemon"]["controller"];
  const auto lines_of_pair = [&] {
    const std::string lines = health_lines(report, false);
    const auto at = lines.find("Pair:");
    return at == std::string::npos ? lines : lines.substr(at);
  };
  EXPECT_EQ(lines_of_pair().find("Pair:    active, writes, in step; ctl2 is standby\nPlugin:  connected"), 0U)
      << lines_of_pair();
  controller["in_step"] = false;
  EXPECT_EQ(lines_of_pair().find("Pair:    active, writes, OUT OF STEP; ctl2 is standby\n"), 0U) << lines_of_pair();
  // A standby has no plugin, so it misses none.
  controller["role"] = "standby";
  controller["state"] = "follows";
  controller["in_step"] = nullptr;
  controller["behind"] = 12;
  controller["peer_host"] = "ctl1";
  controller["peer_role"] = "active";
  report["plugin"] = {{"connected", false}};
  EXPECT_EQ(lines_of_pair(), "Pair:    standby, follows; ctl1 is active, events behind: 12\n");
  controller["peer_answers"] = false;
  controller["heard_s"] = 70;
  controller["feeder_held"] = true;
  controller["behind"] = nullptr;
  controller["fault"] = "cannot follow";
  controller["set_aside"] = json::parse(
      R"([{"at": 1, "file": "old", "events": 9, "absent": 9, "different": 0},
          {"at": 2, "file": "/srv/ledger.db.superseded-1", "events": 12, "absent": 2, "different": 1}])");
  EXPECT_EQ(lines_of_pair(),
            "Pair:    standby, follows, holds the plugin; the other one DOES NOT ANSWER, seconds since it did: 70, its "
            "events then: 100; cannot follow\n"
            "Aside:   /srv/ledger.db.superseded-1: of its 12 own events 2 are not in this ledger, 1 are there "
            "otherwise\n");
  controller["set_aside"][1]["absent"] = nullptr;
  EXPECT_NE(lines_of_pair().find("superseded-1: its own events are counted once this one follows\n"),
            std::string::npos);
}

TEST(Health, AnOlderDaemonThatSaysLessIsNoError) {
  json report = fixed_report();
  report["daemon"] = json::object();
  report["plugin"] = {{"connected", true}};
  EXPECT_EQ(health_lines(report, false), "Ledger:  \nDaemon:  shapleyd\nPlugin:  connected, never heard\n");
}

}  // namespace
}  // namespace shapley::ctl
