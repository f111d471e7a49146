// Queries that read the ledger: whatever they take, the feed goes on.
#include "daemon/requests/reading_thread.hpp"

#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "ledger/store/query.hpp"
#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

// A question without an end of its own.
std::string endless(ReadingThread::Connection& connection, ledger::QueryBudget budget) {
  const Expected<ledger::Ledger>& ledger = connection.ledger();
  if (!ledger) return ledger.error().what;
  const auto rows = ledger::query(
      *ledger, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", budget);
  return rows ? "it came to an end" : std::string(name_of(rows.error().code));
}

std::string number_of_events(ReadingThread::Connection& connection, ledger::QueryBudget budget) {
  const Expected<ledger::Ledger>& ledger = connection.ledger();
  if (!ledger) return ledger.error().what;
  const auto rows = ledger::query(*ledger, "SELECT COUNT(*) FROM events", budget);
  return rows ? rows->at(0).at(0) : rows.error().what;
}

class ReadingThreadTest : public testing::Test {
 protected:
  // The answer, when it comes.
  static std::future<std::string> ask(ReadingThread& thread, ReadingThread::Question question,
                                      ledger::QueryBudget budget = {}) {
    auto promise = std::make_shared<std::promise<std::string>>();
    auto answer = promise->get_future();
    thread.ask(std::move(question), budget, [promise](std::string text) { promise->set_value(std::move(text)); });
    return answer;
  }
  static std::string await(std::future<std::string> answer) {
    const test::Deadline deadline("a question to the ledger");
    return answer.get();
  }

  TempDirectory directory;
  std::filesystem::path file = directory / "ledger.db";
  Expected<ledger::Ledger> writer = ledger::Ledger::open(file, ledger::OpenMode::create_or_write);
};

TEST_F(ReadingThreadTest, AnswersOneAfterAnother) {
  ReadingThread thread(file);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(await(ask(thread, number_of_events)), "0");
}

TEST_F(ReadingThreadTest, EndsAQuestionWhenItIsToldTo) {
  ReadingThread thread(file);
  auto answer = ask(thread, endless);
  thread.end_question();
  EXPECT_EQ(await(std::move(answer)), "limit");
  EXPECT_EQ(await(ask(thread, number_of_events)), "0") << "the next one is not ended with it";
}

TEST_F(ReadingThreadTest, EndsAQuestionBeyondItsBudget) {
  ReadingThread thread(file);
  EXPECT_EQ(await(ask(thread, endless, {.steps = 100'000})), "limit");
}

TEST_F(ReadingThreadTest, StopsInTheMiddleOfAQuestion) {
  ReadingThread thread(file);
  const auto answer = ask(thread, endless);
  const test::Deadline deadline("the thread");
  thread.stop();
}

TEST_F(ReadingThreadTest, SaysWhyTheLedgerCannotBeOpenedAndTriesAgain) {
  const auto elsewhere = directory / "moved.db";
  std::filesystem::rename(file, elsewhere);
  ReadingThread thread(file);
  EXPECT_NE(await(ask(thread, number_of_events)).find(file.string()), std::string::npos);
  std::filesystem::rename(elsewhere, file);
  EXPECT_EQ(await(ask(thread, number_of_events)), "0");
}

// Commits of one thread while another reads: what the thread sanitizer looks at.
TEST_F(ReadingThreadTest, ReadsWhileTheLedgerIsWritten) {
  ReadingThread thread(file);
  std::int64_t seen = 0;
  for (std::int64_t i = 1; i <= 200; ++i) {
    auto answer = ask(thread, number_of_events);
    const accounting::Event event = accounting::PeriodDeclared{Instant{k_begin + i}, Period::monthly};
    ASSERT_TRUE(writer->append({&event, 1}, Instant{k_begin}).has_value());
    const std::int64_t count = std::stoll(await(std::move(answer)));
    EXPECT_GE(count, seen);
    EXPECT_LE(count, i);
    seen = count;
  }
  EXPECT_EQ(await(ask(thread, number_of_events)), "200");
}

// The daemon, with a view of jobs without end in the place of the genuine one.
class EndlessJobs : public ServerTest {
 protected:
  void SetUp() override {
    Server::Limits limits = no_hurry();
    limits.query.steps = limits.administrators_query.steps = 0;
    start(limits);
    execute(
        "DROP VIEW jobs;"
        "CREATE VIEW jobs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS job, i AS submit, '' AS organization, 0 AS array_job, 0 AS array_task, 0 AS het_job, 0 AS user_id,"
        "0 AS group_id, '' AS account, '' AS partition, '' AS qos, '' AS name, '' AS wckey FROM n");
  }
  void execute(const char* sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(site.configuration.ledger.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }
  // A client whose question is being answered, for ever.
  std::unique_ptr<TestClient> asking() {
    auto client = reader();
    client->send(protocol::Query{1, k_all_jobs});
    const auto watching = reader();
    EXPECT_TRUE(test::eventually([&] { return queries(*watching)["reading"] == 1; }));
    return client;
  }
};

TEST_F(EndlessJobs, HoldNeitherTheFeedNorOtherQuestions) {
  const auto client = feeder();
  const auto endless_question = asking();
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    protocol::Observations o = observations(sequence, {});
    o.nodes = {node_record("n" + std::to_string(sequence))};  // something to commit
    client->send(std::move(o));
    EXPECT_EQ(client->expect<protocol::Ack>().sequence, sequence);
  }
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
  EXPECT_EQ(queries(*reader())["reading"], 1);
}

TEST_F(EndlessJobs, EndWithTheirClient) {
  auto endless_question = asking();
  const auto watching = reader();
  endless_question.reset();
  EXPECT_TRUE(test::eventually([&] { return queries(*watching)["reading"] == 0; }));
  EXPECT_EQ(queries(*watching)["dropped"], 1);
}

TEST_F(EndlessJobs, AreAskedOneAfterAnotherAndAllEndWithTheirClients) {
  std::vector<std::unique_ptr<TestClient>> all;
  all.push_back(asking());
  const auto watching = reader();
  for (int i = 0; i < 15; ++i) {
    all.push_back(reader());
    all.back()->send(protocol::Query{1, k_all_jobs});
  }
  EXPECT_TRUE(test::eventually([&] { return queries(*watching)["waiting"] == 15; }));
  all.clear();
  EXPECT_TRUE(test::eventually([&] {
    const auto seen = queries(*watching);
    return seen["waiting"] == 0 && seen["reading"] == 0;
  }));
  EXPECT_EQ(queries(*watching)["dropped"], 16);
}

TEST_F(EndlessJobs, DoNotKeepTheDaemonFromStopping) {
  const auto client = asking();
  stop();  // within a test's time
}

TEST_F(ServerTest, ACommitThatIsHeldUpKeepsNobodyWaitingAndIsAcknowledgedLater) {
  const auto client = feeder();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(site.configuration.ledger.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  client->send(observations(1, {running({.id = 1, .start = now - 100})}));
  const auto watching = reader();
  EXPECT_TRUE(watching->ask(R"({"request":"status"})").contains("organizations"));
  EXPECT_TRUE(watching->ask(R"({"request":"jobs"})")["jobs"].empty());
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
  EXPECT_EQ(watching->ask(R"({"request":"jobs"})")["jobs"].size(), 1U);
}

}  // namespace
}  // namespace shapley::daemon
