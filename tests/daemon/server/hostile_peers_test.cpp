// What a user of the machine can do to the daemon over its socket: each attack by a real process of another user, while
// a feeder, as slurmctld would, goes on. Needs root to become that user.
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "server_fixture.hpp"
#include "tests/support/child.hpp"

namespace shapley::daemon {
namespace {

// User ids of no account; they own nothing.
constexpr int k_mallory = 65'533;
constexpr int k_alice_here = 65'532;

// The attacker as a child process with pipes on both sides.
class Attacker {
 public:
  Attacker(int uid, const std::filesystem::path& socket, const std::string& attack, int number = 1)
      : name_("attacker \"" + attack + '"') {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    const std::string user = std::to_string(uid);
    const std::string count = std::to_string(number);
    child_ = std::make_unique<test::Child>(name_, [&] {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl(ATTACKER, ATTACKER, user.c_str(), socket.c_str(), attack.c_str(), count.c_str(), nullptr);
    });
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = fdopen(out[0], "r");
  }
  ~Attacker() { finish(); }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  std::string line() {
    const test::Deadline deadline("a line of the " + name_);
    std::string text;
    for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) text += static_cast<char>(c);
    return text;
  }
  // Lets it end and takes its last word.
  std::string finish() {
    if (output_ == nullptr) return {};
    close(input_);
    std::string word = line();
    std::fclose(std::exchange(output_, nullptr));
    EXPECT_EQ(child_->wait(), 0) << "the attacker could not attack (127: not built; 2: not root)";
    return word;
  }

 private:
  std::string name_;
  std::unique_ptr<test::Child> child_;
  int input_ = -1;
  FILE* output_ = nullptr;
};

class HostilePeers : public ServerTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0U) << "run as root: an attack is made as another user";
    ServerTest::SetUp();
  }
  std::string attack(const std::string& name, int number = 1) {
    return Attacker(k_mallory, site.configuration.socket, name, number).finish();
  }
  void restart(const Server::Limits& limits) {
    stop();
    start(limits);
  }
  // The feeder must greet within a test's short limit, too; on a busy machine that may take several tries.
  std::unique_ptr<TestClient> feeder_in_time() const {
    std::unique_ptr<TestClient> client;
    EXPECT_TRUE(test::eventually([&] {
      client = std::make_unique<TestClient>(site.configuration.socket);
      client->send(feeder_hello());
      const auto answer = client->next();
      return answer && std::holds_alternative<protocol::Welcome>(*answer);
    })) << "no feeder is welcomed";
    return client;
  }
  // The feeder is heard, and the books take what it says.
  void expect_fed(TestClient& client, std::uint64_t sequence) {
    client.send(observations(sequence, {running({.id = static_cast<std::uint32_t>(sequence), .start = now - 100})}));
    EXPECT_EQ(client.expect<protocol::Ack>().sequence, sequence);
  }
};

TEST_F(HostilePeers, CannotFeed) {
  EXPECT_EQ(attack("feed"), "refused at once");
  EXPECT_NE(attack("feed_as_reader").find("a reader sends queries only"), std::string::npos);
  const auto client = feeder();
  EXPECT_EQ(welcome.acknowledged, 0U);
}

TEST_F(HostilePeers, CannotTakeAllConnections) {
  const auto client = feeder();
  EXPECT_EQ(attack("crowd", 1000), "16 welcomed");
  expect_fed(*client, 1);
  EXPECT_NE(attack("ask_once").find("pong"), std::string::npos);
}

TEST_F(HostilePeers, CannotHoldConnectionsWithHalfAGreeting) {
  Server::Limits limits = no_hurry();
  limits.timeouts.handshake = std::chrono::seconds(3);
  restart(limits);
  const auto client = feeder_in_time();
  EXPECT_EQ(attack("half_open", 100), "100 closed");
  expect_fed(*client, 1);
}

TEST_F(HostilePeers, CannotHoldAConnectionByOneByteAtATime) {
  Server::Limits limits = no_hurry();
  limits.timeouts.request = std::chrono::seconds(1);
  restart(limits);
  const auto client = feeder();
  EXPECT_EQ(attack("one_byte_at_a_time"), "closed");
  expect_fed(*client, 1);
}

TEST_F(HostilePeers, CannotKeepTheFeederOrOthersWaiting) {
  const auto client = feeder();
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence) expect_fed(*client, sequence);
  Attacker flood(k_mallory, site.configuration.socket, "flood", 16);
  ASSERT_EQ(flood.line(), "flooding");
  for (std::uint64_t sequence = 51; sequence <= 100; ++sequence) expect_fed(*client, sequence);
  Attacker alice(k_alice_here, site.configuration.socket, "ask_once");
  EXPECT_NE(alice.finish().find("pong"), std::string::npos);
  EXPECT_EQ(flood.line(), "first answer");
  EXPECT_NE(flood.finish(), "0 answers");
}

TEST_F(HostilePeers, WhoTakesNoAnswerIsDropped) {
  Server::Limits limits = no_hurry();
  limits.timeouts.write = std::chrono::seconds(1);
  restart(limits);
  const auto client = feeder();
  EXPECT_EQ(attack("deaf"), "dropped");
  expect_fed(*client, 1);
}

TEST_F(HostilePeers, CannotEndTheDaemonByNestedJson) {
  const auto client = feeder();
  EXPECT_NE(attack("deep").find("nests too deep"), std::string::npos);
  EXPECT_EQ(attack("huge"), "closed");
  expect_fed(*client, 1);
}

TEST_F(HostilePeers, CannotAskMoreThanTheBudget) {
  Server::Limits limits = no_hurry();
  limits.query = {.steps = 1000, .rows = 10};
  restart(limits);
  const auto client = feeder();
  std::vector<protocol::JobUpdate> jobs;
  for (std::uint32_t id = 1; id <= 500; ++id) jobs.push_back(running({.id = id, .start = now - 100}));
  client->send(observations(1, std::move(jobs)));
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
  const std::string question = R"({"request":"jobs","all":true,"since":0})";
  EXPECT_EQ(reader()->ask(question)["jobs"].size(), 500U);  // root may ask for more
  const auto mallory = client_of(k_mallory);
  mallory->send(protocol::Hello{});
  mallory->expect<protocol::Welcome>();
  const auto answer = mallory->ask(question);
  EXPECT_EQ(answer["error"]["code"], "limit") << answer;
  EXPECT_NE(answer["error"]["what"].get<std::string>().find("fewer"), std::string::npos);
  expect_fed(*client, 2);
}

// Whose question it is, is what the kernel says of the connection, or root for a user of another host; never the asker.

using nlohmann::json;
using Ids = std::set<std::uint32_t>;

constexpr uid_t k_owner = 1000;  // of records.hpp's jobs
constexpr uid_t k_other_user = 65533;

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
  EXPECT_EQ(jobs_for(*reader_of(k_other_user)), Ids{});
  EXPECT_EQ(jobs_for(*reader()), Ids{1});
}

TEST_F(PrivateJobs, AreThoseOfTheUserOfAnotherHost) {
  const auto of_owner = reader_on_behalf_of(0, k_owner);
  of_owner->expect<protocol::Welcome>();
  EXPECT_EQ(jobs_for(*of_owner), Ids{1});
  const auto of_stranger = reader_on_behalf_of(0, k_other_user);
  of_stranger->expect<protocol::Welcome>();
  EXPECT_EQ(jobs_for(*of_stranger), Ids{});
  // No other user asks for another one.
  EXPECT_NE(reader_on_behalf_of(k_other_user, k_owner)->expect<protocol::Refused>().reason, "");
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
