// A site's history under other policies: an export by hand whose starts are worked out here, and the same as a ledger.
#include "sim/replay/replay.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/replay/site_history.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::sim {
namespace {

// Files in a folder of their own; times are UTC.
class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    write("site.yaml",
          "organizations:\n"
          "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }]\n"
          "  - name: bio\n    accounts: [bio]\n    nodes: [{ nodes: n2 }]\n");
    write("nodes", "n1 5\nn2 5\n");
  }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  // Rows "job account submit start end limit(min) cpus nodes", times in minutes after 2026-03-09T08:00:00.
  struct Row {
    int job;
    const char* account;
    int submit, start, end, limit, cpus;
    const char* nodes;
  };
  std::filesystem::path sacct(const std::vector<Row>& rows) {
    std::string text = "JobIDRaw|User|Account|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NodeList\n";
    constexpr std::int64_t k_begin = 1773043200;
    for (const Row& r : rows) {
      const auto at = [](int minute) { return std::to_string(k_begin + minute * 60) + "|"; };
      text += std::to_string(r.job) + "|u|" + r.account + "|COMPLETED|" + at(r.submit) + at(r.start) + at(r.end) +
              std::to_string(r.limit) + "|" + std::to_string(r.cpus) + "|" + r.nodes + "\n";
    }
    return write("sacct", text);
  }
  // The example of the test of EASY, in minutes: ten processors, six held until 10 by the first job.
  std::filesystem::path example() {
    return sacct({{1, "astro", 0, 0, 10, 10, 6, "n[1-2]"},
                  {2, "bio", 1, 10, 20, 10, 8, "n[1-2]"},
                  {3, "astro", 2, 20, 40, 20, 3, "n1"},
                  {4, "bio", 3, 20, 40, 20, 2, "n2"},
                  {5, "astro", 4, 40, 46, 6, 2, "n1"}});
  }
  SiteHistory history(const std::filesystem::path& trace) {
    auto read = read_site_history({.config = folder_ / "site.yaml", .trace = trace, .nodes = folder_ / "nodes"});
    EXPECT_TRUE(read) << (read ? "" : read.error().what);
    return read ? *std::move(read) : SiteHistory{};
  }

  TempDirectory folder_;
};

TEST_F(ReplayTest, waits_slowdowns_and_utilization_are_those_worked_out_by_hand) {
  const SiteHistory past = history(example());
  EXPECT_EQ(past.organizations, (std::vector<std::string>{"astro", "bio"}));
  EXPECT_EQ(past.instance.endowments.front().processors, (std::vector<std::uint32_t>{5, 5}));
  EXPECT_EQ(past.length, Duration{46 * 60});
  const auto replayed = replay(past, {"fcfs"}, {});
  ASSERT_TRUE(replayed) << replayed.error().what;
  const ReplayOutcome& ran = replayed->outcomes[0];
  EXPECT_EQ(ran.policy, "as it ran");
  EXPECT_DOUBLE_EQ(ran.organizations[0].mean_wait, (0 + 18 + 36) * 60.0 / 3);
  EXPECT_DOUBLE_EQ(ran.organizations[1].mean_wait, (9 + 17) * 60.0 / 2);
  // Starts under EASY: 0, 10, 20, 3, 4.
  const ReplayOutcome& fcfs = replayed->outcomes[1];
  EXPECT_EQ(fcfs.backfilled, 2U);
  EXPECT_DOUBLE_EQ(fcfs.organizations[0].mean_wait, (0 + 18 + 0) * 60.0 / 3);
  EXPECT_DOUBLE_EQ(fcfs.organizations[1].mean_wait, (9 + 0) * 60.0 / 2);
  EXPECT_EQ(fcfs.organizations[0].longest_wait, 18 * 60);
  EXPECT_DOUBLE_EQ(fcfs.organizations[0].mean_slowdown, (1 + 38.0 / 20 + 1) / 3);
  EXPECT_DOUBLE_EQ(fcfs.organizations[1].mean_bounded_slowdown, (19.0 / 10 + 1) / 2);
  const double work = 6 * 10 + 8 * 10 + 3 * 20 + 2 * 20 + 2 * 6;
  EXPECT_DOUBLE_EQ(fcfs.utilization, work / (10 * 40));
  EXPECT_DOUBLE_EQ(ran.utilization, work / (10 * 46));
  EXPECT_EQ(fcfs.makespan, Duration{40 * 60});
  ASSERT_TRUE(fcfs.distance_to_ref) << replayed->no_reference;
  EXPECT_LT(*fcfs.distance_to_ref, *ran.distance_to_ref);
}

TEST_F(ReplayTest, a_run_ends_at_its_limit_and_exact_estimates_are_the_run_times) {
  const auto trace = sacct({{1, "astro", 0, 0, 10, 8, 10, "n[1-2]"}, {2, "bio", 1, 10, 20, 60, 10, "n[1-2]"}});
  const SiteHistory past = history(trace);
  EXPECT_EQ(past.instance.jobs[0].duration, Duration{8 * 60});
  EXPECT_EQ(past.instance.requested[1], Duration{3600});
  EXPECT_EQ(past.notes, (std::vector<std::string>{"1 job ran for longer than its time limit; it ends at it here."}));
  const auto exact = read_site_history(
      {.config = folder_ / "site.yaml", .trace = trace, .nodes = folder_ / "nodes", .estimates = Estimates::exact});
  EXPECT_EQ(exact->instance.jobs[0].duration, Duration{10 * 60});
  EXPECT_EQ(exact->instance.requested[1], Duration{600});
}

TEST_F(ReplayTest, owners_follow_the_dates_of_the_configuration) {
  write("site.yaml",
        "organizations:\n"
        "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }, { nodes: n2, until: 2026-03-09 }]\n"
        "  - name: bio\n    accounts: [bio]\n    nodes: [{ nodes: n2, from: 2026-03-10, share: 50% }]\n");
  const auto loaded = config::load(folder_ / "site.yaml");
  ASSERT_TRUE(loaded) << config::format_faults(loaded.error(), "site.yaml");
  sacct::SiteNodes nodes;
  nodes["n1"].cpus = nodes["n2"].cpus = 5;
  nodes["n3"].cpus = 1;
  const Instant begin{1773043200 - 86400};  // 2026-03-08T08:00:00Z
  const auto owned = dated_owners(loaded->configuration, nodes, {"astro", "bio", "guests", "commons"}, begin,
                                  begin + Duration{4 * 86400});
  ASSERT_TRUE(owned) << owned.error().what;
  ASSERT_EQ(owned->size(), 3U);
  using Owned = std::vector<std::uint32_t>;
  EXPECT_EQ((*owned)[0].processors, (Owned{10, 0, 0, 1}));
  EXPECT_EQ((*owned)[1].at, Instant{16 * 3600});
  EXPECT_EQ((*owned)[1].processors, (Owned{5, 0, 0, 6}));
  EXPECT_EQ((*owned)[2].at, Instant{40 * 3600});
  // 2.5 and 3.5 processors: of equal remainders the first is rounded up.
  EXPECT_EQ((*owned)[2].processors, (Owned{5, 3, 0, 3}));
}

TEST_F(ReplayTest, what_cannot_be_replayed_is_said_by_name) {
  const auto fault = [&](SiteHistorySource source) {
    source.config = folder_ / "site.yaml";
    const auto read = read_site_history(source);
    return read ? "no fault" : read.error().what;
  };
  const auto trace = example();
  EXPECT_EQ(fault({.trace = trace, .since = Instant{1}, .until = Instant{2}}),
            "trace: " + trace.string() + ": no job of that time has run; give another time");
  const auto bad = write("bad", "JobIDRaw|User|Account|State|Submit|Start|End|AllocCPUS\n1|u|a|COMPLETED|x|1|2|1\n");
  EXPECT_NE(fault({.trace = bad}).find("line 2: Submit: 'x' is no time"), std::string::npos) << fault({.trace = bad});
  const SiteHistory past = history(trace);
  const auto coalitions = replay(past, {"rand"}, {});
  ASSERT_FALSE(coalitions);
  EXPECT_NE(coalitions.error().what.find("policy rand: rigid parallel jobs have no schedule"), std::string::npos);
  EXPECT_EQ(replay(past, {"nosuch"}, {}).error().code, Errc::invalid_argument);
}

TEST_F(ReplayTest, malformed_rows_are_refused_or_left_out_and_listed) {
  const std::string good = "1|u|astro|COMPLETED|1773043200|1773043200|1773046800|4|n1\n";
  const auto trace = write("some", "JobIDRaw|User|Account|State|Submit|Start|End|AllocCPUS|NodeList\n" + good +
                                       "2|u|astro|NODE_FAIL|1773043200|1773043200|Unknown|4|n2\n"   // no end
                                       "3|u|bio|COMPLETED|1773043200|1773043200|1773046800|6|n2\n"  // n2 has five
                                       "4|u|bio|COMPLETED|1773043200|1773043200|1773046800|2|n1\n"  // n1 has one left
                                       "5|u|bio|COMPLETED|1773043200|1773043200|1773046800|2|n9\n"  // no such node
                                       "6|u|bio|COMPLETED|1773043200|3600|1773046800|2|n2\n");      // of 1970
  const auto read = [&](sacct::Malformed malformed, bool oversubscribed = false) {
    return read_site_history({.config = folder_ / "site.yaml",
                              .trace = trace,
                              .nodes = folder_ / "nodes",
                              .oversubscribed = oversubscribed,
                              .malformed = malformed});
  };
  const auto refused = read(sacct::Malformed::refuse);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("line 3: End: 'Unknown' is no end"), std::string::npos) << refused.error().what;
  const auto past = read(sacct::Malformed::skip);
  ASSERT_TRUE(past) << past.error().what;
  EXPECT_EQ(past->instance.jobs.size(), 1U);
  std::string notes;
  for (const std::string& note : past->notes) notes += note + "\n";
  for (int line = 3; line <= 7; ++line)
    EXPECT_NE(notes.find("Left out: line " + std::to_string(line) + ": "), std::string::npos) << notes;
  EXPECT_EQ(read(sacct::Malformed::skip, true)->instance.jobs.size(), 2U);
}

TEST_F(ReplayTest, every_policy_of_the_books_orders_the_queue) {
  const SiteHistory past = history(example());
  const std::vector<std::string> policies{"round_robin",  "fair_share", "ut_fair_share",        "curr_fair_share",
                                          "fair_tree",    "karma",      "direct_contr",         "direct_contr_identity",
                                          "shapley_rate", "fcfs",       "shapley_rate_sampled", "shapley_rate_loo"};
  const auto replayed = replay(past, policies, {});
  ASSERT_TRUE(replayed) << replayed.error().what;
  for (const ReplayOutcome& o : replayed->outcomes) EXPECT_EQ(o.all.jobs, 5U) << o.policy;
  EXPECT_EQ(usual_policies(past).size(), 5U);
}

TEST_F(ReplayTest, a_page_has_tables_notes_and_no_foreign_markup) {
  write("site.yaml", "organizations:\n  - name: a-b\n    accounts: [astro, bio]\n    nodes: [{ nodes: 'n[1-2]' }]\n");
  SiteHistory past = history(example());
  past.notes.emplace_back("<script>");
  const auto replayed = replay(past, {"fcfs"}, {});
  ASSERT_TRUE(replayed) << replayed.error().what;
  ASSERT_TRUE(write_replay_page(folder_ / "page.html", past, *replayed));
  std::stringstream page;
  page << std::ifstream(folder_ / "page.html").rdbuf();
  const std::string text = page.str();
  EXPECT_NE(text.find(">a-b</th>"), std::string::npos);
  EXPECT_NE(text.find("<li>&lt;script&gt;</li>"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_NE(text.find("Mean bounded slowdown"), std::string::npos);
  const Json json = replay_json(past, *replayed);
  EXPECT_EQ(json["outcomes"][1]["organizations"][0]["jobs"], 5);
}

class ReplayLedger : public ledger::testing::LedgerTest {};

TEST_F(ReplayLedger, runs_of_a_ledger_keep_their_organizations) {
  using namespace accounting;
  const auto config = file().parent_path() / "site.yaml";
  std::ofstream(config) << "guarantee: 0.25\norganizations:\n  - name: physics\n    "
                           "accounts: [x]\n    nodes: [{ nodes: n1 }]\n";
  {
    auto ledger = ledger::testing::writer(file());
    const SegmentKey key{SegmentKind::run, {7}, {1000}, 0};
    JobDescribed described;
    described.job = {7};
    described.submit = {900};
    described.organization = "physics";
    const std::vector<Event> events{
        OrganizationsDeclared{{100}, {"physics"}},
        CapacityChanged{.node = "n1", .at = {100}, .processors = {4 * k_micro}, .whole = {4 * k_micro}, .cpus = 4},
        described, SegmentOpened{key, "physics", {1000}, {2 * k_micro}, {{"n1", {2 * k_micro}}}},
        SegmentClosed{key, {1100}, CloseReason::ended, "COMPLETED"}};
    ASSERT_TRUE(ledger.append(events, {1200}));
  }
  const auto past = read_site_history({.config = config, .trace = file()});
  ASSERT_TRUE(past) << past.error().what;
  EXPECT_EQ(past->rule, (game::ServingRule{{}, {250'000}, {}, {375'000}}));
  EXPECT_EQ(past->organizations, (std::vector<std::string>{"physics"}));
  EXPECT_EQ(past->instance.endowments.front().processors, (std::vector<std::uint32_t>{4}));
  ASSERT_EQ(past->instance.jobs.size(), 1U);
  EXPECT_EQ(past->instance.jobs[0].duration, Duration{100});
  EXPECT_EQ(past->instance.jobs[0].processors, 2U);
  EXPECT_EQ(past->recorded.start[0], 100);
}

}  // namespace
}  // namespace shapley::sim
