// What other clusters of a consortium contribute to the ranks, as explanations, comparisons and forecasts say it.
//
// Beside the books of explain_fixture.hpp there is what the south stated at 30: A is owed 40 core-hours there, which
// are 144,000 processor-seconds, and B owes them; nothing runs. Under the published rule (H = 0) a key is phi - psi, so
// at 40 the south adds 10 s x 144,000 to A's -145 and takes as much from B's +145.
#include <string>
#include <vector>

#include "ctl/output/other_clusters.hpp"
#include "explain_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

KeyFigures owed(std::int64_t core_hours) {
  return {.balance = {}, .given_less_got = {Int128{core_hours} * 3600 * k_micro}, .rate_less_used = {}};
}

class Elsewhere : public RankedBooks {
 protected:
  void SetUp() override {
    RankedBooks::SetUp();
    ConsortiumDeclared declared{second(0), "uni", k_whole_weight, {}};
    const std::string key = "SHA256:" + std::string(64, '1');
    declared.clusters = {
        {.cluster = "south", .stale_after = 3600, .key = key, .names = {{.here = "B", .there = "bee"}}},
        {.cluster = "west", .key = key, .names = {}}};
    StandingReceived south{.at = second(31), .cluster = "south", .figures = {}, .signature = std::string(128, '0')};
    south.figures = {
        .consortium = "uni",
        .ledger = std::string(32, 'a'),
        .event = 1,
        .hash = std::string(64, 'b'),
        .time = second(30),
        .contribution = "direct_contr",
        .period = Period::none,
        .period_begin = second(0),
        .weights = {},
        .organizations = {
            {"A", owed(40), {}, {}, {}}, {"bee", owed(-40), {}, {}, {}}, {"medicine", owed(7), {}, {}, {}}}};
    write({declared, south}, 40);
  }
};

const json k_owed = {{{"organization", "A"}, {"core_hours", 40.0}}, {{"organization", "B"}, {"core_hours", -40.0}}};

TEST_F(Elsewhere, ExplainNamesWhatMakesTheRanks) {
  const json report = explained("4");
  EXPECT_EQ(report["organization"]["rank"], 3);
  ASSERT_EQ(report["clusters"].size(), 2U);
  EXPECT_EQ(report["clusters"][0]["cluster"], "south");
  EXPECT_EQ(report["clusters"][0]["stated_at"], second(30).value);
  EXPECT_EQ(report["clusters"][0]["is_stale"], false);
  EXPECT_EQ(report["clusters"][0]["organizations"], k_owed) << "the books here have no medicine";
  EXPECT_EQ(report["clusters"][0]["uncounted"], json({"medicine"}));
  const json& ahead = report["ahead"]["organizations"];
  EXPECT_EQ(ahead[0]["organization"], "A");
  EXPECT_EQ(ahead[0]["by_other_clusters"], true) << "by the books here B goes first";
  EXPECT_EQ(ahead[1]["organization"], "guests");
  EXPECT_EQ(ahead[1]["by_other_clusters"], true);
  const std::string text = render_explanation(report);
  EXPECT_PRED2(contains, text,
               "\nRanks also count the cluster south, which stated 10 s ago: there A is owed 40.0 core-hours, B owes "
               "40.0 core-hours.\nRanks do not count the cluster west yet: no statement of it has come.\n");
  EXPECT_PRED2(contains, text, ", of A (rank 1: 1 job, 2 processors, by what south states), guests");
  EXPECT_EQ(ahead[0]["deciding_clusters"], json({"south"}));
}

TEST_F(Elsewhere, ExplainNamesNoOrganizationThatDoesNotMatter) {
  const std::string text = render_explanation(explained("3"));
  EXPECT_PRED2(contains, text, "which stated 10 s ago: there A is owed 40.0 core-hours.\n") << "B is behind it";
  EXPECT_PRED2(lacks, render_explanation(explained("5")), "guests is even");
}

TEST_F(Elsewhere, ExplainSaysThatFiguresStandStill) {
  write({job_of(9, "A", 8000)}, 8000);
  const json report = explained("4");
  EXPECT_EQ(report["clusters"][0]["is_stale"], true);
  EXPECT_EQ(report["clusters"][0]["organizations"], k_owed);
  EXPECT_PRED2(
      contains, render_explanation(report),
      " which stated 2 h 12 min ago: there A is owed 40.0 core-hours, B owes 40.0 core-hours; that is too old, "
      "so these figures have stood still since 2026-11-18T12:07:10Z.\n");
}

TEST_F(Elsewhere, OfThePastIsWhatWasKnownThen) {
  EXPECT_FALSE(explained("4", 30).contains("clusters") &&
               explained("4", 30)["clusters"][0].value("stated_at", json()).is_number())
      << "the statement came at 31";
  EXPECT_EQ(explained("4", 35)["clusters"][0]["organizations"], k_owed);
}

TEST_F(Elsewhere, CompareSaysWhoWouldGoFirstByThisClusterAlone) {
  const json report = compared("B", "A");
  EXPECT_EQ(report["first"], "A");
  EXPECT_EQ(report["difference"], "2879710");
  EXPECT_EQ(report["by_other_clusters"], true);
  EXPECT_EQ(report["clusters"][0]["organizations"], k_owed);
  const std::string text = render_comparison(report);
  EXPECT_EQ(report["deciding_clusters"], json({"south"}));
  EXPECT_PRED2(contains, text, ", by what south states; by the books of this cluster alone, B would go first.\n");
  EXPECT_PRED2(contains, text,
               "\nRanks also count the cluster south, which stated 10 s ago: there A is owed 40.0 core-hours, B owes "
               "40.0 core-hours.\n");
  EXPECT_EQ(compared("A", "guests")["by_other_clusters"], true);
  EXPECT_EQ(compared("A", "guests", 10)["by_other_clusters"], false) << "nothing was stated then";
}

// Not of how the keys are made.
TEST_F(Elsewhere, StatusNamesTheClusterWhoseFiguresDecide) {
  const auto status = must(answers::answer(ledger::StatusRequest{}, {.path = file()}));
  ASSERT_EQ(status.ranking.sentences.size(), 1U);
  EXPECT_EQ(status.ranking.sentences[0],
            "A goes before B because of what south states: by the books of this cluster alone B would go first");
}

// B runs on less than its guaranteed part, so it goes first whatever the south states.
TEST_F(Elsewhere, StatusNamesNoClusterWhereAGuaranteeDecides) {
  RankingDeclared rule{second(1), "direct_contr", 0, 1'000'000, {{"A", 0}}};
  write({rule, SegmentClosed{{.kind = SegmentKind::run, .job = JobId{2}, .anchor = second(20), .ordinal = 0},
                             second(21),
                             CloseReason::ended,
                             "COMPLETED"}},
        41);
  const auto status = must(answers::answer(ledger::StatusRequest{}, {.path = file()}));
  ASSERT_EQ(status.organizations[0].is.name, "B");
  ASSERT_GT(status.organizations[1].is.key_core_hours, status.organizations[0].is.key_core_hours);
  ASSERT_FALSE(status.ranking.sentences.empty()) << "of the guarantee";
  for (const std::string& sentence : status.ranking.sentences) EXPECT_PRED2(lacks, sentence, "south");
}

// A forecast ends when what was stated is too old.
TEST_F(Elsewhere, AForecastEndsWithTheStatement) {
  const json report = forecast();
  EXPECT_EQ(report["forecast"]["until"], second(3630).value);
  EXPECT_EQ(report["forecast"]["by_statement"], true);
  EXPECT_EQ(report["forecast"]["by_date"], false);
  EXPECT_PRED2(contains, render_forecast(report),
               " up to 2026-11-18T12:07:10Z, when what another cluster stated is too old.\n");
  write({job_of(9, "A", 8000)}, 8000);
  EXPECT_FALSE(forecast()["forecast"].contains("by_statement"));
}

class NoConsortium : public RankedBooks {};

TEST_F(NoConsortium, NothingIsSaidOfOtherClusters) {
  for (const json& report : {explained("4"), compared("A", "B")}) {
    EXPECT_FALSE(report.contains("clusters"));
    EXPECT_PRED2(lacks, report.dump(), "by_other_clusters");
  }
  EXPECT_PRED2(lacks, render_explanation(explained("4")), "cluster");
}

}  // namespace
}  // namespace shapley::ctl
