// Closed periods in files of their own: what is moved, what stays, and that nothing is lost on the way.
#include "ledger/archive/archive.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "archive_fixture.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/archive/part.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/store/backup.hpp"
#include "ledger/store/ledger_file.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

TEST_F(Archiving, moves_closed_periods_but_the_last_and_keeps_the_books) {
  write_months(file());
  make_twin();
  const ArchiveResult result = archived();

  ASSERT_EQ(result.archives.size(), 3U);
  EXPECT_EQ(result.archives[0].file, archive("2026-10"));
  EXPECT_EQ(result.archives[2].file, archive("2026-12"));
  EXPECT_EQ(result.archives[1].begin, month_begin(1));
  EXPECT_EQ(result.archives[1].until, month_begin(2));
  EXPECT_LT(result.bytes_after, result.bytes_before);
  EXPECT_EQ(result.verified.events, reader(twin()).last_sequence());
  EXPECT_EQ(fs::status(archive("2026-10")).permissions(), fs::perms(0440));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory() / "archives"), {}), 3);

  expect_same_books(twin(), file());
  EXPECT_EQ(findings(file()), Lines{});
  // The present period and the last closed one are there, row by row; what crosses their begin, too.
  const std::string since = std::to_string(month_begin(3).value);
  for (const std::string& sql :
       {"SELECT * FROM segments WHERE (end IS NULL AND retracted IS NULL) OR end >= " + since,
        std::string("SELECT * FROM ownership"), std::string("SELECT * FROM organizations"),
        std::string("SELECT * FROM periods"), "SELECT * FROM jobs WHERE submit >= " + since,
        "SELECT * FROM books_by_day WHERE day >= " + since, "SELECT * FROM capacity WHERE at >= " + since}) {
    const Lines before = rows(twin(), sql);
    EXPECT_FALSE(before.empty()) << sql;
    Lines after = rows(file(), sql);
    EXPECT_EQ(after, before) << sql;
  }
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM events WHERE at < " + std::to_string(month_begin(1).value) +
                             " AND kind LIKE 'segment_closed'"),
            Lines{"0"});
}

TEST_F(Archiving, chain_goes_on_from_file_to_file) {
  write_months(file());
  make_twin();
  const ArchiveResult result = archived();
  std::int64_t last = 0;
  const auto hash_of = [this](std::int64_t event) {
    return rows(twin(), "SELECT lower(hex(hash)) FROM event_rows WHERE seq = " + std::to_string(event));
  };
  for (const char* month : {"2026-10", "2026-11", "2026-12"}) {
    SCOPED_TRACE(month);
    const fs::path part = unpacked(month);
    EXPECT_EQ(findings(part), Lines{});
    const std::string own = "SELECT COUNT(*), MIN(seq), MAX(seq) FROM events WHERE seq > " + std::to_string(last);
    const std::int64_t first = last + 1;
    const std::int64_t count = reader(part).last_sequence() - last;
    last = reader(part).last_sequence();
    EXPECT_EQ(rows(part, own), Lines{std::to_string(count) + "|" + std::to_string(first) + "|" + std::to_string(last)});
    EXPECT_EQ(rows(part, "SELECT lower(hex(hash)) FROM event_rows WHERE seq = " + std::to_string(last)), hash_of(last));
    // Every event is as it was, copies included.
    const std::string all = "SELECT * FROM events WHERE seq <= " + std::to_string(last);
    const Lines whole = rows(twin(), all);
    for (const std::string& row : rows(part, all)) EXPECT_NE(std::ranges::find(whole, row), whole.end()) << row;
  }
  EXPECT_EQ(rows(file(), "SELECT sequence, lower(hex(hash)), archive FROM genesis"),
            Lines{std::to_string(last) + "|" + hash_of(last).at(0) + "|ledger.2026-12.db.xz"});
  EXPECT_EQ(rows(file(), "SELECT lower(hex(hash)) FROM event_rows ORDER BY seq DESC LIMIT 1"),
            Lines{result.verified.hash});
}

TEST_F(Archiving, the_first_books_of_a_file_follow_from_the_events_before_it) {
  write_months(file());
  make_twin();
  archived();
  const Database whole = must(open_for_reading(twin()));
  for (const fs::path& next : {unpacked("2026-11"), unpacked("2026-12"), file()}) {
    SCOPED_TRACE(next);
    const Genesis genesis = must(read_genesis(must(open_for_reading(next)))).value();
    for (const std::int64_t events : {1, 7, 50'000}) {
      const BooksAtCut books = must(books_at_cut(whole, nullptr, genesis.sequence, genesis.memory_horizon,
                                                 {.events_between_compactions = events}));
      EXPECT_EQ(books.text, genesis.books) << events;
      EXPECT_EQ(books.memory_horizon, genesis.memory_horizon);
    }
  }
}

TEST_F(Archiving, goes_on_month_by_month) {
  write_months(file(), 4);
  make_twin();
  ASSERT_EQ(archived().archives.size(), 2U);
  EXPECT_TRUE(archived().archives.empty());
  const auto go_on = [](const fs::path& ledger) {
    Ledger live = writer(ledger);
    auto told = events_of_month(4);
    const auto rest = events_of_month(3);
    told.insert(told.end(), rest.begin(), rest.end());  // most of it is there already
    std::erase_if(told, [](const Told& t) { return t.received >= month_begin(5) - Duration{k_day_s}; });
    append_received(live, std::move(told));
  };
  go_on(file());
  go_on(twin());
  EXPECT_EQ(reader(file()).last_sequence(), reader(twin()).last_sequence());
  expect_same_books(twin(), file());
  EXPECT_EQ(findings(file()), Lines{});
  const ArchiveResult second = archived();
  ASSERT_EQ(second.archives.size(), 1U);
  EXPECT_EQ(second.archives[0].file, archive("2026-12"));
  EXPECT_EQ(findings(unpacked("2026-12")), Lines{});
  EXPECT_EQ(rows(unpacked("2026-12"), "SELECT archive FROM genesis"), Lines{"ledger.2026-11.db.xz"});
  EXPECT_EQ(findings(file()), Lines{});
  expect_same_books(twin(), file());
}

TEST_F(Archiving, does_nothing_while_there_is_nothing_to_move) {
  write_months(file(), 2);  // one closed period and the present one
  const std::string before = content_of(file());
  EXPECT_TRUE(archived().archives.empty());
  EXPECT_FALSE(fs::exists(directory() / "archives"));
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"0"});
  EXPECT_EQ(reader(file()).last_sequence(), std::stoll(rows(file(), "SELECT MAX(seq) FROM event_rows").at(0)));
}

TEST_F(Archiving, refuses_while_the_ledger_is_in_use) {
  write_months(file(), 3);
  const Ledger ledger = writer(file());
  const auto refused = archive_closed_periods(file(), nullptr, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().what.find("writes this ledger already"), std::string::npos);
  EXPECT_EQ(archive_closed_periods(directory() / "absent", nullptr, k_now).error().code, Errc::not_found);
}

TEST_F(Archiving, what_reaches_into_an_archive_is_refused_and_what_is_merely_late_is_booked) {
  write_months(file(), 4);
  make_twin();
  must(archive_closed_periods(file(), nullptr, k_now));
  const Instant until = month_begin(2);  // of the last archive
  Ledger live = writer(file());
  Ledger whole = writer(twin());
  const Instant horizon = must(live.archived_before()).value();
  EXPECT_LE(horizon, until - StateOptions{}.memory_horizon);

  // A run of the last hour before the archive's end that was not known: the closed period's books change.
  const SegmentOpened late = opened(90'001, until.value - 3600, "physics", 2, "n3");
  const std::vector<Event> in_time{late, closed(late, until.value + 3600)};
  for (Ledger* ledger : {&live, &whole}) {
    const AppendResult appended = must(ledger->append(in_time, k_now));
    EXPECT_EQ(appended.appended, 2U);
    EXPECT_TRUE(appended.archived.empty());
  }
  EXPECT_EQ(figures(must(live.recover_from_scratch())), figures(must(whole.recover_from_scratch())));
  EXPECT_EQ(figures(must(live.recover())), figures(must(whole.recover_from_scratch())));

  const SegmentOpened old = opened(90'002, horizon.value - 1, "physics", 2, "n3");
  const SegmentKey archived_run{SegmentKind::run, {1}, month_begin(0) + Duration{221}, 0};
  const std::vector<Event> too_old{
      old,
      closed(old, horizon.value - 1),
      closed(old, until.value),  // of a run that no file knows
      SegmentRetracted{archived_run, until},
      OwnershipStated{"n4", horizon - Duration{1}, {{k_beginning_of_time, {{"library", 1'000'000}}}}},
      CapacityChanged{"n4", horizon - Duration{1}, 0, {0}, {16 * k_micro}, 16, 64'000, {}},
      PeriodDeclared{horizon - Duration{1}, Period::yearly},
      OrganizationsDeclared{horizon - Duration{1}, {"biology"}},
      PlacementResolved{"partition=main", horizon - Duration{1}, 0, "n1"}};
  const Lines before = figures(must(live.recover_from_scratch()));
  const std::int64_t last = live.last_sequence();
  for (const Event& event : too_old) {
    EXPECT_TRUE(must(live.is_archived(event))) << event_key(event);
    const AppendResult appended = must(live.append(std::vector<Event>{event}, k_now));
    EXPECT_EQ(appended.archived, Lines{event_key(event)});
    EXPECT_EQ(appended.appended, 0U);
  }
  EXPECT_EQ(live.last_sequence(), last);
  EXPECT_EQ(figures(must(live.recover_from_scratch())), before);
  EXPECT_EQ(findings(file()), Lines{});
}

// A run of a minute that was not known for long.
std::vector<Told> received_late(Instant begin, Instant received) {
  const SegmentOpened late = opened(90'001, begin.value, "physics", 2, "n3");
  return {{received, late}, {received, closed(late, begin.value + 60)}};
}

TEST_F(Archiving, books_remember_as_far_as_later_events_reach_back) {
  const Instant reached = month_begin(1) + Duration{20 * k_day_s};
  write_months(file(), 5, 60, received_late(reached, month_begin(4)));
  make_twin();
  // The books of December do not remember November.
  const ArchiveResult result = archived();
  ASSERT_EQ(result.archives.size(), 2U);
  EXPECT_EQ(result.archives[1].file, archive("2026-11"));
  EXPECT_EQ(rows(file(), "SELECT horizon FROM genesis"), Lines{std::to_string(reached.value)});
  expect_same_books(twin(), file());
  EXPECT_EQ(findings(file()), Lines{});
}

TEST_F(Archiving, a_period_that_later_events_reach_far_into_waits_for_the_next) {
  std::vector<Told> more =
      received_late(month_begin(1) + Duration{4 * k_day_s}, month_begin(3) + Duration{5 * k_day_s});
  more.push_back({month_begin(5), opened(90'002, month_begin(5).value, "physics", 2, "n3")});
  write_months(file(), 5, 60, more);
  make_twin();
  // October, then three months in one file: January has the late event.
  const ArchiveResult result = archived();
  ASSERT_EQ(result.archives.size(), 2U);
  EXPECT_EQ(result.archives[0].file, archive("2026-10"));
  EXPECT_EQ(result.archives[1].file, archive("2027-01"));
  EXPECT_EQ(result.archives[1].begin, month_begin(1));
  EXPECT_EQ(result.archives[1].until, month_begin(4));
  EXPECT_EQ(findings(unpacked("2027-01")), Lines{});
  expect_same_books(twin(), file());
  EXPECT_EQ(findings(file()), Lines{});
}

TEST_F(Archiving, copies_backups_and_compaction_of_what_stays_are_whole) {
  write_months(file());
  archived();
  const fs::path copy = directory() / "copy.db";
  EXPECT_EQ(must(back_up(file(), copy, Overwrite::no)).events, reader(file()).last_sequence());
  EXPECT_EQ(findings(copy), Lines{});
  must(compact(file()));
  EXPECT_EQ(findings(file()), Lines{});
  Ledger ledger = writer(file());
  const Lines before = dump(ledger);
  must(ledger.rebuild_projections());
  EXPECT_EQ(dump(ledger), before);
}

TEST_F(Archiving, what_a_ledger_begins_with_cannot_be_changed_unnoticed) {
  write_months(file());
  archived();
  const fs::path sound = directory() / "sound.db";
  must(back_up(file(), sound, Overwrite::no));
  const std::string trigger = rows(file(), "SELECT sql FROM sqlite_master WHERE name = 'genesis_is_not_updated'").at(0);
  for (const std::string change :
       {"UPDATE genesis SET books = replace(books, 'physics', 'physicx')", "UPDATE genesis SET copies = copies + 1",
        "UPDATE genesis SET hash = zeroblob(32)", "UPDATE genesis SET sequence = sequence - 1"}) {
    SCOPED_TRACE(change);
    fs::copy_file(sound, file(), fs::copy_options::overwrite_existing);
    tamper(file(), "DROP TRIGGER genesis_is_not_updated");
    tamper(file(), change);
    tamper(file(), trigger);
    EXPECT_FALSE(findings(file()).empty());
  }
  fs::copy_file(sound, file(), fs::copy_options::overwrite_existing);
  const std::string edits =
      rows(file(), "SELECT sql FROM sqlite_master WHERE name = 'event_jobs_are_not_updated'").at(0);
  tamper(file(),
         "DROP TRIGGER event_jobs_are_not_updated; UPDATE event_jobs SET user_id = 0 WHERE seq = "
         "(SELECT MIN(seq) FROM event_jobs)");
  tamper(file(), edits);
  const Lines found = findings(file());
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("copies of archived events"), std::string::npos) << found[0];
}

TEST_F(Archiving, a_signing_key_signs_each_archive) {
  write_months(file(), 3);
  static_cast<void>(must(make_key_files(directory() / "key")));
  const SigningKey key = must(SigningKey::read(directory() / "key"));
  const ArchiveResult result = must(archive_closed_periods(file(), &key, k_now));
  ASSERT_EQ(result.archives.size(), 1U);
  const fs::path part = unpacked("2026-10");
  const SignedHead head = must(newest_stored_head(reader(part))).value();
  EXPECT_EQ(head.sequence, result.archives[0].verified.events);
  EXPECT_EQ(head.hash, result.archives[0].verified.hash);
  must(verify_signature(head, key.public_key()));
  EXPECT_TRUE(must(audit_against_heads(reader(part), std::vector{head})).clean());
  EXPECT_EQ(findings(part), Lines{});
  // The ledger itself begins with that same event; an earlier one is only in the archive.
  EXPECT_TRUE(must(audit_against_heads(reader(file()), std::vector{head})).clean());
  SignedHead earlier = head;
  earlier.sequence -= 1;
  const AuditReport report = must(audit_against_heads(reader(file()), std::vector{earlier}));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_NE(report.findings[0].what.find("ledger.2026-10.db.xz"), std::string::npos);
}

TEST_F(Archiving, a_file_of_another_content_under_the_name_is_kept) {
  write_months(file(), 3);
  fs::create_directory(directory() / "archives");
  { std::ofstream(archive("2026-10")) << "another file"; }
  const auto refused = archive_closed_periods(file(), nullptr, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().what.find("ledger.2026-10.db.xz is there already"), std::string::npos);
  EXPECT_EQ(content_of(archive("2026-10")), "another file");
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"0"});
}

TEST_F(Archiving, a_damaged_ledger_is_left_as_it_is) {
  write_months(file(), 3);
  const std::string trigger = rows(file(),
                                   "SELECT sql FROM sqlite_master WHERE name = 'event_rows_are_not_updated' OR name = "
                                   "'events_are_not_updated'")
                                  .at(0);
  tamper(file(),
         "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET processors = 1 WHERE seq = "
         "(SELECT MIN(seq) FROM event_rows WHERE kind = 2)");
  tamper(file(), trigger);
  const auto refused = archive_closed_periods(file(), nullptr, k_now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"0"});
  EXPECT_FALSE(fs::exists(archive("2026-10")));
}

// What a killed process left: the files beside the ledger, and which ledger it is.
Lines left_behind(const fs::path& ledger) {
  Lines left = rows(ledger, "SELECT COUNT(*) FROM genesis");
  for (const fs::path& directory : {ledger.parent_path(), ledger.parent_path() / "archives"}) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(directory, absent)) left.push_back(entry.path().filename());
  }
  std::ranges::sort(left);
  return left;
}

TEST_F(Archiving, killed_at_any_moment_loses_nothing) {
  write_months(file(), 4, 5);
  make_twin();
  const Lines all = rows(twin(), "SELECT * FROM events");
  std::set<Lines> mended;  // what was left; the next try meets nothing else
  int kills = 0;
  int after = 0;  // of these, when the ledger was the new one
  for (bool done = false; !done; ++kills) {
    ASSERT_LT(kills, 1000);
    SCOPED_TRACE(kills);
    fs::remove_all(directory() / "archives");
    fs::copy_file(twin(), file(), fs::copy_options::overwrite_existing);
    test::Child child("the archiving", [&] {
      int calls = 0;
      const auto result = archive_closed_periods(file(), nullptr, k_now, [&](const Progress&) {
        if (calls++ == kills) ::raise(SIGKILL);
      });
      ::_exit(result ? 0 : 1);
    });
    const int ended = child.wait();
    done = ended == 0;
    if (!done) {
      ASSERT_EQ(ended, -SIGKILL);
    }
    // The old ledger, or the new one with all its archives.
    if (rows(file(), "SELECT COUNT(*) FROM genesis") == Lines{"0"}) {
      ASSERT_EQ(rows(file(), "SELECT * FROM events"), all);
    } else {
      ++after;
      ASSERT_TRUE(fs::exists(archive("2026-10")) && fs::exists(archive("2026-11")));
    }
    if (!mended.insert(left_behind(file())).second) continue;
    // The next try goes on from there, and leaves nothing that was begun.
    must(archive_closed_periods(file(), nullptr, k_now));
    EXPECT_EQ(std::distance(fs::directory_iterator(directory() / "archives"), {}), 2);
    EXPECT_FALSE(fs::exists(file().string() + ".archiving"));
    EXPECT_EQ(rows(file(), "SELECT archive FROM genesis"), Lines{"ledger.2026-11.db.xz"});
    EXPECT_EQ(reader(file()).last_sequence(), std::ssize(all));
    expect_same_books(twin(), file());
    EXPECT_EQ(findings(file()), Lines{});
    EXPECT_EQ(findings(unpacked("2026-10")), Lines{});
    EXPECT_EQ(findings(unpacked("2026-11")), Lines{});
    fs::remove(directory() / "unpacked.2026-10.db");
    fs::remove(directory() / "unpacked.2026-11.db");
  }
  EXPECT_GT(kills, 20);
  EXPECT_GT(after, 1);
  // Nothing; each archive as .plain, .packed, .again and whole; what stays; the new ledger.
  EXPECT_GE(mended.size(), 8U);
}

// An earlier release prepared such a file; it is of no use, and it is the operator's to delete.
TEST_F(Archiving, what_an_earlier_release_prepared_is_ignored) {
  write_months(file(), 4, 5);
  make_twin();
  const fs::path prepared = file().string() + ".archived";
  fs::copy_file(twin(), prepared);
  EXPECT_EQ(archived().archives.size(), 2U);
  EXPECT_EQ(rows(file(), "SELECT archive FROM genesis"), Lines{"ledger.2026-11.db.xz"});
  expect_same_books(twin(), file());
  EXPECT_EQ(rows(prepared, "SELECT * FROM events"), rows(twin(), "SELECT * FROM events"));
}

TEST_F(Archiving, an_archive_takes_at_most_300_bytes_a_job) {
  constexpr std::uint32_t k_jobs = 3'000;
  {
    Ledger ledger = writer(file());
    std::vector<Event> events{PeriodDeclared{{1'699'999'000}, Period::monthly}};
    for (std::uint32_t job = 1; job <= k_jobs; ++job) {
      for (Event& event : usual_job(job)) events.push_back(std::move(event));
    }
    std::ranges::stable_sort(events, {}, [](const Event& event) { return time_of(event); });
    must(ledger.append(events, {1'700'100'000}));
    for (const char* later : {"2023-12-05", "2024-01-05"}) {
      const Instant at = parse_instant(later).value();
      const SegmentOpened run = opened(90'000, at.value, "physics-1", 1);
      must(ledger.append(std::vector<Event>{run, closed(run, at.value + 60)}, at + Duration{60}));
    }
  }
  const ArchiveResult result = archived();
  ASSERT_EQ(result.archives.size(), 1U);
  EXPECT_EQ(result.archives[0].events, 5 * std::int64_t{k_jobs} + 1);
  const std::uintmax_t bytes = fs::file_size(result.archives[0].file);
  EXPECT_LE(bytes, 300U * k_jobs);
  EXPECT_GE(bytes, 160U * k_jobs) << "hashes alone take as much";
  RecordProperty("bytes_a_job", std::to_string(bytes / k_jobs));
}

}  // namespace
}  // namespace shapley::ledger
