// The query scheduler, in simulated time.
#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "daemon/requests/reading_thread.hpp"
#include "daemon/server/query_scheduler.hpp"
#include "server_fixture.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::daemon {
namespace {

using std::chrono::milliseconds;
using Clock = QueryScheduler::Clock;

const QueryScheduler::MayServe k_any_user = [](const auto&) { return true; };

// It is about whose query it is; the session behind it is only a name.
Session* name_of_session(std::uintptr_t number) {
  return reinterpret_cast<Session*>(number * 64);
}

QueryScheduler::Waiting query(std::uint32_t uid, std::uint64_t id = 0) {
  return {name_of_session(uid), uid, false, id};
}

QueryScheduler::Waiting administrators_query(std::uint64_t id = 0) {
  return {name_of_session(1000), 0, true, id};
}

// Time that each user got when all of them always have the next query ready, each query of `user` taking cost[user].
struct Shares {
  std::map<std::uint32_t, milliseconds> used;
  milliseconds all{0};
};
Shares serve(const std::map<std::uint32_t, milliseconds>& costs, milliseconds until) {
  QueryScheduler scheduler;
  Clock::time_point now{};
  Shares shares;
  for (const auto& [uid, cost] : costs) scheduler.add(query(uid));
  while (now < Clock::time_point{} + until) {
    const auto at = scheduler.next_at(k_any_user);
    if (!at) break;
    now = std::max(now, *at);
    const auto taken = scheduler.next(now, k_any_user);
    EXPECT_TRUE(taken.has_value());
    if (!taken) break;
    const milliseconds cost = costs.at(taken->uid);
    scheduler.done(*taken, now, now + cost);
    now += cost;
    shares.used[taken->uid] += cost;
    shares.all += cost;
    scheduler.add(query(taken->uid));
  }
  return shares;
}

TEST(QueryScheduler, OneUserGetsAQuarterOfTheTimeAtMost) {
  EXPECT_LE(serve({{1, milliseconds(100)}}, milliseconds(100'000)).all, milliseconds(25'000) + milliseconds(100));
}

TEST(QueryScheduler, ManyUsersGetHalfOfTheTimeAtMost) {
  std::map<std::uint32_t, milliseconds> costs;
  for (std::uint32_t uid = 1; uid <= 50; ++uid) costs[uid] = milliseconds(100);
  EXPECT_LE(serve(costs, milliseconds(100'000)).all, milliseconds(50'000) + milliseconds(100));
}

TEST(QueryScheduler, CheapQuestionsAreNotKeptWaitingByThoseOfAnotherUser) {
  const auto shares = serve({{1, milliseconds(1000)}, {2, milliseconds(1)}}, milliseconds(100'000));
  // Between two questions of the first one, 4 s apart, the second one rests 3 ms after each of its own; it loses only
  // the second that the other's takes, and the rest after it.
  EXPECT_GE(shares.used.at(2), milliseconds(12'000));
  EXPECT_LE(shares.used.at(1), milliseconds(26'000));
}

TEST(QueryScheduler, AUserThatMayNotIsPassedOver) {
  QueryScheduler scheduler;
  scheduler.add(query(1));
  scheduler.add(query(2));
  const auto not_the_first = [](const auto& waiting) { return waiting.uid != 1; };
  EXPECT_EQ(scheduler.next({}, not_the_first)->uid, 2U);
  EXPECT_FALSE(scheduler.next({}, not_the_first).has_value());
  EXPECT_FALSE(scheduler.next_at(not_the_first).has_value());
  EXPECT_EQ(scheduler.next({}, k_any_user)->uid, 1U);
}

TEST(QueryScheduler, FirstComeFirstServed) {
  QueryScheduler scheduler;
  for (std::uint64_t id = 1; id <= 3; ++id) scheduler.add(query(static_cast<std::uint32_t>(id), id));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(scheduler.next({}, k_any_user)->id, id);
}

TEST(QueryScheduler, WhoHasGoneIsForgotten) {
  QueryScheduler scheduler;
  scheduler.add(query(1));
  scheduler.add(query(2));
  scheduler.add(query(1));
  EXPECT_EQ(scheduler.waiting(), 3U);
  EXPECT_EQ(scheduler.forget(*name_of_session(1)), 2U);
  EXPECT_EQ(scheduler.forget(*name_of_session(1)), 0U);
  EXPECT_EQ(scheduler.waiting(), 1U);
  EXPECT_EQ(scheduler.next({}, k_any_user)->uid, 2U);
  EXPECT_FALSE(scheduler.next({}, k_any_user).has_value());
}

TEST(QueryScheduler, AdministratorsGoFirstButUsersAreServedBetweenThem) {
  QueryScheduler scheduler;
  for (std::uint32_t uid = 1; uid <= 2; ++uid) scheduler.add(query(uid));
  for (std::uint64_t id = 1; id <= 4; ++id) scheduler.add(administrators_query(id));
  std::vector<bool> administrators;
  while (const auto taken = scheduler.next({}, k_any_user)) administrators.push_back(taken->administrator);
  EXPECT_EQ(administrators, (std::vector<bool>{true, false, true, false, true, true}));
}

TEST(QueryScheduler, AnAdministratorRestsWithAllOthersButNotForItself) {
  QueryScheduler scheduler;
  for (std::uint64_t id = 1; id <= 2; ++id) scheduler.add(administrators_query(id));
  const Clock::time_point ended{milliseconds(100)};
  scheduler.done(*scheduler.next({}, k_any_user), {}, ended);
  EXPECT_FALSE(scheduler.next(ended, k_any_user).has_value());
  EXPECT_EQ(scheduler.next_at(k_any_user), ended + milliseconds(100));
  EXPECT_TRUE(scheduler.next(ended + milliseconds(100), k_any_user).has_value());
}

// Clients that ask and go: what they asked is not answered, and keeps no other client waiting.

constexpr uid_t k_user = 65'533;

class OrphanedQueries : public ServerTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0U) << "run as root: it asks as another user";
    ServerTest::SetUp();
  }
  // A feeder that has sent many jobs: their list is more than a socket holds.
  std::unique_ptr<TestClient> feeder_of_many_jobs() {
    auto client = feeder();
    std::vector<protocol::JobUpdate> jobs;
    for (std::uint32_t id = 1; id <= 3000; ++id) jobs.push_back(running({.id = id, .start = now - 100}));
    client->send(observations(1, std::move(jobs)));
    EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
    return client;
  }
};

// All come at once, and the feeder's message with them: those who have gone already are not answered.
TEST_F(OrphanedQueries, OfClientsThatHaveGoneAreNotAnsweredAndTheFeederIs) {
  const auto client = feeder_of_many_jobs();
  const auto watching = reader();
  std::vector<std::unique_ptr<TestClient>> asking;
  for (int i = 0; i < 16; ++i) asking.push_back(reader());
  for (int i = 0; i < 16; ++i) asking.push_back(reader_of(k_user));
  {
    const Standstill standstill(*io);
    for (const auto& one : asking) one->send(protocol::Query{1, k_all_jobs});
    asking.clear();
    client->send(observations(2, {}));
  }
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 2U);
  const auto seen = queries(*watching);
  EXPECT_EQ(seen["answered"], 0) << seen;
  EXPECT_EQ(seen["waiting"], 0) << seen;
}

// Of one user only one query is answered until that answer is read, so the others wait.
TEST_F(OrphanedQueries, ThatWaitAreDroppedWithTheirClients) {
  const auto client = feeder_of_many_jobs();
  const auto unread = reader_of(k_user);
  unread->send(protocol::Query{1, k_all_jobs});
  const auto watching = reader();
  int own = -1;  // questions of this test that were answered before
  ASSERT_TRUE(test::eventually([&] { return queries(*watching)["answered"] == ++own + 1; }));
  std::vector<std::unique_ptr<TestClient>> asking;
  for (int i = 0; i < 15; ++i) {
    asking.push_back(reader_of(k_user));
    asking.back()->send(protocol::Query{1, k_all_jobs});
  }
  EXPECT_TRUE(test::eventually([&] { return queries(*watching)["waiting"] == 15; }));
  asking.clear();
  EXPECT_TRUE(test::eventually([&] { return queries(*watching)["waiting"] == 0; }));
  EXPECT_EQ(queries(*watching)["dropped"], 15);
  client->send(observations(2, {}));
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 2U);
  EXPECT_EQ(unread->expect<protocol::Reply>().id, 1U);
}

TEST_F(OrphanedQueries, AClientThatOnlyEndedItsWritingIsAnswered) {
  const auto client = reader();
  client->send(protocol::Query{1, R"({"request":"ping"})"});
  client->end_writing();
  EXPECT_EQ(client->expect<protocol::Reply>().id, 1U);
}

TEST_F(OrphanedQueries, RootsQuestionsHaveABudgetToo) {
  stop();
  Server::Limits limits = no_hurry();
  limits.administrators_query = {.steps = 1000, .rows = 10};
  start(limits);
  const auto client = feeder_of_many_jobs();
  const auto answer = reader()->ask(k_all_jobs);
  EXPECT_EQ(answer["error"]["code"], "limit") << answer;
  EXPECT_EQ(reader_of(k_user)->ask(k_all_jobs)["jobs"].size(), 3000U) << "another's budget";
}

// Queries that read the ledger: whatever they take, the feed goes on.

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

TEST_F(ReadingThreadTest, EndsAQuestionOnRequest) {
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
  // A client whose question is being answered, without end.
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

TEST_F(ServerTest, ACommitThatIsHeldUpKeepsNoClientWaitingAndIsAcknowledgedLater) {
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
