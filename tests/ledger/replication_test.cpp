// A chain that is copied row by row is the same chain; two that parted are compared.
#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;
namespace fs = std::filesystem;

class Replication : public LedgerTest {
 protected:
  [[nodiscard]] fs::path other() const { return directory() / "other.db"; }

  static void append(Ledger& ledger, const std::vector<Event>& events) { must(ledger.append(events, {2'000'000'000})); }
  static void append_jobs(Ledger& ledger, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t job = first; job <= last; ++job) append(ledger, usual_job(job));
  }
  // Follows `from` to its end; how many parts that took.
  static int follow(const Ledger& from, Ledger& to, ChainLimits limits = {}) {
    for (int parts = 0;; ++parts) {
      const ChainPart part = must(chain_after(from, must(head_of(to)), limits));
      EXPECT_TRUE(part.holds);
      if (part.rows.empty()) return parts;
      EXPECT_EQ(must(append_copied(to, part.rows)).size(), part.rows.size());
    }
  }
};

TEST_F(Replication, copies_a_chain_to_the_byte) {
  Ledger original = writer(file());
  append(original, {OrganizationsDeclared{{1000}, {"a", "b"}}, ConfigurationLoaded{{1000}, "caf\xe9: \x1b[2J\n"},
                    ControllerBegan{0, {1001}, std::string(64, '0'), "ctl1", PeerAnswer::silent}});
  append_jobs(original, 1, 20);
  Ledger copy = writer(other());
  must(adopt_identity(copy, must(original.identity())));
  EXPECT_EQ(follow(original, copy, {.rows = 7}), 15);
  EXPECT_EQ(must(head_of(copy)), must(head_of(original)));
  EXPECT_EQ(dump(copy), dump(original));
  append_jobs(original, 21, 21);
  EXPECT_EQ(follow(original, copy), 1);
  // It is a ledger like any other: sound, and written on.
  EXPECT_EQ(must(copy.identity()), must(original.identity()));
  append_jobs(copy, 22, 22);
  EXPECT_TRUE(must(audit(copy)).clean());
  EXPECT_EQ(rows(other(), "SELECT payload FROM events WHERE seq <= 108 ORDER BY seq"),
            rows(file(), "SELECT payload FROM events ORDER BY seq"));
}

TEST_F(Replication, reads_no_more_than_was_asked_for) {
  Ledger original = writer(file());
  append_jobs(original, 1, 4);
  const auto rows_of = [&](ChainLimits limits) { return must(chain_after(original, {}, limits)).rows.size(); };
  EXPECT_EQ(rows_of({.rows = 3}), 3U);
  EXPECT_EQ(rows_of({.rows = 0}), 0U);
  // One row, however large it is.
  EXPECT_EQ(rows_of({.rows = 100, .bytes = 1}), 1U);
  EXPECT_EQ(rows_of({.rows = 100}), 20U);
  // Nor for longer than the client waits.
  append_jobs(original, 5, 80);
  const std::atomic<bool> ended = true;
  const auto cut = chain_after(original, {}, {}, {.ended = &ended});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Errc::limit);
}

TEST_F(Replication, finds_out_whether_a_position_is_in_the_chain) {
  Ledger original = writer(file());
  append_jobs(original, 1, 2);
  const auto holds = [&](const Position& position) { return must(chain_after(original, position)).holds; };
  EXPECT_TRUE(holds({}));
  EXPECT_TRUE(holds(must(head_of(original))));
  EXPECT_TRUE(holds({3, *must(hash_at(original, 3))}));
  EXPECT_FALSE(holds({4, *must(hash_at(original, 3))}));
  EXPECT_FALSE(holds({11, must(head_of(original)).hash}));
  EXPECT_TRUE(must(chain_after(original, {4, {}})).rows.empty());
  EXPECT_EQ(must(hash_at(original, 11)), std::nullopt);
}

TEST_F(Replication, refuses_what_is_not_the_chain) {
  Ledger original = writer(file());
  append_jobs(original, 1, 2);
  Ledger copy = writer(other());
  const std::vector<ChainRow> whole = must(chain_after(original, {})).rows;
  const auto refuse = [&](std::size_t row, Errc code, auto change) {
    std::vector<ChainRow> changed = whole;
    change(changed.at(row));
    const auto appended = append_copied(copy, changed);
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().code, code) << appended.error().what;
    EXPECT_NE(appended.error().what.find("event " + std::to_string(changed.at(row).sequence)), std::string::npos)
        << appended.error().what;
    // Nor of the rows before it is anything stored.
    EXPECT_EQ(must(head_of(copy)), Position());
  };
  refuse(3, Errc::corrupt, [](ChainRow& row) { row.received.value += 1; });
  refuse(3, Errc::corrupt, [](ChainRow& row) { row.payload.insert(1, " "); });
  refuse(3, Errc::corrupt, [](ChainRow& row) { row.payload.back() = '?'; });
  refuse(3, Errc::corrupt, [](ChainRow& row) { row.kind = "pledge_made"; });
  refuse(3, Errc::corrupt, [](ChainRow& row) { row.hash[0] ^= 1; });
  refuse(3, Errc::conflict, [](ChainRow& row) { row.sequence = 9; });
  refuse(4, Errc::corrupt, [&](ChainRow& row) {
    row = whole[3];
    row.sequence = 5;
  });
  EXPECT_EQ(must(append_copied(copy, whole)).size(), whole.size());
  EXPECT_EQ(append_copied(copy, whole).error().code, Errc::conflict);
  Ledger only_read = reader(other());
  EXPECT_EQ(append_copied(only_read, whole).error().code, Errc::denied);
}

TEST_F(Replication, gives_an_identity_to_an_empty_ledger_only) {
  {
    Ledger ledger = writer(file());
    const std::string before = must(ledger.identity());
    EXPECT_EQ(adopt_identity(ledger, "0123").error().code, Errc::invalid_argument);
    EXPECT_EQ(adopt_identity(ledger, std::string(32, 'g')).error().code, Errc::invalid_argument);
    EXPECT_EQ(must(ledger.identity()), before);
    must(adopt_identity(ledger, std::string(32, 'a')));
    EXPECT_EQ(must(ledger.identity()), std::string(32, 'a'));
    append_jobs(ledger, 1, 1);
    EXPECT_EQ(adopt_identity(ledger, std::string(32, 'b')).error().code, Errc::conflict);
  }
  // Its schema is the program's own again.
  EXPECT_EQ(must(reader(file()).identity()), std::string(32, 'a'));
  EXPECT_THROW(tamper(file(), "UPDATE identity SET ledger = 'b'"), std::exception);
}

TEST_F(Replication, counts_what_a_parted_ledger_has_for_itself) {
  Ledger old_line = writer(file());
  append_jobs(old_line, 1, 2);
  const std::int64_t common = old_line.last_sequence();
  Ledger new_line = writer(other());
  follow(old_line, new_line);
  append_jobs(old_line, 3, 5);
  append(old_line, {ControllerBegan{0, {1000}, std::string(64, '0'), "ctl1", PeerAnswer::silent}});
  // The new one learns of job 4, of job 5 with another end, and of job 3 not at all.
  append(new_line, {ControllerBegan{common, {1002}, std::string(64, 'a'), "ctl2", PeerAnswer::silent}});
  append_jobs(new_line, 4, 4);
  std::vector<Event> fifth = usual_job(5);
  std::get<SegmentClosed>(fifth.back()).job_state = "FAILED";
  append(new_line, fifth);
  EXPECT_EQ(must(compare_parted(old_line, new_line)),
            (Parted{.common = common, .events = 15, .absent = 5, .different = 1}));
  EXPECT_EQ(must(compare_parted(old_line, old_line)), (Parted{.common = old_line.last_sequence()}));
}

TEST_F(Replication, sets_a_ledger_aside_whole) {
  std::vector<std::string> before;
  {
    Ledger ledger = writer(file());
    append_jobs(ledger, 1, 3);
    before = dump(ledger);
    const auto refused = set_aside(file(), {1'793'477'405});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::conflict);
  }
  const fs::path aside = must(set_aside(file(), {1'793'477'405}));
  EXPECT_EQ(aside, file().string() + ".superseded-20261031T201005Z");
  EXPECT_EQ(dump(reader(aside)), before);
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_FALSE(fs::exists(file().string() + "-wal"));
  // The name is taken.
  append_jobs(*std::make_unique<Ledger>(writer(file())), 4, 4);
  EXPECT_EQ(set_aside(file(), {1'793'477'405}).error().code, Errc::conflict);
  EXPECT_EQ(dump(reader(aside)), before);
}

}  // namespace
}  // namespace shapley::ledger
