// A statement's figures against sums that go second by second, against status --at, and against the auditor's own
// books.
#include "ctl/commands/statement.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/environment.hpp"
#include "ctl/offline.hpp"
#include "interval_fixture.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/archive/archive.hpp"
#include "ledger/audit/naive_books.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "ledger/store/backup.hpp"
#include "named_row.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::month_begin;
using ledger::testing::must;
using nlohmann::json;

// "12.5" in millionths.
Int128 micro_of(const json& text) {
  const std::string exact = text.get<std::string>();
  const std::size_t point = exact.find('.');
  std::string digits = exact.substr(0, point);
  std::string fraction = point == std::string::npos ? "" : exact.substr(point + 1);
  fraction.resize(6, '0');
  return *parse_int128(digits == "0" || digits == "-0"
                           ? (digits[0] == '-' ? "-" : "") + std::to_string(std::stol(fraction))
                           : digits + fraction);
}

class Statement : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }
  [[nodiscard]] json of(Instant since, Instant until, std::vector<std::string> only = {}) const {
    return json_of(must(answers::answer(
        ledger::StatementRequest{.of = {.since = since, .until = until, .organizations = std::move(only)}},
        {.path = file()})));
  }
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), "statement --ledger " + file().string() + " " + arguments);
  }
  ledger::testing::TemporaryDirectory directory;
};

// Half processors, second by second.
using Uses = std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, std::int64_t>;
Uses second_by_second(std::int64_t since, std::int64_t until) {
  Uses uses;
  for (std::int64_t second = since; second < until; ++second) {
    for (const NaiveRun& run : site_runs()) {
      const bool open = run.end < run.begin;
      if (second < run.begin || (!open && second >= run.end)) continue;
      for (const auto& [node, processors] : run.nodes) {
        for (const auto& [owner, halves] : halves_of(node, second)) {
          uses[{run.organization, owner, run.account, run.user_id}] += processors * halves;
        }
      }
    }
  }
  return uses;
}

std::string halves(std::int64_t amount) {
  return format_micro(Int128{amount} * (k_micro / 2));
}

TEST_F(Statement, is_the_sum_over_every_second) {
  write_site(file(), Period::none);
  const json report = of(at_second(-400), at_second(1'500));
  EXPECT_TRUE(report["exact"]);
  const Uses uses = second_by_second(-400, 1'500);
  const auto sum = [&](auto&& belongs) {
    std::int64_t total = 0;
    for (const auto& [key, amount] : uses) total += belongs(key) ? amount : 0;
    return halves(total);
  };
  for (const std::string name : {"astro", "bio", "guests", "commons"}) {
    const json& row = named(report["organizations"], name);
    const auto user = [&](const auto& key) { return std::get<0>(key) == name; };
    const auto owner = [&](const auto& key) { return std::get<1>(key) == name; };
    const auto both = [&](const auto& key) { return user(key) && owner(key); };
    EXPECT_EQ(row["got"]["processor_seconds"], sum(user)) << name;
    EXPECT_EQ(row["given"]["processor_seconds"], sum(owner)) << name;
    EXPECT_EQ(row["own"]["processor_seconds"], sum(both)) << name;
    EXPECT_EQ(row["lent"]["processor_seconds"], sum([&](const auto& k) { return owner(k) && !user(k); })) << name;
    EXPECT_EQ(row["borrowed"]["processor_seconds"], sum([&](const auto& k) { return user(k) && !owner(k); })) << name;
    for (const json& pair : row["lent_to"]) {
      const auto to = [&](const auto& key) { return owner(key) && std::get<0>(key) == pair["organization"]; };
      EXPECT_EQ(pair["processor_seconds"], sum(to)) << name;
    }
    for (const json& person : row["users"]) {
      const auto of_user = [&](const auto& key) {
        return user(key) && std::get<2>(key) == person["account"] && std::get<3>(key) == person["user_id"];
      };
      EXPECT_EQ(person["got"]["processor_seconds"], sum(of_user)) << person;
      EXPECT_EQ(person["own"]["processor_seconds"], sum([&](const auto& k) { return of_user(k) && owner(k); }))
          << person;
    }
  }
  EXPECT_EQ(named(report["organizations"], "astro")["users"].size(), 2U);
  EXPECT_EQ(named(report["organizations"], "bio")["lent_to"].size(), 2U);
  EXPECT_EQ(named(report["organizations"], "bio")["waited"]["processor_seconds"], "1200");
}

// Each runs an hour on its neighbour's node.
TEST_F(Statement, of_a_thousand_organizations_has_each_of_them_in_each_form) {
  constexpr int k_organizations = 1000;
  constexpr std::int64_t k_begin = 1'795'000'000;  // 2026-11-18T11:06:40Z
  const auto name = [](int i) { return "institute" + std::to_string(1000 + i % k_organizations); };
  std::vector<accounting::Event> events;
  for (int i = 0; i < k_organizations; ++i) {
    const std::string node = "n" + std::to_string(i);
    events.emplace_back(accounting::OwnershipStated{
        node, Instant{k_begin}, {{k_beginning_of_time, {{name(i), accounting::k_whole_node}}}}});
    events.emplace_back(accounting::CapacityChanged{node, Instant{k_begin}, 0, {4 * k_micro}});
    const auto run = ledger::testing::opened(static_cast<std::uint32_t>(i + 1), k_begin + 100, name(i + 1), 2, node);
    events.emplace_back(run);
    events.emplace_back(ledger::testing::closed(run, k_begin + 3700));
  }
  must(ledger::testing::writer(file()).append(events, Instant{k_begin + 4000}));
  const std::string month = "--month 2026-11";
  const json report = json::parse(ends(ExitCode::success, run(month + " --json")).out);
  int counted = 0;
  for (const json& row : report["organizations"]) {
    if (!row["name"].get<std::string>().starts_with("institute")) continue;
    ++counted;
    for (const char* amount : {"got", "given", "lent", "borrowed"}) EXPECT_EQ(row[amount]["processor_seconds"], "7200");
    EXPECT_EQ(row["lent_to"].size(), 1U);
  }
  EXPECT_EQ(counted, k_organizations);
  const std::string text = ends(ExitCode::success, run(month)).out;
  const std::string csv = ends(ExitCode::success, run(month + " --csv")).out;
  for (int i = 0; i < k_organizations; ++i) {
    EXPECT_PRED2(contains, text, '\n' + name(i) + "   0.00     2.00     2.00 ");
    EXPECT_PRED2(contains, csv, name(i) + ",lent_to,direct_contr," + name(i + 1) + ",,,2,7200,");
  }
}

// The last record is of the instant at which a month begins, and an amount was settled then: it is in one statement.
TEST_F(Statement, has_what_was_settled_at_the_instant_at_which_all_ends) {
  using namespace accounting;
  fs::remove(file());
  const auto settle = [this](Instant at) {
    auto ledger = ledger::testing::writer(file());
    must(ledger.append(std::vector<Event>{OrganizationsDeclared{at_second(-1'000), {"astro", "bio"}},
                                          PeriodDeclared{at_second(-1'000), Period::monthly}},
                       at));
    const ledger::Recovered books = must(ledger.recover());
    const ledger::SettlementAsked asked{"astro", "bio", CpuTime{Int128{7'200} * k_micro}, at};
    const auto plan = must(ledger::plan_adjustment(ledger, books.state, {asked, "uid 0", "paid"}, at));
    must(ledger.append(plan.events(), at));
  };
  settle(k_november);
  const json report = json::parse(run("-S 2026-10-31 --json").out);
  ASSERT_EQ(report["periods"].size(), 2U) << report.dump(1);
  EXPECT_EQ(named(report["organizations"], "bio")["settled"]["processor_seconds"], "-7200");
  EXPECT_EQ(named(report["periods"][0]["organizations"], "bio")["settled"]["processor_seconds"], "0");
  EXPECT_EQ(named(report["periods"][1]["organizations"], "bio")["settled"]["processor_seconds"], "-7200");
  EXPECT_TRUE(report["exact"]);
  // Where more is asked for than is recorded, and known to be empty, it is of the time that begins there.
  const auto got_at = [this](std::optional<Instant> known_until) {
    const auto status =
        must(answers::answer(ledger::StatusAtRequest{k_november, {}}, {.path = file(), .known_until = known_until}));
    return status.find("bio")->got;
  };
  EXPECT_EQ(got_at(std::nullopt), CpuTime{Int128{7'200} * k_micro});
  EXPECT_EQ(got_at(at_second(100)), CpuTime{});
}

TEST_F(Statement, has_what_was_settled_in_a_column_of_its_own) {
  write_site(file(), Period::none);
  const json before = of(at_second(-400), at_second(1'500));
  EXPECT_PRED2(lacks, run("--month 2026-11").out, "Settled");
  {
    auto ledger = ledger::testing::writer(file());
    const ledger::Recovered books = must(ledger.recover());
    const ledger::SettlementAsked asked{"astro", "bio", CpuTime{Int128{7'200} * k_micro}, at_second(600)};
    const auto plan = must(ledger::plan_adjustment(ledger, books.state, {asked, "uid 0", "paid"}, at_second(2'000)));
    must(ledger.append(plan.events(), at_second(2'000)));
  }
  const json report = of(at_second(-400), at_second(1'500));
  EXPECT_TRUE(report["exact"]);
  EXPECT_EQ(report["adjustments"].size(), 1U);
  for (const std::string name : {"astro", "bio", "guests", "commons"}) {
    const json& row = named(report["organizations"], name);
    for (const char* same : {"got", "given", "own", "lent", "borrowed"})
      EXPECT_EQ(row[same], named(before["organizations"], name)[same]) << name << ' ' << same;
    EXPECT_EQ(row["settled"]["processor_seconds"], name == "astro" ? "7200" : name == "bio" ? "-7200" : "0");
    const json& period = named(report["periods"][0]["organizations"], name);
    const auto amount = [](const json& of) { return micro_of(of["processor_seconds"]); };
    EXPECT_EQ(amount(period["opening"]["difference"]) + amount(period["given"]) - amount(period["got"]) +
                  amount(period["settled"]),
              amount(period["closing"]["difference"]))
        << name;
  }
  const std::string text = run("--month 2026-11").out;
  EXPECT_PRED2(contains, text, "Settled");
  EXPECT_PRED2(contains, text, "Before + Given - Got + Settled = After");
  EXPECT_PRED2(contains, text, "2 core-hours given by astro to bio as of ");
  EXPECT_PRED2(contains, run("--month 2026-11 --csv").out, ",astro,settled,");
}

// [since, until): what happens at a month's first instant is that month's, whatever it is.
TEST_F(Statement, holds_its_first_instant_and_not_its_end) {
  for (const Period period : {Period::none, Period::monthly}) {
    fs::remove(file());
    write_site(file(), period);
    {
      auto ledger = ledger::testing::writer(file());
      const ledger::Recovered books = must(ledger.recover());
      const ledger::SettlementAsked asked{"astro", "bio", CpuTime{Int128{7'200} * k_micro}, k_november};
      const auto plan = must(ledger::plan_adjustment(ledger, books.state, {asked, "uid 0", "paid"}, at_second(2'000)));
      must(ledger.append(plan.events(), at_second(2'000)));
      must(ledger.append(std::array{accounting::Event(accounting::OrganizationsDeclared{at_second(3'000), {"astro"}})},
                         at_second(3'000)));
    }
    const auto difference = [](const json& report, const char* part) {
      return named(report["periods"][0]["organizations"], "bio")[part]["difference"]["processor_seconds"];
    };
    const auto settled = [](const json& report) {
      return named(report["organizations"], "bio")["settled"]["processor_seconds"];
    };
    const json october = of(at_second(-1'000), k_november);
    const json november = of(k_november, at_second(2'000));
    EXPECT_EQ(settled(october), "0");
    EXPECT_EQ(settled(november), "-7200");
    EXPECT_TRUE(november["exact"]);
    if (period == Period::none) EXPECT_EQ(difference(october, "closing"), difference(november, "opening"));
    if (period == Period::monthly) EXPECT_EQ(difference(november, "opening"), "0");
    EXPECT_EQ(november["adjustments"].at(0)["later"], true);
    EXPECT_EQ(of(at_second(2'000), at_second(3'000))["adjustments"].at(0)["later"], false);
  }
}

TEST_F(Statement, a_period_that_begins_within_it_restarts_the_standing) {
  write_site(file());
  const json report = of(at_second(-400), at_second(1'500));
  ASSERT_EQ(report["periods"].size(), 2U);
  const json& october = report["periods"][0];
  const json& november = report["periods"][1];
  EXPECT_TRUE(october["closes_period"]);
  EXPECT_FALSE(october["opens_period"]);
  EXPECT_TRUE(november["opens_period"]);
  EXPECT_EQ(november["begin"], k_november.value);
  EXPECT_EQ(november["period_begin"], k_november.value);
  const auto part = [&](std::int64_t since, std::int64_t until, bool user) {
    std::int64_t total = 0;
    for (const auto& [key, amount] : second_by_second(since, until)) {
      total += (user ? std::get<0>(key) : std::get<1>(key)) == "bio" ? amount : 0;
    }
    return halves(total);
  };
  EXPECT_EQ(named(october["organizations"], "bio")["got"]["processor_seconds"], part(-400, 0, true));
  EXPECT_EQ(named(november["organizations"], "bio")["got"]["processor_seconds"], part(0, 1'500, true));
  EXPECT_EQ(named(november["organizations"], "bio")["given"]["processor_seconds"], part(0, 1'500, false));
  for (const json& row : november["organizations"]) {
    EXPECT_EQ(row["opening"]["phi_minus_psi"], "0");
    EXPECT_EQ(row["opening"]["standing_core_hours"], 0.0);
    EXPECT_EQ(row["opening"]["difference"]["processor_seconds"], "0");
  }
  // What October ended with, a second before status shows November.
  const json before = json_of(must(answers::answer(ledger::StatusAtRequest{.at = at_second(-1)}, {.path = file()})));
  const json& bio = named(october["organizations"], "bio");
  EXPECT_NEAR(bio["closing"]["standing_core_hours"].get<double>(),
              named(before["organizations"], "bio")["standing_core_hours"].get<double>(), 0.01);
  EXPECT_NE(bio["closing"]["phi_minus_psi"], "0");
}

TEST_F(Statement, says_where_the_ledger_ends) {
  write_site(file());
  const json report = of(k_november, at_second(30 * k_day_s));
  EXPECT_EQ(report["until"], at_second(2'000).value);
  EXPECT_EQ(report["recorded_until"], at_second(2'000).value);
  EXPECT_EQ(of(k_november, at_second(1'900))["recorded_until"], nullptr);
  const auto later = answers::answer(
      ledger::StatementRequest{.of = {.since = at_second(2'000), .until = at_second(9'000)}}, {.path = file()});
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Errc::invalid_argument);
  EXPECT_PRED2(contains, later.error().what, "recorded something last at 2026-11-01T00:33:20Z");
}

TEST_F(Statement, of_the_program) {
  write_site(file());
  const Outcome text = ends(ExitCode::success, run("--month 2026-11"));
  EXPECT_PRED2(contains, text.out, "(which begins here: before it every standing is zero)");
  EXPECT_PRED2(contains, text.out, "Not all of that time: the ledger recorded something last at 2026-11-01T00:33:20Z.");
  EXPECT_PRED2(contains, text.out, "Books:   exact: ");
  EXPECT_PRED2(contains, text.out, "What cooperation was worth since 2026-11-01T00:00:00Z, utility in core-hours");
  EXPECT_PRED2(contains, text.out, " than it would have got alone: ");
  EXPECT_PRED2(contains, text.out, "Limits:  Alone is by virtual schedules");
  EXPECT_PRED2(contains, text.out, "months and days in UTC");
  const Outcome one = run("--month 2026-11 --pairs -O bio");
  EXPECT_PRED2(lacks, one.out, "astro owes");
  EXPECT_PRED2(contains, one.out, "astro   bio");
  EXPECT_PRED2(lacks, text.out, "Lent by") << "pairs are shown where they are asked for";
  const Outcome csv = run("--month 2026-11 --csv -O bio");
  EXPECT_TRUE(csv.out.starts_with(
      "begin_utc,end_utc,organization,item,contribution,other,account,user,core_hours,exact,unit\n"))
      << csv.out;
  EXPECT_PRED2(contains, csv.out, ",bio,psi,direct_contr,,,,");
  EXPECT_PRED2(contains, csv.out, ",bio,alone,direct_contr,,,,");
  EXPECT_PRED2(contains, csv.out, ",astro,pair_alone,direct_contr,bio,,,");
  EXPECT_PRED2(contains, csv.out, ",bio,lent_to,direct_contr,astro,,,");
  EXPECT_PRED2(contains, csv.out, ",bio,user_own,direct_contr,,bio_lab,uid 4000003,");
  ends(ExitCode::usage, run("--month 2026-11 -O nosuch"));
  ends(ExitCode::usage, run("--month 2026-13"));
  ends(ExitCode::usage, run("--month 2030-01"));
  ends(ExitCode::usage, run("--month 2026-11 --csv --json"));
  const json report = json::parse(run("--json --contribution hindsight").out);
  EXPECT_EQ(report["contribution"], "hindsight");
  EXPECT_EQ(report["since"], k_november.value);
}

TEST_F(Statement, says_if_ranks_were_by_an_estimator_that_there_is_no_more) {
  write_site(file());
  EXPECT_FALSE(of(k_november, at_second(1'900)).contains("former_contribution"));
  EXPECT_PRED2(lacks, run("--month 2026-11").out, "Ranks were by");
  const std::string former(accounting::former_estimators().front().name);
  {
    ledger::Ledger ledger = must(ledger::Ledger::open(file(), ledger::OpenMode::create_or_write));
    const std::vector<accounting::Event> events{
        accounting::RankingDeclared{.at = k_november, .contribution = former, .exceptions = {}}};
    must(ledger.append(events, at_second(2'000)));
  }
  const json report = of(k_november, at_second(1'900));
  EXPECT_EQ(report["former_contribution"], former);
  EXPECT_EQ(report["contribution"], "direct_contr");
  EXPECT_PRED2(contains, run("--month 2026-11").out,
               "Ranks were by " + former + ", which this version does not compute.\n");
}

// The daemon shows one sum of the rows that are private to the asker.
// This host has a name for user 0.
TEST_F(Statement, names_users_by_the_ledger_only) {
  AccountReport report;
  report.organizations.push_back({.name = "a", .users = {{.user_id = 0}, {.user_id = 7, .user = "ada"}, {}}});
  name_users(report);
  const auto& users = report.organizations[0].users;
  EXPECT_EQ(users[0].user, "uid 0");
  EXPECT_EQ(users[1].user, "ada");
  EXPECT_EQ(users[2].user, "(others)");
}

TEST_F(Statement, others_are_one_row) {
  write_site(file());
  json report = of(k_november, k_november + Duration{1200});
  report["private"] = true;
  for (json& row : report["organizations"]) {
    for (json& user : row["users"]) {
      user["account"] = nullptr;
      user["user"] = "(others)";
    }
  }
  EXPECT_PRED2(contains, render_statement(must(from_json<ledger::AccountReport>(report))),
               "What others used is private here");
  EXPECT_PRED2(contains, render_statement(must(from_json<ledger::AccountReport>(report))), "(others)");
  EXPECT_PRED2(contains, csv_text(exact_statement(must(from_json<ledger::AccountReport>(report)))),
               ",user_own,direct_contr,,,(others),");
}

// A job that would have run and ended before the month's end on its organization's own nodes, and waited for 18 hours:
// that it takes five hours is known after the month's end.
void append_late_start(std::vector<ledger::testing::Told>& told, std::uint32_t job, Instant month_end) {
  using namespace accounting;
  constexpr std::int64_t k_hour_s = 3600;
  const Instant submit = month_end - Duration{20 * k_hour_s};
  const Instant start = month_end - Duration{2 * k_hour_s};
  const Instant end = month_end + Duration{3 * k_hour_s};
  SegmentOpened wait = ledger::testing::opened(job, submit.value, "biology", 2, "n2");
  wait.key.kind = SegmentKind::wait;
  wait.nodes.clear();
  SegmentOpened run = ledger::testing::opened(job, start.value, "biology", 2, "n2");
  run.released = submit;
  told.push_back({submit, wait});
  told.push_back({start, SegmentClosed{wait.key, start, CloseReason::started, "RUNNING"}});
  told.push_back({start, run});
  told.push_back({end, SegmentClosed{run.key, end, CloseReason::ended, "COMPLETED"}});
}

// The months that archive_test has: shared nodes, suspensions, retracted runs, owners that change.
class MonthsOfStatements : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made = std::make_unique<ledger::testing::TemporaryDirectory>();
    std::vector<ledger::testing::Told> late;
    for (const int month : {0, 1, 2})
      append_late_start(late, 90'001 + static_cast<std::uint32_t>(month), month_begin(month + 1));
    ledger::testing::write_months(made->path() / "ledger.db", 4, 30, late);
  }
  static void TearDownTestSuite() { made.reset(); }
  [[nodiscard]] static fs::path file() { return made->path() / "ledger.db"; }
  static inline std::unique_ptr<ledger::testing::TemporaryDirectory> made;
};

TEST_F(MonthsOfStatements, agree_with_status_before_and_after) {
  const Instant since = month_begin(1) + Duration{3 * k_day_s + 7'777};
  const Instant until = month_begin(1) + Duration{20 * k_day_s + 1'234};
  const json report = json_of(
      must(answers::answer(ledger::StatementRequest{.of = {.since = since, .until = until}}, {.path = file()})));
  EXPECT_TRUE(report["exact"]);
  ASSERT_EQ(report["periods"].size(), 1U);
  for (const auto& [when, side] : {std::pair{since, "opening"}, std::pair{until, "closing"}}) {
    const json status = json_of(must(answers::answer(ledger::StatusAtRequest{.at = when}, {.path = file()})));
    for (const json& row : report["periods"][0]["organizations"]) {
      const json& then = named(status["organizations"], row["name"].get<std::string>());
      EXPECT_EQ(row[side]["standing_core_hours"], then["standing_core_hours"]) << row["name"];
      EXPECT_EQ(micro_of(row[side]["phi_minus_psi"]), micro_of(then["phi"]) - micro_of(then["psi"])) << row["name"];
      EXPECT_EQ(micro_of(row[side]["difference"]["processor_seconds"]),
                micro_of(then["given_processor_seconds"]) - micro_of(then["got_processor_seconds"]))
          << row["name"];
    }
  }
  for (const json& row : report["periods"][0]["organizations"]) {
    EXPECT_EQ(micro_of(row["opening"]["difference"]["processor_seconds"]) +
                  micro_of(row["given"]["processor_seconds"]) - micro_of(row["got"]["processor_seconds"]),
              micro_of(row["closing"]["difference"]["processor_seconds"]))
        << row["name"];
  }
}

TEST_F(MonthsOfStatements, say_what_cooperation_was_worth_as_status_does) {
  const Instant since = month_begin(1) + Duration{3 * k_day_s + 7'777};
  const Instant until = month_begin(1) + Duration{20 * k_day_s + 1'234};
  const json report = json_of(
      must(answers::answer(ledger::StatementRequest{.of = {.since = since, .until = until}}, {.path = file()})));
  const json status =
      json_of(must(answers::answer(ledger::StatusAtRequest{.at = until, .of = {.worth = true}}, {.path = file()})));
  ASSERT_EQ(report["periods"].size(), 1U);
  EXPECT_EQ(report["periods"][0]["worth"], status["worth"]);
  ASSERT_FALSE(status["worth"].is_null());
  EXPECT_GE(status["worth"]["organizations"].size(), 2U);
  const std::string name = status["worth"]["organizations"][0]["name"];
  const json one = json_of(must(answers::answer(
      ledger::StatementRequest{.of = {.since = since, .until = until, .organizations = {name}}}, {.path = file()})));
  ASSERT_EQ(one["periods"][0]["worth"]["organizations"].size(), 1U);
  EXPECT_EQ(one["periods"][0]["worth"]["organizations"][0], status["worth"]["organizations"][0]);
}

// By hindsight what a closed month comes to is corrected while runs of it go on. The books as shapleyd would have them
// today know that; the statement says it when it is asked to.
TEST_F(MonthsOfStatements, say_what_is_known_now_of_a_closed_month) {
  accounting::State books;  // that forget nothing
  must(ledger::testing::reader(file()).for_each_event(0, [&](const ledger::StoredEvent& stored) -> Expected<void> {
    must(books.apply(stored.event));
    return {};
  }));
  books.advance(must(ledger::last_recorded(ledger::testing::reader(file()))));
  const std::vector<accounting::ClosedPeriod> closed = books.closed_periods();
  std::size_t corrected = 0;
  std::size_t corrected_worths = 0;
  for (int month = 0; month < 3; ++month) {
    for (const char* name : {"hindsight", "direct_contr"}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(month));
      const accounting::EstimatorId estimator = *accounting::parse_estimator(name);
      ledger::StatementRequest asked{.of = {.since = month == 0 ? Instant{0} : month_begin(month),
                                            .until = month_begin(month + 1),
                                            .contribution = name}};
      const json then = json_of(must(answers::answer(asked, {.path = file()})));
      asked.as_of = ledger::AsOf::now;
      const json now = json_of(must(answers::answer(asked, {.path = file()})));
      EXPECT_EQ(then["as_of"], nullptr);
      EXPECT_TRUE(now["exact"]);
      ASSERT_EQ(now["periods"].size(), 1U);
      for (const accounting::Standing& row : closed[static_cast<std::size_t>(month)].standings) {
        const std::string& organization = books.organizations()[row.organization.value];
        const json& ours = named(now["periods"][0]["organizations"], organization);
        EXPECT_EQ(ours["closing"]["phi_minus_psi"], format_micro(row.balance(estimator).value)) << organization;
        EXPECT_EQ(ours["given"]["processor_seconds"], format_micro(row.given(estimator).value)) << organization;
        EXPECT_EQ(named(now["organizations"], organization)["given"], ours["given"]) << organization;
        const json& before = named(then["periods"][0]["organizations"], organization);
        corrected += before["closing"] == ours["closing"] ? 0 : 1;
        EXPECT_TRUE(before == ours || std::string(name) == "hindsight") << organization;
      }
      const json worth = json_of(ledger::worth_report(books, books.closed_worth(static_cast<std::size_t>(month))));
      ASSERT_FALSE(worth.is_null());
      EXPECT_EQ(now["periods"][0]["worth"], worth);
      corrected_worths += then["periods"][0]["worth"] == worth ? 0 : 1;
    }
  }
  EXPECT_GT(corrected, 0U) << "nothing was learned after a month's end";
  EXPECT_GT(corrected_worths, 0U);
}

TEST_F(MonthsOfStatements, know_now_of_whole_closed_periods_and_of_the_present_one) {
  const auto run = [&](const std::string& arguments) {
    return run_shapleyctl(made->path(), "statement --as-of now --ledger " + file().string() + " " + arguments);
  };
  const Outcome month = ends(ExitCode::success, run("--month 2026-11 --contribution hindsight"));
  EXPECT_PRED2(contains, month.out, "\nClosed periods by what was known at 2027-01-");
  ends(ExitCode::success, run("-S 2026-11-01 -E 2027-01-01"));
  EXPECT_EQ(run("-S 2026-12-01").exit_code, code(ExitCode::success)) << "up to the present";
  for (const char* within : {"-S 2026-11-03 -E 2026-12-01", "-S 2026-11-01 -E 2026-11-20", "-S 2026-11-03"}) {
    const Outcome refused = ends(ExitCode::usage, run(within));
    EXPECT_PRED2(contains, refused.err, "is kept of whole closed periods only, and at 2026-11-");
  }
  ends(ExitCode::usage, run("--month 2026-11 --as-of tomorrow"));
}

TEST_F(MonthsOfStatements, agree_with_the_auditors_own_books) {
  ledger::Facts facts;
  must(ledger::testing::reader(file()).for_each_event(0, [&](const ledger::StoredEvent& stored) {
    facts.add(stored.event);
    return Expected<void>{};
  }));
  std::erase_if(facts.segments, [](const auto& segment) { return segment.second.retracted.has_value(); });
  const ledger::NaiveBooks naive(facts);
  for (int month = 0; month < 3; ++month) {
    const Instant begin = month_begin(month);
    const Instant end = month_begin(month + 1);
    const json report = json_of(
        must(answers::answer(ledger::StatementRequest{.of = {.since = begin, .until = end}}, {.path = file()})));
    EXPECT_TRUE(report["exact"]);
    for (const auto& [name, row] : naive.of_period({begin, end, end})) {
      const json& ours = named(report["organizations"], name);
      EXPECT_EQ(ours["got"]["processor_seconds"], format_micro(row.got.value)) << name << " in " << month;
      EXPECT_EQ(ours["given"]["processor_seconds"], format_micro(row.by_owner.given.value)) << name << " in " << month;
      const json& closing = named(report["periods"].back()["organizations"], name)["closing"];
      EXPECT_EQ(closing["phi_minus_psi"], format_micro(row.by_owner.phi.value - row.psi.value)) << name << " " << month;
    }
    // What cooperation was worth in a month that is over is of all of it.
    const json& worth = report["periods"].back()["worth"];
    EXPECT_EQ(worth["end"], end.value);
    for (const json& row : worth["organizations"]) {
      const auto expected = naive.of_period({begin, end, end}).at(row["name"].get<std::string>());
      EXPECT_EQ(row["psi"], format_micro(expected.psi.value)) << row["name"] << " in " << month;
      EXPECT_EQ(row["got_processor_seconds"], format_micro(expected.got.value)) << row["name"] << " in " << month;
    }
  }
}

TEST_F(MonthsOfStatements, are_the_same_from_archives) {
  const fs::path twin = made->path() / "twin.db";
  ledger::BackupResult restored;
  must(ledger::restore(file(), twin, Instant{1'900'000'000}, restored));
  ASSERT_EQ(run_shapleyctl(made->path(), "archive " + twin.string()).exit_code, code(ExitCode::success));
  ASSERT_TRUE(fs::exists(made->path() / "archives"));
  for (int month = 0; month < 3; ++month) {
    const ledger::StatementRequest asked{.of = {.since = month_begin(month), .until = month_begin(month + 1)}};
    EXPECT_EQ(json_of(must(answers::answer(asked, {.path = file()}))),
              json_of(must(answers::answer(asked, {.path = twin}))))
        << month;
  }
  fs::remove_all(made->path() / "archives");
  const auto missing = answers::answer(
      ledger::StatementRequest{.of = {.since = month_begin(0), .until = month_begin(1)}}, {.path = twin});
  ASSERT_FALSE(missing);
  EXPECT_PRED2(contains, missing.error().what, "--archives DIRECTORY");
}

}  // namespace
}  // namespace shapley::ctl
