// A query that would take too long or too much ends with an error, and leaves the connection as it was.
#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "ledger/store/query.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using testing::must;

std::string counting_to(int most, const std::string& wanted) {
  return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(most) +
         ") SELECT " + wanted + " FROM n";
}

class QueryBudgets : public testing::LedgerTest {
 protected:
  Ledger ledger = testing::writer(file());
};

TEST_F(QueryBudgets, EndAQueryOfTooManySteps) {
  const std::string sql = counting_to(100'000, "COUNT(*)");
  const auto stopped = query(ledger, sql, {.steps = 20'000});
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit) << stopped.error().what;
  EXPECT_EQ(must(query(ledger, sql)).at(0).at(0), "100000");
  EXPECT_EQ(must(query(ledger, sql, {.steps = 100'000'000})).at(0).at(0), "100000");
}

TEST_F(QueryBudgets, EndAQueryOfTooManyRows) {
  const std::string sql = counting_to(100, "i");
  EXPECT_EQ(must(query(ledger, sql, {.rows = 100})).size(), 100U);
  const auto stopped = query(ledger, sql, {.rows = 99});
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit);
}

// Without an end of its own it would go on for ever.
TEST_F(QueryBudgets, LetAnotherThreadEndAQuery) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
  const Ledger reader = must(Ledger::open(file(), OpenMode::read_beside_writer));
  std::atomic<bool> ended = false;
  std::thread other([&] { ended = true; });
  const auto stopped = query(reader, endless, {.ended = &ended});
  other.join();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, Errc::limit);
  ended = false;
  EXPECT_EQ(must(query(reader, counting_to(100'000, "COUNT(*)"), {.ended = &ended})).at(0).at(0), "100000");
}

TEST_F(QueryBudgets, LeaveTheLedgerWritable) {
  ASSERT_FALSE(query(ledger, counting_to(100'000, "COUNT(*)"), {.steps = 1000}).has_value());
  const accounting::Event event = testing::opened(1, 1'700'000'000, "physics", 2);
  EXPECT_EQ(must(ledger.append({&event, 1}, Instant{1'700'000'100})).appended, 1U);
}

}  // namespace
}  // namespace shapley::ledger
