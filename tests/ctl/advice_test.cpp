// `shapleyctl advise` on a ledger written through the daemon's ledger code, its numbers worked out by hand.
#include "ctl/advice/advice.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/output/paint.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using namespace accounting;
using nlohmann::json;

Expected<json> advice_report(const AdviceQuestion& question) {
  const auto report = ctl::advice_report(question);
  if (!report) return tl::unexpected(report.error());
  return json_of(*report);
}

std::string render_advice(const json& report) {
  return ctl::render_advice(partial<AdviceReport>(report));
}

constexpr ProcessorMillionths k_two{2 * k_micro};

Instant at_second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

void add_run(std::vector<Event>& events, std::uint32_t job, const std::string& organization, const std::string& node,
             std::int64_t begin, std::int64_t end, ProcessorMillionths processors = k_two) {
  events.push_back(JobDescribed{.job = JobId{job},
                                .submit = at_second(0),
                                .organization = organization,
                                .array_task = std::nullopt,
                                .user_id = 1000,
                                .account = "acct",
                                .partition = "main",
                                .qos = "normal",
                                .name = "job",
                                .wckey = ""});
  const SegmentKey key{.kind = SegmentKind::run, .job = JobId{job}, .anchor = at_second(begin), .ordinal = 0};
  events.push_back(SegmentOpened{key, organization, at_second(begin), processors, {{node, processors}}});
  events.push_back(SegmentClosed{key, at_second(end), CloseReason::ended, "COMPLETED"});
}

// A and B own two processors each. A's four jobs of two processors and ten seconds ran on both nodes at once; B's one
// job waited for them. A job of an organization without nodes, and one wider than B's node, are in the ledger, too.
std::vector<Event> two_organizations() {
  std::vector<Event> events{
      OrganizationsDeclared{at_second(0), {"A", "B"}},
      OwnershipStated{.node = "n1", .effective = at_second(0), .spans = {{at_second(0), {{"A", 1'000'000}}}}},
      OwnershipStated{.node = "n2", .effective = at_second(0), .spans = {{at_second(0), {{"B", 1'000'000}}}}},
      CapacityChanged{"n1", at_second(0), 0, k_two}, CapacityChanged{"n2", at_second(0), 0, k_two}};
  add_run(events, 1, "A", "n1", 0, 10);
  add_run(events, 2, "A", "n2", 0, 10);
  add_run(events, 3, "A", "n1", 10, 20);
  add_run(events, 4, "A", "n2", 10, 20);
  add_run(events, 5, "B", "n2", 20, 30);
  add_run(events, 6, std::string(k_guests), "n1", 20, 30);
  add_run(events, 7, "A", "n1", 40, 50, k_two + k_two);
  return events;
}

class Advice : public testing::Test {
 protected:
  void SetUp() override {
    auto ledger = ledger::testing::writer(file());
    ledger::testing::must(ledger.append(two_organizations(), at_second(60)));
  }
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }
  ledger::testing::TemporaryDirectory directory;
};

void expect_outcome(const json& outcome, double makespan, double mean_flow) {
  EXPECT_DOUBLE_EQ(outcome["makespan"].get<double>(), makespan);
  EXPECT_DOUBLE_EQ(outcome["mean_flow"].get<double>(), mean_flow);
}

TEST_F(Advice, ComparesEveryOrganizationFourWays) {
  const auto report = must(advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt}));
  ASSERT_EQ((report)["organizations"].size(), 2U);
  const json& a = (report)["organizations"][0];
  const json& b = (report)["organizations"][1];
  EXPECT_EQ(a["organization"], "A");
  EXPECT_EQ(a["processors"], 2);
  EXPECT_EQ(a["runs"], 4);
  EXPECT_EQ(a["could_not_run_alone"], 1);
  EXPECT_EQ(a["planned_runs"], 4);
  EXPECT_EQ((report)["left_out_without_nodes"], (json{{std::string(k_guests), 1}}));
  expect_outcome(a["as_it_ran"], 20, 15);
  expect_outcome(a["alone"], 40, 25);
  expect_outcome(a["planned_alone"], 40, 25);
  // ILBA lends A the second node once B's job has ended: 10, 20, 20, 30.
  expect_outcome(a["planned_together"], 30, 20);
  expect_outcome(b["as_it_ran"], 30, 30);
  expect_outcome(b["alone"], 10, 10);
  expect_outcome(b["planned_together"], 10, 10);
}

TEST_F(Advice, SaysItInWordsWithTheLimits) {
  const auto report = must(advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt}));
  const std::string text = render_advice(report);
  for (const char* part : {"A did better than it would have done alone (mean flow 15 s as it ran, 25 s alone), but "
                           "could not have had alone 1 of its 5 runs, which never fit on what it owned.",
                           "B would have done better alone (mean flow 30 s as it ran, 10 s alone).",
                           "Left out: 1 run of guests, which never owned a processor.", "Limits:", "MOCCA, then ILBA"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST_F(Advice, SaysWhyTheWorthInTheBooksIsUnknown) {
  auto report = must(advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt}));
  (report)["worth"] = nullptr;
  (report)["worth_unknown"] = "hindsight is not kept here";
  const std::string text = render_advice(report);
  const std::string sentence =
      "\nWhat it was worth by utility (status --worth) cannot be said: hindsight is not kept here.\n";
  EXPECT_PRED2(contains, text, sentence);
  EXPECT_PRED2(lacks, text, "as the books have it");
}

TEST_F(Advice, TimesChooseTheRuns) {
  const auto early = must(advice_report({.ledger = file(), .since = std::nullopt, .until = at_second(10)}));
  EXPECT_EQ((early)["organizations"][0]["runs"], 2);
  EXPECT_EQ((early)["organizations"][1]["runs"], 0);
  const auto none = advice_report({.ledger = file(), .since = at_second(1), .until = std::nullopt});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
}

// C's one processor takes none of A's jobs, and keeps none of them out of the plans.
TEST_F(Advice, ATinyOwnerLeavesNoRunOfOthersOut) {
  auto ledger = ledger::testing::writer(directory.path() / "tiny.db");
  std::vector<Event> events = two_organizations();
  std::get<OrganizationsDeclared>(events.front()).names.emplace_back("C");
  events.push_back(
      OwnershipStated{.node = "n3", .effective = at_second(0), .spans = {{at_second(0), {{"C", 1'000'000}}}}});
  events.push_back(CapacityChanged{"n3", at_second(0), 0, ProcessorMillionths{k_micro}});
  ledger::testing::must(ledger.append(events, at_second(60)));
  const auto report =
      must(advice_report({.ledger = directory.path() / "tiny.db", .since = std::nullopt, .until = std::nullopt}));
  const json& a = (report)["organizations"][0];
  EXPECT_EQ(a["planned_runs"], 4);
  expect_outcome(a["planned_alone"], 40, 25);
  expect_outcome(a["planned_together"], 30, 20);
  EXPECT_PRED2(contains, render_advice(report), "Planned together is ILBA without MOCCA");
}

// A large, a middle and a small organization; half-way n3 passes from the middle one to the large one, and long after
// the end everything passes to the small one.
struct World {
  static constexpr std::int64_t k_hand_over = 40;
  static constexpr std::int64_t k_much_later = 1'000'000;
  struct Job {
    std::uint32_t id;
    std::string organization;
    std::int64_t submit, begin, end, processors;
  };
  std::vector<Job> jobs;
  std::vector<Event> events;

  void own(const std::string& node, std::int64_t processors, const std::string& first, const std::string& second,
           std::int64_t from) {
    events.push_back(OwnershipStated{.node = node,
                                     .effective = Instant{0},
                                     .spans = {{k_beginning_of_time, {{first, 1'000'000}}},
                                               {at_second(from), {{second, 1'000'000}}},
                                               {at_second(k_much_later), {{"small", 1'000'000}}}}});
    events.push_back(CapacityChanged{node, at_second(0), 0, ProcessorMillionths{processors * k_micro}});
  }

  World() {
    events.push_back(OrganizationsDeclared{at_second(0), {"large", "middle", "small"}});
    own("n1", 8, "large", "large", k_hand_over);
    own("n2", 4, "middle", "middle", k_hand_over);
    own("n3", 2, "middle", "large", k_hand_over);
    own("n4", 1, "small", "small", k_hand_over);
    Rng rng(20261123);
    const auto below = [&](std::int64_t bound) {
      return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
    };
    for (std::uint32_t id = 1; id <= 120; ++id) {
      const std::string who = id % 3 == 0 ? "large" : id % 3 == 1 ? "middle" : "small";
      const std::int64_t submit = below(90);
      const std::int64_t begin = submit + below(20);
      jobs.push_back({id, who, submit, begin, begin + 1 + below(15), 1 + below(who == "large" ? 12 : 7)});
      const Job& job = jobs.back();
      add_run(events, id, who, "n1", begin, job.end, ProcessorMillionths{job.processors * k_micro});
      std::get<JobDescribed>(*(events.end() - 3)).submit = at_second(submit);
    }
  }

  [[nodiscard]] static std::int64_t owned(const std::string& organization, std::int64_t now) {
    if (organization == "small") return 1;
    const std::int64_t n3 = (organization == "large") == (now >= k_hand_over) ? 2 : 0;
    return (organization == "large" ? 8 : 4) + n3;
  }
};

// Second by second, from the jobs as they were made up: neither the ledger's tables nor the planning library.
struct NaiveAdvice {
  double as_it_ran = 0, alone = 0;  // mean flows
  std::int64_t runs = 0, impossible = 0;
};

NaiveAdvice naive_advice(const World& world, const std::string& organization) {
  std::vector<World::Job> jobs;
  for (const World::Job& job : world.jobs)
    if (job.organization == organization) jobs.push_back(job);
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.submit < b.submit; });
  std::vector<std::int64_t> starts(jobs.size(), -1);
  for (std::int64_t now = 0; now < 5000; ++now) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (starts[i] >= 0 || jobs[i].submit > now) continue;
      std::int64_t used = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (starts[j] >= 0 && now < starts[j] + jobs[j].end - jobs[j].begin) used += jobs[j].processors;
      }
      if (used + jobs[i].processors <= World::owned(organization, now)) starts[i] = now;
    }
  }
  NaiveAdvice naive;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (starts[i] < 0) {
      ++naive.impossible;
      continue;
    }
    ++naive.runs;
    naive.as_it_ran += static_cast<double>(jobs[i].end - jobs[i].submit);
    naive.alone += static_cast<double>(starts[i] + jobs[i].end - jobs[i].begin - jobs[i].submit);
  }
  naive.as_it_ran /= static_cast<double>(std::max<std::int64_t>(naive.runs, 1));
  naive.alone /= static_cast<double>(std::max<std::int64_t>(naive.runs, 1));
  return naive;
}

class AdviceOfManySizes : public Advice {
 protected:
  void SetUp() override {
    auto ledger = ledger::testing::writer(file());
    ledger::testing::must(ledger.append(world.events, at_second(200)));
  }
  World world;
};

TEST_F(AdviceOfManySizes, EachIsAloneOnWhatItOwnedAtEachTime) {
  const auto report = must(advice_report({.ledger = file(), .since = std::nullopt, .until = std::nullopt}));
  ASSERT_EQ((report)["organizations"].size(), 3U);
  for (const json& row : (report)["organizations"]) {
    const std::string name = row["organization"];
    SCOPED_TRACE(name);
    const NaiveAdvice naive = naive_advice(world, name);
    EXPECT_EQ(row["runs"], naive.runs);
    EXPECT_EQ(row["could_not_run_alone"], naive.impossible);
    EXPECT_NEAR(row["as_it_ran"]["mean_flow"].get<double>(), naive.as_it_ran, 1e-9);
    EXPECT_NEAR(row["alone"]["mean_flow"].get<double>(), naive.alone, 1e-9);
    EXPECT_EQ(row["processors"], World::owned(name, 100)) << "what will be owned one day does not count";
    EXPECT_EQ(row["owned"].size(), name == "small" ? 1U : 2U);
    EXPECT_GT(naive.impossible, 0) << "so that the test can fail";
    EXPECT_GT(naive.runs, 0);
  }
}

// How far an audit is: on a terminal only, and gone when the report comes.

using ledger::testing::must;

std::string audited(const std::filesystem::path& file, bool terminal) {
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment{
      .out = out, .err = err, .terminal = terminal, .variable = [](const char*) { return std::nullopt; }};
  AuditArguments arguments;
  arguments.ledger = file.string();
  EXPECT_EQ(must(run_audit(arguments, {}, environment)), ExitCode::success);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

TEST(Progress, of_an_audit_is_shown_on_a_terminal_only) {
  const ledger::testing::TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  {
    auto ledger = ledger::testing::writer(file);
    must(ledger.append(example_events(), k_example_begin + Duration{40}));
  }
  const std::string plain = audited(file, false);
  EXPECT_EQ(plain.find_first_of("\r\033"), std::string::npos) << plain;
  EXPECT_PRED2(contains, plain, "correct to the last unit");
  const std::string shown = audited(file, true);
  EXPECT_TRUE(shown.starts_with("\rhash chain: 0 %\033[K")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K" + plain)) << shown;
}

TEST(Progress, says_how_much_of_what_is_done) {
  std::ostringstream out;
  const Environment environment{
      .out = out, .err = out, .terminal = true, .variable = [](const char*) { return std::nullopt; }};
  {
    ProgressLine line(environment);
    line.show({.what = "rows", .done = 1, .all = 3});
    line.show({.what = "rows", .done = 1, .all = 3});
    line.show({.what = "rows", .done = 12'345});
  }
  EXPECT_EQ(out.str(), "\rrows: 33 %\033[K\rrows: 12,345\033[K\r\033[K");
}

}  // namespace
}  // namespace shapley::ctl
