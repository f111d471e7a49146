// explain on the books of explain_fixture.hpp, and what it prints.
#include "explain_fixture.hpp"
#include "ledger/reports/report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

class Explain : public RankedBooks {};

TEST_F(Explain, SaysWhoseTheJobIsAndWhoIsBeforeIt) {
  const json report = explained("3");
  EXPECT_EQ(report["job"]["organization"], "A");
  EXPECT_EQ(report["job"]["state"], "waiting");
  EXPECT_EQ(report["job"]["since"], second(25).value);
  EXPECT_EQ(report["job"]["processors"], 2);
  EXPECT_EQ(report["rule"],
            (json{{"kind", "account"}, {"name", "acct_a"}, {"organization", "A"}, {"through", "itself"}}));
  EXPECT_EQ(report["organization"]["rank"], 3);
  EXPECT_EQ(report["ranked"], 3);
  EXPECT_EQ(report["ahead"]["jobs"], 2);
  EXPECT_EQ(report["ahead"]["processors"], 4);
  EXPECT_EQ(report["ahead"]["organizations"][0], (json{{"organization", "B"},
                                                       {"rank", 1},
                                                       {"jobs", 1},
                                                       {"processors", 2},
                                                       {"because", "key"},
                                                       {"by_what_runs", false}}));
  EXPECT_EQ(report["ahead"]["organizations"][1]["organization"], "guests");
  EXPECT_EQ(report["own"], (json{{"jobs", 0}, {"processors", 0}, {"longer", 0}}));
  ASSERT_EQ(report["turns"]["next"].size(), 2U);
  for (const json& turn : report["turns"]["next"]) {
    EXPECT_EQ(turn["at"], second(50).value);
    EXPECT_EQ(turn["ahead"], true);
  }
  EXPECT_EQ(report["past"], false);
}

TEST_F(Explain, KnowsJobsThatDoNotWait) {
  EXPECT_EQ(explained("2")["job"]["state"], "running");
  EXPECT_EQ(explained("1")["job"]["state"], "ended");
  EXPECT_EQ(explained("6")["job"]["state"], "blocked");
  // A task that has not started is in its array's pending rest.
  EXPECT_EQ(explained("72_4")["job"]["job"], 72);
  EXPECT_EQ(explained("72_4")["job"]["job_id"], "72_4");
  EXPECT_TRUE(explained("5")["rule"]["organization"] == "B") << "by the partition it would be of B now";
  for (const auto& [job, code] : {std::pair("99", Errc::invalid_argument), std::pair("3x", Errc::invalid_argument),
                                  std::pair("", Errc::invalid_argument), std::pair("0", Errc::invalid_argument),
                                  std::pair("72_", Errc::invalid_argument)}) {
    const auto report = asked({{"request", "explain"}, {"job", job}});
    ASSERT_FALSE(report) << job;
    EXPECT_EQ(report.error().code, code) << job << ": " << report.error().what;
  }
}

// Before 20 A is behind by what it ran: B, then guests, then A. Job 3 starts at 60, job 4 at 61.
TEST_F(Explain, OfThePastShowsWhoWaitedAndWhoStartedNext) {
  const SegmentOpened second_run = opened(SegmentKind::run, 2, "B", 20);
  write({ended(second_run, 60, CloseReason::ended),
         ended(opened(SegmentKind::wait, 3, "A", 25), 60, CloseReason::started), opened(SegmentKind::run, 3, "A", 60),
         ended(opened(SegmentKind::run, 3, "A", 60), 61, CloseReason::ended),
         ended(opened(SegmentKind::wait, 4, "B", 30), 61, CloseReason::started), opened(SegmentKind::run, 4, "B", 61)},
        70);
  const json before = explained("3", 22);
  EXPECT_EQ(before["past"], true);
  EXPECT_EQ(before["job"]["state"], "not submitted");
  EXPECT_EQ(before["next_starts"].size(), 2U);
  const json report = explained("4", 55);
  EXPECT_EQ(report["job"]["state"], "waiting");
  EXPECT_EQ(report["organization"]["rank"], 3) << "A passed at 50";
  EXPECT_EQ(report["ahead"]["jobs"], 2);
  ASSERT_EQ(report["next_starts"].size(), 2U);
  EXPECT_EQ(report["next_starts"][0]["job"], 3);
  EXPECT_EQ(report["next_starts"][0]["job_id"], "3");
  EXPECT_EQ(report["next_starts"][0]["rank"], 1);
  EXPECT_EQ(report["next_starts"][0]["begin"], second(60).value);
  EXPECT_EQ(report["next_starts"][1]["job"], 4);
  EXPECT_EQ(explained("4")["job"]["state"], "running");
}

// A task has a number of its own, which only Slurm uses.
TEST_F(Explain, OfThePastNamesTasksByTheirArray) {
  JobDescribed task = job_of(73, "B", 36);
  task.array_job = 72;
  task.array_task = 4;
  write({task, opened(SegmentKind::run, 73, "B", 60)}, 70);
  const json report = explained("4", 55);
  ASSERT_EQ(report["next_starts"].size(), 1U);
  EXPECT_EQ(report["next_starts"][0]["job"], 73);
  EXPECT_EQ(report["next_starts"][0]["job_id"], "72_4");
  EXPECT_PRED2(contains, printed("4", "2026-11-18T11:07:35"), "  job 72_4 of B (rank ");
}

TEST_F(Explain, OneJobAsks) {
  json report = explained("3");
  report["slurm"] = {{"asked", false}, {"why", "a test"}};
  report["priorities"] = nullptr;
  report["priority"] = {{"agrees", nullptr}, {"why", "a test"}, {"set_directly", false}, {"priority", nullptr}};
  report["ahead"] = {
      {"jobs", 1}, {"processors", 1}, {"organizations", json::array({report["ahead"]["organizations"][0]})}};
  report["own"] = {{"jobs", 1}, {"processors", 2}, {"longer", 0}};
  const std::string text = render_explanation(report);
  EXPECT_PRED2(contains, text, "Before it: 1 job that asks for 1 processor, of B");
  EXPECT_PRED2(contains, text, "1 other job waits for 2 processors, but not for longer than this one;");
}

TEST_F(Explain, PrintsSentences) {
  const std::string text = printed("3");
  EXPECT_EQ(text,
            "Job 3 (uid 4000000000, account acct_A, partition main, QOS normal, submitted 2026-11-18T11:07:05Z) is of "
            "A: by the rule account acct_a.\n"
            "It has waited for 2 processors since 2026-11-18T11:07:05Z (15 s).\n"
            "\n"
            "A has rank 3 of 3: it owes the others 0.00101 core-hours, on average this period; key -0.00101. It owns 1 "
            "processor and uses 0.\n"
            "Before it: 2 jobs that ask for 4 processors, of B (rank 1: 1 job, 2 processors), guests (rank 2: 1 job, 2 "
            "processors).\n"
            "If nothing starts or ends A passes B at 2026-11-18T11:07:30Z (in 10 s); A passes guests at "
            "2026-11-18T11:07:30Z (in 10 s).\n"
            "\n"
            "Slurm:    not asked: this is of a ledger or of the past, and Slurm knows the present only.\n"
            "Priority: not compared with the books: the ranks in force are the daemon's, which was not asked.\n");
}

// What each of the two terms of the key says, by a rule that brakes.
TEST_F(Explain, SaysWhatEachTermOfAKeyThatBrakesMeans) {
  json report = explained("3");
  const auto said = [&](double owed, double stopping, std::int64_t settled) {
    json& row = report["organization"];
    row["braking"] = {{"balance_ahead", "1"}, {"work_ahead", "1"},       {"doubled_turn", k_micro},
                      {"residual_s", 3'600},  {"owed_core_hours", owed}, {"stopping_core_hours", stopping}};
    row["settled_in_s"] = settled;
    return render_explanation(report);
  };
  EXPECT_PRED2(
      contains, said(-24.1, -288, 12 * 604'800 + 90'000),
      " In 1 h, when what runs now has ended, it will owe 24.1 core-hours, and owe 288.0 more until it has given "
      "as much as it got; it is even in about 12 weeks if work waits on all sides. It owns ");
  EXPECT_PRED2(contains, said(3.5, 2, 7'200),
               " it will be owed 3.5 core-hours, and be owed 2.0 more until it has got as much as it gave; it is even "
               "in about 120 minutes if work waits on all sides.");
  const std::string even = said(0, 0, 0);
  EXPECT_PRED2(contains, even, " In 1 h, when what runs now has ended, it will be even. It owns ");
  EXPECT_PRED2(lacks, even, "if work waits on all sides");
}

// Job 4 waits from 30 to 61; before it started job 3 of A, and job 7 of B, which began to wait later.
TEST_F(Explain, OfAnEndedJobShowsWhenItRanAndWhatStartedWhileItWaited) {
  const SegmentOpened second_run = opened(SegmentKind::run, 2, "B", 20);
  SegmentOpened own = opened(SegmentKind::run, 4, "B", 61);
  own.released = second(30);
  SegmentOpened taken_back = opened(SegmentKind::run, 8, "A", 59);
  write({ended(second_run, 59, CloseReason::ended),
         ended(opened(SegmentKind::wait, 3, "A", 25), 60, CloseReason::started), opened(SegmentKind::run, 3, "A", 60),
         ended(opened(SegmentKind::run, 3, "A", 60), 61, CloseReason::ended), job_of(7, "B", 58),
         opened(SegmentKind::run, 7, "B", 58), ended(opened(SegmentKind::run, 7, "B", 58), 59, CloseReason::ended),
         job_of(8, "A", 59), taken_back, SegmentRetracted{taken_back.key, second(60)},
         ended(opened(SegmentKind::wait, 4, "B", 30), 61, CloseReason::started), own,
         ended(own, 65, CloseReason::ended), job_of(9, "A", 62), opened(SegmentKind::run, 9, "A", 62)},
        70);
  const json history = explained("4")["history"];
  EXPECT_EQ(history["begin"], second(61).value);
  EXPECT_EQ(history["end"], second(65).value);
  EXPECT_EQ(history["waited_s"], 31);
  EXPECT_EQ(history["meanwhile"]["organizations"],
            (json::array({{{"organization", "A"}, {"jobs", 1}, {"processors", 2}},
                          {{"organization", "B"}, {"jobs", 1}, {"processors", 2}}})));
  ASSERT_EQ(history["meanwhile"]["last"].size(), 2U)
      << "neither what began before it waited nor later, nor a run of no one";
  EXPECT_EQ(history["meanwhile"]["last"][0]["job"], 3);
  EXPECT_EQ(history["meanwhile"]["last"][1]["job"], 7);
  EXPECT_TRUE(explained("4", 65)["history"].is_null()) << "an answer about the past has no history";
  EXPECT_TRUE(explained("6")["history"].is_null()) << "it never ran";
  const std::string text = printed("4");
  EXPECT_PRED2(contains, text,
               "It ran on 2 processors from 2026-11-18T11:07:41Z to 2026-11-18T11:07:45Z (4 s; COMPLETED).\n"
               "Before it started it had waited for 31 s, since 2026-11-18T11:07:10Z. Meanwhile started: A 1 "
               "job with 2 processors and B 1 job with 2. The last of them:\n"
               "  2026-11-18T11:07:38Z  job 7 of B on 2 processors\n"
               "  2026-11-18T11:07:40Z  job 3 of A on 2 processors\n");
}

TEST_F(Explain, OfAJobThatNeverStartedShowsHowItEnded) {
  const SegmentOpened wait = opened(SegmentKind::wait, 4, "B", 30);
  write({SegmentClosed{wait.key, second(50), CloseReason::ended, "CANCELLED"}, SegmentRetracted{wait.key, second(51)}},
        60);
  EXPECT_PRED2(contains, printed("4"), "It has ended (CANCELLED) without having started.\n");
}

class BookedBy : public Explain {
 protected:
  [[nodiscard]] std::string sentence(const std::string& job) {
    out.str("");
    const std::string text = printed(job);
    const std::size_t is_of = text.find(") is of ");
    return text.substr(is_of + 8, text.find('\n') - is_of - 8);
  }
};

TEST_F(BookedBy, ARuleOfTheConfigurationInForce) {
  EXPECT_EQ(sentence("1"), "A: by the rule account acct_a.");
  // acct_guests is no organization's account, but the partition would be of B.
  EXPECT_EQ(sentence("5"), "guests: as it was booked; by the rule partition main it would be of B now.");
}

TEST_F(BookedBy, ARuleOfTheConfigurationThatHeldWhenTheRunBegan) {
  write({ConfigurationLoaded{second(15), "organizations:\n  - name: A\n  - name: B\n    accounts: [acct_A]\n"}}, 40);
  EXPECT_EQ(sentence("1"),
            "A: by the rule account acct_a of the configuration of 2026-11-18T11:06:40Z; by the rule account acct_a it "
            "would be of B now.");
}

// A ledger of a release whose files had keys that there are no more.
TEST_F(BookedBy, ARuleOfAConfigurationThatThisReleaseWouldRefuse) {
  write({ConfigurationLoaded{second(15),
                             "horizon: 30d\nrunning_weight: 0.1\n"
                             "organizations:\n  - {name: A, title: Alpha}\n  - {name: B, accounts: [acct_A]}\n"}},
        40);
  EXPECT_EQ(sentence("1"),
            "A: by the rule account acct_a of the configuration of 2026-11-18T11:06:40Z; by the rule account acct_a it "
            "would be of B now.");
  EXPECT_EQ(must(answers::answer(ledger::StatusRequest{}, {.path = file()})).find("A")->title, "Alpha");
}

TEST_F(BookedBy, TheFirstConfigurationWhereARunIsFromBefore) {
  JobDescribed early = job_of(20, "A", -50);
  SegmentOpened run = opened(SegmentKind::run, 20, "A", -40);
  write({early, run, ended(run, -30, CloseReason::ended)}, 40);
  EXPECT_EQ(sentence("20"), "A: by the rule account acct_a.");
  const json then = explained("20", -35);
  EXPECT_EQ(then["rule"]["organization"], "A") << "no configuration was loaded by then";
  EXPECT_EQ(then["booked_by"], (json{{"by", "rule"}}));
}

TEST_F(BookedBy, AnAdjustment) {
  const SegmentOpened run = opened(SegmentKind::run, 1, "A", 0);
  SegmentOpened moved = run;
  moved.key.ordinal = 1;
  moved.organization = "B";
  AdjustmentMade made{.number = 1,
                      .at = second(39),
                      .kind = AdjustmentKind::attribute,
                      .organization = "",
                      .into = "B",
                      .what = "job 1",
                      .runs = 1,
                      .facts = 3,
                      .author = "uid 0 (root)",
                      .reason = "a typo"};
  JobDescribed described = job_of(1, "A", 0);
  described.organization = "B";  // an adjustment leaves the account as it is
  write({made, SegmentRetracted{run.key, second(39)}, moved, ended(moved, 10, CloseReason::ended),
         change_to(described, second(39))},
        40);
  EXPECT_EQ(sentence("1"),
            "B: by adjustment 1 of 2026-11-18T11:07:19Z (a typo); by the rule account acct_a it would be of A now.");
  EXPECT_EQ(sentence("3"), "A: by the rule account acct_a.") << "another job";
}

TEST_F(BookedBy, AnOrganizationThatWasRenamedHasItsPresentName) {
  write({OrganizationsDeclared{second(38), {"arts", "B"}},
         ConfigurationLoaded{second(38), "organizations:\n  - name: arts\n    accounts: [acct_A]\n  - name: B\n"},
         AdjustmentMade{.number = 1,
                        .at = second(39),
                        .kind = AdjustmentKind::rename,
                        .organization = "A",
                        .into = "arts",
                        .what = "A",
                        .author = "uid 0 (root)",
                        .reason = "the senate"}},
        40);
  EXPECT_EQ(sentence("1"), "arts: by the rule account acct_a.");
  const json report = explained("3");
  EXPECT_EQ(report["job"]["organization"], "arts") << "it waits under the former name";
  EXPECT_EQ(report["organization"]["name"], "arts");
}

TEST_F(BookedBy, AnAccountAboveOnlyWhereARuleNamesOne) {
  JobDescribed below = job_of(21, "A", 38);
  below.account = "sub_account";
  JobDescribed foreign = job_of(22, "B", 38);
  foreign.account = "sub_account";
  foreign.partition = "other";
  below.partition = "other";
  write({below, foreign}, 40);
  EXPECT_EQ(sentence("21"), "A: by an account above sub_account.");
  EXPECT_EQ(sentence("22"), "B: as it was booked; no rule in force has it so.") << "B has no rule about accounts";
}

TEST_F(Explain, PrintsAPastDecision) {
  const std::string text = printed("3", "2026-11-18T11:07:05");
  EXPECT_PRED2(contains, text, "At 2026-11-18T11:07:05Z:\n");
  EXPECT_PRED2(contains, text, "Nothing has started since.\n");
}

// Slurm gets the job as one word of an argument list, never through a shell.
TEST_F(Explain, AsksTheDaemonAndSlurm) {
  json told = explained("3");
  told["priorities"] = strict_priorities();
  json request;
  ledger::QueueReport waiting;
  waiting.jobs = {{.job = 3, .organization = "A", .processors = 2}, {.job = 4, .organization = "B", .processors = 2}};
  const json queue = json_of(waiting);
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& asked_for) {
                            if (asked_for["request"] == "queue") return queue;
                            request = asked_for;
                            return told;
                          }));
  std::vector<std::vector<std::string>> programs;
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    programs.push_back(words);
    if (words[2] == "--all") return "3|10000\n4|40003\n";
    if (words[0] == "squeue") return "3|PENDING|10000|Priority|(null)|main|normal|0|(null)|N/A\n";
    if (words[0] == "sprio") return "3|main|10000|10000|0|0|0|0|0|0|0|\n";
    return "PriorityType = priority/shapley\n";
  };
  const std::string text = printed_by_daemon("3");
  EXPECT_EQ(request, (json{{"request", "explain"}, {"job", "3"}}));
  ASSERT_EQ(programs.size(), 5U);
  EXPECT_EQ(programs[0][2], "--local") << "a federation may show other clusters' jobs";
  EXPECT_EQ(programs[0][4], "--jobs=3");
  EXPECT_PRED2(contains, text,
               "Place: 2nd of 2 that wait, 1st of A: B 1 job with 2 processors goes before it.\nBy leads B ");
  EXPECT_PRED2(contains, text, "SITE 10000 = 10000 + 10001 x 0 (place) + 0 (level), as the books ask for.");
}

TEST_F(Explain, OfAJobWhoseNodesBootSaysThatItHasNotBegun) {
  json told = explained("2");
  told["priorities"] = strict_priorities();
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& /*asked*/) { return told; }));
  environment.run_program = [](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words[0] == "squeue") return "2|CONFIGURING|10000|None|(null)|main|normal|0|(null)|N/A\n";
    return words[0] == "sprio" ? "" : "PriorityType = priority/shapley\n";
  };
  EXPECT_PRED2(contains, printed_by_daemon("2"), " and has not begun: its nodes boot, or PrologSlurmctld runs.");
}

// Although this user could read the daemon's ledger. The instant is past by any machine's clock.
TEST_F(Explain, AsksTheDaemonAboutThePastToo) {
  json request;
  const json told = explained("3", 30);
  const FakeDaemon daemon(
      directory / "s", FakeDaemon::welcoming([&](const json& asked_for) {
        if (asked_for["request"] == "status")
          return json_of(ledger::StatusReport{.daemon = protocol::DaemonReport{.ledger = file().native()}});
        request = asked_for;
        return told;
      }));
  printed_by_daemon("3", "2001-09-09T01:46:40");
  EXPECT_EQ(request, (json{{"request", "explain"}, {"job", "3"}, {"at", 1'000'000'000}}));
}

TEST_F(Explain, KnowsPartsOfHeterogeneousJobs) {
  JobDescribed part = job_of(8, "A", 37);
  part.het_job = 7;
  write({part}, 41);
  const auto asked = [this](const std::string& job) {
    return ctl::explained({.job = job}, {.ledger = file().native(), .at = "", .archives = ""}, {});
  };
  const auto answered = asked("7+1");
  ASSERT_TRUE(answered) << answered.error().what;
  EXPECT_EQ(answered->job.is.job, 8U);
  EXPECT_EQ(answered->job.job_id, "7+1");
  const auto other = asked("3+0");
  ASSERT_FALSE(other) << "job 3 is no heterogeneous job";
  EXPECT_EQ(other.error().what.find(file().native() + ": job 3+0 is not in the ledger"), 0U) << other.error().what;
}

// Comparisons and forecasts on the books of explain_fixture.hpp, and what is printed.

class Compare : public RankedBooks {};

TEST_F(Compare, ComparesOrganizations) {
  for (const bool turned : {false, true}) {
    const json report = turned ? compared("B", "A") : compared("A", "B");
    EXPECT_EQ(report["first"], "B");
    EXPECT_EQ(report["because"], "key");
    EXPECT_EQ(report["difference"], "290");
    EXPECT_TRUE(report["turning_core_hours"].is_null()) << "no amount turns the published rule at once";
    // Even until 0; at 1 A has got 2 and given 1.
    EXPECT_EQ(report["since"]["order"], second(1).value);
    EXPECT_EQ(report["since"]["keys"], second(1).value);
    ASSERT_EQ(report["turns"].size(), 1U);
    EXPECT_EQ(report["turns"][0]["first"], "A");
    EXPECT_EQ(report["turns"][0]["at"], second(50).value);
  }
  // What was declared of all times says nothing about when.
  write({OwnershipStated{"n9", Instant{0}, {{Instant{0}, {{"A", k_whole_node}}}}}}, 40);
  EXPECT_EQ(compared("A", "B")["since"]["order"], second(1).value);
  const json later = compared("A", "B", 57);
  EXPECT_EQ(later["first"], "A");
  EXPECT_EQ(later["since"]["order"], second(50).value) << "between two events, from the quadratic";
}

// D = 290 + 100 (10 - (-10)) = ... in core-seconds: (key(B) - key(A)) / H.
TEST_F(Compare, SaysHowMuchWouldTurnIt) {
  write({RankingDeclared{second(39), "direct_contr", 100, 1'000'000, {}}}, 41);
  const json report = compared("A", "B");
  // At 41: got 20 and 42, given 31 each: W is 11 and -11, D(21) = 310 + 399 - 441 = 268, and the keys differ by 268 -
  // 2200.
  EXPECT_EQ(report["difference"], "1932");
  EXPECT_EQ(report["first"], "A");
  EXPECT_NEAR(report["turning_core_hours"].get<double>() * 3600, 19.32, 1e-9);
  EXPECT_EQ(report["because"], "guarantee") << "A has a startable job and runs nothing";
  EXPECT_EQ(report["since"]["order"], second(39).value);
  EXPECT_TRUE(report["turning_processors"].is_null()) << "what runs does not count";
  EXPECT_PRED2(contains, render_comparison(report),
               "It turns when A runs on its guaranteed part, 1 more processor, or has nothing more");
}

// Standings as at 40 of the example: B is 290 ahead of A, and has got 10 more than it gave. 10 seconds ahead that
// is 90. B runs on both processors and gives one, A gives one and has none: with the whole weight and an hour for the
// mean, c = 10 * 10 / 2 and A is 2 c - 90 = 10 ahead.
TEST_F(Compare, SaysWhoGoesFirstBecauseOfWhatRuns) {
  write({RankingDeclared{second(39), "direct_contr", 10, 0, {}, 1'000'000}}, 40);
  const json report = compared("A", "B", 40);
  EXPECT_EQ(report["first"], "A");
  EXPECT_EQ(report["because"], "key");
  EXPECT_EQ(report["by_what_runs"], true);
  EXPECT_EQ(report["difference"], "10");
  EXPECT_EQ(report["turning_processors"], 0);
  const std::string text = render_comparison(report);
  EXPECT_PRED2(contains, text,
               " (ranks look 10 seconds ahead; what runs now counts for 1 h more (assumed), with weight "
               "1); if nothing ran, B would go first.\n");
  EXPECT_PRED2(contains, text, "A may start one job before B's first job.\nIt turns at once when A gets ");

  const json job = explained("4", 40);
  EXPECT_EQ(job["organization"]["rank"], 3);
  EXPECT_EQ(job["ahead"]["organizations"][0]["organization"], "A");
  EXPECT_EQ(job["ahead"]["organizations"][0]["by_what_runs"], true);
  EXPECT_EQ(explained("3", 40)["organization"]["rank"], 1);
  const std::string why = printed("4");
  EXPECT_PRED2(contains, why, "It owns 1 processor and uses 2. It gives 1 now, and what runs now lowers its key by ");
  EXPECT_PRED2(contains, why, "; if nothing ran it would have a better rank.\n");
  EXPECT_PRED2(contains, why, "of A (rank 1: 1 job, 2 processors, by what runs now), guests (rank 2");

  // With m = 1, c = 10 - 1/2, rounded down: B is 90 - 18 ahead, which are 8 whole processors.
  write({ResidualMeasured{second(39), 1, 20}}, 40);
  const json short_runs = compared("A", "B", 40);
  EXPECT_EQ(short_runs["first"], "B");
  EXPECT_EQ(short_runs["by_what_runs"], false);
  EXPECT_EQ(short_runs["difference"], "72");
  EXPECT_EQ(short_runs["turning_processors"], 8);
  EXPECT_PRED2(contains, render_comparison(short_runs), "B may start 8 more processors before A's first job.\n");
  EXPECT_PRED2(contains, render_forecast(forecast(40)),
               "It takes that mean residual run time to stay: what runs now counts for 1 s more, with weight 1; "
               "it is measured once a day at most.\n");
  // A past before it was measured, and one before the rule.
  EXPECT_EQ(compared("A", "B", 38)["ranking"]["running_factor"], 0);
  EXPECT_EQ(explained("3", 39)["ranking"]["residual_s"], 1);
}

TEST_F(Compare, ComparesJobs) {
  const json report = compared("3", "2");
  EXPECT_EQ(report["first"], "B");
  EXPECT_EQ(report["sides"][0]["job"]["job_id"], "3");
  EXPECT_EQ(report["sides"][1]["job"]["state"], "running");
  EXPECT_EQ(compared("3", "6")["same_organization"], true);
  const auto unknown = asked({{"request", "compare"}, {"a", "A"}, {"b", "nosuch"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::invalid_argument);
  EXPECT_PRED2(contains, unknown.error().what, "'nosuch' is no organization with a rank and no job");
  EXPECT_PRED2(contains, unknown.error().what, "ranks have B, guests, A");
}

TEST_F(Compare, ForecastsEveryPair) {
  json report = forecast();
  EXPECT_EQ(report["forecast"]["pairs"], 3);
  ASSERT_EQ(report["forecast"]["turns"].size(), 3U);
  for (const json& turn : report["forecast"]["turns"]) {
    EXPECT_EQ(turn["at"], second(50).value);
    EXPECT_EQ(turn["in_s"], 10);
  }
  EXPECT_EQ(report["organizations"][0]["name"], "B");
  EXPECT_EQ(report["forecast"]["organizations"][0], (json{{"name", "B"}, {"rate", -1.0}}));
  EXPECT_EQ(report["forecast"]["by_date"], false);
  const std::string text = render_forecast(report);
  EXPECT_PRED2(contains, text, "Ranks at 2026-11-18T11:07:20Z: B, guests, A\n");
  EXPECT_PRED2(contains, text, "2026-11-18T11:07:30Z 10 s A      B\n");
  EXPECT_PRED2(contains, text, "exact as long as no job starts or ends");
  EXPECT_PRED2(lacks, text, "By hindsight");
  report["ranked_by"] = "hindsight";
  EXPECT_PRED2(contains, render_forecast(report), "By hindsight so does a job");
}

TEST_F(Compare, PrintsComparisons) {
  const std::string text = render_comparison(compared("3", "2"));
  EXPECT_PRED2(contains, text, "Job 3 of A: waiting since 2026-11-18T11:07:05Z (15 s), 2 processors.\n");
  EXPECT_PRED2(contains, text, "B goes before A: its key is greater by 0.00201 core-hours.\n");
  EXPECT_PRED2(contains, text,
               "It has done so since 2026-11-18T11:06:41Z (39 s); the difference was zero last at "
               "2026-11-18T11:06:41Z (39 s).\n");
  EXPECT_PRED2(contains, text, "If nothing starts or ends A goes first from 2026-11-18T11:07:30Z (in 10 s) on.\n");
  EXPECT_PRED2(contains, text,
               "Why job 2 started when it did: shapleyctl explain 3 --against 2 --at 2026-11-18T11:06:59Z\n");
  EXPECT_PRED2(contains, render_comparison(compared("A", "2")),
               "Why job 2 started when it did: shapleyctl explain A --against 2 --at 2026-11-18T11:06:59Z\n");
  EXPECT_PRED2(contains, render_comparison(compared("3", "6")), "Both are of A: their ranks are the same") << text;
}

// By the command: jobs and organizations in each combination.
TEST_F(Compare, AnswersExplainAgainst) {
  const std::pair<const char*, const char*> sides[] = {{"A", "B"}, {"3", "B"}, {"A", "2"}, {"3", "2"}};
  for (const auto& [job, against] : sides) {
    out.str("");
    const RankSource source{.ledger = file().native(), .at = "", .archives = ""};
    EXPECT_EQ(printed_by({.job = job, .against = against, .source = source}, {}),
              render_comparison(compared(job, against)));
    out.str("");
    const json report = json::parse(printed_by({.job = job, .against = against, .source = source, .json = true}, {}));
    EXPECT_EQ(report["sides"], compared(job, against)["sides"]);
  }
}

TEST_F(Compare, AsksSlurmForAPartOfAHeterogeneousJobByItsNumber) {
  JobDescribed part = job_of(8, "A", 37);
  part.het_job = 7;
  write({part}, 41);
  const json told = compared("7+1", "3");
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& /*asked*/) { return told; }));
  std::vector<std::string> jobs;
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    if (words.at(0) == "squeue") jobs.push_back(words.at(4));
    return std::string();
  };
  printed_by({.job = "7+1", .against = "3"}, {.socket = directory / "s", .timeout = std::chrono::minutes(4)});
  EXPECT_EQ(jobs, (std::vector<std::string>{"--jobs=8", "--jobs=3"}));
}

TEST_F(Compare, RefusesWrongSides) {
  const RankSource source{.ledger = file().native(), .at = "", .archives = ""};
  const auto fault = [&](const ExplainArguments& arguments) {
    const auto ran = run_explain(arguments, {}, environment);
    EXPECT_FALSE(ran);
    if (ran) return std::string();
    EXPECT_EQ(ran.error().code, Errc::invalid_argument);
    return ran.error().what;
  };
  EXPECT_EQ(fault({.against = "B", .source = source}),
            "explain --against needs the JOB or organization that is compared, too");
  EXPECT_PRED2(contains, fault({.job = "A", .source = source}),
               "'A' is no job; write its number, 4711, an array's task, 4711_3, or a part of a heterogeneous job, "
               "4711+1; an organization is explained --against another one or a job");
  EXPECT_PRED2(contains, fault({.job = "nosuch", .against = "B", .source = source}),
               "'nosuch' is no organization with a rank and no job");
}

TEST_F(Compare, RefusesTheFuture) {
  const auto answered = ctl::compared("A", "B", {.ledger = file().native(), .at = "9999-01-01", .archives = ""}, {});
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::ctl
