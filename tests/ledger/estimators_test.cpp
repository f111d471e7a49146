// What the ledger keeps of every contribution estimator: the rows of the days, their audit, checkpoints. Each test goes
// through the table of estimators, so that a new one has to obey it, too (tests/architecture/changes/estimator.patch).
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

constexpr Instant k_evening{20'000};

class EstimatorsInTheLedger : public LedgerTest {
 protected:
  // a owns the node; b and c run there, so does a. With guests and commons five organizations have a row of the day.
  void SetUp() override {
    const SegmentOpened first = opened(1, 10'000, "b", 4);
    const SegmentOpened second = opened(2, 10'050, "c", 3);
    const std::vector<Event> events{OrganizationsDeclared{{9'000}, {"a", "b", "c"}},
                                    OwnershipStated{"n1", {9'000}, {{k_beginning_of_time, {{"a", k_whole_node}}}}},
                                    CapacityChanged{"n1", {9'000}, 0, {8 * k_micro}},
                                    first,
                                    second,
                                    closed(first, 10'100),
                                    closed(second, 10'151),
                                    opened(3, 10'200, "a", 1)};
    Ledger ledger = writer(file());
    for (const Event& event : must(ledger.append(events, {10'201})).accepted) must(state_.apply(event));
    state_.advance(k_evening);
    must(ledger.record_standings(k_evening, state_, state_.advance(k_evening).standings()));
    must(ledger.save_checkpoint(state_, ledger.last_sequence(), k_evening));
  }
  [[nodiscard]] std::vector<std::string> of_day(const std::string& what, std::string_view estimator) const {
    return rows(file(), "SELECT " + what + " FROM contributions_by_day WHERE estimator = '" + std::string(estimator) +
                            "' ORDER BY organization");
  }
  [[nodiscard]] std::string findings() const { return problems(must(audit(reader(file())))); }

  State state_;
};

TEST_F(EstimatorsInTheLedger, have_a_row_for_every_organization) {
  const std::vector<Standing> standings = state_.advance(k_evening).standings();
  for (const EstimatorId id : estimator_ids()) {
    std::vector<std::string> expected;
    for (const char* name : {"a", "b", "c", "commons", "guests"}) {
      const Standing& row = standings[state_.find_organization(name)->value];
      expected.push_back(std::string(name) + '|' + to_string(row.phi(id).value) + '|' +
                         to_string(row.balance(id).value) + '|' + to_string(row.given(id).value));
    }
    EXPECT_EQ(of_day("organization, phi, balance, given", name_of(id)), expected) << name_of(id);
    EXPECT_EQ(
        rows(file(), "SELECT COUNT(*) FROM balances_by_estimator WHERE estimator = '" + std::string(name_of(id)) + "'"),
        std::vector<std::string>{"5"});
  }
}

TEST_F(EstimatorsInTheLedger, are_audited) {
  EXPECT_EQ(findings(), "");
  for (const std::string_view name : estimator_names()) {
    const std::string where = " WHERE organization = 'a' AND estimator = '" + std::string(name) + "'";
    tamper(file(), "UPDATE contributions_by_day SET phi = phi || '0'" + where);
    const std::string found = findings();
    EXPECT_NE(found.find("projection: contributions_by_day: a row that does not follow from the events: day 0, "
                         "organization a, estimator " +
                         std::string(name)),
              std::string::npos)
        << found;
    tamper(file(), "UPDATE contributions_by_day SET phi = substr(phi, 1, length(phi) - 1)" + where);
  }
  EXPECT_EQ(findings(), "");
}

// A day that an older release recorded, without an estimator that came later, is as sound as it was. What an
// organization gave by its own nodes has been there from the first.
TEST_F(EstimatorsInTheLedger, are_not_missed_on_days_before_they_came) {
  for (const EstimatorRow& row : estimators()) {
    if (row.by_owner) continue;
    tamper(file(), "DELETE FROM contributions_by_day WHERE estimator = '" + std::string(row.name) + "'");
    EXPECT_EQ(findings(), "") << row.name;
    must(writer(file()).rebuild_projections());
    EXPECT_EQ(of_day("COUNT(*)", row.name), std::vector<std::string>{"0"}) << row.name;
  }
}

// A release that had another estimator recorded its figures, and ranked by it.
TEST_F(EstimatorsInTheLedger, that_there_are_no_more_are_named_as_not_checked) {
  const std::vector<std::string> before = standings(state_, k_evening);
  for (const FormerEstimator& former : former_estimators()) {
    const std::string name(former.name);
    tamper(file(), "INSERT INTO contributions_by_day SELECT day, organization, '" + name +
                       "', '77', '7', '5' FROM contributions_by_day WHERE estimator = 'direct_contr'");
    must(writer(file()).append(
        std::vector<Event>{RankingDeclared{.at = {10'300}, .contribution = name, .exceptions = {}}}, {10'301}));
    const AuditReport report = must(audit(reader(file())));
    EXPECT_EQ(problems(report), "");
    EXPECT_EQ(report.unchecked,
              (std::vector<std::string>{"contributions_by_day: 5 rows by " + name +
                                        ", of 1970-01-01T00:00:00Z to 1970-01-01T00:00:00Z: this version does not keep "
                                        "that estimator"}));
    Recovered recovered = must(reader(file()).recover());
    EXPECT_EQ(recovered.state.ranking_rule().contribution, name);
    EXPECT_EQ(standings(recovered.state, k_evening), before);
    // What no release had is a finding.
    tamper(file(), "UPDATE contributions_by_day SET estimator = 'forged' WHERE estimator = '" + name + "'");
    EXPECT_NE(findings().find("a row that does not follow from the events: day 0, organization a, estimator forged"),
              std::string::npos);
    tamper(file(), "DELETE FROM contributions_by_day WHERE estimator = 'forged'");
  }
  EXPECT_EQ(must(audit(reader(file()))).unchecked, std::vector<std::string>{});
}

TEST_F(EstimatorsInTheLedger, are_recovered_from_a_checkpoint) {
  const std::string checkpoint = state_.save();
  for (const std::string_view name : estimator_names()) {
    EXPECT_NE(checkpoint.find("\nestimator " + std::string(name) + "\n"), std::string::npos) << checkpoint;
  }
  const Ledger ledger = reader(file());
  Recovered recovered = must(ledger.recover());
  EXPECT_EQ(recovered.replayed, 0);
  EXPECT_EQ(standings(recovered.state, k_evening), standings(state_, k_evening));
}

}  // namespace
}  // namespace shapley::ledger
