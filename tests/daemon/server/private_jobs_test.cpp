// Whose question it is, is what the kernel says of the connection, or root for a user of another host; never the asker.
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Ids = std::set<std::uint32_t>;

constexpr uid_t k_owner = 1000;  // of records.hpp's jobs
constexpr uid_t k_somebody_else = 65533;

class PrivateJobs : public ServerTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
    ServerTest::SetUp();
    const auto client = feeder();
    client->send(protocol::SnapshotBegin{1, now});
    auto told = observations(2, {running({.id = 1, .node = "n2", .start = k_begin})});
    told.privacy = {{.jobs = true, .usage = false, .users = {}}};
    client->send(told);
    client->send(protocol::SnapshotEnd{3, now});
    while (client->expect<protocol::Ack>().sequence < 3) continue;
  }

  static Ids jobs_for(TestClient& client) {
    Ids ids;
    const json report = client.ask(R"({"request":"jobs","all":true,"since":0,"user_id":0,"viewer":{"user_id":1000}})");
    for (const json& job : report["jobs"]) ids.insert(job["job"].get<std::uint32_t>());
    return ids;
  }

  std::unique_ptr<TestClient> reader_on_behalf_of(uid_t connects, uid_t user) const {
    auto client = client_of(connects);
    protocol::Hello hello;
    hello.on_behalf_of = user;
    client->send(hello);
    return client;
  }
};

TEST_F(PrivateJobs, AreTheConnectionsUsers) {
  EXPECT_EQ(jobs_for(*reader_of(k_owner)), Ids{1});
  EXPECT_EQ(jobs_for(*reader_of(k_somebody_else)), Ids{});
  EXPECT_EQ(jobs_for(*reader()), Ids{1});
}

TEST_F(PrivateJobs, AreThoseOfTheUserOfAnotherHost) {
  const auto of_owner = reader_on_behalf_of(0, k_owner);
  of_owner->expect<protocol::Welcome>();
  EXPECT_EQ(jobs_for(*of_owner), Ids{1});
  const auto of_stranger = reader_on_behalf_of(0, k_somebody_else);
  of_stranger->expect<protocol::Welcome>();
  EXPECT_EQ(jobs_for(*of_stranger), Ids{});
  // Nobody else asks for another one.
  EXPECT_NE(reader_on_behalf_of(k_somebody_else, k_owner)->expect<protocol::Refused>().reason, "");
}

}  // namespace
}  // namespace shapley::daemon
