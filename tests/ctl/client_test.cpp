#include "ctl/client.hpp"

#include <gtest/gtest.h>

#include "fake_daemon.hpp"
#include "tests/support/waiting.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// A daemon that answers does so in time, however slow the machine is.
Endpoint at(const std::filesystem::path& socket) {
  return {.socket = socket, .timeout = test::k_timeout};
}

Error error_of(const Expected<Client>& client) {
  return client ? Error{} : client.error();
}

TEST(Client, AsksAndGetsTheAnswer) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json& request) {
                            return json{{"echo", request}, {"long", std::string(200'000, 'x')}};
                          }));
  auto client = Client::connect(at(directory / "s"));
  ASSERT_TRUE(client) << client.error().what;
  for (int i = 0; i < 3; ++i) {
    const auto reply = client->ask({{"request", "status"}, {"number", i}});
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ((*reply)["echo"]["number"], i);
    EXPECT_EQ((*reply)["long"].get<std::string>().size(), 200'000U);
  }
}

TEST(Client, ADaemonThatIsAwayIsOneSentenceWithTheSocketAndTheRemedy) {
  const TemporaryDirectory directory;
  const Error error = error_of(Client::connect(endpoint_at(directory / "nobody", milliseconds(10'000))));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_EQ(error.what, "cannot reach shapleyd at " + (directory / "nobody").string() +
                            ": No such file or directory; is it running (systemctl status shapleyd)? Another socket: "
                            "--socket PATH or SHAPLEY_SOCKET; without a daemon: --ledger FILE");
}

TEST(Client, ASocketPathThatNoKernelTakesIsRefused) {
  const Error error = error_of(Client::connect({.socket = std::string(200, 'a')}));
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_TRUE(contains(error.what, "1 to 107 bytes")) << error.what;
  EXPECT_EQ(error_of(Client::connect({.socket = ""})).code, Errc::invalid_argument);
}

TEST(Client, ASilentDaemonIsUnavailableAfterTheTimeout) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{}; });
  const Error error = error_of(Client::connect({.socket = directory / "s", .timeout = milliseconds(50)}));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_TRUE(contains(error.what, "no answer within")) << error.what;
}

TEST(Client, ADaemonThatHangsUpIsUnavailable) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{.hang_up = true}; });
  const Error error = error_of(Client::connect(at(directory / "s")));
  EXPECT_EQ(error.code, Errc::unavailable);
}

TEST(Client, ARefusalKeepsItsReason) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) {
    return Reaction{.answer = protocol::Refused{.reason = "version 7 is spoken here, 1 by you"}};
  });
  const Error error = error_of(Client::connect(at(directory / "s")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_TRUE(contains(error.what, "version 7 is spoken here")) << error.what;
}

TEST(Client, SomebodyElseBehindTheSocketIsAProtocolError) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s",
                          [](const protocol::Message&) { return Reaction{.answer = protocol::Ack{}}; });
  EXPECT_EQ(error_of(Client::connect(at(directory / "s"))).code, Errc::protocol);
}

TEST(Client, ErrorsOfTheDaemonKeepTheirCode) {
  const TemporaryDirectory directory;
  json answer;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            return json{{"error", {{"code", request["code"]}, {"what", "so it is"}}}};
                          }));
  auto client = Client::connect(at(directory / "s"));
  ASSERT_TRUE(client) << client.error().what;
  const auto denied = client->ask({{"code", "denied"}});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Errc::denied);
  EXPECT_EQ(denied.error().what, "shapleyd: so it is");
  EXPECT_EQ(client->ask({{"code", "a newer one"}}).error().code, Errc::protocol);
}

TEST(Client, AnAnswerThatIsNoObjectIsAProtocolError) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) { return json::array({1, 2}); }));
  auto client = Client::connect(at(directory / "s"));
  ASSERT_TRUE(client) << client.error().what;
  EXPECT_EQ(client->ask({{"request", "status"}}).error().code, Errc::protocol);
}

TEST(Client, AsksTheDaemonForItsLedger) {
  const TemporaryDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json& request) {
                            return request == json{{"request", "status"}} ? json{{"daemon", {{"ledger", "/x/y.db"}}}}
                                                                          : json{{"error", "?"}};
                          }));
  EXPECT_EQ(daemon_ledger(at(directory / "s")).value(), "/x/y.db");
}

}  // namespace
}  // namespace shapley::ctl
