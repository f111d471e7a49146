// What cooperation is worth, as a report and as text: golden tables of the example of docs/equations.md.
#include "ctl/output/worth.hpp"

#include <string>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"
#include "ctl/commands/commands.hpp"
#include "ledger/reports/worth_report.hpp"
#include "scripted_books.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using accounting::CooperationWorth;
using nlohmann::json;

std::string render_worth(const json& report) {
  return ctl::render_worth(partial<ledger::StatusReport>(report));
}

// A report of books with these organizations, in that order.
class WorthText : public testing::Test {
 protected:
  void SetUp() override {
    const auto applied = state.apply(accounting::OrganizationsDeclared{k_example_begin, {"astro", "bio"}});
    ASSERT_TRUE(applied.has_value());
    worth.begin = k_example_begin;
    worth.end = k_example_begin + Duration{3600};
  }
  [[nodiscard]] OrgId id(const std::string& name) const { return *state.find_organization(name); }
  // Utilities in core-hours, on average over the hour.
  static Utility core_hours(std::int64_t amount) { return {Int128{amount} * 3600 * 3600 * k_micro}; }
  static accounting::Comparison of(std::int64_t got, std::int64_t alone) {
    accounting::Comparison is;
    is.got.utility = core_hours(got);
    is.alone.utility = core_hours(alone);
    is.alone_if_ended = is.alone;
    return is;
  }
  [[nodiscard]] json report() const { return json_of(ledger::worth_report(state, worth)); }
  [[nodiscard]] std::string sentence_of(std::size_t row) const { return report()["organizations"][row]["sentence"]; }

  accounting::State state;
  CooperationWorth worth;
};

TEST_F(WorthText, SaysWhatEachHasGotMore) {
  worth.rows = {{id("astro"), of(134, 100)}, {id("bio"), of(88, 100)}};
  EXPECT_EQ(
      sentence_of(0),
      "has got 34 % more than it would have got alone: 134.0 core-hours instead of 100.0, on average this period");
  EXPECT_EQ(sentence_of(1),
            "has got 12 % less than it would have got alone: 88.0 core-hours instead of 100.0, on average this period");
  worth.rows = {{id("astro"), of(100, 100)}, {id("bio"), of(10'000, 9'999)}};
  EXPECT_EQ(sentence_of(0), "has got as much as it would have got alone: 100.0 core-hours, on average this period");
  EXPECT_EQ(sentence_of(1),
            "has got less than 0.1 % more than it would have got alone: 10,000.0 core-hours instead of 9,999.0, on "
            "average this period");
}

TEST_F(WorthText, WithoutAnythingAloneThereIsNoPerCent) {
  worth.rows = {{id("astro"), of(12, 0)}, {id("bio"), of(0, 0)}};
  EXPECT_EQ(sentence_of(0), "has got 12.0 core-hours, on average this period, and would have got nothing alone");
  EXPECT_EQ(sentence_of(1), "has got nothing, and would have got nothing alone");
  EXPECT_EQ(report()["organizations"][0]["gain_percent"], nullptr);
  worth.rows = {{id("astro"), of(0, 3)}};
  EXPECT_EQ(sentence_of(0), "has got nothing, and would have got 3.0 core-hours alone, on average this period");
}

TEST_F(WorthText, NamesWhoWouldGainMostByLeaving) {
  worth.rows = {{id("astro"), of(134, 100)}, {id("bio"), of(88, 100)}};
  worth.leaving = {{id("bio")}, of(88, 100)};
  EXPECT_EQ(report()["leaving"]["sentence"],
            "bio would have gained most by leaving: alone 14 % more, 100.0 core-hours instead of 88.0, on average this "
            "period");
  EXPECT_EQ(report()["leaving"]["gain_core_hours"], 12);
  worth.leaving = {{id("astro"), id("bio")}, of(0, 7)};
  EXPECT_EQ(report()["leaving"]["sentence"],
            "astro and bio would have gained most by leaving: alone 7.0 core-hours instead of nothing, on average this "
            "period");
  worth.leaving = {{id("astro")}, of(134, 134)};
  EXPECT_EQ(report()["leaving"]["sentence"], "no coalition would have got more by leaving");
  worth.is_of_all_coalitions = false;
  EXPECT_EQ(report()["leaving"]["sentence"],
            "no coalition of one, two, all but two or all but one would have got more by leaving; others were not "
            "looked at");
}

TEST_F(WorthText, IsATableAndSentencesForPeople) {
  worth.rows = {{id("astro"), of(134, 100)}, {id("bio"), of(88, 100)}};
  worth.rows[0].is.is_provisional = true;
  worth.rows[0].is.alone_if_ended.utility = core_hours(98);
  worth.pairs = {{{id("astro"), id("bio")}, of(222, 210)}};
  worth.leaving = {{id("bio")}, of(88, 100)};
  EXPECT_EQ(
      render_worth({{"worth", report()}}),
      "2026-11-18T12:06:40Z  what cooperation is worth, since 2026-11-18T11:06:40Z; core-hours, on average over that "
      "time\n"
      "Organization   Got Alone  Gain Gain% AloneIfEnded\n"
      "------------ ----- ----- ----- ----- ------------\n"
      "astro        134.0 100.0 +34.0 +34.0         98.0\n"
      "bio           88.0 100.0 -12.0 -12.0            -\n"
      "\n"
      "Of    and   Got Alone  Gain Gain% AloneIfEnded\n"
      "----- --- ----- ----- ----- ----- ------------\n"
      "astro bio 222.0 210.0 +12.0  +5.7            -\n"
      "\n"
      "astro has got 34 % more than it would have got alone: 134.0 core-hours instead of 100.0, on average this period "
      "(provisional).\n"
      "bio has got 12 % less than it would have got alone: 88.0 core-hours instead of 100.0, on average this period.\n"
      "Together all have got 11 % more than each alone: 222.0 core-hours instead of 200.0, on average this period "
      "(provisional).\n"
      "bio would have gained most by leaving: alone 14 % more, 100.0 core-hours instead of 88.0, on average this "
      "period.\n"
      "Bounds:  astro alone: 100.0 core-hours if what goes on never ended, 98.0 if it ended now.\n"
      "Bounds:  each alone: 200.0 core-hours if what goes on never ended, 198.0 if it ended now.\n"
      "\n"
      "Limits:  Alone is by virtual schedules in which jobs start in parts on any node: their width, memory and "
      "partitions are ignored. That makes what would have been got alone look better than it is, most of all for one "
      "organization or a few.\n");
}

TEST_F(WorthText, SaysThatJobsStartInPartsWhereTheyDid) {
  worth.rows = {{id("astro"), of(134, 100)}};
  const auto limits = [&] { return report()["limits"].get<std::string>(); };
  ASSERT_TRUE(state.apply(accounting::HindsightDefined{
      .at = worth.begin + Duration{1}, .jobs = accounting::JobsStart::whole, .kinds = {}}));
  EXPECT_NE(limits(), "") << "from the second on";
  ASSERT_TRUE(
      state.apply(accounting::HindsightDefined{.at = worth.begin, .jobs = accounting::JobsStart::whole, .kinds = {}}));
  EXPECT_EQ(limits(), "");
  EXPECT_EQ(render_worth({{"worth", report()}}).find("Limits"), std::string::npos);
  ASSERT_TRUE(state.apply(accounting::HindsightDefined{
      .at = worth.begin + Duration{2}, .jobs = accounting::JobsStart::parts, .kinds = {}}));
  EXPECT_NE(limits(), "") << "again";
}

TEST_F(WorthText, OfOneOrganizationIsItsRowAndItsPairs) {
  worth.rows = {{id("astro"), of(134, 100)}, {id("bio"), of(88, 100)}};
  worth.pairs = {{{id("astro"), id("bio")}, of(222, 210)}};
  ledger::WorthReport one = ledger::worth_report(state, worth).value();
  ledger::keep_only(one, {"bio"});
  ASSERT_EQ(one.organizations.size(), 1U);
  EXPECT_EQ(one.organizations[0].name, "bio");
  EXPECT_EQ(one.pairs.size(), 1U);
  ledger::keep_only(one, {"chem"});
  EXPECT_TRUE(one.pairs.empty());
}

TEST_F(WorthText, WhatIsUnknownIsSaid) {
  EXPECT_FALSE(ledger::worth_report(state, std::nullopt).has_value());
  const auto said = [](const json& report) { return render_worth(report); };
  EXPECT_EQ(said({{"worth", nullptr}, {"not_kept", {"hindsight"}}, {"behind", json::array()}}),
            "What cooperation is worth cannot be said: hindsight is not kept here (hindsight: off, or too many "
            "organizations).\n");
  EXPECT_EQ(said({{"worth", nullptr}, {"not_kept", json::array()}, {"behind", {"hindsight"}}}),
            "What cooperation is worth cannot be said: hindsight is behind what happened and catches up by itself; ask "
            "again in a minute.\n");
  EXPECT_EQ(said(json::object()),
            "What cooperation is worth cannot be said: the books are rebuilt at present; "
            "shapleyctl status says how far that is.\n");
  EXPECT_EQ(said({{"worth", report()}}), "2026-11-18T12:06:40Z  what cooperation is worth, of nothing so far\n");
}

TEST(WorthReport, OfTheExampleIsThatByHand) {
  accounting::State state;
  for (const accounting::Event& event : example_events()) ASSERT_TRUE(state.apply(event).has_value());
  const json report = json_of(ledger::worth_report(state, state.advance(k_example_begin + Duration{40}).worth()));
  ASSERT_EQ(report["organizations"].size(), 2U);
  const json& a = report["organizations"][0];
  EXPECT_EQ(a["name"], "A");
  // 2 (40 + ... + 31) together; one after the other alone: 40 + ... + 21.
  EXPECT_EQ(a["psi"], "710");
  EXPECT_EQ(a["alone"], "610");
  EXPECT_EQ(a["got_processor_seconds"], "20");
  EXPECT_EQ(a["alone_processor_seconds"], "20");
  EXPECT_EQ(a["bounds"], nullptr);
  EXPECT_DOUBLE_EQ(a["gain_core_hours"].get<double>(), 100.0 / 40 / 3600);
  EXPECT_DOUBLE_EQ(a["gain_percent"].get<double>(), 100.0 * 100 / 610);
  EXPECT_EQ(report["organizations"][1]["alone"], "210");
  // Both without the guest who waits is what really was.
  ASSERT_EQ(report["pairs"].size(), 1U);
  EXPECT_EQ(report["pairs"][0]["psi"], "1020");
  EXPECT_EQ(report["pairs"][0]["alone"], "1020");
  EXPECT_EQ(report["leaving"]["organizations"], json({"A", "B"}));
  EXPECT_EQ(report["leaving"]["sentence"], "no coalition would have got more by leaving");
}

// What `shapleyctl workflows` prints of an answer.

json example() {
  return json::parse(R"({"organizations": [{
    "organization": "physics", "at": 1795249851, "eta": 0.5, "threshold": 0.2, "unfair": true,
    "before": {"eta": 1.0, "at": 1795249841}, "highest": null, "truncated": false,
    "workflows": [
      {"workflow": "name b", "pending": 4, "blocked": 1, "running": 0, "finished": 2, "pending_work": 1.0,
       "pending_work_before": null, "levels": [3, 15], "raised_jobs": 2,
       "activities": [{"activity": "name b", "waiting_processors": 4, "running_processors": 0, "median_s": 50.0,
                       "performance": 1.0, "relative_duration": 1.0, "pending_work": 1.0, "delta": 2}]},
      {"workflow": "name a", "pending": 1, "blocked": 0, "running": 1, "finished": 0, "pending_work": 0.5,
       "pending_work_before": 0.25, "levels": null, "raised_jobs": 0, "activities": []}]}]})");
}

std::string rendered(const json& report, bool long_form) {
  return render_workflows(partial<ledger::WorkflowsReport>(report), long_form);
}

TEST(WorkflowsView, ShowsEtaNowAndBeforeAndEveryWorkflow) {
  EXPECT_EQ(rendered(example(), false),
            "physics: eta 0.50 at 2026-11-21T08:30:51Z, above the threshold of 0.20: jobs of those that wait most go "
            "first\n"
            "before: 1.00 at 2026-11-21T08:30:41Z; highest: none\n"
            "\n"
            "Workflow                 Startable Blocked Running Finished    W Before Levels Raised\n"
            "------------------------ --------- ------- ------- -------- ---- ------ ------ ------\n"
            "name b                           4       1       0        2 1.00      -   3-15      2\n"
            "name a                           1       0       1        0 0.50   0.25      -      0\n");
}

TEST(WorkflowsView, TheLongFormShowsActivities) {
  const std::string text = rendered(example(), true);
  EXPECT_PRED2(contains, text, "\nWorkflow                 Activity                 Q R Median    P    T    w Delta\n");
  EXPECT_PRED2(contains, text, "\nname b                   name b                   4 0     50 1.00 1.00 1.00     2\n");
}

TEST(WorkflowsView, SaysSoWhenThereIsNothing) {
  EXPECT_EQ(rendered(json{{"organizations", json::array()}}, false),
            "No organization has within_organization: workflow_fairness.\n");
  json idle = example();
  idle["organizations"][0]["workflows"] = json::array();
  EXPECT_PRED2(contains, rendered(idle, false), "No job of it runs or waits.\n");
  idle["organizations"][0]["hidden_workflows"] = 1200;
  const std::string text = rendered(idle, false);
  EXPECT_PRED2(contains, text,
               "1,200 workflows have jobs of others, which are private here (PrivateData in slurm.conf).\n");
  EXPECT_PRED2(lacks, text, "No job of it");
}

}  // namespace
}  // namespace shapley::ctl
