// Golden tables: a fixed report, the exact text.
#include "ctl/commands/status.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "ctl/output/health.hpp"
#include "status_report.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

Expected<std::string> render_status(const json& report, const StatusView& view) {
  return ctl::render_status(partial<ledger::StatusReport>(report), view);
}

std::string shown(const json& report) {
  return render_status(report, {}).value();
}

Expected<std::size_t> choose_rows(json& report, const std::vector<std::string>& organizations, std::size_t top) {
  auto typed = partial<ledger::StatusReport>(report);
  auto left_out = ctl::choose_rows(typed, organizations, top);
  report = json_of(typed);
  return left_out;
}

TEST(Status, ForPeople) {
  EXPECT_EQ(shown(with_daemon(fixed_report())),
            "2026-11-21T07:00:00Z  contribution direct_contr  monthly period since 2026-11-01T00:00:00Z\n"
            "Standing, Key, Got and Given are core-hours.\n"
            "Organization             Rank Standing    Key     Got   Given Owned Used Lent Borrowed Waiting Startable\n"
            "------------------------ ---- -------- ------ ------- ------- ----- ---- ---- -------- ------- ---------\n"
            "physics                     1    +12.4 -0.500   0.500 1,520.3    64    0 32.5        0       8         2\n"
            "a-very-long-organization    2      0.0    0.0     0.0     0.0     0    0    0        0       0         0\n"
            "guests                      3     -3.1   -3.1 1,519.8     0.0     0   33    0       33     400       100\n"
            "commons                     - +0.00041      -     0.0     0.0     4    0  0.5        0       0         0\n"
            "\n"
            "physics is owed 12.4 core-hours by the others, on average this period.\n"
            "a-very-long-organization is even with the others.\n"
            "guests owes the others 3.1 core-hours, on average this period.\n"
            "\n"
            "Books:   balanced: Sum(psi) = Sum(phi), to the unit\n"
            "Ledger:  /var/lib/shapley/ledger.db, 12,345 events\n"
            "Daemon:  shapleyd 1.0.0, pid 4711, up 5 h 12 min, order strict, mode priorities\n"
            "Config:  /etc/shapley/shapleyd.yaml, SHA-256 aaaaaaaaaaaaaaaa..., in force since 2026-11-21T01:48:00Z\n"
            "Plugin:  connected, priority/shapley 1.0.0, Slurm 22.05.8, cluster consort, last heard just now\n");
}

// A rule that brakes says when each is even; programs that count columns get the ones that they had.
TEST(Status, WhenEachIsEvenByARuleThatBrakes) {
  json report = fixed_report();
  report["ranking"]["rule"] = "braking";
  report["organizations"][0]["settled_in_s"] = 7 * 604'800 + 90'000;
  report["organizations"][1]["settled_in_s"] = 0;
  const std::string text = shown(report);
  EXPECT_PRED2(contains, text, "Rank Standing    Key Settled in     Got   Given Owned");
  EXPECT_PRED2(contains, text, "\nphysics                     1    +12.4 -0.500    7 weeks   0.500 1,520.3    64 ");
  EXPECT_PRED2(contains, text, "\na-very-long-organization    2      0.0    0.0       even     0.0     0.0 ");
  EXPECT_PRED2(contains, text, "\nguests                      3     -3.1   -3.1          - 1,519.8 ");
  EXPECT_PRED2(contains, text, "\ncommons                     - +0.00041      -          -     0.0     0.0 ");
  EXPECT_PRED2(lacks, render_status(report, {.parsable = true}).value(), "settled_in");
  EXPECT_PRED2(contains, render_status(report, {.format = "settled_in", .parsable = true}).value(), "\n4323600\n0\n");
}

TEST(Status, ATitleIsInTheSentenceAndIsAField) {
  json report = fixed_report();
  report["organizations"][0]["title"] = "Institute of Physics";
  EXPECT_PRED2(contains, shown(report),
               "\nphysics (Institute of Physics) is owed 12.4 core-hours by the others, on average this period.\n");
  EXPECT_EQ(render_status(report, {.format = "title", .header = false}).value(), "Institute of Physics\n\n\n\n");
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
  EXPECT_PRED2(contains, text, "\nand 40 others\n");
  EXPECT_PRED2(contains, text, "\nWaits:   and 40 others\n");
  json eleven = fifty();
  eleven["organizations"].erase(eleven["organizations"].begin() + 11, eleven["organizations"].end());
  EXPECT_PRED2(lacks, render_status(eleven, {}).value(), "and 1 other");
}

TEST(Status, NamesStayDistinguishableHoweverNarrowTheTerminal) {
  for (const std::size_t columns : {std::size_t{0}, std::size_t{60}, std::size_t{100}, std::size_t{200}}) {
    const std::string text = render_status(fifty(), {.columns = columns}).value();
    for (int i = 1; i <= 50; ++i) {
      EXPECT_PRED2(contains, text, "\ninstitute-of-applied-sciences-" + std::to_string(100 + i) + ' ') << columns;
    }
  }
}

TEST(Status, FewOrManyAreChosen) {
  json report = fifty();
  EXPECT_EQ(choose_rows(report, {}, 3).value(), 47U);
  ASSERT_EQ(report["organizations"].size(), 3U);
  EXPECT_EQ(report["organizations"][2]["rank"], 3);
  EXPECT_PRED2(contains, render_status(report, {.left_out = 47}).value(), "\nand 47 others\n\n");
  report = fixed_report();
  EXPECT_EQ(choose_rows(report, {"guests", "physics"}, 0).value(), 0U);
  ASSERT_EQ(report["organizations"].size(), 2U);
  EXPECT_EQ(report["organizations"][1]["name"], "guests");
  const auto unknown = choose_rows(report, {"nosuch"}, 0);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::invalid_argument);
  EXPECT_EQ(unknown.error().what, "the books know no organization 'nosuch'; they know physics, guests");
  EXPECT_EQ(choose_rows(report, {"Fysics"}, 0).error().what,
            "the books know no organization 'Fysics' (did you mean physics?); they know physics, guests");
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
  EXPECT_PRED2(contains, shown(report), "mode priorities" + in_force + "Plugin:  ");
  report["daemon"]["configuration"]["refused_at"] = 1795244400 - 60;
  report["daemon"]["configuration"]["refusal"] = "/etc/shapley/shapleyd.yaml:3: no such key\nx";
  const std::string refused = shown(report);
  EXPECT_PRED2(contains, refused,
               in_force +
                   "Config:  REFUSED at 2026-11-21T06:59:00Z: /etc/shapley/shapleyd.yaml:3: no such "
                   "key\\x0ax; the one above stays in force\nPlugin:  ");
}

TEST(Status, SaysWhatIsPrivate) {
  json report = with_daemon(fixed_report());
  const auto line = [&](const json& jobs, const json& usage) {
    report["daemon"]["privacy"] = {{"jobs", jobs}, {"usage", usage}, {"told_at", 1}};
    const std::string text = shown(report);
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

TEST(Status, ShowsGapsOfObservationAndWhetherTheyMatter) {
  json report = with_daemon(fixed_report());
  json& gaps = report["daemon"]["gaps"];
  gaps = {{"count", 0}, {"seconds", 0}, {"unobserved_seconds", 0}, {"last_begin", nullptr}};
  EXPECT_PRED2(lacks, shown(report), "Gaps:");
  gaps = json::parse(R"({"count": 1, "seconds": 5, "unobserved_seconds": 0, "last_begin": 1795244330,
                         "last_end": 1795244335, "last_cause": "slurmctld_down"})");
  const std::string down = shown(report);
  EXPECT_PRED2(contains, down,
               "\nGaps:    1 gap of observation, 5 s; the last one from 2026-11-21T06:58:50Z to "
               "2026-11-21T06:58:55Z, while slurmctld was down\n");
  gaps["count"] = 2;
  gaps["seconds"] = 65;
  gaps["unobserved_seconds"] = 60;
  gaps["last_cause"] = "unobserved";
  const std::string unobserved = shown(report);
  EXPECT_PRED2(contains, unobserved,
               "\nGaps:    2 gaps of observation, 1 min; the last one from 2026-11-21T06:58:50Z to "
               "2026-11-21T06:58:55Z, while slurmctld ran without the plugin; runs requeued in 1 min of it "
               "and who waited then are not in the books\n");
  gaps["last_cause"] = "wrong_clock";
  EXPECT_PRED2(contains, shown(report),
               "06:58:55Z, under a wrong clock: shapleyctl import --into fills it; runs requeued");
  gaps["last_cause"] = "events_lost";
  EXPECT_PRED2(contains, shown(report),
               "06:58:55Z: the ledger lost what it had of it, and shapleyctl import --into fills it; runs requeued");
  gaps["last_cause"] = "unobserved";
  const auto is_painted = [&] {
    return ctl::health_lines(partial<ledger::StatusReport>(report), true).find("\x1b[31mGaps:") != std::string::npos;
  };
  EXPECT_TRUE(is_painted());
  gaps["last_end"] = 1795244400 - 8 * 86'400;
  EXPECT_FALSE(is_painted()) << "a week is long enough to see it";
}

TEST(Status, SaysWhatRanksCountOfOtherClusters) {
  auto report = partial<ledger::StatusReport>(fixed_report());
  report.clusters = {{.cluster = "south",
                      .stated_at = report.at - Duration{120},
                      .stands_still = report.at + Duration{3480},
                      .organizations = {{"physics", 40}, {"biology", -40}, {"library", 0}}},
                     {.cluster = "west", .fault = "no route"}};
  const auto text = [&] { return ctl::render_status(report, {}).value(); };
  EXPECT_PRED2(contains, text(),
               "\nOthers:  south, stated 2 min ago: physics is owed 40.0 core-hours, biology owes 40.0 core-hours\n"
               "Others:  west, no statement yet; no route\n");
  report.clusters.front().is_stale = true;
  EXPECT_PRED2(contains, text(), "\nOthers:  south, TOO OLD: stated 2 min ago: physics is owed 40.0 core-hours, ");
  EXPECT_PRED2(contains, text(), "; that has stood still since ");
  report.clusters.front().organizations = {{"library", 0}};
  EXPECT_PRED2(contains, text(), "\nOthers:  south, TOO OLD: stated 2 min ago: nothing is owed; ");
}

TEST(Status, SaysWhatSlurmctldLost) {
  json report = with_daemon(fixed_report());
  json& losses = report["daemon"]["state_losses"];
  losses = {{"count", 0}, {"last", nullptr}};
  EXPECT_PRED2(lacks, shown(report), "State:");
  losses = json::parse(R"({"count": 2, "last": {"at": 1795244335, "seen": 1795244330, "closed": 1,
    "closed_processor_seconds": 4800, "retracted": 0, "retracted_processor_seconds": 0}})");
  const std::string lost = shown(report);
  EXPECT_PRED2(contains, lost,
               "\nState:   slurmctld lost runs 2 times, last at 2026-11-21T06:58:55Z: 1 run (4,800 "
               "processor-seconds) counted until the last look; the last look was at 2026-11-21T06:58:50Z; "
               "shapleyctl import --into takes what Slurm's accounting has of them\n");
  const auto is_painted = [&] {
    return ctl::health_lines(partial<ledger::StatusReport>(report), true).find("\x1b[31mState:") != std::string::npos;
  };
  EXPECT_TRUE(is_painted());
  losses["last"]["at"] = 1795244400 - 8 * 86'400;
  EXPECT_FALSE(is_painted()) << "a week is long enough to see it";
}

TEST(Status, SaysWhosePluginIsRefused) {
  json report = with_daemon(fixed_report());
  json& cluster = report["daemon"]["cluster"];
  cluster = {{"name", "box"}, {"refused", nullptr}};
  EXPECT_PRED2(lacks, shown(report), "Cluster:");
  cluster["refused"] = {{"cluster", "trial"}, {"state_location", nullptr}, {"times", 1}, {"last_at", 1795244400 - 65}};
  EXPECT_PRED2(contains, shown(report),
               "\nCluster: REFUSED: the plugin of cluster trial, 1 time, last at 2026-11-21T06:58:55Z; this "
               "ledger is of "
               "cluster box (one that was renamed: shapleyctl rename-cluster)\n");
  cluster["refused"]["state_location"] = "/var/trial";
  cluster["refused"]["times"] = 2;
  EXPECT_PRED2(contains, shown(report),
               "\nCluster: REFUSED: the plugin of a second slurmctld of this cluster, whose StateSaveLocation is "
               "/var/trial, 2 times, last at 2026-11-21T06:58:55Z\n");
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
  EXPECT_PRED2(contains, text, "Organization             WouldRank Standing ");
  EXPECT_PRED2(contains, text, "\nphysics                          2    +12.4 ");
  EXPECT_PRED2(contains, text,
               "\nRanks:   not in force (mode observe): priorities are untouched; with mode priorities: "
               "a-very-long-organization, physics, guests\n");
  EXPECT_PRED2(lacks, shown(with_daemon(fixed_report())), "Ranks:");
}

TEST(Status, SaysWhoGoesBeforeOneThatIsOwedMore) {
  json report = with_daemon(fixed_report());
  report["ranking"] = {{"sentences", {"guests will be owed more", "physics runs on few"}}};
  EXPECT_PRED2(contains, shown(report),
               "core-hours, on average this period.\n\nRanks:   guests will be owed more.\nRanks:   physics "
               "runs on few.\nBooks:   balanced");
}

TEST(Status, SaysWhoHasHadNoStart) {
  json report = with_daemon(fixed_report());
  EXPECT_PRED2(lacks, shown(report), "Waits:");
  report["organizations"][0]["no_start_since"] = 1795244400 - 11'520;
  report["organizations"][1]["no_start_since"] = nullptr;
  EXPECT_PRED2(contains, shown(report),
               "core-hours, on average this period.\n\nWaits:   physics has startable jobs and has had no start since "
               "2026-11-21T03:48:00Z (3 h 12 min)\nBooks:   balanced");
  EXPECT_EQ(render_status(report, {.format = "organization%-8,no_start_since", .header = false}).value(),
            "physics  2026-11-21T03:48:00Z\n"
            "a-very-+                    -\nguests                      -\ncommons                     -\n");
  EXPECT_EQ(render_status(report, {.format = "no_start_since", .parsable = true, .header = false}).value(),
            "1795232880\n\n\n\n");
}

TEST(Status, ObserveForPrograms) {
  const std::string text = render_status(observing_report(), {.parsable = true}).value();
  EXPECT_TRUE(text.starts_with("organization|would_rank|standing|")) << text;
  EXPECT_PRED2(contains, text, "\nphysics|2|");
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
  // A column for each estimator; the report says nothing of hindsight, and of others if there are more.
  const std::string unknown(accounting::estimators().size() - 2, '|');
  EXPECT_EQ(render_status(fixed_report(), {.long_form = true, .parsable = true, .header = false}).value(),
            "physics|1|12.4375|1234567890.25|79999999999|81000000000.000001" + unknown +
                "|0.5|1520.25|64|0|32.5|0|8|0|2|-0.5\na-very-long-organization|2|0|0|0|0" + unknown +
                "|0|0|0|0|0|0|0|0|0|0\nguests|3|-3.125|19732545333|0|0" + unknown +
                "|1519.75|0|0|33|0|33|400|2|100|-3.125\ncommons||0.00041|0|2588|0" + unknown +
                "|0|0|4|0|0.5|0|0|0|0|\n");
}

TEST(Status, ChosenColumnsComeAlone) {
  EXPECT_EQ(render_status(with_daemon(fixed_report()), {.format = "organization%-8,given,sentence%20"}).value(),
            "Organiz+   Given             In words\n"
            "-------- ------- --------------------\n"
            "physics  1,520.3 is owed 12.4 core-h+\n"
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
  report["conservation"] = {{"sum_psi", "5"}, {"sum_phi_direct", "5"}, {"sum_phi_hindsight", "4.5"}, {"holds", false}};
  const std::string text = shown(report);
  EXPECT_PRED2(contains, text,
               "Books:   NOT BALANCED: Sum(psi) 5, Sum(phi) direct 5, hindsight 4.5; run shapleyctl audit\n");
}

TEST(Status, BooksWithoutAnEvent) {
  const json report{{"at_utc", "1970-01-01T00:00:00Z"},
                    {"contribution", "hindsight"},
                    {"period", {{"name", "none"}, {"begin", nullptr}, {"begin_utc", nullptr}}},
                    {"organizations", json::array()},
                    {"conservation", {{"holds", true}}}};
  const std::string text = shown(report);
  EXPECT_EQ(text.substr(0, text.find('\n')), "1970-01-01T00:00:00Z  contribution hindsight  no event yet");
}

}  // namespace
}  // namespace shapley::ctl
