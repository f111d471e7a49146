// Standing statements: their text and signature, what is refused as none, and which of them ranks may be made by.
#include "ledger/consortium/standing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/events/event_check.hpp"
#include "accounting/state/ranking.hpp"
#include "ledger/consortium/statement_bounds.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using testing::must;

constexpr Instant k_time{1'795'000'000};  // 2026-11-18T11:06:40Z

StandingStatement of_south() {
  return {.cluster = "south",
          .figures = {.consortium = "uni",
                      .ledger = std::string(32, 'a'),
                      .event = 7,
                      .hash = std::string(64, 'b'),
                      .time = k_time,
                      .contribution = "direct_contr",
                      .period = Period::yearly,
                      .period_begin = period_begin(Period::yearly, k_time),
                      .weights = {{"north", 1'000'000}, {"south", 1'500'000}},
                      .organizations = {{.organization = "biology",
                                         .figures = {.balance = {-17}, .given_less_got = {5}, .rate_less_used = {3}},
                                         .owned = {2 * k_micro},
                                         .used = {k_micro},
                                         .waiting = {0}}}},
          .signature = std::string(128, '0')};
}

class StandingText : public testing::LedgerTest {
 protected:
  StandingText()
      : public_key(must(make_key_files(directory() / "key"))), key(must(SigningKey::read(directory() / "key"))) {
    own.consortium.consortium = "uni";
    own.consortium.clusters = {{.cluster = "south", .weight = 1'500'000, .stale_after = 0, .key = "", .names = {}}};
  }

  [[nodiscard]] std::string judged(const StandingStatement& statement, const StandingStatement* before = nullptr,
                                   Period period = Period::yearly) const {
    const accounting::ClusterFigures* last = before == nullptr ? nullptr : &before->figures;
    const auto result =
        judge(statement, "south",
              {.own = own, .contribution = "direct_contr", .period = period, .last = last, .now = k_time});
    return result ? "taken" : result.error().what;
  }

  PublicKey public_key;
  SigningKey key;
  OwnCluster own{.name = "north", .consortium = {}};
};

TEST_F(StandingText, ItsTextIsReadAsItWasWritten) {
  StandingStatement statement = of_south();
  ASSERT_TRUE(sign(statement, key).has_value());
  const StandingStatement read = must(parse_statement(statement.text()));
  EXPECT_EQ(read, statement);
  EXPECT_EQ(read.text(), statement.text());
  EXPECT_TRUE(verify_signature(read, public_key).has_value());
  EXPECT_EQ(statement.signed_text().find("shapley standing 1\n{"), 0U);
  EXPECT_EQ(statement.signed_text().find("signature"), std::string::npos);
}

TEST_F(StandingText, ItsTextIsCanonical) {
  EXPECT_EQ(of_south().text(),
            R"({"cluster":"south","consortium":"uni","contribution":"direct_contr","event":7,"hash":")" +
                std::string(64, 'b') + R"(","ledger":")" + std::string(32, 'a') +
                R"(","organizations":[{"balance":"-0.000017","given_less_got":"0.000005","organization":"biology",)"
                R"("owned":2000000,"rate_less_used":3,"used":1000000,"waiting":0}],"period":"yearly",)"
                R"("period_begin":1767225600,"signature":")" +
                std::string(128, '0') +
                R"(","time":1795000000,"weights":[{"cluster":"north","weight":1000000},)"
                R"({"cluster":"south","weight":1500000}]})"
                "\n");
}

TEST_F(StandingText, AnyChangedCharacterIsRefused) {
  StandingStatement statement = of_south();
  ASSERT_TRUE(sign(statement, key).has_value());
  const std::string text = statement.text();
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::string forged = text;
    forged[i] = forged[i] == '1' ? '2' : '1';
    const auto read = parse_statement(forged);
    EXPECT_FALSE(read && verify_signature(*read, public_key)) << forged;
  }
  const PublicKey other = must(make_key_files(directory() / "other"));
  EXPECT_NE(verify_signature(statement, other).error().what.find("edited or forged"), std::string::npos);
}

TEST_F(StandingText, WhatTheLedgerWouldNotTakeIsNone) {
  EXPECT_FALSE(parse_statement(std::string(k_most_statement_bytes + 1, ' ')));
  for (const char* text : {"", "1", "[]", "{}", "{\"cluster\":\"south\"}"}) EXPECT_FALSE(parse_statement(text)) << text;
  EXPECT_FALSE(parse_statement(std::string(100'000, '[')));
  StandingStatement large = of_south();
  large.figures.organizations[0].owned = {accounting::k_max_wanted.value + 1};
  EXPECT_NE(parse_statement(large.text()).error().what.find("larger than any cluster's"), std::string::npos);
  StandingStatement twice = of_south();
  twice.figures.organizations.push_back(twice.figures.organizations[0]);
  EXPECT_NE(parse_statement(twice.text()).error().what.find("each once"), std::string::npos);
}

TEST_F(StandingText, RanksAreMadeByFiguresThatAddUp) {
  EXPECT_EQ(judged(of_south()), "taken");
  const auto with = [&](const auto& change) {
    StandingStatement statement = of_south();
    change(statement);
    return judged(statement);
  };
  EXPECT_EQ(with([](auto& s) { s.cluster = "north"; }), "it is a statement of this cluster itself, 'north'");
  EXPECT_EQ(with([](auto& s) { s.cluster = "west"; }), "it is of the cluster 'west', here 'south'");
  EXPECT_EQ(with([](auto& s) { s.figures.consortium = "eu"; }), "its consortium is 'eu', here 'uni'");
  EXPECT_EQ(with([](auto& s) { s.figures.contribution = "hindsight"; }),
            "its contribution is 'hindsight', here 'direct_contr'");
  EXPECT_EQ(judged(of_south(), nullptr, Period::none), "its period is 'yearly', here 'none'");
  StandingStatement several = of_south();
  several.figures.consortium = "other";
  several.figures.weights[0].weight *= 2;
  const std::string all = judged(several, nullptr, Period::none);
  for (const char* difference : {"its consortium is", "its period is", "a processor of"})
    EXPECT_NE(all.find(difference), std::string::npos) << all;
  EXPECT_NE(with([](auto& s) { s.figures.period_begin = Instant{0}; }).find("before the present period began"),
            std::string::npos);
  EXPECT_EQ(with([](auto& s) { s.figures.weights[1].weight = 2'000'000; }),
            "a processor of south is worth '2', here '1.5'");
  EXPECT_EQ(with([](auto& s) { s.figures.weights[0].weight = 2'000'000; }),
            "a processor of north is worth '2', here '1'");
  EXPECT_EQ(with([](auto& s) { s.figures.weights = {{"south", 1'500'000}}; }), "its consortium has no cluster 'north'");
  EXPECT_EQ(with([](auto& s) { s.figures.time = k_time + Duration{60}; }), "taken");
  EXPECT_NE(with([](auto& s) { s.figures.time = k_time + Duration{61}; }).find("the clocks are apart"),
            std::string::npos);
}

TEST_F(StandingText, IsNewerThanTheLastOne) {
  const StandingStatement last = of_south();
  EXPECT_EQ(judged(last, &last), "taken");
  StandingStatement next = last;
  next.figures.event = 6;
  EXPECT_NE(judged(next, &last).find("older than the last one"), std::string::npos);
  // One of two controllers that follows may be some events behind for some seconds.
  next.figures.time = k_time + Duration{5};
  EXPECT_NE(judged(next, &last).find("older than the last one"), std::string::npos);
  next = last;
  next.figures.time = k_time - Duration{1};
  EXPECT_NE(judged(next, &last).find("older than the last one"), std::string::npos);
  // What was written before is older, whichever ledger it is of.
  next.figures.ledger = std::string(32, 'c');
  EXPECT_NE(judged(next, &last).find("older than the last one"), std::string::npos);
}

TEST_F(StandingText, ALedgerThatIsNotTheOneOfBeforeIsNamed) {
  const accounting::ClusterFigures last = of_south().figures;
  const auto found = [&](const auto& change) {
    StandingStatement next = of_south();
    next.figures.time = last.time + Duration{60};
    change(next.figures);
    const StandingStatement before = of_south();
    EXPECT_EQ(judged(next, &before), "taken");
    return replacement(next.figures, last);
  };
  EXPECT_EQ(found([](auto& /*figures*/) {}), "");
  EXPECT_EQ(found([](auto& figures) { figures.event = 8; }), "");
  EXPECT_EQ(found([](auto& figures) {
              figures.ledger = std::string(32, 'c');
              figures.event = 900;
            }),
            "its ledger was begun again: it is at event 900 of the ledger " + std::string(32, 'c') +
                ", and was at event 7 of " + std::string(32, 'a'));
  EXPECT_EQ(found([](auto& figures) { figures.event = 4; }), "its ledger went back from event 7 to 4: it was restored");
  EXPECT_EQ(found([](auto& figures) { figures.hash = std::string(64, 'd'); }),
            "its event 7 is another one than before: its ledger was restored, and goes on otherwise");
  // It has passed event 7 again, and says itself that it lost what it had.
  const auto lost = [&](std::int64_t since) {
    return found([&](auto& figures) {
      figures.event = 9;
      figures.lost = last.time + Duration{since};
    });
  };
  EXPECT_EQ(lost(-100),
            "its ledger went back before event 7 and is at 9 now: it says that it lost what it had since "
            "2026-11-18T11:05:00Z");
  EXPECT_EQ(lost(1), "") << "after the last statement";
  accounting::ClusterFigures since = last;
  since.lost = last.time - Duration{100};
  EXPECT_EQ(replacement(since, since), "") << "it was said before";
}

TEST_F(StandingText, ALedgerThatWasReplacedIsNamedByWhatIsRecorded) {
  accounting::LedgerReplaced replaced{.at = k_time,
                                      .cluster = "south",
                                      .former_ledger = std::string(32, 'a'),
                                      .former_event = 23,
                                      .ledger = std::string(32, 'a'),
                                      .event = 16,
                                      .hash = std::string(64, 'b'),
                                      .author = "shapleyd",
                                      .reason = ""};
  EXPECT_EQ(replacement_text(replaced), "its ledger went back from event 23 to 16");
  replaced.event = 30;
  EXPECT_EQ(replacement_text(replaced), "its ledger went back before event 23, and goes on otherwise");
  replaced.ledger = std::string(32, 'c');
  EXPECT_EQ(replacement_text(replaced), "its ledger was begun again: it is " + std::string(32, 'c') +
                                            " now, and was at event 23 of " + std::string(32, 'a'));
}

// Each owns a node and runs on its neighbour's.
accounting::State books_of_a_thousand() {
  accounting::State books;
  const auto name = [](int i) { return std::string(60, 'o') + std::to_string(1000 + i); };
  constexpr int k_organizations = 1000;
  std::vector<accounting::Event> events;
  for (int i = 0; i < k_organizations; ++i) {
    const std::string node = "n" + std::to_string(i);
    events.emplace_back(
        accounting::OwnershipStated{node, k_time, {{k_beginning_of_time, {{name(i), accounting::k_whole_node}}}}});
    events.emplace_back(accounting::CapacityChanged{node, k_time, 0, {4 * k_micro}});
    events.emplace_back(
        testing::opened(static_cast<std::uint32_t>(i + 1), k_time.value + i, name((i + 1) % k_organizations), 2, node));
  }
  for (const accounting::Event& event : events) EXPECT_TRUE(books.apply(event).has_value());
  return books;
}

TEST_F(StandingText, OfAThousandOrganizationsIsWrittenReadJudgedAndRankedBy) {
  const Instant now = k_time + Duration{4000};
  accounting::State there = books_of_a_thousand();
  OwnCluster south{"south", {k_time, "uni", 1'500'000, {}}};
  south.consortium.clusters = {{.cluster = "north", .key = "", .names = {}}};
  StandingStatement statement{.cluster = "south",
                              .figures = cluster_figures(there, south, accounting::k_default_estimator, now),
                              .signature = {}};
  statement.figures.ledger = std::string(32, 'a');
  statement.figures.event = 3000;
  statement.figures.hash = std::string(64, 'b');
  ASSERT_EQ(statement.figures.organizations.size(), 1000U);
  ASSERT_TRUE(sign(statement, key).has_value());
  const StandingStatement read = must(parse_statement(statement.text()));
  EXPECT_EQ(read, statement);
  EXPECT_TRUE(verify_signature(read, public_key).has_value());
  const auto judged_by = [&](const accounting::ClusterFigures* last) {
    return judge(read, "south",
                 {.own = own, .contribution = "direct_contr", .period = Period::none, .last = last, .now = now});
  };
  const auto taken = judged_by(nullptr);
  EXPECT_TRUE(taken.has_value()) << taken.error().what;
  EXPECT_TRUE(judged_by(&read.figures).has_value());
  EXPECT_EQ(jump(read.figures, read.figures), "");
  // As an event of a ledger, and in the ranks of a cluster of the same organizations.
  Ledger ledger = testing::writer(file());
  must(ledger.append(std::vector<accounting::Event>{read.received(now)}, now));
  accounting::State here = books_of_a_thousand();
  own.consortium.at = k_time;
  own.consortium.clusters[0].key = public_key.fingerprint();
  EXPECT_TRUE(here.apply(own.consortium).has_value());
  const auto alone = here.advance(now).own_rank_rows(accounting::k_default_estimator);
  EXPECT_TRUE(here.apply(read.received(now)).has_value());
  const auto summed = here.advance(now).rank_rows(accounting::k_default_estimator);
  ASSERT_EQ(summed.size(), alone.size());
  std::size_t counted = 0;
  for (std::size_t i = 0; i < summed.size(); ++i) {
    const Int128 own_work = alone[i].figures.given_less_got.value;
    if (own_work == 0) continue;
    ++counted;
    EXPECT_EQ(summed[i].figures.given_less_got.value, own_work + floor_of_quotient(own_work * 3, 2));
  }
  EXPECT_GT(counted, 900U) << "the neighbour began a second earlier or later";
}

// However long the names and however large the figures are that the ledger takes.
TEST_F(StandingText, OfAThousandOrganizationsFitsItsBound) {
  StandingStatement large = of_south();
  const CpuTime work{-accounting::k_max_work_elsewhere};
  large.figures.organizations.clear();
  for (int i = 0; i < 1000; ++i) {
    large.figures.organizations.push_back({.organization = std::string(200, 'o') + std::to_string(1000 + i),
                                           .figures = {.balance = {-accounting::k_max_balance_elsewhere},
                                                       .given_less_got = work,
                                                       .rate_less_used = {-accounting::k_max_held.value}},
                                           .owned = accounting::k_max_wanted,
                                           .used = accounting::k_max_wanted,
                                           .waiting = accounting::k_max_wanted,
                                           .settled_given = work,
                                           .settled_got = work});
  }
  const std::string text = large.text();
  EXPECT_LT(text.size(), k_most_statement_bytes);
  EXPECT_EQ(must(parse_statement(text)), large);
}

TEST_F(StandingText, SaysWhatItsLedgerLost) {
  accounting::State books;
  for (const auto cause : {accounting::GapCause::unobserved, accounting::GapCause::events_lost}) {
    const Instant begin = k_time + Duration{cause == accounting::GapCause::events_lost ? 100 : 10};
    ASSERT_TRUE(books.apply(accounting::ObservationGap{begin, begin + Duration{5}, cause}).has_value());
    const accounting::ClusterFigures figures =
        cluster_figures(books, own, accounting::k_default_estimator, begin + Duration{5});
    EXPECT_EQ(figures.lost, cause == accounting::GapCause::events_lost ? begin : Instant{});
  }
}

}  // namespace
}  // namespace shapley::ledger
