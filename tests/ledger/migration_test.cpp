// Ledgers of past schemas open, become the present one, and are still correct to the last unit.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/migrations.hpp"
#include "ledger_fixture.hpp"

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

}  // namespace
}  // namespace shapley::ledger
