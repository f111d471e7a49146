// Which corrections a statement names: those of its time, and later ones exactly where its amounts are others by them.
#include <algorithm>
#include <string>
#include <variant>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/statement.hpp"
#include "ctl/offline.hpp"
#include "interval_fixture.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using ledger::AdjustmentAsked;
using ledger::testing::must;
using nlohmann::json;

constexpr std::int64_t k_first = -1'000;
constexpr std::int64_t k_last = 2'000;
constexpr std::int64_t k_step = 200;

// In which order pairs stand is no amount.
json amounts_of(json report) {
  for (json& row : report["organizations"]) {
    for (const char* pairs : {"lent_to", "borrowed_from"}) std::sort(row[pairs].begin(), row[pairs].end());
  }
  return report["organizations"];
}

class Corrections : public testing::Test {
 protected:
  void SetUp() override { write_site(file(), Period::none); }
  [[nodiscard]] std::filesystem::path file() const { return directory.path() / "ledger.db"; }

  std::uint32_t make(decltype(AdjustmentAsked::what) what, std::int64_t second) const {
    ledger::Ledger ledger = ledger::testing::writer(file());
    const ledger::Recovered books = must(ledger.recover());
    const auto plan = must(ledger::plan_adjustment(
        ledger, books.state, {.what = std::move(what), .author = "uid 0 (root)", .reason = "a test"},
        at_second(second)));
    must(ledger.append(plan.events(), at_second(second)));
    return plan.made.number;
  }
  [[nodiscard]] json of(std::int64_t since, std::int64_t until) const {
    return must(offline_statement({.ledger = file(), .since = at_second(since), .until = at_second(until)}));
  }
  [[nodiscard]] std::vector<json> windows() const {
    std::vector<json> all;
    for (std::int64_t begin = k_first; begin < k_last; begin += k_step) all.push_back(of(begin, begin + k_step));
    return all;
  }
  // Made at 5,000 s, after all windows.
  void expect_named_where_amounts_changed(const decltype(AdjustmentAsked::what)& what) const {
    const std::vector<json> before = windows();
    const std::uint32_t number = make(what, 5'000);
    const std::vector<json> after = windows();
    std::size_t changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool other = amounts_of(before[i]) != amounts_of(after[i]);
      const json& named = after[i]["adjustments"];
      EXPECT_EQ(named.size(), other ? 1U : 0U) << "window " << i << ' ' << named;
      if (named.empty()) continue;
      ++changed;
      EXPECT_EQ(named[0]["number"], number);
      EXPECT_EQ(named[0]["later"], true);
      EXPECT_EQ(named[0]["reversed_by"], nullptr);
    }
    EXPECT_GT(changed, 0U);
    EXPECT_LT(changed, before.size());
  }
  ledger::testing::TemporaryDirectory directory;
};

ledger::AttributionAsked given(std::uint32_t job, const std::string& into) {
  ledger::AttributionAsked asked;
  asked.job = JobId{job};
  asked.into = into;
  return asked;
}

TEST_F(Corrections, LaterOnesOfARunAreNamedWhereItRan) {
  expect_named_where_amounts_changed(given(3, "astro"));  // from -200 s to 1,300 s
}

TEST_F(Corrections, LaterOnesOfARunThatGoesOnAreNamedFromItsBeginOn) {
  expect_named_where_amounts_changed(given(6, "bio"));  // from 1,200 s on
}

TEST_F(Corrections, LaterOnesOfOwnersAreNamedWhereTheyOwned) {
  ledger::OwnershipAsked owned;
  owned.nodes = "n2";
  owned.owners = {{"astro", 1'000'000}};
  owned.since = at_second(0);
  owned.until = at_second(1'000);
  expect_named_where_amounts_changed(owned);
}

TEST_F(Corrections, AStatementNamesThoseOfItsTimeWithWhatTheyMoved) {
  make(given(1, "bio"), 2'010);  // 4 processors for 600 s
  make(given(6, "bio"), 2'020);  // 2 processors since 1,200 s: 820 s so far
  make(ledger::ReversalAsked{1}, 2'030);
  // Of what is before 2,010 s two ran on job 1's time, and nothing of it is left.
  const json later = of(-800, -400)["adjustments"];
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0]["number"], 1);
  EXPECT_EQ(later[0]["reversed_by"], 3);
  EXPECT_EQ(later[1]["number"], 3);
  // At the end of a time is within it, at its begin is not.
  const json report = of(2'010, 2'030);
  const json& within = report["adjustments"];
  ASSERT_EQ(within.size(), 2U);
  EXPECT_EQ(within[0]["number"], 2);
  EXPECT_EQ(within[0]["later"], false);
  EXPECT_EQ(within[0]["work"]["processor_seconds"], "1640");
  EXPECT_EQ(within[1]["number"], 3);
  EXPECT_EQ(within[1]["work"]["processor_seconds"], "2400");
  EXPECT_EQ(of(2'000, 2'010)["adjustments"][0]["number"], 1);
  EXPECT_EQ(of(2'020, 2'030)["adjustments"].size(), 1U);

  json named = report;
  for (json& row : named["organizations"]) row["users"] = json::array();
  const std::string text = render_statement(named);
  EXPECT_TRUE(contains(text,
                       "Corrections of the books made in that time:\n"
                       "Adjustment 2, 2026-11-01T00:33:40Z, uid 0 (root):\n"
                       "  runs of job 6 are bio's: 1 run, 0.456 core-hours; a test\n"))
      << text;
  EXPECT_FALSE(contains(text, "made later")) << text;
}

TEST_F(Corrections, NamesChangeAllTimes) {
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    must(ledger.append(
        std::vector<accounting::Event>{accounting::OrganizationsDeclared{at_second(2'001), {"stars", "bio"}}},
        at_second(2'001)));
  }
  make(ledger::JoinAsked{.kind = accounting::AdjustmentKind::rename, .organization = "astro", .into = "stars"}, 5'000);
  for (const json& window : windows()) {
    ASSERT_EQ(window["adjustments"].size(), 1U);
    EXPECT_EQ(window["adjustments"][0]["work"], nullptr);
  }
}

}  // namespace
}  // namespace shapley::ctl
