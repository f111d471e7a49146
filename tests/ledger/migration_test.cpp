// A ledger of each past schema opens, becomes the present one, and is still correct to the last unit. This program has
// a schema more than the product (next_schema/), so that there is always one to migrate from.
#include <csignal>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "ledger/archive/links.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/store/backup.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using Lines = std::vector<std::string>;

std::filesystem::path dump_of(std::size_t version) {
  std::string name = std::to_string(version);
  name.insert(0, 3 - name.size(), '0');
  return std::filesystem::path(SHAPLEY_LEDGER_DUMPS) / (name + ".sql");
}

class Migration : public LedgerTest {
 protected:
  void make(std::size_t version) {
    std::filesystem::remove(file());
    std::ifstream in(dump_of(version));
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    ASSERT_EQ(rows(file(), "PRAGMA user_version"), Lines{std::to_string(version)});
  }
  std::vector<std::filesystem::path> copies_of(std::size_t version) const {
    std::vector<std::filesystem::path> copies;
    const std::string prefix = "ledger.db.schema-" + std::to_string(version) + "-";
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix) && name.ends_with("Z.backup")) copies.push_back(entry.path());
    }
    return copies;
  }
};

TEST_F(Migration, every_past_schema_has_a_dump) {
  ASSERT_GE(migrations().size(), 2U);
  for (std::size_t version = 1; version < migrations().size(); ++version)
    EXPECT_TRUE(std::filesystem::exists(dump_of(version))) << dump_of(version);
}

TEST_F(Migration, every_past_ledger_becomes_a_present_one_and_says_the_same) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    SCOPED_TRACE(version);
    make(version);
    Lines queries;
    for (const std::string& table :
         rows(file(),
              "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'checkpoint%'")) {
      std::string columns;
      for (const std::string& column : rows(file(), "SELECT name FROM pragma_table_info('" + table + "')"))
        columns += (columns.empty() ? "" : ", ") + column;
      queries.push_back("SELECT " + columns + " FROM " + table + " ORDER BY " + columns);
    }
    ASSERT_GT(queries.size(), 30U);
    std::vector<Lines> before;
    for (const std::string& query : queries) before.push_back(rows(file(), query));
    const Ledger ledger = writer(file());
    EXPECT_EQ(rows(file(), "PRAGMA user_version"), Lines{std::to_string(migrations().size())});
    EXPECT_GT(ledger.last_sequence(), 0);
    for (std::size_t i = 0; i < queries.size(); ++i) EXPECT_EQ(rows(file(), queries[i]), before[i]) << queries[i];
    for (const Finding& finding : must(audit(ledger)).findings) ADD_FAILURE() << finding.check << ": " << finding.what;
  }
}

TEST_F(Migration, leaves_a_sound_copy_of_what_it_migrates) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    SCOPED_TRACE(version);
    make(version);
    const Lines events = rows(file(), "SELECT * FROM events");
    static_cast<void>(writer(file()));
    static_cast<void>(writer(file()));  // the present one needs no copy
    const auto copies = copies_of(version);
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(rows(copies[0], "PRAGMA user_version"), Lines{std::to_string(version)});
    EXPECT_EQ(rows(copies[0], "SELECT * FROM events"), events);
  }
}

TEST_F(Migration, killed_before_its_end_begins_again_and_makes_one_copy) {
  make(1);
  const Lines events = rows(file(), "SELECT * FROM events");
  for (int i = 0; i < 2; ++i) {
    test::Child child("the migration", [&] {
      static_cast<void>(Ledger::open(file(), OpenMode::create_or_write, [](const Progress&) { ::raise(SIGKILL); }));
      ::_exit(1);
    });
    EXPECT_EQ(child.wait(), -SIGKILL);
    EXPECT_EQ(rows(file(), "PRAGMA user_version"), Lines{"1"});
  }
  {
    const Database database = must(Database::open(file().string(), SQLITE_OPEN_READWRITE));
    must(back_up_before_migration(database, file(), 1));
  }
  EXPECT_EQ(copies_of(1).size(), 1U);
  static_cast<void>(writer(file()));
  EXPECT_EQ(copies_of(1).size(), 1U) << "the copy that is there is enough";
  EXPECT_EQ(rows(file(), "SELECT * FROM events"), events);
}

TEST_F(Migration, that_fails_changes_nothing) {
  make(1);
  const Database database = must(Database::open(file().string(), SQLITE_OPEN_READWRITE));
  must(database.execute("CREATE VIEW newest_note AS SELECT 1"));  // the name that its last statement takes
  const auto migrated = migrate(database);
  ASSERT_FALSE(migrated);
  EXPECT_NE(migrated.error().what.find("migration 3: "), std::string::npos) << migrated.error().what;
  EXPECT_EQ(must(database.integer("PRAGMA user_version")), 1);
  EXPECT_EQ(must(database.integer("SELECT COUNT(*) FROM sqlite_master WHERE name = 'notes'")), 0);
}

TEST_F(Migration, an_archive_of_an_earlier_schema_is_read_and_stays_as_it_is) {
  make(1);
  const std::filesystem::path packed = directory() / "old.db.xz";
  must(pack(file(), packed, {}));
  const std::string before = content_of(packed);
  const OpenedFile opened = must(OpenedFile::open(packed));
  EXPECT_EQ(must(audit(opened.ledger())).findings.size(), 0U);
  EXPECT_EQ(std::to_string(opened.ledger().last_sequence()), rows(file(), "SELECT MAX(seq) FROM event_rows").at(0));
  EXPECT_EQ(content_of(packed), before);
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

// The views' numbers, worked out by hand from the first 46 events of 001.
TEST_F(Migration, views_of_the_sample_say_what_is_true) {
  make(1);
  const auto column = [this](const std::string& name) {
    return rows(file(), "SELECT " + name + " FROM events WHERE seq <= 46 ORDER BY seq");
  };
  const Lines kinds = column("kind"), payloads = column("payload"), received = column("received");
  std::filesystem::remove(file());
  {
    Ledger ledger = writer(file());
    for (std::size_t i = 0; i < kinds.size(); ++i)
      must(ledger.append(std::vector{must(decode(kinds[i], payloads[i]))}, {std::stoll(received[i])}));
    auto books = must(ledger.recover());
    const Instant at{1'793'512'801};
    books.state.advance(at);
    must(ledger.record_standings({1'793'491'200}, books.state, books.state.advance(at).standings()));
  }
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
  make(1);
  EXPECT_EQ(rows(file(),
                 "SELECT month, organization, got_core_hours_of_month, given_core_hours_of_month_direct_contr, "
                 "difference_core_hours_of_month_direct_contr FROM amounts_by_month"),
            rows(file(), "SELECT * FROM core_hours_by_month"));
  EXPECT_EQ(
      rows(file(), "SELECT organization, owner, ROUND(SUM(processor_seconds), 3) FROM work_by_month GROUP BY 1, 2"),
      rows(file(), "SELECT organization, owner, ROUND(processor_seconds, 3) FROM work_by_owner"));
  EXPECT_EQ(rows(file(),
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
  // Physics used 15.328 core-hours of biology's nodes in October, when biology used none of its own, and four more, for
  // an adjustment states that half of n1 was biology's for an hour of it.
  EXPECT_EQ(rows(file(), "SELECT * FROM who_owes_whom_by_month WHERE month = '2026-10' AND debtor = 'physics'"),
            std::vector<std::string>{"2026-10|physics|biology|19.328|0.0|19.328"});
}

}  // namespace
}  // namespace shapley::ledger
