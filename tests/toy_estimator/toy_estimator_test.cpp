// One more estimator, of which only its pair of files and a row of the table know, and everything that goes through the
// table: standings, ranks, checkpoints, the ledger's rows, audit, report, status, configuration.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/state/ranking.hpp"
#include "config/checks.hpp"
#include "config/configuration.hpp"
#include "ctl/commands/status.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/reports/report.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;
using nlohmann::json;

constexpr Instant k_evening{20'000};

EstimatorId equal_split() {
  return parse_estimator("equal_split").value();
}

// a owns the node; b and c run there, so does a.
std::vector<Event> some_events() {
  const SegmentOpened first = opened(1, 10'000, "b", 4);
  const SegmentOpened second = opened(2, 10'050, "c", 3);
  return {OrganizationsDeclared{{9'000}, {"a", "b", "c"}},
          OwnershipStated{"n1", {9'000}, {{k_beginning_of_time, {{"a", k_whole_node}}}}},
          CapacityChanged{"n1", {9'000}, 0, {8 * k_micro}},
          first,
          second,
          closed(first, 10'100),
          closed(second, 10'151),
          opened(3, 10'200, "a", 1)};
}

State some_state() {
  State state;
  for (const Event& event : some_events()) EXPECT_TRUE(state.apply(event));
  state.advance(k_evening);
  return state;
}

TEST(ToyEstimator, IsTheLastRow) {
  EXPECT_EQ(estimator_names().back(), "equal_split");
  EXPECT_EQ(figure_name("phi", equal_split()), "phi_equal");
}

// Five organizations share: a, b, c, guests and commons.
TEST(ToyEstimator, HasItsPartInEveryStanding) {
  State state = some_state();
  const std::vector<Standing> rows = state.standings(k_evening);
  Utility psi;
  for (const Standing& row : rows) psi += row.psi;
  ASSERT_EQ(rows.size(), 5U);
  for (const Standing& row : rows) {
    const Int128 off = row.phi(equal_split()).value - psi.value / 5;
    EXPECT_TRUE(off == 0 || off == 1) << state.organizations()[row.organization.value];
    EXPECT_EQ(row.balance(equal_split()), row.phi(equal_split()) - row.psi);
  }
}

// By direct_contr a, whose node it is, comes first; by equal parts, the one that got least.
TEST(ToyEstimator, Ranks) {
  State state = some_state();
  const auto names = [&](EstimatorId estimator) {
    std::vector<std::string> order;
    for (const Rank& rank : state.ranking(k_evening, estimator)) {
      order.push_back(rank.organization);
    }
    return order;
  };
  EXPECT_EQ(names(k_default_estimator), (std::vector<std::string>{"a", "guests", "c", "b"}));
  EXPECT_EQ(names(equal_split()), (std::vector<std::string>{"guests", "c", "b", "a"}));
}

TEST(ToyEstimator, HasItsLinesInACheckpoint) {
  State state = some_state();
  const std::string text = state.save();
  EXPECT_NE(text.find("\nestimator equal_split\n"), std::string::npos) << text;
  auto loaded = must(State::load(text));
  EXPECT_EQ(standings(loaded, k_evening), standings(state, k_evening));
}

TEST(ToyEstimator, HasItsMembersInTheReport) {
  State state = some_state();
  const json report = json_of(status_report(state, k_evening, equal_split()));
  EXPECT_EQ(report["contribution"], "equal_split");
  EXPECT_TRUE(report["conservation"]["holds"].get<bool>());
  EXPECT_EQ(report["conservation"]["sum_phi_equal"], report["conservation"]["sum_psi"]);
  std::set<std::string> phi;
  for (const json& row : report["organizations"]) {
    EXPECT_EQ(row["phi"], row["phi_equal"]);
    phi.insert(row["phi_equal"].get<std::string>());
  }
  EXPECT_LE(phi.size(), 2U) << "parts that differ by a unit at most";
  EXPECT_EQ(phi.count("0"), 0U);
}

TEST(ToyEstimator, HasItsColumnInStatus) {
  State state = some_state();
  const StatusReport typed = status_report(state, k_evening, equal_split());
  const json report = json_of(typed);
  const auto columns = must(ctl::render_status(typed, {.format = "organization,phi_equal", .parsable = true}));
  for (const json& row : report["organizations"]) {
    const std::string line = row["name"].get<std::string>() + "|" + row["phi_equal"].get<std::string>() + "\n";
    EXPECT_NE(columns.find(line), std::string::npos) << columns;
  }
  const auto page = must(ctl::render_status(typed, {.long_form = true}));
  EXPECT_NE(page.find(" PhiEqual "), std::string::npos) << page;
  StatusReport unbalanced = typed;
  unbalanced.conservation.holds = false;
  unbalanced.conservation.sum_phi[equal_split()] = Utility{6 * k_micro};
  EXPECT_NE(ctl::render_status(unbalanced, {})->find("equal 6"), std::string::npos);
}

TEST(ToyEstimator, IsAcceptedByTheConfiguration) {
  const auto chosen = config::parse("contribution: equal_split\norganizations: [{name: a}]\n");
  ASSERT_TRUE(chosen) << config::format_faults(chosen.error(), "file");
  EXPECT_EQ(chosen->contribution, equal_split());
  const auto refused = config::parse("contribution: another\norganizations: [{name: a}]\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().remedy, "write direct_contr, shapley_rate, hindsight or equal_split");
}

// Its row names no more than 34 organizations, guests and commons among them, and no key that turns it off.
TEST(ToyEstimator, IsLeftOutOfBooksWithMoreOrganizationsThanItsRowNames) {
  const auto of = [](int organizations) {
    std::string text = "hindsight: off\norganizations: [{name: a, accounts: [a]}";
    for (int i = 1; i < organizations; ++i) {
      const std::string name = "o" + std::to_string(i);
      text += ", {name: " + name + ", accounts: [" + name + "]}";
    }
    return *config::parse(text + "]\n");
  };
  EXPECT_TRUE(config::kept_estimators(of(32)).contains(equal_split()));
  EXPECT_TRUE(config::doubts(of(32)).empty());
  EXPECT_FALSE(config::kept_estimators(of(33)).contains(equal_split()));
  const auto doubts = config::doubts(of(33));
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_EQ(doubts[0].what, "equal_split is not kept for more than 32 organizations");
  EXPECT_EQ(doubts[0].remedy, "the other estimators are");
}

class ToyEstimatorLedger : public LedgerTest {
 protected:
  void SetUp() override {
    Ledger ledger = writer(file());
    State state;
    for (const Event& event : must(ledger.append(some_events(), {10'201})).accepted) must(state.apply(event));
    state.advance(k_evening);
    must(ledger.record_standings(k_evening, state, state.standings(k_evening)));
    must(ledger.save_checkpoint(state, ledger.last_sequence(), k_evening));
  }
  [[nodiscard]] std::string findings() const {
    std::string text;
    for (const Finding& finding : must(audit(reader(file()))).findings)
      text += finding.check + ": " + finding.what + "\n";
    return text;
  }
};

TEST_F(ToyEstimatorLedger, HasARowForEveryOrganization) {
  EXPECT_EQ(rows(file(), "SELECT estimator, COUNT(*) FROM contributions_by_day GROUP BY estimator"),
            (std::vector<std::string>{"direct_contr|5", "equal_split|5", "hindsight|5", "shapley_rate|5"}));
  State state = some_state();
  const Standing a = state.standings(k_evening)[state.find_organization("a")->value];
  EXPECT_EQ(rows(file(),
                 "SELECT phi, balance, given FROM contributions_by_day "
                 "WHERE organization = 'a' AND estimator = 'equal_split'"),
            (std::vector<std::string>{to_string(a.phi(equal_split()).value) + "|" +
                                      to_string(a.balance(equal_split()).value) + "|" +
                                      to_string(a.given(equal_split()).value)}));
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM balances_by_estimator WHERE estimator = 'equal_split'"),
            std::vector<std::string>{"5"});
}

TEST_F(ToyEstimatorLedger, IsAudited) {
  EXPECT_EQ(findings(), "");
  tamper(file(),
         "UPDATE contributions_by_day SET phi = phi || '0' WHERE organization = 'b' AND estimator = 'equal_split'");
  EXPECT_NE(findings().find("projection: contributions_by_day: a row that does not follow from the events: day 0, "
                            "organization b, estimator equal_split"),
            std::string::npos)
      << findings();
}

TEST_F(ToyEstimatorLedger, IsRecoveredFromItsCheckpoint) {
  const Ledger ledger = reader(file());
  Recovered recovered = must(ledger.recover());
  EXPECT_EQ(recovered.replayed, 0);
  State state = some_state();
  EXPECT_EQ(standings(recovered.state, k_evening), standings(state, k_evening));
}

// A day that an older release recorded, without the new estimator, is as sound as it was; so are its checkpoints, which
// are passed over.
TEST_F(ToyEstimatorLedger, SaysNothingOfDaysBeforeItCame) {
  tamper(file(), "DELETE FROM contributions_by_day WHERE estimator = 'equal_split'");
  EXPECT_EQ(findings(), "");
  must(writer(file()).rebuild_projections());
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM contributions_by_day"), std::vector<std::string>{"15"});
}

TEST(ToyEstimator, ACheckpointFromBeforeItCameIsReplayed) {
  State state = some_state();
  std::string text = state.save();
  const std::size_t begin = text.find("estimator equal_split\n");
  text.erase(begin, text.rfind("\nend ") - begin);
  TextWriter signer;
  signer.line(text.substr(0, text.rfind("\nend ")));
  const auto loaded = State::load(signer.finish());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().what.find("the lines of equal_split are missing"), std::string::npos) << loaded.error().what;
}

}  // namespace
}  // namespace shapley::ledger
