// explain, compare and forecast on a ledger whose figures are worked by hand, and what they print.
//
// A and B own a processor each. A's job 1 runs on both from 0 to 10, B's job 2 on both from 20 on. A's job 3 waits from
// 25 on, B's job 4 from 30 on, a guest's job 5 from 35 on; A's job 6 could not start. The published rule: H = 0.
//
// At 40: psi of A is 2 (40 + ... + 31) = 710, of B 2 (20 + ... + 1) = 420, phi of each is half of both, 565. So the key
// of A is -145, of B +145, of guests 0. From 20 on B gets two a second and gives one: D(d) = key(B) - key(A)
// = 310 + 19 d - d^2 after 20 + d, which is 290 at 40, 20 at 49 and -20 at 50.
#include "ctl/commands/explain.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/compare.hpp"
#include "ctl/rank_answers.hpp"
#include "fake_daemon.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/store/ledger.hpp"
#include "scripted_books.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using namespace accounting;
using nlohmann::json;

Instant second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

constexpr MicroProcessors k_one{k_micro};

JobDescribed job_of(std::uint32_t job, const std::string& organization, std::int64_t submit) {
  JobDescribed described;
  described.job = JobId{job};
  described.submit = second(submit);
  described.organization = organization;
  described.user_id = 4'000'000'000U;
  described.account = organization.empty() ? "none" : "acct_" + organization;
  described.partition = "main";
  described.qos = "normal";
  return described;
}

SegmentOpened opened(SegmentKind kind, std::uint32_t job, const std::string& organization, std::int64_t begin) {
  SegmentOpened segment{.key = {.kind = kind, .job = JobId{job}, .anchor = second(begin), .ordinal = 0},
                        .organization = organization,
                        .begin = second(begin),
                        .processors = k_one + k_one,
                        .nodes = {}};
  if (kind == SegmentKind::run) segment.nodes = {{"n1", k_one}, {"n2", k_one}};
  return segment;
}

SegmentClosed ended(const SegmentOpened& segment, std::int64_t end, CloseReason reason) {
  return {segment.key, second(end), reason, "COMPLETED"};
}

constexpr const char* k_configuration =
    "organizations:\n"
    "  - name: A\n"
    "    accounts: [acct_A]\n"
    "    nodes: [n1]\n"
    "  - name: B\n"
    "    partitions: [main]\n"
    "    nodes: [n2]\n";

std::vector<Event> waiting_events() {
  const SegmentOpened first = opened(SegmentKind::run, 1, "A", 0);
  JobDescribed task = job_of(72, "B", 36);
  task.array_job = 72;
  return {OrganizationsDeclared{second(0), {"A", "B"}},
          ConfigurationLoaded{second(0), k_configuration},
          OwnershipStated{"n1", second(0), {{second(0), {{"A", k_whole_node}}}}},
          OwnershipStated{"n2", second(0), {{second(0), {{"B", k_whole_node}}}}},
          CapacityChanged{"n1", second(0), 0, k_one},
          CapacityChanged{"n2", second(0), 0, k_one},
          job_of(1, "A", 0),
          first,
          ended(first, 10, CloseReason::ended),
          job_of(2, "B", 20),
          opened(SegmentKind::run, 2, "B", 20),
          job_of(3, "A", 25),
          opened(SegmentKind::wait, 3, "A", 25),
          job_of(4, "B", 30),
          opened(SegmentKind::wait, 4, "B", 30),
          job_of(5, std::string(k_guests), 35),
          opened(SegmentKind::wait, 5, std::string(k_guests), 35),
          job_of(6, "A", 36),
          task,
          RankingDeclared{second(0), "direct_contr", 0, 0, {}}};
}

class Explain : public testing::Test {
 protected:
  void SetUp() override { write(waiting_events(), 40); }

  void write(const std::vector<Event>& events, std::int64_t received) const {
    auto ledger = ledger::Ledger::open(file(), ledger::OpenMode::create_or_write);
    ASSERT_TRUE(ledger) << ledger.error().what;
    const auto appended = ledger->append(events, second(received));
    ASSERT_TRUE(appended) << appended.error().what;
  }

  [[nodiscard]] std::filesystem::path file() const { return directory / "ledger.db"; }

  [[nodiscard]] Expected<json> asked(const json& request, std::optional<std::int64_t> at = std::nullopt) const {
    return offline_rank_answer(request, {.ledger = file().native(), .at = "", .archives = ""},
                               at ? std::optional(second(*at)) : std::nullopt);
  }
  [[nodiscard]] json answer(const json& request, std::optional<std::int64_t> at = std::nullopt) const {
    auto report = asked(request, at);
    EXPECT_TRUE(report) << report.error().what;
    return report ? *report : json();
  }
  [[nodiscard]] json explained(const std::string& job, std::optional<std::int64_t> at = std::nullopt) const {
    return answer({{"request", "explain"}, {"job", job}}, at);
  }
  [[nodiscard]] json compared(const std::string& a, const std::string& b,
                              std::optional<std::int64_t> at = std::nullopt) const {
    return answer({{"request", "compare"}, {"a", a}, {"b", b}}, at);
  }

  std::string printed(const ExplainArguments& arguments) {
    const auto code = run_explain(arguments, {}, environment);
    EXPECT_TRUE(code) << code.error().what;
    return out.str();
  }

  TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Environment environment{
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
};

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
TEST_F(Explain, OfThePastTellsWhoWaitedAndWhoStartedNext) {
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
  const std::string text = printed(
      {.job = "4", .source = {.ledger = file().native(), .at = "2026-11-18T11:07:35", .archives = ""}, .json = false});
  EXPECT_TRUE(contains(text, "  job 72_4 of B (rank ")) << text;
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
  EXPECT_TRUE(contains(text, "Before it: 1 job that asks for 1 processor, of B")) << text;
  EXPECT_TRUE(contains(text, "1 other job waits for 2 processors, but not for longer than this one;")) << text;
}

TEST_F(Explain, ComparesOrganizations) {
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
TEST_F(Explain, SaysHowMuchWouldTurnIt) {
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
  const std::string text = render_comparison(report);
  EXPECT_TRUE(contains(text, "It turns when A runs on its guaranteed part, 1 more processor, or has nothing more"))
      << text;
}

// Standings as at 40 of the example: B is 290 ahead of A, and has got 10 more than it gave. 10 seconds ahead that
// is 90. B runs on both processors and gives one, A gives one and has none: with the whole weight and an hour for the
// mean, c = 10 * 10 / 2 and A is 2 c - 90 = 10 ahead.
TEST_F(Explain, SaysWhoGoesFirstBecauseOfWhatRuns) {
  write({RankingDeclared{second(39), "direct_contr", 10, 0, {}, 1'000'000}}, 40);
  const json report = compared("A", "B", 40);
  EXPECT_EQ(report["first"], "A");
  EXPECT_EQ(report["because"], "key");
  EXPECT_EQ(report["by_what_runs"], true);
  EXPECT_EQ(report["difference"], "10");
  EXPECT_EQ(report["turning_processors"], 0);
  const std::string text = render_comparison(report);
  EXPECT_TRUE(contains(text,
                       " (ranks look 10 seconds ahead; what runs now counts for 1 h 0 min more (assumed), with weight "
                       "1); if nothing ran, B would go first.\n"))
      << text;
  EXPECT_TRUE(contains(text, "A may start one job before B's first job.\nIt turns at once when A gets ")) << text;

  const json job = explained("4", 40);
  EXPECT_EQ(job["organization"]["rank"], 3);
  EXPECT_EQ(job["ahead"]["organizations"][0]["organization"], "A");
  EXPECT_EQ(job["ahead"]["organizations"][0]["by_what_runs"], true);
  const json of_a = explained("3", 40);
  EXPECT_EQ(of_a["organization"]["rank"], 1);
  const std::string why = printed({.job = "4", .source = {.ledger = file().native(), .at = "", .archives = ""}});
  EXPECT_TRUE(contains(why, "It owns 1 processor and uses 2. It gives 1 now, and what runs now lowers its key by "))
      << why;
  EXPECT_TRUE(contains(why, "; if nothing ran it would have a better rank.\n")) << why;
  EXPECT_TRUE(contains(why, "of A (rank 1: 1 job, 2 processors, by what runs now), guests (rank 2")) << why;

  // With m = 1, c = 10 - 1/2, rounded down: B is 90 - 18 ahead, which are 8 whole processors.
  write({ResidualMeasured{second(39), 1, 20}}, 40);
  const json short_runs = compared("A", "B", 40);
  EXPECT_EQ(short_runs["first"], "B");
  EXPECT_EQ(short_runs["by_what_runs"], false);
  EXPECT_EQ(short_runs["difference"], "72");
  EXPECT_EQ(short_runs["turning_processors"], 8);
  EXPECT_TRUE(contains(render_comparison(short_runs), "B may start 8 more processors before A's first job.\n"))
      << render_comparison(short_runs);
  EXPECT_TRUE(
      contains(render_forecast(answer({{"request", "forecast"}}, 40)),
               "It takes that mean residual run time to stay: what runs now counts for 1 s more, with weight 1; "
               "it is measured once a day at most.\n"));
  // A past before it was measured, and one before the rule.
  EXPECT_EQ(compared("A", "B", 38)["ranking"]["running_factor"], 0);
  EXPECT_EQ(explained("3", 39)["ranking"]["residual_s"], 1);
}

TEST_F(Explain, ComparesJobs) {
  const json report = compared("3", "2");
  EXPECT_EQ(report["first"], "B");
  EXPECT_EQ(report["sides"][0]["job"]["job_id"], "3");
  EXPECT_EQ(report["sides"][1]["job"]["state"], "running");
  EXPECT_EQ(compared("3", "6")["same_organization"], true);
  const auto unknown = asked({{"request", "compare"}, {"a", "A"}, {"b", "nosuch"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::invalid_argument);
  EXPECT_TRUE(contains(unknown.error().what, "'nosuch' is no organization with a rank (B, guests, A)"))
      << unknown.error().what;
}

TEST_F(Explain, ForecastsEveryPair) {
  json report = answer({{"request", "forecast"}});
  EXPECT_EQ(report["pairs"], 3);
  ASSERT_EQ(report["turns"].size(), 3U);
  for (const json& turn : report["turns"]) {
    EXPECT_EQ(turn["at"], second(50).value);
    EXPECT_EQ(turn["in_s"], 10);
  }
  EXPECT_EQ(report["organizations"][0]["name"], "B");
  EXPECT_EQ(report["organizations"][0]["rate"], -1.0);
  EXPECT_EQ(report["by_date"], false);
  const std::string text = render_forecast(report);
  EXPECT_TRUE(contains(text, "Ranks at 2026-11-18T11:07:20Z: B, guests, A\n")) << text;
  EXPECT_TRUE(contains(text, "2026-11-18T11:07:30Z 10 s A      B\n")) << text;
  EXPECT_TRUE(contains(text, "exact as long as no job starts or ends")) << text;
  EXPECT_FALSE(contains(text, "By hindsight")) << text;
  report["ranked_by"] = "hindsight";
  EXPECT_TRUE(contains(render_forecast(report), "By hindsight so does a job")) << render_forecast(report);
}

TEST_F(Explain, PrintsSentences) {
  const std::string text = printed({.job = "3", .source = {.ledger = file().native(), .at = "", .archives = ""}});
  EXPECT_EQ(text,
            "Job 3 (user 4000000000, account acct_A, partition main, QOS normal, submitted 2026-11-18T11:07:05Z) is of "
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

// Job 4 waits from 30 to 61; before it started job 3 of A, and job 7 of B, which began to wait later.
TEST_F(Explain, OfAnEndedJobTellsWhenItRanAndWhatStartedWhileItWaited) {
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
  EXPECT_TRUE(explained("4", 65)["history"].is_null()) << "the past is told as it was";
  EXPECT_TRUE(explained("6")["history"].is_null()) << "it never ran";
  const std::string text = printed({.job = "4", .source = {.ledger = file().native(), .at = "", .archives = ""}});
  EXPECT_TRUE(contains(text,
                       "It ran on 2 processors from 2026-11-18T11:07:41Z to 2026-11-18T11:07:45Z (4 s; COMPLETED).\n"
                       "Before it started it had waited for 31 s, since 2026-11-18T11:07:10Z. Meanwhile started: A 1 "
                       "job with 2 processors and B 1 job with 2. The last of them:\n"
                       "  2026-11-18T11:07:38Z  job 7 of B on 2 processors\n"
                       "  2026-11-18T11:07:40Z  job 3 of A on 2 processors\n"))
      << text;
}

TEST_F(Explain, OfAJobThatNeverStartedTellsHowItEnded) {
  const SegmentOpened wait = opened(SegmentKind::wait, 4, "B", 30);
  write({SegmentClosed{wait.key, second(50), CloseReason::ended, "CANCELLED"}, SegmentRetracted{wait.key, second(51)}},
        60);
  const std::string text = printed({.job = "4", .source = {.ledger = file().native(), .at = "", .archives = ""}});
  EXPECT_TRUE(contains(text, "It has ended (CANCELLED) without having started.\n")) << text;
}

class BookedBy : public Explain {
 protected:
  [[nodiscard]] std::string sentence(const std::string& job) {
    out.str("");
    const std::string text = printed({.job = job, .source = {.ledger = file().native(), .at = "", .archives = ""}});
    const std::size_t is_of = text.find(") is of ");
    return text.substr(is_of + 8, text.find('\n') - is_of - 8);
  }
};

TEST_F(BookedBy, ARuleOfTheConfigurationInForce) {
  EXPECT_EQ(sentence("1"), "A: by the rule account acct_a.");
  // acct_guests is no account of anybody, but the partition would be of B.
  EXPECT_EQ(sentence("5"), "guests: as it was booked; by the rule partition main it would be of B now.");
}

TEST_F(BookedBy, ARuleOfTheConfigurationThatHeldWhenTheRunBegan) {
  write({ConfigurationLoaded{second(15), "organizations:\n  - name: A\n  - name: B\n    accounts: [acct_A]\n"}}, 40);
  EXPECT_EQ(sentence("1"),
            "A: by the rule account acct_a of the configuration of 2026-11-18T11:06:40Z; by the rule account acct_a it "
            "would be of B now.");
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
  const std::string text = printed(
      {.job = "3", .source = {.ledger = file().native(), .at = "2026-11-18T11:07:05", .archives = ""}, .json = false});
  EXPECT_TRUE(contains(text, "At 2026-11-18T11:07:05Z:\n")) << text;
  EXPECT_TRUE(contains(text, "Nothing has started since.\n")) << text;
}

TEST_F(Explain, PrintsComparisons) {
  const std::string text = render_comparison(compared("3", "2"));
  EXPECT_TRUE(contains(text, "Job 3 of A: waiting since 2026-11-18T11:07:05Z (15 s), 2 processors.\n")) << text;
  EXPECT_TRUE(contains(text, "B goes before A: its key is greater by 0.00201 core-hours.\n")) << text;
  EXPECT_TRUE(contains(text,
                       "It has done so since 2026-11-18T11:06:41Z (39 s); the difference was nought last at "
                       "2026-11-18T11:06:41Z (39 s).\n"))
      << text;
  EXPECT_TRUE(contains(text, "If nothing starts or ends A goes first from 2026-11-18T11:07:30Z (in 10 s) on.\n"))
      << text;
  EXPECT_TRUE(contains(text, "Why job 2 started when it did: shapleyctl compare 3 2 --at 2026-11-18T11:06:59Z\n"))
      << text;
  EXPECT_TRUE(contains(render_comparison(compared("3", "6")), "Both are of A: their ranks are the same")) << text;
}

// Slurm gets the job as one word of an argument list, never through a shell.
TEST_F(Explain, AsksTheDaemonAndSlurm) {
  json told = explained("3");
  told["priorities"] = {{"mode", "priorities"},          {"order", "strict"}, {"rank_weight", 0},
                        {"ranks", {"B", "guests", "A"}}, {"levels", false},   {"level", 0},
                        {"plugin_connected", true},      {"plugin_age_s", 0}};
  json request;
  const json queue{{"truncated", false},
                   {"jobs",
                    {{{"job", 3}, {"organization", "A"}, {"processors", 2}, {"tasks", 1}},
                     {{"job", 4}, {"organization", "B"}, {"processors", 2}, {"tasks", 1}}}}};
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& asked_for) {
                            if (asked_for["request"] == "queue") return queue;
                            request = asked_for;
                            return told;
                          }));
  std::vector<std::vector<std::string>> programs;
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    programs.push_back(words);
    if (words[2] == "--all") return "3|3|N/A|10000\n4|4|N/A|40003\n";
    if (words[0] == "squeue") return "3|PENDING|10000|Priority|(null)|main|normal|0|(null)|N/A\n";
    if (words[0] == "sprio") return "3|main|10000|10000|0|0|0|0|0|0|0|\n";
    return "PriorityType = priority/shapley\n";
  };
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code =
      run_explain({.job = "3", .source = {.ledger = "", .at = "", .archives = ""}}, endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(request, (json{{"request", "explain"}, {"job", "3"}}));
  ASSERT_EQ(programs.size(), 5U);
  EXPECT_EQ(programs[0][3], "--jobs=3");
  EXPECT_TRUE(contains(out.str(), "Place: 2nd of 2 that wait: B 1 job with 2 processors goes before it.\nBy leads B "))
      << out.str();
  EXPECT_TRUE(contains(out.str(), "SITE 10000 = 10000 + 10001 x 0 (place) + 0 (level), as the books ask for."))
      << out.str();
}

// Where the daemon's ledger cannot be read the daemon answers about the past, too. The instant is past by any machine's
// clock.
TEST_F(Explain, AsksTheDaemonAboutThePastOfALedgerThatItCannotRead) {
  json request;
  const json told = explained("3", 30);
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& asked_for) {
                            if (asked_for["request"] == "status")
                              return json{{"daemon", {{"ledger", (directory / "nowhere").native()}}}};
                            request = asked_for;
                            return told;
                          }));
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code = run_explain({.job = "3", .source = {.ledger = "", .at = "2001-09-09T01:46:40", .archives = ""}},
                                endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(request, (json{{"request", "explain"}, {"job", "3"}, {"at", 1'000'000'000}}));
}

TEST_F(Explain, KnowsPartsOfHeterogeneousJobs) {
  JobDescribed part = job_of(8, "A", 37);
  part.het_job = 7;
  write({part}, 41);
  const auto asked = [this](const std::string& job) {
    return rank_answer({{"request", "explain"}, {"job", job}}, {.ledger = file().native(), .at = "", .archives = ""},
                       {});
  };
  const auto answered = asked("7+1");
  ASSERT_TRUE(answered) << answered.error().what;
  EXPECT_EQ((*answered)["job"]["job"], 8);
  EXPECT_EQ((*answered)["job"]["job_id"], "7+1");
  const auto other = asked("3+0");
  ASSERT_FALSE(other) << "job 3 is no heterogeneous job";
  EXPECT_EQ(other.error().what.find(file().native() + ": job 3+0 is not in the ledger"), 0U) << other.error().what;
}

TEST_F(Explain, RefusesTheFuture) {
  const auto answered =
      rank_answer({{"request", "forecast"}}, {.ledger = file().native(), .at = "9999-01-01", .archives = ""}, {});
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().code, Errc::invalid_argument);
}

TEST(JobName, IsANumberATaskOfAnArrayOrAPartOfAHeterogeneousJob) {
  EXPECT_EQ(ledger::parse_job_name("4711")->job, 4711U);
  EXPECT_EQ(ledger::parse_job_name("72_0")->task, 0U);
  EXPECT_EQ(ledger::parse_job_name("3+1")->job, 4U);
  EXPECT_EQ(ledger::parse_job_name("3+1")->het_job, 3U);
  for (const char* wrong :
       {"", "_", "_3", "72_", "-1", "1.5", "72_3_4", "4294967296", "0", " 7", "+1", "3+", "3+x", "4294967295+1"}) {
    EXPECT_FALSE(ledger::parse_job_name(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace shapley::ctl
