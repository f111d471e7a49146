// Ledgers of past schemas open, become the present one, and are still correct to the last unit.
#include <csignal>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/migrations.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;

std::filesystem::path dump_of(std::size_t version) {
  std::string name = std::to_string(version);
  name.insert(0, 3 - name.size(), '0');
  return std::filesystem::path(SHAPLEY_LEDGER_DUMPS) / (name + ".sql");
}

class Migration : public LedgerTest {};

TEST_F(Migration, every_past_schema_has_a_dump) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    EXPECT_TRUE(std::filesystem::exists(dump_of(version))) << dump_of(version);
  }
}

TEST_F(Migration, every_past_ledger_becomes_a_present_one) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    ASSERT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{std::to_string(version)});
    const Ledger ledger = writer(file());
    EXPECT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{std::to_string(migrations().size())});
    EXPECT_GT(ledger.last_sequence(), 0);
    const auto report = must(audit(ledger));
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
  }
}

TEST_F(Migration, leaves_a_sound_copy_of_what_it_migrates) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    const auto events = rows(file(), "SELECT * FROM events");
    static_cast<void>(writer(file()));
    static_cast<void>(writer(file()));  // the present one needs no copy
    std::vector<std::filesystem::path> copies;
    const std::string prefix = "ledger.db.schema-" + std::to_string(version) + "-";
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix) && name.ends_with("Z.backup")) copies.push_back(entry.path());
    }
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(rows(copies[0], "PRAGMA user_version"), std::vector<std::string>{std::to_string(version)});
    EXPECT_EQ(rows(copies[0], "SELECT * FROM events"), events);
  }
}

// Queries that were written for schema 1 say the same of the present one.
TEST_F(Migration, keeps_the_standings_that_were_recorded) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    const auto standings = rows(file(), "SELECT * FROM standings_by_day");
    const auto balances = rows(file(), "SELECT * FROM balances");
    static_cast<void>(writer(file()));
    EXPECT_EQ(rows(file(), "SELECT * FROM standings_by_day"), standings);
    EXPECT_EQ(rows(file(), "SELECT * FROM balances"), balances);
    EXPECT_EQ(standings.size(), 5U);
    EXPECT_EQ(balances.size(), 5U);
    EXPECT_EQ(rows(file(), "SELECT estimator, COUNT(*) FROM contributions_by_day GROUP BY estimator"),
              (std::vector<std::string>{"direct_contr|5", "shapley_rate|5"}));
    EXPECT_EQ(rows(file(),
                   "SELECT organization, got_core_hours, given_core_hours, standing_core_hours, psi, phi "
                   "FROM balances_by_estimator WHERE estimator = 'direct_contr'"),
              rows(file(),
                   "SELECT organization, got_core_hours, given_direct_core_hours, standing_direct_core_hours, "
                   "psi, phi_direct FROM balances"));
  }
}

// What auditors read of segments and jobs, written for the schema that the ledger had.
TEST_F(Migration, keeps_what_the_documented_tables_and_views_say) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    std::vector<std::string> queries;
    for (const std::string table : {"events", "segments", "segment_nodes", "jobs", "run_shares", "work_by_owner",
                                    "who_owes_whom", "core_hours_by_month", "job_segments", "configurations",
                                    "organizations", "ownership", "capacity", "periods"}) {
      std::string columns;
      for (const std::string& column : rows(file(), "SELECT name FROM pragma_table_info('" + table + "')")) {
        columns += (columns.empty() ? "" : ", ") + column;
      }
      queries.push_back("SELECT " + columns + " FROM " + table + " ORDER BY " + columns);
    }
    std::vector<std::vector<std::string>> before;
    for (const std::string& query : queries) before.push_back(rows(file(), query));
    static_cast<void>(writer(file()));
    for (std::size_t i = 0; i < queries.size(); ++i) {
      EXPECT_EQ(rows(file(), queries[i]), before[i]) << queries[i];
      EXPECT_FALSE(before[i].empty()) << queries[i];
    }
  }
}

class LongMigration : public Migration {
 protected:
  // Two thousand jobs in a ledger of schema 4, as the migrations up to it and plain SQL make it.
  void SetUp() override {
    const std::filesystem::path present = directory() / "present.db";
    {
      Ledger ledger = writer(present);
      std::vector<accounting::Event> events{
          accounting::OrganizationsDeclared{{1'700'000'000}, {"physics-1"}},
          accounting::OwnershipStated{"node1001", {0}, {{k_beginning_of_time, {{"physics-1", 1'000'000}}}}},
      };
      for (std::uint32_t job = 1; job <= 2100; ++job) {
        for (accounting::Event& event : usual_job(job)) events.push_back(std::move(event));
      }
      must(ledger.append(events, {1'800'000'000}));
      auto books = must(ledger.recover());
      must(ledger.save_checkpoint(books.state, books.last_sequence, books.state.now()));
    }
    for (std::size_t step = 0; step < 4; ++step) tamper(file(), std::string(migrations()[step]));
    tamper(file(),
           "PRAGMA application_id = 1397248076; PRAGMA user_version = 4; ATTACH '" + present.string() +
               "' AS present; INSERT INTO events SELECT seq, key, at, received, kind, payload, hash "
               "FROM present.events; INSERT INTO checkpoints SELECT sequence, at, (SELECT group_concat(text, '') FROM "
               "(SELECT text FROM present.checkpoint_parts ORDER BY id)), sha FROM present.checkpoints");
    events_ = rows(file(), "SELECT * FROM events");
  }
  std::size_t copies() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("ledger.db.schema-4")) ++count;
    }
    return count;
  }
  std::vector<std::string> events_;
};

TEST_F(LongMigration, tells_how_far_it_is) {
  std::vector<std::string> told;
  const auto opened = Ledger::open(file(), OpenMode::create_or_write, [&](const Progress& progress) {
    told.push_back(std::string(progress.what) + " " + std::to_string(progress.done) + " of " +
                   std::to_string(progress.all));
  });
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(told, (std::vector<std::string>{"a copy of the ledger as it is is being made 0 of 0",
                                            "events taken over 10000 of 10502", "events read back 10000 of 10502"}));
  EXPECT_EQ(rows(file(), "SELECT * FROM events"), events_);
}

TEST_F(LongMigration, takes_checkpoints_along) {
  const Ledger ledger = writer(file());
  EXPECT_EQ(must(ledger.recover()).replayed, 0);
  auto books = must(ledger.recover());
  auto scratch = must(ledger.recover_from_scratch());
  const Instant t = books.state.now() + Duration{1000};
  EXPECT_EQ(standings(books.state, t), standings(scratch.state, t));
}

TEST_F(LongMigration, killed_at_any_moment_begins_anew) {
  int kills = 0;
  for (bool done = false; !done; ++kills) {
    ASSERT_LT(kills, 100);
    test::Child child("the migration", [&] {
      int calls = 0;
      const auto opened = Ledger::open(file(), OpenMode::create_or_write, [&](const Progress&) {
        if (calls++ == kills) ::raise(SIGKILL);
      });
      ::_exit(opened ? 0 : 1);
    });
    const int ended = child.wait();
    done = ended == 0;
    if (done) break;
    ASSERT_EQ(ended, -SIGKILL);
    EXPECT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{"4"});
    EXPECT_EQ(rows(file(), "SELECT * FROM events"), events_);
    EXPECT_LE(copies(), 1U) << "one copy of the ledger as it was is enough";
  }
  EXPECT_EQ(kills, 3);
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{std::to_string(migrations().size())});
  EXPECT_EQ(rows(file(), "SELECT * FROM events"), events_);
  for (const Finding& finding : must(audit(reader(file()))).findings)
    ADD_FAILURE() << finding.check << ": " << finding.what;
}

TEST_F(LongMigration, refuses_an_event_that_no_release_wrote_and_changes_nothing) {
  const std::string trigger = rows(file(), "SELECT sql FROM sqlite_master WHERE name = 'events_are_not_updated'").at(0);
  tamper(file(),
         "DROP TRIGGER events_are_not_updated;"
         "UPDATE events SET payload = replace(payload, 'wait', 'wake') WHERE seq = 9;" +
             trigger);
  const std::string damaged = [this] {
    const auto opened = Ledger::open(file(), OpenMode::create_or_write);
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().what;
  }();
  EXPECT_NE(damaged.find("event "), std::string::npos) << damaged;
  EXPECT_EQ(rows(file(), "PRAGMA user_version"), std::vector<std::string>{"4"});

  // That was the copy's check; the migration has one of its own.
  const Database database = must(Database::open(file().string(), SQLITE_OPEN_READWRITE));
  const auto migrated = migrate(database);
  ASSERT_FALSE(migrated);
  EXPECT_EQ(migrated.error().code, Errc::corrupt);
  EXPECT_NE(migrated.error().what.find("event 9: its hash does not follow"), std::string::npos)
      << migrated.error().what;
  EXPECT_EQ(must(database.integer("PRAGMA user_version")), 4);
}

TEST_F(Migration, every_ledger_has_an_identity_of_its_own) {
  const auto identity_of = [](const std::filesystem::path& path) { return must(writer(path).identity()); };
  const std::string one = identity_of(directory() / "one");
  EXPECT_EQ(one.size(), 32U);
  EXPECT_EQ(identity_of(directory() / "one"), one);
  EXPECT_NE(identity_of(directory() / "two"), one);
}

TEST_F(Migration, from_nothing_runs_every_step_in_one_transaction) {
  const Database database = must(Database::open(file().string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  must(migrate(database));
  EXPECT_EQ(must(database.integer("PRAGMA user_version")), static_cast<std::int64_t>(migrations().size()));
  must(migrate(database));  // a second time there is nothing to do
  EXPECT_EQ(must(database.integer("SELECT COUNT(*) FROM events")), 0);
}

// The views' numbers, worked out by hand from the sample (see its events).
TEST_F(Migration, views_of_the_sample_say_what_is_true) {
  std::ifstream in(dump_of(1));
  tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
  // Job 101 of physics held 4 processors of n2 from 20:10:05 to 04:10:05; the node went from biology to library at
  // 02:00.
  EXPECT_EQ(
      rows(file(), "SELECT processor_seconds FROM work_by_owner WHERE organization = 'physics' AND owner = 'biology'"),
      std::vector<std::string>{"83980.0"});
  EXPECT_EQ(
      rows(file(), "SELECT processor_seconds FROM work_by_owner WHERE organization = 'physics' AND owner = 'library'"),
      std::vector<std::string>{"31220.0"});
  // Job 105 of biology runs on physics' n1 since 04:10:06; the last event was received at 06:00:01: 6595 s on 8
  // processors.
  EXPECT_EQ(rows(file(),
                 "SELECT used_processor_seconds, returned_processor_seconds, owed_core_hours FROM who_owes_whom "
                 "WHERE debtor = 'physics' AND creditor = 'biology'"),
            std::vector<std::string>{"83980.0|52760.0|8.672"});
  // Job 101 got 12 processors for 3:49:55 of October and 4:10:05 of November.
  EXPECT_EQ(rows(file(), "SELECT month, got_core_hours FROM core_hours_by_month WHERE organization = 'physics'"),
            (std::vector<std::string>{"2026-10|45.983", "2026-11|50.017"}));
  EXPECT_EQ(rows(file(), "SELECT SUM(got_core_hours) - SUM(given_core_hours) < 0.01 FROM core_hours_by_month"),
            std::vector<std::string>{"1"});
  EXPECT_EQ(
      rows(file(),
           "SELECT begin_utc, seconds, processors, nodes, reason FROM job_segments WHERE job = 103 AND kind = 'run'"),
      (std::vector<std::string>{"2026-10-31 22:00:02|1198|4.0|gpu1=4|requeued",
                                "2026-10-31 22:25:00|3600|4.0|gpu1=4|resized",
                                "2026-10-31 23:25:00|7200|2.0|gpu1=2|ended"}));
  EXPECT_EQ(
      rows(file(),
           "SELECT organization, got_core_hours FROM balances WHERE organization <> 'commons' ORDER BY got_core_hours"),
      (std::vector<std::string>{"guests|2.0", "library|9.331", "biology|26.656", "physics|96.0"}));
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM configurations WHERE text LIKE 'organizations:%'"),
            std::vector<std::string>{"1"});
}

// Amounts that say of which month or period they are, and by which estimator.
TEST_F(Migration, views_by_month_say_what_the_others_do) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    static_cast<void>(writer(file()));
    EXPECT_EQ(rows(file(),
                   "SELECT month, organization, got_core_hours_of_month, given_core_hours_of_month_direct_contr, "
                   "difference_core_hours_of_month_direct_contr FROM amounts_by_month"),
              rows(file(), "SELECT * FROM core_hours_by_month"));
    EXPECT_EQ(
        rows(file(), "SELECT organization, owner, ROUND(SUM(processor_seconds), 3) FROM work_by_month GROUP BY 1, 2"),
        rows(file(), "SELECT organization, owner, ROUND(processor_seconds, 3) FROM work_by_owner"));
    EXPECT_EQ(
        rows(file(),
             "SELECT COUNT(*) FROM amounts_by_month WHERE ABS(got_core_hours_of_month - own_core_hours_of_month - "
             "borrowed_core_hours_of_month) > 0.002 OR ABS(given_core_hours_of_month_direct_contr - "
             "own_core_hours_of_month - lent_core_hours_of_month) > 0.002"),
        std::vector<std::string>{"0"});
    EXPECT_EQ(rows(file(),
                   "SELECT organization, got_core_hours_of_period_so_far, given_core_hours_of_period_so_far, "
                   "standing_core_hours_on_average_of_period FROM standings_by_month WHERE estimator = 'direct_contr'"),
              rows(file(),
                   "SELECT organization, got_core_hours, given_core_hours, standing_core_hours FROM "
                   "balances_by_estimator WHERE estimator = 'direct_contr'"));
    // Physics used 15.328 core-hours of biology's nodes in October, when biology used none of its own; from 011 on four
    // more, for an adjustment states that half of n1 was biology's for an hour of it.
    const std::string used = version < 11 ? "15.328" : "19.328";
    EXPECT_EQ(rows(file(), "SELECT * FROM who_owes_whom_by_month WHERE month = '2026-10' AND debtor = 'physics'"),
              std::vector<std::string>{"2026-10|physics|biology|" + used + "|0.0|" + used});
  }
}

}  // namespace
}  // namespace shapley::ledger
