// Whose question it is, is what the kernel says of the connection, or root for a user of another host; never the asker.
#include <cstdint>
#include <limits>
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

  std::unique_ptr<TestClient> reader_on_behalf_of(uid_t connects, std::int64_t user) const {
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

// The daemon's own user wrote "uid 0 (root)" into the ledger by saying that root asked.
TEST_F(PrivateJobs, WhoAsksForRootChangesNothing) {
  const std::string adjust = R"({"request":"adjust","reason":"mine","attribute":{"job":1,"into":"chemistry"}})";
  const auto as_root = reader_on_behalf_of(0, 0);
  as_root->expect<protocol::Welcome>();
  for (const std::string& request :
       {adjust, std::string(R"({"request":"rename_cluster","cluster":"mine","reason":"mine"})"),
        std::string(R"({"request":"upkeep","done":"audit","sequence":1,"hash":"00","clean":true})"),
        std::string(R"({"request":"begin"})")}) {
    EXPECT_EQ(as_root->ask(request)["error"]["code"], "denied") << request;
  }
  EXPECT_EQ(as_root->ask(R"({"request":"adjustments"})")["adjustments"], json::array());
  EXPECT_EQ(jobs_for(*as_root), Ids{1}) << "root's other rights are there";
  EXPECT_TRUE(reader()->ask(adjust).contains("adjustment"));
}

// 2^32 was taken for 0, root.
TEST_F(PrivateJobs, NumbersThatAreNoUidAreRefused) {
  constexpr std::int64_t k_two_to_32 = std::int64_t{1} << 32U;
  for (const std::int64_t number : {k_two_to_32, k_two_to_32 + k_owner, k_two_to_32 - 1, std::int64_t{-2},
                                    std::numeric_limits<std::int64_t>::min()}) {
    const std::string reason = reader_on_behalf_of(0, number)->expect<protocol::Refused>().reason;
    EXPECT_NE(reason.find("is no uid"), std::string::npos) << number << ": " << reason;
  }
}

}  // namespace
}  // namespace shapley::daemon
