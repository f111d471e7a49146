// Clients that ask and go: what they asked is not answered, and keeps nobody waiting.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

constexpr uid_t k_user = 65'533;

class OrphanedQueries : public ServerTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0U) << "run as root: it asks as another user";
    ServerTest::SetUp();
  }
  // A feeder that has told of many jobs: their list is more than a socket holds.
  std::unique_ptr<TestClient> feeder_of_many_jobs() {
    auto client = feeder();
    std::vector<protocol::JobRecord> jobs;
    for (std::uint32_t id = 1; id <= 3000; ++id) jobs.push_back(running({.id = id, .start = now - 100}));
    client->send(observations(1, std::move(jobs)));
    EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
    return client;
  }
};

// All come at once, and the feeder's word with them: those who have gone already are not answered.
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

TEST_F(OrphanedQueries, AClientThatOnlyWritesNoMoreIsAnswered) {
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

}  // namespace
}  // namespace shapley::daemon
