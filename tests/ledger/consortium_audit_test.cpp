// The audit of statements: three clusters that state their standings to each other across the end of a month, and what
// is found where a ledger says something else, or is not there.
#include "ledger/consortium/consortium_audit.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accounting/state/consortium.hpp"
#include "accounting/state/ranking.hpp"
#include "ledger/consortium/standing.hpp"
#include "ledger/store/backup.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger::testing {
namespace {

using namespace accounting;
namespace fs = std::filesystem;

constexpr Instant k_begin{1'793'491'200 - 3 * 3600};  // 2026-10-31T21:00:00Z
constexpr std::int64_t k_hour = 3600;

Instant at(std::int64_t seconds) {
  return k_begin + Duration{seconds};
}

// What shapleyd does of one cluster: it records, follows its books, and states what they say.
class Site {
 public:
  Site(const fs::path& directory, std::string name, std::int64_t weight)
      : file(directory / (name + ".db")), own{std::move(name), {}}, weight_(weight), ledger_(writer(file)) {
    const fs::path key = directory / (own.name + ".key");
    must(make_key_files(key));
    key_ = std::make_unique<SigningKey>(must(SigningKey::read(key)));
  }

  void record(const Event& event) {
    ASSERT_EQ(must(ledger_.append(std::vector{event}, time_of(event))).appended, 1U);
    ASSERT_EQ(must(books_.apply(event)), Applied::changed);
  }

  void declare(std::int64_t seconds, const std::vector<const Site*>& others, std::int64_t stale_after) {
    own.consortium = {at(seconds), "uni", weight_, {}};
    for (const Site* other : others) {
      own.consortium.clusters.push_back({.cluster = other->own.name,
                                         .weight = other->weight_,
                                         .stale_after = stale_after,
                                         .key = other->key().fingerprint(),
                                         .names = {}});
    }
    record(own.consortium);
  }

  // The others' weights become twice what they are.
  void double_weights(std::int64_t seconds, bool dated) {
    ConsortiumDeclared next = own.consortium;
    next.at = at(seconds);
    books_.advance(next.at);
    const std::vector<const StandingReceived*> statements = books_.statements();
    for (OtherCluster& other : next.clusters) other.weight *= 2;
    for (OtherCluster& other : next.clusters) {
      const auto last = std::ranges::find(statements, other.cluster, &StandingReceived::cluster);
      if (dated && last != statements.end()) {
        other.earlier =
            earlier_figures(own.consortium, next, other.cluster, *last, game::k_assumed_residual, books_.period());
      }
    }
    own.consortium = next;
    record(next);
  }

  [[nodiscard]] StandingStatement states(std::int64_t seconds) {
    StandingStatement statement = must(standing_statement(books_, ledger_, own, k_default_estimator, at(seconds)));
    must(sign(statement, *key_));
    return statement;
  }

  // The same cluster with a copy of its ledger.
  [[nodiscard]] Site again(const fs::path& directory, const fs::path& copy) const { return {directory, copy, *this}; }

  [[nodiscard]] const PublicKey& key() const { return key_->public_key(); }

  const fs::path file;
  OwnCluster own;

 private:
  Site(const fs::path& directory, const fs::path& copy, const Site& of)
      : file(copy),
        own(of.own),
        weight_(of.weight_),
        ledger_(writer(copy)),
        books_(must(ledger_.recover()).state),
        key_(std::make_unique<SigningKey>(must(SigningKey::read(directory / (of.own.name + ".key"))))) {}

  std::int64_t weight_;
  Ledger ledger_;
  State books_;
  std::unique_ptr<SigningKey> key_;
};

class ConsortiumAuditTest : public LedgerTest {
 protected:
  void SetUp() override {
    std::uint32_t job = 0;
    for (Site* site : {&north_, &south_, &west_}) {
      site->record(PeriodDeclared{at(0), Period::monthly});
      site->record(ClusterNamed{at(0), site->own.name, "uid 0 (root)", "a test"});
      site->record(OwnershipStated{"n1", at(0), {{k_beginning_of_time, {{"A", k_whole_node}}}}});
      site->record(OwnershipStated{"n2", at(0), {{k_beginning_of_time, {{"B", k_whole_node}}}}});
      for (const char* node : {"n1", "n2"}) site->record(CapacityChanged{node, at(0), 0, {4 * k_micro}});
    }
    north_.declare(1, {&south_, &west_}, 1000);
    south_.declare(1, {&north_, &west_}, 0);
    west_.declare(1, {&north_, &south_}, 0);
    // B runs on A's nodes in the north, A on B's elsewhere.
    north_.record(opened(++job, at(100).value, "B", 3, "n1"));
    south_.record(opened(++job, at(200).value, "A", 2, "n2"));
    west_.record(opened(++job, at(300).value, "A", 1, "n2"));
  }

  // South states every hour, the west half an hour later, from hour `from` on until hour `until`.
  void exchange(std::int64_t from, std::int64_t until) {
    for (std::int64_t hour = from; hour < until; ++hour) {
      north_.record(south_.states(hour * k_hour + 700).received(at(hour * k_hour + 705)));
      const std::uint32_t job = 100 + static_cast<std::uint32_t>(hour);
      const SegmentOpened run = opened(job, at(hour * k_hour + 1000).value, "B", 1, "n2");
      south_.record(run);
      south_.record(closed(run, at(hour * k_hour + 1500 + hour).value));
      north_.record(west_.states(hour * k_hour + 2500).received(at(hour * k_hour + 2570)));
    }
  }

  AuditReport audited(const std::vector<fs::path>& files, const std::vector<const Site*>& signers = {}) {
    const Ledger ledger = reader(north_.file);
    std::vector<Ledger> opened;
    opened.reserve(files.size());
    std::vector<LedgerOfConsortium> others;
    for (const fs::path& other : files) {
      opened.push_back(reader(other));
      others.push_back({other.filename(), &opened.back()});
    }
    std::vector<PublicKey> keys;
    for (const Site* site : signers) keys.push_back(must(PublicKey::parse(site->key().pem())));
    return must(audit_consortium(ledger, others, keys));
  }
  AuditReport audited_with_all() { return audited({south_.file, west_.file}); }

  Site north_{directory(), "north", 2 * k_whole_weight};
  Site south_{directory(), "south", 3 * k_whole_weight};
  Site west_{directory(), "west", k_whole_weight};
};

std::string text_of(const AuditReport& report) {
  std::string text;
  for (const std::string& note : report.notes) text += "note: " + note + '\n';
  for (const std::string& missing : report.missing) text += "missing: " + missing + '\n';
  for (const std::string& unchecked : report.unchecked) text += "unchecked: " + unchecked + '\n';
  for (const Finding& finding : report.findings) text += finding.check + ": " + finding.what + '\n';
  return text;
}

#define EXPECT_SAYS(report, words) EXPECT_NE(text_of(report).find(words), std::string::npos) << text_of(report)

TEST_F(ConsortiumAuditTest, WhatTheOtherLedgersGiveIsCorrect) {
  exchange(0, 6);
  const AuditReport report = audited({south_.file, west_.file}, {&south_});
  EXPECT_TRUE(report.clean() && report.missing.empty()) << text_of(report);
  EXPECT_EQ(report.statements, 12);
  EXPECT_EQ(report.rank_checks, 13);
  EXPECT_SAYS(report, "6 signatures verified");
  EXPECT_SAYS(report, "west: 6 signatures were not verified: its public key " + west_.key().fingerprint());
}

// A release that had another estimator ranked and stated by it.
TEST_F(ConsortiumAuditTest, WhatIsByAnEstimatorThatThereIsNoMoreIsNotChecked) {
  const std::string former(former_estimators().front().name);
  exchange(0, 1);
  StandingReceived by_it = south_.states(k_hour + 700).received(at(k_hour + 705));
  by_it.figures.contribution = former;
  north_.record(RankingDeclared{.at = at(k_hour), .contribution = former, .exceptions = {}});
  north_.record(by_it);
  const AuditReport report = audited_with_all();
  EXPECT_TRUE(report.clean() && report.missing.empty()) << text_of(report);
  EXPECT_EQ(report.statements, 2);
  EXPECT_EQ(report.rank_checks, 3);
  EXPECT_SAYS(report, "unchecked: ranks by " + former + " (1): this version does not keep that estimator");
  EXPECT_SAYS(report,
              "unchecked: statements of south by " + former + " (1): this version does not keep that estimator");
}

TEST_F(ConsortiumAuditTest, AnEditedStatementIsNotWhatTheOtherLedgerGives) {
  exchange(0, 2);
  StandingReceived edited = south_.states(2 * k_hour + 700).received(at(2 * k_hour + 705));
  edited.figures.organizations.at(0).figures.balance.value += 1;
  north_.record(edited);
  const AuditReport report = audited({south_.file, west_.file}, {&south_, &west_});
  ASSERT_EQ(report.findings.size(), 2U) << text_of(report);
  EXPECT_SAYS(report, "signature: event 13, the statement of south of 2026-10-31T23:11:40Z: the signature is not of");
  EXPECT_SAYS(report,
              "statement: event 13, the statement of south of 2026-10-31T23:11:40Z, compared with south.db: A's "
              "balance is ");
  EXPECT_EQ(audited_with_all().findings.size(), 1U) << "the other ledger shows it without a key";
}

TEST_F(ConsortiumAuditTest, ALedgerThatWasWrittenAnewDoesNotGiveTheStatement) {
  const fs::path other = directory() / "other.db";
  must(back_up(south_.file, other, Overwrite::no));
  {
    Ledger written = writer(other);
    must(written.append(std::vector<Event>{opened(7, at(400).value, "B", 1, "n1")}, at(400)));
  }
  south_.record(opened(7, at(400).value, "B", 2, "n1"));
  exchange(0, 3);
  // Of the three statements the copy does not reach the last two.
  AuditReport report = audited({other, west_.file});
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_SAYS(report,
              "statement: south: 1 statement by its events 9 to 9, the first of 2026-10-31T21:11:40Z, compared "
              "with other.db: that ledger was rewritten, it has other hashes there; it differs from one of "
              "the events 1 to 9 on");
  {
    Ledger written = writer(other);
    for (std::uint32_t job = 8; job < 14; ++job)
      must(written.append(std::vector<Event>{opened(job, at(400).value, "B", 1, "n2")}, at(400)));
  }
  report = audited({other, west_.file});
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_SAYS(report, "south: 3 statements by its events 9 to 13, the first of 2026-10-31T21:11:40Z");
  EXPECT_EQ(report.statements, 6);
}

// What was rewritten begins after a statement that agrees: that one bounds where.
TEST_F(ConsortiumAuditTest, StatementsOfBeforeTheWritingStillAgree) {
  exchange(0, 1);
  const fs::path other = directory() / "other.db";
  north_.record(south_.states(2000).received(at(2005)));
  must(back_up(south_.file, other, Overwrite::no));
  exchange(1, 3);
  {
    Ledger written = writer(other);
    for (std::uint32_t job = 8; job < 14; ++job)
      must(written.append(std::vector<Event>{opened(job, at(2000).value, "B", 1, "n2")}, at(2000)));
  }
  const AuditReport report = audited({other, west_.file});
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_SAYS(report, "south: 1 statement by its events ");
  EXPECT_SAYS(report, "it differs from one of the events ");
}

// South goes back to a copy, and on otherwise; the north accepts that.
TEST_F(ConsortiumAuditTest, BothLinesOfARestoredLedgerAreKnown) {
  const fs::path lost = directory() / "lost.db";
  const fs::path copy = directory() / "copy.db";
  exchange(0, 1);
  must(back_up(south_.file, copy, Overwrite::no));
  const auto before = south_.states(k_hour + 600);
  south_.record(opened(50, at(k_hour).value, "B", 1, "n2"));
  south_.record(opened(51, at(k_hour).value, "B", 1, "n2"));
  north_.record(south_.states(k_hour + 700).received(at(k_hour + 705)));
  must(back_up(south_.file, lost, Overwrite::no));
  Site restored = south_.again(directory(), copy);
  restored.record(opened(60, at(k_hour + 800).value, "A", 1, "n2"));
  const StandingStatement first = restored.states(k_hour + 900);
  LedgerReplaced replaced{at(k_hour + 901),
                          "south",
                          before.figures.ledger,
                          before.figures.event + 2,
                          first.figures.ledger,
                          first.figures.event,
                          first.figures.hash,
                          "shapleyd",
                          ""};
  north_.record(replaced);
  replaced.at = at(k_hour + 905);
  replaced.author = "uid 0 (root)";
  replaced.reason = "restored";
  north_.record(replaced);
  north_.record(first.received(at(k_hour + 905)));

  const AuditReport all = audited({restored.file, lost, west_.file}, {&south_});
  EXPECT_TRUE(all.clean()) << text_of(all);
  EXPECT_EQ(all.statements, 4) << text_of(all);
  EXPECT_SAYS(all, "south: 2026-10-31T22:15:05Z: its ledger went back from event 12 to 11; accepted by uid 0 (root): ");
  // In any order, and without the lost one.
  EXPECT_TRUE(audited({lost, restored.file, west_.file}).clean());
  const AuditReport without = audited({restored.file, west_.file});
  EXPECT_TRUE(without.clean()) << text_of(without);
  EXPECT_SAYS(without, "missing: south: 1 statement by its events 12 to 12: its ledger was replaced, which was found");
}

TEST_F(ConsortiumAuditTest, AWeightThatRestatesThePastIsFound) {
  exchange(0, 1);
  north_.double_weights(k_hour, true);
  const AuditReport dated = audited_with_all();
  EXPECT_TRUE(dated.clean()) << text_of(dated);
  north_.double_weights(k_hour + 100, false);
  const AuditReport undated = audited_with_all();
  EXPECT_FALSE(undated.clean());
  EXPECT_SAYS(undated, "weights: event ");
  EXPECT_SAYS(undated, "what A is owed on other clusters changes with the weights");
}

TEST_F(ConsortiumAuditTest, AStatementOfAnotherClusterThanTheLedgersIsFound) {
  StandingStatement statement = south_.states(700);
  statement.cluster = "west";
  north_.record(statement.received(at(705)));
  EXPECT_SAYS(audited_with_all(),
              "statement: event 9, the statement of west of 2026-10-31T21:11:40Z, compared with "
              "south.db: that ledger is of the cluster south");
}

TEST_F(ConsortiumAuditTest, ATimeThatWasNotTheStatementsIsFoundAndDoesNoHarmToLaterOnes) {
  StandingStatement early = south_.states(700);
  early.figures.time = at(1'000'000);
  north_.record(early.received(at(705)));
  north_.record(south_.states(900).received(at(905)));
  const AuditReport report = audited_with_all();
  ASSERT_EQ(report.findings.size(), 1U) << text_of(report);
  EXPECT_SAYS(report, "it was recorded at 2026-10-31T21:11:45Z, before its own time");
}

TEST_F(ConsortiumAuditTest, LedgersThatAreNotThereAreNamed) {
  exchange(0, 3);
  const AuditReport report = audited({west_.file});
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.statements, 3);
  ASSERT_EQ(report.missing.size(), 1U) << text_of(report);
  EXPECT_SAYS(report, "missing: south: 3 statements by its events 8 to 12: its ledger ");
  const AuditReport none = audited({});
  EXPECT_EQ(none.statements, 0);
  EXPECT_EQ(none.missing.size(), 2U);
}

TEST_F(ConsortiumAuditTest, AnOlderCopyLeavesTheLaterStatementsUncompared) {
  exchange(0, 1);
  const fs::path copy = directory() / "copy.db";
  must(back_up(south_.file, copy, Overwrite::no));
  exchange(1, 3);
  const AuditReport report = audited({copy, west_.file});
  EXPECT_TRUE(report.clean()) << text_of(report);
  EXPECT_EQ(report.statements, 5) << "its last event is still that of the second";
  EXPECT_SAYS(report, "missing: south: 1 statement by its events 12 to 12: copy.db ends at event 10");
}

TEST_F(ConsortiumAuditTest, TimesWithoutAStatementAreListed) {
  exchange(0, 1);
  exchange(4, 5);
  const AuditReport report = audited_with_all();
  EXPECT_TRUE(report.clean()) << text_of(report);
  EXPECT_EQ(report.missing.size(), 2U) << text_of(report);
  EXPECT_SAYS(report, "missing: south: no statement was recorded from 2026-10-31T21:11:45Z to 2026-11-01T01:11:45Z");
  EXPECT_SAYS(report, "missing: west: no statement was recorded from 2026-10-31T21:42:50Z to 2026-11-01T01:42:50Z");
}

TEST_F(ConsortiumAuditTest, AClusterOfWhichNothingCameIsNamedAndOneThatLeftIsNotMissed) {
  north_.declare(10, {&south_}, 0);
  north_.record(south_.states(700).received(at(705)));
  north_.record(opened(9, at(3 * k_hour).value, "A", 1, "n1"));
  const AuditReport report = audited_with_all();
  ASSERT_EQ(report.missing.size(), 2U) << text_of(report);
  EXPECT_SAYS(report, "missing: west: none of its statements was recorded");
  EXPECT_SAYS(report, "missing: south: no statement was recorded from 2026-10-31T21:11:45Z to 2026-11-01T00:00:00Z");
}

}  // namespace
}  // namespace shapley::ledger::testing
