#include "daemon/configuration/declarations.hpp"

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using accounting::Event;
using accounting::OwnershipStated;

constexpr Instant k_now{1'000'000};

config::NodeClaim claim(std::string node, std::int64_t parts = 1'000'000) {
  config::NodeClaim c;
  c.nodes = {std::move(node)};
  c.share = {parts, 1'000'000};
  return c;
}

config::OrganizationConfig organization(std::string name, std::vector<config::NodeClaim> claims) {
  config::OrganizationConfig o;
  o.name = std::move(name);
  o.nodes = std::move(claims);
  return o;
}

config::Configuration two_owners() {
  config::Configuration c;
  c.organizations = {organization("physics", {claim("n1")}), organization("chemistry", {claim("n2")})};
  return c;
}

// What the ledger says after these events.
Declared remember(Declared declared, const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (const auto* o = std::get_if<accounting::OrganizationsDeclared>(&event)) declared.organizations = *o;
    if (const auto* p = std::get_if<accounting::PeriodDeclared>(&event)) declared.period = *p;
    if (const auto* c = std::get_if<accounting::ConfigurationLoaded>(&event)) declared.configuration = *c;
    if (const auto* r = std::get_if<accounting::RankingDeclared>(&event)) declared.ranking = *r;
    if (const auto* g = std::get_if<accounting::ChargeDeclared>(&event)) declared.charge = *g;
    if (const auto* h = std::get_if<accounting::HindsightDefined>(&event)) declared.hindsight = *h;
    if (const auto* s = std::get_if<OwnershipStated>(&event)) declared.ownership[s->node].push_back(*s);
  }
  return declared;
}

std::vector<OwnershipStated> statements(const Declarations& declarations) {
  std::vector<OwnershipStated> found;
  for (const Event& event : declarations.events) {
    if (const auto* s = std::get_if<OwnershipStated>(&event)) found.push_back(*s);
  }
  return found;
}

TEST(Declarations, TheFirstStartSaysEverythingAndHonoursAllDates) {
  const Declarations first = declare(two_owners(), "text", {}, k_now);
  EXPECT_EQ(first.events.size(),
            7U);  // organizations, two nodes, ranking, charge, hindsight, the text; period none is the default
  ASSERT_EQ(statements(first).size(), 2U);
  EXPECT_LT(statements(first)[0].effective, Instant{1});
  EXPECT_TRUE(first.warnings.empty());
}

TEST(Declarations, TheSameAgainSaysNothing) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  const Declarations again = declare(two_owners(), "text", known, k_now + Duration{500});
  EXPECT_TRUE(again.events.empty());
  EXPECT_TRUE(again.warnings.empty());
}

TEST(Declarations, AnotherTextAloneIsKeptForTheMembers) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  const Declarations again = declare(two_owners(), "text # comment", known, k_now + Duration{500});
  ASSERT_EQ(again.events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<accounting::ConfigurationLoaded>(again.events[0]));
}

TEST(Declarations, TwoLoadsOfOneSecondGetTwoInstants) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  config::Configuration changed = two_owners();
  changed.organizations.push_back(organization("biology", {}));
  const Declarations again = declare(changed, "other", known, k_now);
  ASSERT_EQ(again.events.size(), 2U);
  for (const Event& e : again.events) EXPECT_EQ(accounting::time_of(e), k_now + Duration{1});
}

TEST(Declarations, AnUndatedChangeOfOwnerHoldsFromTheReloadOnWithoutAWarning) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  config::Configuration changed = two_owners();
  changed.organizations[0].nodes = {};
  changed.organizations[1].nodes = {claim("n2"), claim("n1")};
  const Declarations again = declare(changed, "text", known, k_now + Duration{500});
  ASSERT_EQ(statements(again).size(), 1U);
  EXPECT_EQ(statements(again)[0].node, "n1");
  EXPECT_EQ(statements(again)[0].effective, k_now + Duration{500});
  EXPECT_TRUE(again.warnings.empty());
}

TEST(Declarations, ANodeThatIsNoLongerClaimedGoesToCommons) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  config::Configuration changed = two_owners();
  changed.organizations[0].nodes = {};
  const Declarations again = declare(changed, "text", known, k_now + Duration{500});
  ASSERT_EQ(statements(again).size(), 1U);
  EXPECT_EQ(statements(again)[0].node, "n1");
  ASSERT_EQ(statements(again)[0].spans.size(), 1U);
  EXPECT_TRUE(statements(again)[0].spans[0].owners.empty());
  // And it stays said.
  const Declared later = remember(known, again.events);
  EXPECT_TRUE(declare(changed, "text", later, k_now + Duration{900}).events.empty());
}

TEST(Declarations, ADateInThePastIsAppliedFromNowOnAndSaidSo) {
  const Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  config::Configuration changed = two_owners();
  changed.organizations[0].nodes[0].until = k_now - Duration{1000};
  config::NodeClaim taken_over = claim("n1");
  taken_over.from = k_now - Duration{1000};
  changed.organizations[1].nodes.push_back(taken_over);
  const Declarations again = declare(changed, "text", known, k_now + Duration{500});
  ASSERT_EQ(statements(again).size(), 1U);
  EXPECT_EQ(statements(again)[0].effective, k_now + Duration{500});
  ASSERT_EQ(again.warnings.size(), 1U);
  EXPECT_NE(again.warnings[0].find("n1"), std::string::npos);
}

TEST(Declarations, ADateInThePastIsSaidOnceAndNotAtEveryReload) {
  const std::string begin = "organizations:\n  - {name: physics, nodes: [";
  const std::string end = "]}\n  - {name: chemistry, nodes: [n2]}\n";
  const auto load = [](const std::string& text, const Declared& known, std::int64_t seconds) {
    const auto configuration = config::parse(text);
    EXPECT_TRUE(configuration);
    return declare(*configuration, text, known, k_now + Duration{seconds});
  };
  Declared known = remember({}, load(begin + "n1" + end, {}, 0).events);
  const std::string dated = begin + "{nodes: n1, from: 1970-01-03}" + end;
  const Declarations first = load(dated, known, 500);
  EXPECT_EQ(first.warnings.size(), 1U);
  known = remember(known, first.events);
  EXPECT_TRUE(load(dated, known, 600).warnings.empty()) << "the same file";
  const Declarations edited = load("mode: observe\n" + dated, known, 700);
  EXPECT_TRUE(edited.warnings.empty()) << "another key was changed";
  known = remember(known, edited.events);
  EXPECT_EQ(load(begin + "{nodes: n1, from: 1970-01-04}" + end, known, 800).warnings.size(), 1U) << "another date";
  // After an upgrade: the ledger has the text of a release with a key that there is no more.
  ASSERT_TRUE(known.configuration);
  known.configuration->text.insert(0, "horizon: 30d\n");
  EXPECT_TRUE(load(dated, known, 900).warnings.empty()) << "the key was left out";
}

TEST(Declarations, AHandOverThatWasAnnouncedInTimeIsNoNewsAfterItsDate) {
  config::Configuration c = two_owners();
  const Instant date = k_now + Duration{1000};
  c.organizations[0].nodes[0].until = date;
  config::NodeClaim taken_over = claim("n1");
  taken_over.from = date;
  c.organizations[1].nodes.push_back(taken_over);
  const Declared known = remember({}, declare(c, "text", {}, k_now).events);
  const Declarations after = declare(c, "text", known, date + Duration{500});
  EXPECT_TRUE(after.events.empty());
  EXPECT_TRUE(after.warnings.empty());
}

TEST(Declarations, AFutureDateChangedBeforeItComesReplacesTheOldOne) {
  config::Configuration c = two_owners();
  c.organizations[0].nodes[0].until = k_now + Duration{1000};
  const Declared known = remember({}, declare(c, "text", {}, k_now).events);
  c.organizations[0].nodes[0].until = k_now + Duration{2000};
  const Declarations again = declare(c, "text", known, k_now + Duration{500});
  EXPECT_EQ(statements(again).size(), 1U);
  EXPECT_TRUE(again.warnings.empty());
  const Declared later = remember(known, again.events);
  EXPECT_TRUE(declare(c, "text", later, k_now + Duration{1500}).events.empty());
}

TEST(Declarations, AStatementComesStrictlyAfterTheLastOneOfItsNode) {
  Declared known = remember({}, declare(two_owners(), "text", {}, k_now).events);
  config::Configuration changed = two_owners();
  changed.organizations[0].nodes = {claim("n1", 500'000)};
  known = remember(known, declare(changed, "text", known, k_now + Duration{500}).events);
  // The clock was set back.
  const Declarations back = declare(two_owners(), "text", known, k_now + Duration{100});
  ASSERT_EQ(statements(back).size(), 1U);
  EXPECT_EQ(statements(back)[0].effective, k_now + Duration{501});
}

TEST(Declarations, ThePeriodIsDeclaredWhenItChanges) {
  config::Configuration c = two_owners();
  c.period = Period::monthly;
  const Declarations first = declare(c, "text", {}, k_now);
  EXPECT_EQ(first.events.size(), 8U);
  const Declared known = remember({}, first.events);
  EXPECT_TRUE(declare(c, "text", known, k_now + Duration{500}).events.empty());
  c.period = Period::none;
  EXPECT_EQ(declare(c, "text", known, k_now + Duration{500}).events.size(), 1U);
}

// Of the declarations' events, the only one of its kind.
std::optional<accounting::RankingDeclared> ranking(const Declarations& declarations) {
  std::optional<accounting::RankingDeclared> found;
  for (const Event& event : declarations.events) {
    if (const auto* r = std::get_if<accounting::RankingDeclared>(&event)) found = *r;
  }
  return found;
}

TEST(Declarations, AChangeOfTheRuleOrAGuaranteeIsAnEvent) {
  config::Configuration configuration = two_owners();
  const Declared declared = remember({}, declare(configuration, "text", {}, k_now).events);
  ASSERT_TRUE(declared.ranking.has_value());
  EXPECT_EQ(*declared.ranking,
            (accounting::RankingDeclared{
                k_now, "direct_contr", 0, 500'000, {}, 0, accounting::Guests::last, accounting::KeyRule::braking}));
  EXPECT_FALSE(ranking(declare(configuration, "text", declared, k_now + Duration{5})).has_value());

  configuration.rule = accounting::KeyRule::horizon;
  configuration.organizations[0].guarantee = 800'000;
  configuration.organizations[1].guarantee = 0;
  const auto changed = ranking(declare(configuration, "text", declared, k_now + Duration{5}));
  ASSERT_TRUE(changed.has_value());
  const std::vector<accounting::GuaranteedPart> exceptions{{"chemistry", 0}, {"physics", 800'000}};
  EXPECT_EQ(*changed, (accounting::RankingDeclared{k_now + Duration{5}, "direct_contr", 0, 500'000, exceptions, 0,
                                                   accounting::Guests::last}));

  configuration.guests = accounting::Guests::ranked;
  EXPECT_EQ(ranking(declare(configuration, "text", declared, k_now))->guests, accounting::Guests::ranked);

  // A second one in the same second is dated a second later: the first stays what it was.
  const auto again = ranking(declare(configuration, "text", declared, k_now));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->at, k_now + Duration{1});
}

TEST(Declarations, AChangeOfTheChargeIsAnEvent) {
  config::Configuration configuration = two_owners();
  const Declared declared = remember({}, declare(configuration, "text", {}, k_now).events);
  ASSERT_TRUE(declared.charge.has_value());
  EXPECT_EQ(*declared.charge, (accounting::ChargeDeclared{k_now, "dominant", {}, {}}));

  configuration.node_weights = {{{"g1", "g2"}, 4, "g[1-2]"}};
  const Declarations heavier = declare(configuration, "text", declared, k_now + Duration{5});
  ASSERT_EQ(heavier.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::ChargeDeclared>(heavier.events[0]),
            (accounting::ChargeDeclared{k_now + Duration{5}, "dominant", {}, {{"g[1-2]", 4}}}));

  configuration.node_weights.clear();
  configuration.charge = config::Charge::weights;
  configuration.weights = {{"gres/gpu", 32}, {"cpu", 1}};
  const Declarations weighed = declare(configuration, "text", declared, k_now + Duration{5});
  ASSERT_EQ(weighed.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::ChargeDeclared>(weighed.events[0]),
            (accounting::ChargeDeclared{k_now + Duration{5}, "weights", {{"cpu", 1}, {"gres/gpu", 32}}, {}}));
}

std::optional<accounting::HindsightDefined> hindsight(const Declarations& declarations) {
  std::optional<accounting::HindsightDefined> found;
  for (const Event& event : declarations.events) {
    if (const auto* h = std::get_if<accounting::HindsightDefined>(&event)) found = *h;
  }
  return found;
}

// A new ledger begins with whole jobs; one that exists goes on as it is until its file asks for something else.
TEST(Declarations, HowJobsStartInHindsightIsChangedByItsKeyAlone) {
  using accounting::HindsightDefined;
  using accounting::JobsStart;
  config::Configuration configuration = two_owners();
  const Declarations first = declare(configuration, "text", {}, k_now);
  EXPECT_EQ(hindsight(first), (HindsightDefined{Instant{0}, JobsStart::whole, {}}));
  Declared known = remember({}, first.events);
  known.hindsight->kinds = {"g[1-2]"};
  Declared older = known;
  older.hindsight.reset();
  for (const Declared& each : {known, older})
    EXPECT_FALSE(hindsight(declare(configuration, "text", each, k_now + Duration{5})));

  configuration.hindsight_jobs = config::HindsightJobs::whole;
  EXPECT_FALSE(hindsight(declare(configuration, "text", known, k_now + Duration{5})));
  EXPECT_EQ(hindsight(declare(configuration, "text", older, k_now + Duration{5})),
            (HindsightDefined{k_now + Duration{5}, JobsStart::whole, {}}));

  configuration.hindsight_jobs = config::HindsightJobs::parts;
  EXPECT_EQ(hindsight(declare(configuration, "text", known, k_now + Duration{5})),
            (HindsightDefined{k_now + Duration{5}, JobsStart::parts, {"g[1-2]"}}));
  EXPECT_FALSE(hindsight(declare(configuration, "text", {}, k_now)));
}

}  // namespace
}  // namespace shapley::daemon
