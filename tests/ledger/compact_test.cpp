// A ledger without the room that nothing uses: the same rows, whatever happens meanwhile.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/file/files.hpp"
#include "ledger/store/backup.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
namespace fs = std::filesystem;

class Compact : public LedgerTest {
 protected:
  // Some megabytes, half of them unused.
  void SetUp() override {
    Ledger ledger = writer(file());
    std::vector<accounting::Event> events;
    for (std::uint32_t job = 1; job <= 2100; ++job) {
      for (accounting::Event& event : usual_job(job)) events.push_back(std::move(event));
    }
    must(ledger.append(events, {1'800'000'000}));
    tamper(file(),
           "CREATE TABLE ballast AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
           "SELECT zeroblob(4000) FROM n");
    tamper(file(), "DROP TABLE ballast");
  }
  [[nodiscard]] fs::path leftover() const { return file().string() + ".compact"; }
  std::vector<std::string> events() const { return rows(file(), "SELECT * FROM events"); }
};

TEST_F(Compact, gives_room_back_and_keeps_every_row) {
  const auto before = events();
  const auto head = reader(file()).last_sequence();
  fs::permissions(file(), fs::perms(0640));  // as ledgers of older releases have it
  const CompactResult result = must(compact(file()));
  EXPECT_EQ(result.verified.events, head);
  EXPECT_LT(result.bytes_after + 400 * 4096, result.bytes_before);
  EXPECT_EQ(fs::file_size(file()), result.bytes_after);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms(k_live_file_mode));
  EXPECT_EQ(events(), before);
  EXPECT_FALSE(fs::exists(leftover()));
  const Ledger ledger = writer(file());
  EXPECT_TRUE(must(audit(ledger)).clean());
  EXPECT_EQ(rows(file(), "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
}

TEST_F(Compact, refuses_while_the_ledger_is_in_use) {
  const auto refusal = [this] {
    const auto refused = compact(file());
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::conflict);
    return refused ? std::string() : refused.error().what;
  };
  {
    const Ledger ledger = writer(file());
    EXPECT_NE(refusal().find("writes this ledger already"), std::string::npos);
  }
  const Ledger ledger = reader(file());
  EXPECT_EQ(ledger.last_sequence(), 10'500);  // its connection is in use from here on
  EXPECT_NE(refusal().find("a process reads it"), std::string::npos);
  EXPECT_EQ(compact(directory() / "absent").error().code, Errc::not_found);
  EXPECT_FALSE(fs::exists(directory() / "absent"));
}

TEST_F(Compact, killed_at_any_moment_leaves_a_whole_ledger) {
  const auto before = events();
  int kills = 0;
  for (bool done = false; !done; ++kills) {
    ASSERT_LT(kills, 1000);
    test::Child child("the compaction", [&] {
      int calls = 0;
      const auto compacted = compact(file(), [&](const Progress&) {
        if (calls++ == kills) ::raise(SIGKILL);
      });
      ::_exit(compacted ? 0 : 1);
    });
    const int ended = child.wait();
    done = ended == 0;
    if (!done) {
      ASSERT_EQ(ended, -SIGKILL);
    }
    EXPECT_EQ(fs::exists(leftover()), !done) << "what was begun is removed by the next try";
    EXPECT_EQ(reader(file()).last_sequence(), 10'500);
  }
  EXPECT_GT(kills, 3);
  EXPECT_EQ(events(), before);
  EXPECT_TRUE(must(audit(reader(file()))).clean());
}

}  // namespace
}  // namespace shapley::ledger
