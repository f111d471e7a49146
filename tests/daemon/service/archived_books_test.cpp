// The daemon's books on a ledger whose older periods are in archives.
#include <vector>

#include <gtest/gtest.h>

#include "daemon/books/books.hpp"
#include "ledger/archive/archive.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {
namespace {

using namespace accounting;
using ledger::testing::month_begin;
using ledger::testing::must;

class ArchivedBooks : public ledger::testing::LedgerTest {
 protected:
  // October to January, of which October and November are archived.
  void SetUp() override {
    ledger::testing::write_months(file(), 4);
    ASSERT_EQ(must(ledger::archive_closed_periods(file(), nullptr, now)).archives.size(), 2U);
  }
  static std::vector<Event> run_of(std::uint32_t job, Instant begin) {
    const SegmentOpened run = ledger::testing::opened(job, begin.value, "physics", 2, "n3");
    return {run, ledger::testing::closed(run, begin.value + 600)};
  }

  const Instant now = month_begin(4) - Duration{3600};
};

TEST_F(ArchivedBooks, what_the_ledger_refuses_begins_no_rebuild) {
  Books books = must(Books::open(file(), {}));
  const auto before = ledger::testing::standings(books.state(), now);
  const std::int64_t last = books.last_sequence();
  const std::vector<Event> archived = run_of(90'001, month_begin(1));
  EXPECT_FALSE(books.become_incomplete_by(archived, now));
  must(books.commit(archived, now));
  EXPECT_FALSE(books.incomplete());
  EXPECT_EQ(books.last_sequence(), last);
  EXPECT_EQ(ledger::testing::standings(books.state(), now), before);
}

TEST_F(ArchivedBooks, what_is_late_but_not_archived_is_booked_after_a_rebuild) {
  Books books = must(Books::open(file(), {}));
  const std::vector<Event> late = run_of(90'002, month_begin(2) + Duration{7200});
  EXPECT_TRUE(books.become_incomplete_by(late, now));
  must(books.commit(late, now));
  must(books.begin_rebuild());
  ASSERT_TRUE(test::eventually([&] {
    must(books.end_rebuild());
    return !books.incomplete();
  }));
  ledger::Recovered all = must(books.ledger().recover_from_scratch());
  EXPECT_EQ(ledger::testing::standings(books.state(), now), ledger::testing::standings(all.state, now));
  EXPECT_EQ(all.last_sequence, books.last_sequence());
  must(books.begin_checkpoint(now));
  ASSERT_TRUE(test::eventually([&] { return must(books.end_checkpoint()); }));
}

}  // namespace
}  // namespace shapley::daemon
