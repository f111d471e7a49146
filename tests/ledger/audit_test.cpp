// An audit is worth what it finds: every test here damages a ledger in one way and expects that way to be named.
#include "ledger/audit/audit.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "ledger/audit/audit_parts.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/store/acknowledged.hpp"
#include "ledger/store/rows.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;

class Audit : public LedgerTest {
 protected:
  // Two organizations, a fractional node, two finished runs and one that goes on; standings of one day.
  void SetUp() override {
    const auto first = opened(1, 10'000, "a", 4);
    const auto second = opened(2, 10'050, "b", 2);
    const std::vector<Event> events{
        accounting::OrganizationsDeclared{{9'000}, {"a", "b"}},
        accounting::OwnershipStated{"n1", {9'000}, {{k_beginning_of_time, {{"b", 333'333}}}}},
        accounting::CapacityChanged{"n1", {9'000}, 0, {8 * k_micro}},
        first,
        second,
        closed(first, 10'100),
        closed(second, 10'150),
        opened(3, 10'200, "b", 8),
    };
    Ledger ledger = writer(file());
    accounting::State state;
    for (const Event& event : must(ledger.append(events, {10'201})).accepted) must(state.apply(event));
    state.advance({20'000});
    must(ledger.record_standings({20'000}, state, state.advance({20'000}).standings()));
    must(ledger.save_checkpoint(state, ledger.last_sequence(), {20'000}));
  }

  AuditReport report() const { return must(audit(reader(file()))); }

  // As a user who can write the file would.
  void edit_events(const std::string& sql) const {
    tamper(file(), "DROP TRIGGER events_are_not_updated; DROP TRIGGER events_are_not_deleted;" + sql);
  }
};

// The findings of one check, one a line.
std::string of(const AuditReport& report, const std::string& check) {
  std::string text;
  for (const Finding& finding : report.findings) {
    if (finding.check == check) text += finding.what + "\n";
  }
  return text;
}

std::string notes_of(const AuditReport& report) {
  std::string text;
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Audit, finds_nothing_in_a_sound_ledger) {
  const auto sound = report();
  for (const Finding& finding : sound.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
  EXPECT_TRUE(sound.clean());
  EXPECT_EQ(sound.events, 8);
  EXPECT_EQ(sound.segments, 3);
  EXPECT_EQ(sound.notes.size(), 2U);
}

TEST_F(Audit, works_on_a_copy_without_anything_beside_it) {
  const auto folder = directory() / "copy";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(file(), folder / "ledger.db");
  EXPECT_TRUE(must(audit(reader(folder / "ledger.db"))).clean());
}

TEST_F(Audit, works_while_shapleyd_writes_and_through_its_own_connection) {
  Ledger ledger = writer(file());
  EXPECT_TRUE(report().clean());
  EXPECT_TRUE(must(audit(ledger)).clean());
  // The temporary tables of an audit must not catch later writes.
  must(ledger.append(std::vector<Event>{opened(4, 10'300, "a", 1)}, {10'301}));
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM segments WHERE job = 4"), std::vector<std::string>{"1"});
  EXPECT_TRUE(must(audit(ledger)).clean());
}

// What is read by it lacks rows that are there: the run that goes on.
TEST_F(Audit, names_an_index_that_differs_from_its_table) {
  damage_index(file(), "open_segments");
  const std::string found = of(report(), "pages");
  EXPECT_TRUE(has(found, "index open_segments")) << found;
}

TEST_F(Audit, says_what_was_acknowledged_and_is_missing) {
  const auto with = [&](Acknowledged last) {
    must(write_acknowledged(file(), last));
    return report();
  };
  const Acknowledged last = must(last_of(reader(file())));
  EXPECT_TRUE(with(last).clean());
  Acknowledged more = last;
  ++more.sequence;
  EXPECT_EQ(of(with(more), "acknowledged"), "it ends with event 8, but event 9 was acknowledged: events were lost\n");
  Acknowledged other = last;
  other.hash.back() = other.hash.back() == '0' ? '1' : '0';
  EXPECT_EQ(of(with(other), "acknowledged"), "its event 8 is not the one that was acknowledged: events were lost\n");
  // Of a copy that was put in its place, before shapleyd has recorded the gap.
  const AuditReport restored = with({last.ledger, last.sequence, ""});
  EXPECT_TRUE(restored.clean());
  EXPECT_TRUE(has(notes_of(restored), "it was restored from a copy that ends with event 8"));
  EXPECT_TRUE(with({"0123456789abcdef0123456789abcdef", 77, last.hash}).clean()) << "that is of another ledger";
}

TEST_F(Audit, says_of_which_time_the_ledger_lost_what_it_had) {
  must(writer(file()).append(
      std::vector<Event>{accounting::ObservationGap{{10'250}, {10'900}, accounting::GapCause::events_lost}}, {10'901}));
  EXPECT_TRUE(report().clean()) << problems(report());
  EXPECT_TRUE(has(notes_of(report()), "the ledger lost what it had from 1970-01-01T02:50:50Z to 1970-01-01T03:01:40Z"));
}

TEST_F(Audit, names_an_edited_event) {
  edit_events(
      "UPDATE event_rows SET processors = 3000000 WHERE seq = 4;DROP TRIGGER event_nodes_are_not_updated; UPDATE "
      "event_nodes SET processors = 3000000 WHERE seq = 4");
  const auto found = report();
  EXPECT_TRUE(has(of(found, "chain"), "event 4: its hash does not follow"));
  EXPECT_TRUE(has(of(found, "schema"), "events_are_not_updated is missing"));
  // The checkpoint still says what was true.
  EXPECT_TRUE(has(of(found, "rebuild"), "in the books as shapleyd recovers them"));
}

TEST_F(Audit, names_an_edited_time_of_receipt) {
  edit_events("UPDATE event_rows SET received = received + 1 WHERE seq = 3");
  EXPECT_TRUE(has(of(report(), "chain"), "event 3: its hash does not follow"));
}

TEST_F(Audit, checks_the_hash_of_every_event) {
  for (int event = 1; event <= 8; ++event) {
    const std::string number = std::to_string(event);
    const auto copy = directory() / (number + ".db");
    std::filesystem::copy_file(file(), copy);
    tamper(copy,
           "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET received = received + 1 WHERE seq = " + number);
    const auto found = of(must(audit(reader(copy))), "chain");
    EXPECT_TRUE(has(found, "event " + number + ": its hash does not follow")) << number << ": " << found;
  }
}

TEST_F(Audit, names_the_place_of_a_deleted_event) {
  edit_events("DELETE FROM event_rows WHERE seq = 5");
  const auto found = report();
  EXPECT_TRUE(has(of(found, "chain"), "event 6: it is at place 5"));
  EXPECT_TRUE(has(of(found, "chain"), "event_nodes: a row of no event: seq 5, position 0"));
  EXPECT_TRUE(has(of(found, "projection"), "segment_events: a row that does not follow from the events: job 2,"));
}

TEST_F(Audit, names_columns_that_contradict_the_payload) {
  edit_events("UPDATE event_rows SET at = at - 1 WHERE seq = 3");
  EXPECT_TRUE(has(of(report(), "chain"), "event 3: "));
}

// An attacker who makes a new chain cannot let a row say two things.
TEST_F(Audit, names_columns_that_contradict_the_payload_though_the_chain_holds) {
  Digest previous{};
  {
    Ledger ledger = writer(file());
    previous = must(read_head(ledger.rows().database())).hash;
    must(ledger.append(std::vector<Event>{accounting::PeriodDeclared{{10'300}, Period::monthly}}, {10'301}));
  }
  const std::string key = rows(file(), "SELECT key FROM events WHERE seq = 9").at(0);
  const std::string payload = rows(file(), "SELECT payload FROM events WHERE seq = 9").at(0);
  Hasher hasher = must(Hasher::create());
  const Digest forged = must(hasher.link(previous, {9, key, 10'299, 10'301, "period_declared", payload}));
  edit_events("UPDATE event_rows SET at = 10299, hash = X'" + to_hex(forged) + "' WHERE seq = 9");
  EXPECT_EQ(of(report(), "chain"), "event 9: its time is not that of its payload\n");
}

// What no payload has, and what says the same of two events, no hash covers.
TEST_F(Audit, names_what_belongs_to_no_event) {
  tamper(file(),
         "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET reason = 1 WHERE seq = 4;DROP TRIGGER "
         "event_nodes_are_not_updated; UPDATE event_nodes SET position = 1 WHERE seq = 8;DROP TRIGGER "
         "words_are_not_updated; UPDATE words SET text = 'b' WHERE text = 'a';INSERT INTO event_nodes SELECT 6, "
         "position, node, processors, cpus, memory, gres FROM event_nodes WHERE seq = 5;INSERT INTO event_texts VALUES "
         "(99, 'period_declared', 'period_declared/1', '{}');INSERT INTO event_jobs SELECT 9, 10000, 1, 1, NULL, NULL, "
         "NULL, 0, 0, 1, 1, 1, 1, 'x'");
  const auto found = of(report(), "chain");
  EXPECT_TRUE(has(found, "event_rows: a member that events of this kind do not have, or lack: seq 4, kind 2")) << found;
  EXPECT_TRUE(has(found, "event_nodes: positions are not 0, 1, 2, ...: seq 8")) << found;
  EXPECT_TRUE(has(found, "words: the text is not what the json means: word ")) << found;
  EXPECT_TRUE(has(found, "event_nodes: a row of no event: seq 6, position 0")) << found;
  EXPECT_TRUE(has(found, "event_texts: a row of no event: seq 99, key period_declared/1")) << found;
  EXPECT_TRUE(has(found, "event_jobs: a row of no event: job 9, submit 10000, seq 1")) << found;
  EXPECT_FALSE(has(found, "event 4: ")) << found;
}

TEST_F(Audit, names_a_fact_that_was_stated_twice) {
  tamper(file(),
         "INSERT INTO event_rows SELECT 9, kind, received, at, job, anchor, ordinal, organization, processors, "
         "placement, reason, job_state, hash, released, waited_as, tasks FROM event_rows WHERE seq = 6");
  const auto found = report();
  EXPECT_TRUE(has(of(found, "chain"), "event 9: its hash does not follow"));
  EXPECT_TRUE(has(of(found, "chain"), "events of segments that state a fact again: 1"));
  EXPECT_TRUE(has(of(found, "rebuild"), "event 9 does not change the books"));
}

// A user who writes the file can also write a new chain. The last hash, kept elsewhere, shows it.
TEST_F(Audit, another_past_has_another_last_hash) {
  const auto before = report().notes.at(0);
  EXPECT_TRUE(has(before, "the chain ends at event 8 with hash "));
  std::filesystem::remove(file());
  auto lie = opened(1, 10'000, "b", 4);
  Ledger forged = writer(file());
  must(forged.append(std::vector<Event>{lie}, {10'201}));
  EXPECT_NE(must(audit(forged)).notes.at(0), before);
}

TEST_F(Audit, an_unreadable_event_ends_the_audit_of_what_hangs_on_it) {
  edit_events(
      "DROP TRIGGER event_texts_are_not_updated; UPDATE event_texts SET payload = '{' WHERE seq = 2;UPDATE event_rows "
      "SET organization = 99 WHERE seq = 5");
  const auto found = report();
  EXPECT_TRUE(has(of(found, "chain"), "event 2: "));
  EXPECT_EQ(of(found, "rebuild"), "");
  EXPECT_TRUE(has(found.notes.at(0), "4 faults"));
  EXPECT_TRUE(has(found.notes.back(), "not every event can be read"));
}

TEST_F(Audit, names_what_the_books_refuse) {
  edit_events("UPDATE event_rows SET at = 9999 WHERE seq = 6");
  EXPECT_TRUE(has(of(report(), "rebuild"), "is refused by the books: segment_"));
}

TEST_F(Audit, names_rows_of_projections_that_were_changed_added_or_removed) {
  tamper(file(),
         "UPDATE segment_events SET closed = 7 WHERE job = 1;DELETE FROM capacity;INSERT INTO segment_events VALUES "
         "(9, 9, 0, 0, 5, NULL, NULL);UPDATE ownership SET parts_per_million = 1000000 WHERE organization = 'b';UPDATE "
         "books_by_day SET psi = psi || '0' WHERE organization = 'a';DELETE FROM contributions_by_day WHERE "
         "organization = 'b' AND estimator = 'hindsight'");
  const auto found = of(report(), "projection");
  EXPECT_TRUE(has(found, "segment_events: a row that does not follow from the events: job 1, anchor 10000, kind 0"));
  EXPECT_TRUE(has(found, "segment_events: a row that follows from the events is missing: job 1, anchor 10000"));
  EXPECT_TRUE(has(found, "capacity: a row that follows from the events is missing: node n1, at 9000"));
  EXPECT_TRUE(has(found, "segment_events: a row that does not follow from the events: job 9"));
  EXPECT_TRUE(has(found, "ownership: a row that does not follow from the events: node n1, begin 9000, organization b"));
  EXPECT_TRUE(has(found, "books_by_day: a row that does not follow from the events: day 0, organization a"));
  EXPECT_TRUE(has(found,
                  "contributions_by_day: a row that follows from the events is missing: day 0, organization b, "
                  "estimator hindsight"));
}

// A run of two sizes, of which the second is retracted: numbers 9 to 13.
TEST_F(Audit, names_events_that_are_of_another_segment_of_the_same_run) {
  {
    const auto first = opened(5, 10'300, "a", 4);
    auto second = opened(5, 10'350, "a", 2);
    second.key = {first.key.kind, first.key.job, first.key.anchor, 1};
    Ledger ledger = writer(file());
    must(ledger.append(std::vector<Event>{first, closed(first, 10'350, accounting::CloseReason::resized), second,
                                          closed(second, 10'400), accounting::SegmentRetracted{second.key, {10'500}}},
                       {10'501}));
  }
  EXPECT_TRUE(report().clean());
  const auto after = [&](const std::string& change) {
    const auto copy = directory() / "copy.db";
    std::filesystem::remove(copy);
    std::filesystem::copy_file(file(), copy);
    tamper(copy, "UPDATE segment_events SET " + change);
    return of(must(audit(reader(copy))), "projection");
  };
  const std::string row = "segment_events: a row that does not follow from the events: job 5, anchor 10300, kind 0, ";
  for (const char* change : {"opened = 20 - opened WHERE job = 5", "closed = 22 - closed WHERE job = 5"}) {
    const std::string exchanged = after(change);
    EXPECT_TRUE(has(exchanged, row + "ordinal 0")) << change << ": " << exchanged;
    EXPECT_TRUE(has(exchanged, row + "ordinal 1")) << change << ": " << exchanged;
  }
  const std::string not_retracted = after("retracted = 12 WHERE retracted = 13");
  EXPECT_TRUE(has(not_retracted, row + "ordinal 1")) << not_retracted;
}

TEST_F(Audit, shows_a_few_of_many_rows_and_counts_them) {
  tamper(file(),
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO capacity(node, at, "
         "ordinal, processors) SELECT 'n' || i, i, 0, 1 FROM n");
  const auto found = report();
  EXPECT_EQ(found.findings.size(), 6U);
  EXPECT_TRUE(has(of(found, "projection"), "50 rows in all"));
}

TEST_F(Audit, names_what_is_missing) {
  tamper(file(), "DROP VIEW balances; DROP TRIGGER events_are_not_deleted; DROP INDEX jobs_by_submit");
  const auto found = of(report(), "schema");
  EXPECT_TRUE(has(found, "balances is missing"));
  EXPECT_TRUE(has(found, "events_are_not_deleted is missing"));
  EXPECT_TRUE(has(found, "jobs_by_submit is missing"));
}

// Added while the ledger is open: what is audited is a snapshot of a later moment.
TEST_F(Audit, ends_where_something_was_added) {
  const Ledger ledger = reader(file());
  tamper(file(), "CREATE TRIGGER quietly AFTER INSERT ON segment_events BEGIN SELECT 1; END");
  const auto refused = audit(ledger);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_TRUE(has(refused.error().what, "trigger quietly was added by hand")) << refused.error().what;
}

// A checkpoint with a right checksum and wrong books, as a defect of the program would write it.
TEST_F(Audit, compares_what_shapleyd_would_recover_with_what_the_events_say) {
  {
    Ledger ledger = writer(file());
    accounting::State wrong;
    must(wrong.apply(opened(9, 10'000, "c", 1)));
    tamper(file(), "DELETE FROM checkpoints");
    must(ledger.save_checkpoint(wrong, ledger.last_sequence(), {20'000}));
  }
  const auto found = of(report(), "rebuild");
  for (const char* figure : {"a: psi is ", "a: got is ", "b: phi_direct is ", "b: phi_hindsight is ", "c: psi is "}) {
    EXPECT_TRUE(has(found, figure)) << figure << ": " << found;
  }
}

// What an audit of the books finds if it is given what the events do not say.
std::string told(const Ledger& ledger, const Event& lie) {
  Facts facts;
  must(ledger.for_each_event(0, [&](const StoredEvent& stored) -> Expected<void> {
    facts.survey(stored.event);
    return {};
  }));
  facts.survey(lie);
  AuditReport found;
  must(audit_books(ledger, facts, found));
  EXPECT_EQ(of(found, "conservation"), "");
  return of(found, "rebuild");
}

accounting::OwnershipStated owned_by_c() {
  return {"n1", {9'001}, {{k_beginning_of_time, {{"c", accounting::k_whole_node}}}}};
}

// The naive sums are no echo of the books: given other facts they differ.
TEST_F(Audit, compares_the_books_with_sums_of_its_own) {
  const Ledger ledger = reader(file());
  const std::string other_owner = told(ledger, owned_by_c());
  for (const char* figure :
       {"b at 1970-01-01T02:46:52Z: phi_direct is ", "b at 1970-01-01T02:46:52Z: given_direct is ",
        "c at 1970-01-01T02:46:52Z: phi_direct is 0 in the books, ", "b at 1970-01-01T02:50:00Z: phi_direct is "}) {
    EXPECT_TRUE(has(other_owner, figure)) << figure << ": " << other_owner;
  }
  EXPECT_FALSE(has(other_owner, "psi is ")) << other_owner;
  const std::string less_used = told(ledger, accounting::SegmentRetracted{opened(2, 10'050, "b", 2).key, {10'160}});
  for (const char* figure : {"b at 1970-01-01T02:49:22Z: psi is ", "b at 1970-01-01T02:49:22Z: got is ",
                             "commons at 1970-01-01T02:49:22Z: phi_direct is "}) {
    EXPECT_TRUE(has(less_used, figure)) << figure << ": " << less_used;
  }
  EXPECT_FALSE(has(less_used, "02:49:10Z")) << "not yet retracted: " << less_used;
}

TEST_F(Audit, compares_the_books_of_closed_periods_with_sums_of_its_own) {
  const auto last = opened(4, 2'700'000, "a", 1);
  const auto open = opened(3, 10'200, "b", 8);
  {
    Ledger ledger = writer(file());
    must(ledger.append(std::vector<Event>{closed(open, 80'000), last}, {2'700'001}));
  }
  const std::string no_periods = told(reader(file()), accounting::PeriodDeclared{{10'000}, Period::monthly});
  EXPECT_TRUE(has(no_periods, "the books did not close the period that ended at 1970-02-01T00:00:00Z")) << no_periods;
  {
    Ledger ledger = writer(file());
    must(ledger.append(std::vector<Event>{accounting::PeriodDeclared{{10'000}, Period::monthly}}, {2'700'002}));
  }
  EXPECT_TRUE(report().clean());
  const std::string other_owner = told(reader(file()), owned_by_c());
  EXPECT_TRUE(has(other_owner, "b at the end of the period, 1970-02-01T00:00:00Z: phi_direct is ")) << other_owner;
}

// One finding for each part that was rewritten, which a head that agrees ends.
TEST_F(Audit, a_head_that_agrees_stands_between_two_findings) {
  const auto hashes = rows(file(), "SELECT lower(hex(hash)) FROM event_rows ORDER BY seq");
  const std::string identity = must(reader(file()).identity());
  const auto head = [&](std::size_t sequence, bool agrees) {
    return SignedHead{.ledger = identity,
                      .sequence = static_cast<std::int64_t>(sequence),
                      .hash = agrees ? hashes.at(sequence - 1) : std::string(64, '0'),
                      .time = {1000},
                      .key = {}};
  };
  const auto found = must(audit_against_heads(
      reader(file()), std::vector{head(2, false), head(3, false), head(4, true), head(6, false), head(7, false)}));
  ASSERT_EQ(found.findings.size(), 2U);
  EXPECT_PRED2(has, found.findings[0].what, "one of 1 to 2");
  EXPECT_PRED2(has, found.findings[1].what, "one of 5 to 6");
  EXPECT_PRED2(has, notes_of(found), "2 heads of later events do not agree with it either");
}

TEST_F(Audit, against_records_reads_the_file_and_says_what_is_wrong_with_it) {
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  // Records of a time before there was Slurm are left out, so this ledger is of 2026-11-21, 07:00 and later.
  constexpr std::int64_t k_recent = 1'795'244'400;
  const auto recent = directory() / "recent.db";
  const auto first = opened(1, k_recent, "a", 4);
  const auto second = opened(2, k_recent + 50, "b", 2);
  const auto third = opened(3, k_recent + 200, "b", 8);
  {
    Ledger made = writer(recent);
    must(made.append(
        std::vector<Event>{first, second, closed(first, k_recent + 100), closed(second, k_recent + 150), third},
        {k_recent + 201}));
  }
  const auto records = directory() / "records";
  std::ofstream(records) << "JobIDRaw|Start|End|State|NCPUS\n"
                            "1|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|4\n"
                            "2|2026-11-21T07:00:50|2026-11-21T07:02:31|COMPLETED|2\n";
  const Ledger ledger = reader(recent);
  const auto found = must(audit_against(ledger, records));
  EXPECT_EQ(found.records, 2);
  EXPECT_EQ(found.runs_compared, 2);
  EXPECT_EQ(of(found, "records"),
            "job 2, run from 2026-11-21T07:00:50Z (line 3, COMPLETED): ends at 2026-11-21T07:02:30Z in the ledger, at "
            "2026-11-21T07:02:31Z in the record\n");

  {
    Ledger longer = writer(recent);
    must(longer.append(std::vector<Event>{closed(third, k_recent + 260)}, {k_recent + 261}));
  }
  std::ofstream(records) << "JobIDRaw|Start|End|State|NCPUS\n"
                            "1|2026-11-21T07:00:00|2026-11-21T07:01:40|COMPLETED|4\n"
                            "2|2026-11-21T07:00:50|2026-11-21T07:02:30|COMPLETED|2\n"
                            "3|2026-11-21T07:03:20|2026-11-21T07:04:21|COMPLETED|8\n";
  const auto last = must(audit_against(ledger, records));
  EXPECT_EQ(last.runs_compared, 3);
  EXPECT_TRUE(has(of(last, "records"), "job 3, run from 2026-11-21T07:03:20Z (line 4, COMPLETED): ends at "));

  std::ofstream(records) << "something else\n";
  const auto refused = audit_against(ledger, records);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_TRUE(has(refused.error().what, records.string() + ": line 1: "));
  const auto absent = audit_against(ledger, directory() / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Errc::io);
}

}  // namespace
}  // namespace shapley::ledger
