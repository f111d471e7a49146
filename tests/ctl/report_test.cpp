#include "ledger/reports/report.hpp"

#include <cctype>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/estimators/table.hpp"
#include "accounting/state/state.hpp"
#include "ctl/commands/status.hpp"
#include "scripted_books.hpp"
#include "tests/support/text.hpp"

namespace shapley::ledger {
namespace {

using accounting::EstimatorId;
using ctl::example_events;
using ctl::k_example_begin;
using nlohmann::json;

accounting::State example_state(Instant upto) {
  accounting::State state;
  for (const accounting::Event& event : example_events()) {
    if (accounting::time_of(event) > upto) continue;
    const auto applied = state.apply(event);
    EXPECT_TRUE(applied) << applied.error().what;
  }
  return state;
}

json report_at(std::int64_t second, EstimatorId estimator = accounting::k_default_estimator) {
  const Instant at = k_example_begin + Duration{second};
  accounting::State state = example_state(at);
  return json_of(status_report(state, at, estimator));
}

json row_of(const json& report, const std::string& name) {
  for (const json& row : report["organizations"]) {
    if (row["name"] == name) return row;
  }
  return nullptr;
}

// The table of docs/equations.md, worked by hand.
TEST(StatusReport, TheExampleOfTheConceptsPage) {
  struct Line {
    std::int64_t t;
    const char *psi_a, *phi_a, *psi_b, *phi_b;
    double standing_b_processor_seconds;
  };
  for (const Line& line :
       {Line{10, "110", "55", "0", "55", 5.5}, Line{20, "310", "155", "0", "155", 7.75},
        Line{30, "510", "310", "110", "310", 200.0 / 30}, Line{40, "710", "510", "310", "510", 5.0}}) {
    const json report = report_at(line.t);
    const json a = row_of(report, "A");
    const json b = row_of(report, "B");
    EXPECT_EQ(a["psi"], line.psi_a) << line.t;
    EXPECT_EQ(a["phi"], line.phi_a) << line.t;
    EXPECT_EQ(b["psi"], line.psi_b) << line.t;
    EXPECT_EQ(b["phi"], line.phi_b) << line.t;
    EXPECT_NEAR(b["standing_core_hours"].get<double>() * 3600, line.standing_b_processor_seconds, 1e-9) << line.t;
    EXPECT_NEAR(a["standing_core_hours"].get<double>() * 3600, -line.standing_b_processor_seconds, 1e-9) << line.t;
    EXPECT_TRUE(report["conservation"]["holds"].get<bool>()) << report["conservation"].dump();
  }
}

// A alone would have done half of it in that time, B nothing: 55 + 55/2 and 55/2 (docs/equations.md).
TEST(StatusReport, HindsightOfTheExample) {
  const json report = report_at(10, accounting::parse_estimator("hindsight").value());
  EXPECT_EQ(row_of(report, "A")["phi"], "82.5");
  EXPECT_EQ(row_of(report, "B")["phi"], "27.5");
  EXPECT_EQ(row_of(report, "B")["given_processor_seconds"], "5");
  EXPECT_EQ(row_of(report, "B")["phi_direct"], "55");
  EXPECT_EQ(report["contribution"], "hindsight");
}

TEST(StatusReport, SaysIfRanksWereByAnEstimatorThatThereIsNoMore) {
  for (const accounting::FormerEstimator& former : accounting::former_estimators()) {
    accounting::State state = example_state(k_example_begin + Duration{10});
    EXPECT_TRUE(state.apply(accounting::RankingDeclared{
        .at = k_example_begin + Duration{10}, .contribution = std::string(former.name), .exceptions = {}}));
    const json report = json_of(status_report(state, k_example_begin + Duration{10}, accounting::k_default_estimator));
    EXPECT_EQ(report["ranked_by"], "direct_contr");
    EXPECT_EQ(report["ranking"]["sentences"][0],
              std::string(former.name) + " is not kept here; these are by direct_contr");
    EXPECT_EQ(row_of(report, "B")["phi"], "55");
  }
}

TEST(StatusReport, HasTheDocumentedMembersAndTypes) {
  const json report = report_at(40);
  EXPECT_EQ(report["report_version"], k_report_version);
  EXPECT_EQ(report["at"], k_example_begin.value + 40);
  EXPECT_EQ(report["at_utc"], "2026-11-18T11:07:20Z");
  EXPECT_EQ(report["period"]["name"], "none");
  EXPECT_EQ(report["period"]["begin"], k_example_begin.value);
  EXPECT_EQ(report["period"]["begin_utc"], "2026-11-18T11:06:40Z");
  EXPECT_EQ(report["contribution"], "direct_contr");
  EXPECT_EQ(report["conservation"]["sum_psi"], "1020");
  for (const accounting::EstimatorId id : accounting::estimator_ids())
    EXPECT_EQ(report["conservation"][accounting::figure_name("sum_phi", id)], "1020");
  ASSERT_EQ(report["organizations"].size(), 4U);
  for (const json& row : report["organizations"]) {
    for (const char* text :
         {"name", "title", "sentence", "psi", "phi", "got_processor_seconds", "given_processor_seconds"}) {
      EXPECT_TRUE(row[text].is_string()) << text;
    }
    for (const char* number : {"standing_core_hours", "got_core_hours", "given_core_hours", "gives", "owned", "used",
                               "lent", "borrowed", "waiting", "running_jobs", "waiting_jobs"}) {
      EXPECT_TRUE(row[number].is_number()) << number;
    }
    for (const accounting::EstimatorId id : accounting::estimator_ids())
      EXPECT_TRUE(row[accounting::figure_name("phi", id)].is_string()) << row;
    const bool is_commons = row["name"] == "commons";  // it runs nothing: no rank, no key
    EXPECT_EQ(row["key"].is_string(), !is_commons);
    EXPECT_EQ(row["key_core_hours"].is_number(), !is_commons);
    EXPECT_EQ(row["running_core_hours"].is_number(), !is_commons);
    EXPECT_EQ(row["lead"].is_number_integer(), !is_commons);
    EXPECT_EQ(row["lacking"].is_number_integer(), !is_commons);
    EXPECT_EQ(row["guarantee"].is_number(), !is_commons);
    EXPECT_EQ(row["below_guarantee"].is_boolean(), !is_commons);
    const std::size_t where_not_zero = row.count("idle_wanted") + row.count("down");
    EXPECT_EQ(row.size(), 27U + where_not_zero + accounting::estimator_ids().size())
        << "a new member needs a line in docs/reference/shapleyctl/status.md";
  }
}

// Each row of the table of estimators has its figures, its column and its sum.
TEST(StatusReport, IsByEveryEstimator) {
  const Instant at = k_example_begin + Duration{40};
  for (const EstimatorId id : accounting::estimator_ids()) {
    accounting::State state = example_state(at);
    StatusReport typed = status_report(state, at, id);
    const json report = json_of(typed);
    EXPECT_EQ(report["contribution"], accounting::name_of(id));
    const std::string phi = accounting::figure_name("phi", id);
    const std::string columns = ctl::render_status(typed, {.format = "organization," + phi, .parsable = true}).value();
    for (const json& row : report["organizations"]) {
      EXPECT_EQ(row["phi"], row[phi]) << row;
      EXPECT_PRED2(contains, columns, row["name"].get<std::string>() + "|" + row[phi].get<std::string>() + "\n");
    }
    std::string member(accounting::estimators()[id.value].member);
    typed.conservation.holds = false;
    typed.conservation.sum_phi[id] = Utility{6 * k_micro};
    EXPECT_PRED2(contains, ctl::render_status(typed, {}).value(), " " + member + " 6");
    member[0] = static_cast<char>(std::toupper(member[0]));
    EXPECT_PRED2(contains, ctl::render_status(typed, {.long_form = true}).value(), " Phi" + member + " ");
  }
}

TEST(StatusReport, ATitleIsTheNameUnlessTheConfigurationHasOne) {
  accounting::State state = example_state(k_example_begin + Duration{40});
  StatusReport report = status_report(state, k_example_begin + Duration{40}, accounting::k_default_estimator);
  for (const OrganizationRow& row : report.organizations) EXPECT_EQ(row.title, row.is.name);
  set_titles(report, {{"A", "Institute A"}, {"B", ""}, {"unknown", "x"}});
  for (const OrganizationRow& row : report.organizations)
    EXPECT_EQ(row.title, row.is.name == "A" ? "Institute A" : row.is.name);
}

TEST(StatusReport, RanksByStandingAndLeavesCommonsWithoutOne) {
  const json rows = report_at(40)["organizations"];
  EXPECT_EQ(rows[0]["name"], "B");
  EXPECT_EQ(rows[1]["name"], "guests");
  EXPECT_EQ(rows[2]["name"], "A");
  EXPECT_EQ(rows[3]["name"], "commons");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rows[i]["rank"], i + 1);
  EXPECT_TRUE(rows[3]["rank"].is_null());
  EXPECT_EQ(rows[0]["sentence"], "is owed 0.00139 core-hours by the others, on average this period");
  EXPECT_EQ(rows[1]["sentence"], "is even with the others");
  EXPECT_EQ(rows[2]["sentence"], "owes the others 0.00139 core-hours, on average this period");
}

// Since second 40 B runs on both processors again. At second 50 it is still owed for having been served later (145
// processor-seconds squared), but each second it gets one processor-second more than it gives: 10 by now, and so 145 -
// 10 * 3600 within an hour.
TEST(StatusReport, SaysWhoGoesBeforeOneThatIsOwedMoreByNow) {
  using namespace accounting;
  const Instant begin = k_example_begin + Duration{40};
  const Instant at = k_example_begin + Duration{50};
  State state = example_state(begin);
  const ProcessorMillionths one{k_micro};
  ASSERT_TRUE(state.apply(
      SegmentOpened{{SegmentKind::run, JobId{4}, begin, 0}, "B", begin, one + one, {{"n1", one}, {"n2", one}}}));
  EXPECT_TRUE(json_of(status_report(state, at, k_default_estimator))["ranking"]["sentences"].empty());
  EXPECT_EQ(row_of(json_of(status_report(state, at, k_default_estimator)), "B")["key"], "145");

  ASSERT_TRUE(state.apply(RankingDeclared{at, "direct_contr", 3600, 500'000, {{"A", 0}}}));
  const json report = json_of(status_report(state, at, k_default_estimator));
  EXPECT_EQ(report["ranking"]["horizon_s"], 3600);
  EXPECT_EQ(report["ranking"]["guarantee"], 0.5);
  const json b = row_of(report, "B");
  EXPECT_EQ(b["key"], "-35855");
  EXPECT_NEAR(b["key_core_hours"].get<double>(), -35855.0 / 3650 / 3600, 1e-12);
  EXPECT_EQ(b["rank"], 3);
  EXPECT_EQ(b["guarantee"], 0.5);
  EXPECT_EQ(row_of(report, "A")["rank"], 1);
  EXPECT_EQ(row_of(report, "A")["guarantee"], 0.0);
  EXPECT_EQ(report["ranking"]["sentences"],
            json::array({"B is owed 0.00081 core-hours by now, but A will be owed more within 1 hour if nothing more "
                         "starts: A is owed 0.00273 core-hours then, B owes 0.00273 core-hours"}));
}

// The same, and what runs counts: B holds two processors and gives one. With m = 20 minutes and the weight 0.1, c =
// 0.1 * 1200 * (3600 - 600) = 360,000.
TEST(StatusReport, SaysHowWhatRunsCounts) {
  using namespace accounting;
  const Instant begin = k_example_begin + Duration{40};
  State state = example_state(begin);
  const ProcessorMillionths one{k_micro};
  const SegmentKey key{SegmentKind::run, JobId{4}, begin, 0};
  ASSERT_TRUE(state.apply(SegmentOpened{key, "B", begin, one + one, {{"n1", one}, {"n2", one}}}));
  ASSERT_TRUE(state.apply(RankingDeclared{begin, "direct_contr", 3600, 500'000, {}, 100'000}));
  EXPECT_EQ(json_of(status_report(state, begin, k_default_estimator))["ranking"]["residual_assumed"], true);
  EXPECT_EQ(json_of(status_report(state, begin, k_default_estimator))["ranking"]["residual_s"], 3600);
  ASSERT_TRUE(state.apply(ResidualMeasured{begin, 1200, 20}));

  // At 40 nothing has changed yet but what runs.
  const json at_once = json_of(status_report(state, begin, k_default_estimator));
  EXPECT_EQ(
      at_once["ranking"]["sentences"],
      json::array({"B is owed 0.00002 core-hours in 1 hour if nothing runs until then, A owes 0.00002 core-hours; "
                   "but A goes before it because of what runs now: B uses 1 processor more than it gives, A gives 1 "
                   "processor more than it uses"}));
  EXPECT_EQ(row_of(at_once, "B")["key"], "-359800");
  EXPECT_EQ(row_of(at_once, "B")["lead"], 0);
  EXPECT_EQ(row_of(at_once, "A")["lead"], 1);  // 359,800 and -359,800 are 0 and -1 whole processors
  EXPECT_EQ(row_of(at_once, "A")["lacking"], 1);
  EXPECT_EQ(row_of(at_once, "A")["gives"], 1);

  const json report = json_of(status_report(state, begin + Duration{10}, k_default_estimator));
  EXPECT_EQ(report["ranking"]["running_weight"], 0.1);
  EXPECT_EQ(report["ranking"]["residual_s"], 1200);
  EXPECT_EQ(report["ranking"]["residual_assumed"], false);
  EXPECT_EQ(report["ranking"]["running_factor"], 360'000);
  EXPECT_EQ(row_of(report, "B")["key"], "-395855");
  EXPECT_NEAR(row_of(report, "B")["running_core_hours"].get<double>(), -360'000.0 / 3650 / 3600, 1e-12);
  EXPECT_EQ(row_of(report, "guests")["running_core_hours"], 0.0);
  EXPECT_EQ(report["ranking"]["sentences"],
            json::array({"B is owed 0.00081 core-hours by now, but A will be owed more within 1 hour if nothing more "
                         "starts and what runs now counts for 20 minutes more, with weight 0.1: A is owed 0.0301 "
                         "core-hours then, B owes 0.0301 core-hours"}));
}

// By a rule that brakes. Since second 40 B runs on both processors, of which it gives one, so its A is -1; of the
// second that has passed at 41, S = 199 and R = -1. m = 20: S' = 199 - 20 - 200 = -21, R' = -21, 2 U is one processor,
// and the key is -21 - 21^2.
TEST(StatusReport, SaysWhatAKeyThatBrakesIsMadeOf) {
  using namespace accounting;
  const Instant begin = k_example_begin + Duration{40};
  State state = example_state(begin);
  const ProcessorMillionths one{k_micro};
  ASSERT_TRUE(state.apply(
      SegmentOpened{{SegmentKind::run, JobId{4}, begin, 0}, "B", begin, one + one, {{"n1", one}, {"n2", one}}}));
  const json without = json_of(status_report(state, begin, k_default_estimator));
  EXPECT_FALSE(without["ranking"].contains("rule"));
  EXPECT_FALSE(row_of(without, "B").contains("braking"));
  EXPECT_FALSE(row_of(without, "B").contains("settled_in_s"));
  ASSERT_TRUE(state.apply(ResidualMeasured{begin, 20, 20}));
  RankingDeclared rule{.at = begin, .contribution = "direct_contr", .guarantee = 500'000, .exceptions = {}};
  rule.rule = KeyRule::braking;
  ASSERT_TRUE(state.apply(rule));
  const json report = json_of(status_report(state, begin + Duration{1}, k_default_estimator));
  EXPECT_EQ(report["ranking"]["rule"], "braking");
  const json b = row_of(report, "B");
  EXPECT_EQ(b["key"], "-462");
  EXPECT_EQ(b["braking"]["balance_ahead"], "-21");
  EXPECT_EQ(b["braking"]["work_ahead"], "-21");
  EXPECT_EQ(b["braking"]["residual_s"], 20);
  EXPECT_NEAR(b["braking"]["owed_core_hours"].get<double>(), -21.0 / 61 / 3600, 1e-12);
  EXPECT_NEAR(b["braking"]["stopping_core_hours"].get<double>(), -441.0 / 61 / 3600, 1e-12);
  // Without what runs: S' = 199 - 20, R' = -1.
  EXPECT_NEAR(b["running_core_hours"].get<double>(), (-462.0 - 178) / 61 / 3600, 1e-12);
  EXPECT_EQ(row_of(report, "A")["key"], "462");
  // After one processor of A's 21 - 200 + 1, after two 21 - 400 - 19^2.
  EXPECT_EQ(row_of(report, "A")["lead"], 1);
  EXPECT_EQ(report["ranking"]["sentences"],
            json::array({"B is owed 0.00081 core-hours by its key if nothing ran now, A owes 0.00081 core-hours; but A "
                         "goes before it because of what runs now: B uses 1 processor more than it gives, A gives 1 "
                         "processor more than it uses"}));
  // With U of half a processor, 21 / U + 2 sqrt(21^2 / 2 U^2 + 21 / U).
  EXPECT_EQ(b["settled_in_s"], 102);
  EXPECT_EQ(row_of(report, "A")["settled_in_s"], 102);
  EXPECT_EQ(row_of(report, "guests")["settled_in_s"], 0);
  rule.at = begin + Duration{1};
  rule.guests = Guests::last;
  ASSERT_TRUE(state.apply(rule));
  const json last = json_of(status_report(state, begin + Duration{1}, k_default_estimator));
  EXPECT_EQ(row_of(last, "B")["settled_in_s"], 102);
  EXPECT_FALSE(row_of(last, "guests").contains("settled_in_s")) << "no key serves it";
}

// A report may come from a shapleyd of another release, or from anything that answers in its place.
TEST(StatusReport, WhatMayStartBeforeIsANumberWhateverAReportSays) {
  constexpr std::int64_t k_long = std::numeric_limits<std::int64_t>::max();
  RankedRow row;
  row.braking.emplace();
  RankedRow other = row;
  for (const std::int64_t figure : {std::int64_t{0}, -k_long, k_long}) {
    for (const std::int64_t balance : {std::int64_t{0}, -k_long, k_long}) {
      other.braking = {.balance_ahead = {Int128{balance} * k_long},
                       .work_ahead = {Int128{figure} * k_long},
                       .doubled_turn = {figure},
                       .residual_s = figure};
      for (const std::int64_t cum : {std::int64_t{0}, k_long / k_micro}) {
        EXPECT_GE(startable_before(other, row, cum), 0);
        EXPECT_GE(startable_before(row, other, cum), 0);
      }
    }
  }
}

TEST(StatusReport, SaysWhoIsBelowItsGuarantee) {
  using namespace accounting;
  State state = example_state(k_example_begin + Duration{40});
  const Instant at = state.now();
  ASSERT_TRUE(state.apply(RankingDeclared{at, "direct_contr", 0, 250'000, {}}));
  // A owes, but has a job that waits while it runs on nothing.
  ASSERT_TRUE(
      state.apply(SegmentOpened{{SegmentKind::wait, JobId{5}, at, 0}, "A", at, ProcessorMillionths{k_micro}, {}}));
  const json report = json_of(status_report(state, at, k_default_estimator));
  EXPECT_EQ(row_of(report, "A")["rank"], 1);
  EXPECT_TRUE(row_of(report, "A")["below_guarantee"].get<bool>());
  EXPECT_FALSE(row_of(report, "guests")["below_guarantee"].get<bool>());  // it waits, too, and owns nothing
  EXPECT_EQ(report["ranking"]["sentences"],
            json::array({"A runs on fewer than its guaranteed part of its own processors (25 %) and goes before those "
                         "that do not"}));
}

TEST(StatusReport, SaysWhatIsHeldLentBorrowedAndWaitedForNow) {
  const json during = report_at(25);
  const json a = row_of(during, "A");
  const json b = row_of(during, "B");
  EXPECT_EQ(a["owned"], 1);
  EXPECT_EQ(a["used"], 0);
  EXPECT_EQ(a["lent"], 1);
  EXPECT_EQ(a["borrowed"], 0);
  EXPECT_EQ(a["running_jobs"], 0);
  EXPECT_EQ(b["used"], 2);
  EXPECT_EQ(b["lent"], 0);
  EXPECT_EQ(b["borrowed"], 1);
  EXPECT_EQ(b["running_jobs"], 1);

  const json guests = row_of(report_at(40), "guests");
  EXPECT_EQ(guests["waiting"], 1.5);
  EXPECT_EQ(guests["waiting_jobs"], 1);
  EXPECT_EQ(guests["running_jobs"], 0);
  EXPECT_EQ(guests["owned"], 0);
}

// Guests wait since 35 and never ran. A ran last at 0, B at 20.
TEST(StatusReport, SaysSinceWhenAnOrganizationWithStartableJobsHasHadNoStart) {
  using namespace accounting;
  const auto since = [](const State& state) {
    std::map<std::string, std::int64_t> offsets;
    for (const NoStart& row : no_start_report(state))
      offsets[row.organization] = (row.since.value_or(Instant{0}) - k_example_begin).value;
    return offsets;
  };
  using Since = std::map<std::string, std::int64_t>;
  const auto second = [](std::int64_t offset) { return k_example_begin + Duration{offset}; };
  const auto wait = [&](std::uint32_t job, std::string organization, std::int64_t begin, std::int64_t anchor) {
    const SegmentKey key{SegmentKind::wait, JobId{job}, second(anchor), begin == anchor ? 0U : 1U};
    return SegmentOpened{key, std::move(organization), second(begin), ProcessorMillionths{k_micro}, {}};
  };
  State state = example_state(second(40));
  EXPECT_EQ(since(state), (Since{{"guests", 35}}));
  // Its oldest wait began before its last start, the other one after it; and more is asked for since 39.
  ASSERT_TRUE(state.apply(wait(5, "B", 39, 15)));
  ASSERT_TRUE(state.apply(wait(6, "B", 30, 30)));
  ASSERT_TRUE(state.apply(wait(7, "A", 38, 12)));
  EXPECT_EQ(since(state), (Since{{"A", 12}, {"B", 20}, {"guests", 35}}));
  EXPECT_EQ(json_of(no_start_report(state, {"B", "C"})),
            json::array({{{"organization", "B"}, {"since", k_example_begin.value + 20}}}));
  const json report = json_of(status_report(state, second(40), k_default_estimator));
  EXPECT_EQ(row_of(report, "A")["no_start_since"], k_example_begin.value + 12);
  EXPECT_TRUE(row_of(report, "commons")["no_start_since"].is_null());

  const ProcessorMillionths one{k_micro};
  const SegmentOpened run{{SegmentKind::run, JobId{7}, second(41), 0}, "A", second(41), one, {{"n1", one}}};
  ASSERT_TRUE(state.apply(run));
  EXPECT_EQ(since(state).at("A"), 41) << "another job of it still waits";
  ASSERT_TRUE(state.apply(SegmentRetracted{run.key, second(42)}));
  EXPECT_EQ(since(state).at("A"), 12) << "Slurm knows nothing of that start";
  ASSERT_TRUE(state.apply(SegmentClosed{wait(7, "A", 38, 12).key, second(43), CloseReason::changed, ""}));
  EXPECT_FALSE(since(state).contains("A"));
}

TEST(StatusReport, OfBooksWithoutAnEvent) {
  accounting::State state;
  const json report = json_of(status_report(state, k_example_begin, accounting::k_default_estimator));
  EXPECT_TRUE(report["conservation"]["holds"].get<bool>());
  EXPECT_EQ(report["organizations"].size(), 2U);
  EXPECT_EQ(report["organizations"][0]["sentence"], "is even with the others");
}

TEST(FormatMicro, IsExact) {
  EXPECT_EQ(format_micro(0), "0");
  EXPECT_EQ(format_micro(1), "0.000001");
  EXPECT_EQ(format_micro(-1), "-0.000001");
  EXPECT_EQ(format_micro(-500'000), "-0.5");
  EXPECT_EQ(format_micro(2'500'000), "2.5");
  EXPECT_EQ(format_micro(-3'000'000), "-3");
  EXPECT_EQ(format_micro(100'000'000), "100");
  EXPECT_EQ(format_micro(static_cast<Int128>(k_micro) * 1'000'000'000'000'000'000 * 1000 + 70),
            "1000000000000000000000.00007");
}

TEST(StandingSentence, ReadsAsASentence) {
  EXPECT_EQ(standing_sentence(0, {}), "is even with the others");
  EXPECT_EQ(standing_sentence(12.44, {}), "is owed 12.4 core-hours by the others, on average this period");
  EXPECT_EQ(standing_sentence(-1204.26, {}), "owes the others 1,204.3 core-hours, on average this period");
  EXPECT_EQ(standing_sentence(1e-9, {}), "is owed less than 0.001 core-hours by the others, on average this period");
  EXPECT_EQ(standing_sentence(-0.0412, {}), "owes the others 0.0412 core-hours, on average this period");
}

}  // namespace
}  // namespace shapley::ledger
