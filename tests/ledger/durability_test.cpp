// What append() returned for survives a killed process. (A failing disk or power is SQLite's part: WAL,
// synchronous=FULL.)
#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/rng.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger_fixture.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;

// Appends batches without end and reports after each how far the ledger reaches. Never returns.
[[noreturn]] void append_without_end(const std::filesystem::path& file, int acknowledgements) {
  auto ledger = Ledger::open(file, OpenMode::create_or_write);
  if (!ledger) ::_exit(1);
  while (true) {
    std::vector<accounting::Event> batch;
    const auto next = ledger->last_sequence() + 1;
    for (std::int64_t i = 0; i < 1 + next % 50; i += 2) {
      const auto run = opened(static_cast<std::uint32_t>(next + i), 10'000 + next + i, "a", 1);
      batch.emplace_back(run);
      batch.emplace_back(closed(run, 20'000 + next + i));
    }
    if (!ledger->append(batch, {next})) ::_exit(2);
    const std::int64_t reached = ledger->last_sequence();
    if (::write(acknowledgements, &reached, sizeof reached) != sizeof reached) ::_exit(3);
  }
}

TEST(Durability, a_killed_writer_loses_nothing_it_acknowledged) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::disk);
  const auto file = directory.path() / "ledger.db";
  Rng rng(20261121);
  std::int64_t survived = 0;
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2] = {};
    ASSERT_EQ(::pipe(pipe_ends), 0);
    test::Child child("the writer", [&] {
      ::close(pipe_ends[0]);
      append_without_end(file, pipe_ends[1]);
    });
    ::close(pipe_ends[1]);
    const test::Deadline deadline("the writer's acknowledgements");
    // Killed somewhere in the batch after the last one we read of.
    std::int64_t acknowledged = 0;
    for (std::uint64_t left = 1 + rng.below(20); left > 0; --left) {
      ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof acknowledged), static_cast<ssize_t>(sizeof acknowledged));
    }
    child.signal(SIGKILL);
    ASSERT_EQ(child.wait(), -SIGKILL) << "the writer ended by itself";
    while (::read(pipe_ends[0], &acknowledged, sizeof acknowledged) == static_cast<ssize_t>(sizeof acknowledged)) {
    }
    ::close(pipe_ends[0]);

    // The dead writer's lock is free, its journal is taken over, and the chain is whole.
    const Ledger ledger = writer(file);
    EXPECT_GE(ledger.last_sequence(), acknowledged);
    EXPECT_GT(acknowledged, survived);
    survived = ledger.last_sequence();
    EXPECT_EQ(survived % 2, 0) << "a batch was stored in part";
    EXPECT_TRUE(must(audit(ledger)).clean());
  }
}

}  // namespace
}  // namespace shapley::ledger
