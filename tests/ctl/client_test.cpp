#include "ctl/client.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "fake_daemon.hpp"
#include "ledger/reports/report.hpp"
#include "tests/support/must.hpp"
#include "tests/support/text.hpp"
#include "tests/support/waiting.hpp"

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
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json& request) {
                            return json{{"echo", request}, {"long", std::string(200'000, 'x')}};
                          }));
  auto client = must(Client::connect(at(directory / "s")));
  for (int i = 0; i < 3; ++i) {
    const auto reply = must(client.ask({{"request", "status"}, {"number", i}}));
    EXPECT_EQ((reply)["echo"]["number"], i);
    EXPECT_EQ((reply)["long"].get<std::string>().size(), 200'000U);
  }
}

TEST(Client, ADaemonThatIsAwayIsOneSentenceWithTheSocketAndTheRemedy) {
  const TempDirectory directory;
  const Error error = error_of(Client::connect(endpoint_at(directory / "no-socket", milliseconds(10'000))));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_EQ(error.what, "cannot reach shapleyd at " + (directory / "no-socket").string() +
                            ": No such file or directory; is it running (systemctl status shapleyd)? Another socket: "
                            "--socket PATH or SHAPLEY_SOCKET; without a daemon: --ledger FILE");
}

TEST(Client, ASocketPathThatNoKernelTakesIsRefused) {
  const Error error = error_of(Client::connect({.socket = std::string(200, 'a')}));
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_PRED2(contains, error.what, "1 to 107 bytes");
  EXPECT_EQ(error_of(Client::connect({.socket = ""})).code, Errc::invalid_argument);
}

TEST(Client, ASilentDaemonIsUnavailableAfterTheTimeout) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{}; });
  const Error error = error_of(Client::connect({.socket = directory / "s", .timeout = milliseconds(50)}));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_PRED2(contains, error.what, "no answer in time");
}

TEST(Client, ADaemonThatHangsUpIsUnavailable) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) { return Reaction{.hang_up = true}; });
  const Error error = error_of(Client::connect(at(directory / "s")));
  EXPECT_EQ(error.code, Errc::unavailable);
}

TEST(Client, ARefusalKeepsItsReason) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", [](const protocol::Message&) {
    return Reaction{.answer = protocol::Refused{.reason = "version 7 is spoken here, 1 by you"}};
  });
  const Error error = error_of(Client::connect(at(directory / "s")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_PRED2(contains, error.what, "version 7 is spoken here");
}

TEST(Client, SomebodyElseBehindTheSocketIsAProtocolError) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s",
                          [](const protocol::Message&) { return Reaction{.answer = protocol::Ack{}}; });
  EXPECT_EQ(error_of(Client::connect(at(directory / "s"))).code, Errc::protocol);
}

TEST(Client, ErrorsOfTheDaemonKeepTheirCode) {
  const TempDirectory directory;
  json answer;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            return json{{"error", {{"code", request["code"]}, {"what", "so it is"}}}};
                          }));
  auto client = must(Client::connect(at(directory / "s")));
  const auto denied = client.ask({{"code", "denied"}});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Errc::denied);
  EXPECT_EQ(denied.error().what, "shapleyd: so it is");
  EXPECT_EQ(client.ask({{"code", "a newer one"}}).error().code, Errc::protocol);
}

TEST(Client, AnAnswerThatIsNoObjectIsAProtocolError) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) { return json::array({1, 2}); }));
  auto client = must(Client::connect(at(directory / "s")));
  EXPECT_EQ(client.ask({{"request", "status"}}).error().code, Errc::protocol);
}

TEST(Client, AsksTheDaemonForItsLedger) {
  const TempDirectory directory;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json& request) {
                            if (request != json{{"request", "status"}}) return json{{"error", "?"}};
                            return json_of(ledger::StatusReport{.daemon = protocol::DaemonReport{.ledger = "/x/y.db"}});
                          }));
  EXPECT_EQ(daemon_ledger(at(directory / "s")).value(), "/x/y.db");
}

// Where shapleyctl asks: options, environment, files, in this order.

using Hosts = std::vector<config::Endpoint>;

TEST(SlurmConf, TellsControllersUserAndMungesSocket) {
  const SlurmConf conf = parse_slurm_conf(
      "# SlurmctldHost=old\n"
      "slurmctldhost=ctl1(10.0.0.1)  # the primary\n"
      "SlurmctldHost = ctl2\n"
      "SlurmUser=slurm\n"
      "ClusterName=Newton\n"
      "AuthInfo=cred_expire=5,\\\n  socket=/run/m\n"
      "SlurmctldPort=6817\n");
  EXPECT_EQ(conf.controllers, (std::vector<std::string>{"10.0.0.1", "ctl2"}));
  EXPECT_EQ(conf.controller_names, (std::vector<std::string>{"ctl1", "ctl2"}));
  EXPECT_EQ(conf.slurm_user, "slurm");
  EXPECT_EQ(conf.cluster, "newton");
  EXPECT_EQ(conf.munge_socket, "/run/m");
  EXPECT_TRUE(is_controller(conf, "ctl1"));
  EXPECT_TRUE(is_controller(conf, "ctl2.example.org"));
  EXPECT_FALSE(is_controller(conf, "login1"));
  EXPECT_FALSE(is_controller(conf, ""));
  EXPECT_TRUE(is_controller(parse_slurm_conf("SlurmctldHost=localhost(127.0.0.1)\n"), "any"));
}

TEST(SlurmConf, HasSlurmsDefaults) {
  const SlurmConf conf = parse_slurm_conf("");
  EXPECT_TRUE(conf.controllers.empty());
  EXPECT_EQ(conf.slurm_user, "root");
}

class FindDaemon : public testing::Test {
 protected:
  Expected<Endpoint> find(const DaemonOptions& options) {
    const Environment environment{.out = said,
                                  .err = said,
                                  .variable =
                                      [this](const char* name) {
                                        const auto found = variables.find(name);
                                        return found == variables.end() ? std::optional<std::string>() : found->second;
                                      },
                                  .host_name = host_name};
    return find_daemon(options, environment);
  }
  std::string file(const char* name, const std::string& text) {
    const std::filesystem::path path = directory / name;
    std::ofstream(path) << text;
    return path;
  }

  TempDirectory directory;
  std::ostringstream said;
  std::map<std::string, std::string> variables;
  std::string host_name = "login1";
};

TEST_F(FindDaemon, OptionsGoBeforeTheEnvironment) {
  variables = {{"SHAPLEY_SOCKET", "/env.sock"}, {"SHAPLEY_HOST", "env:1"}};
  EXPECT_EQ(find({.socket = "/own.sock"})->socket, "/own.sock");
  EXPECT_EQ(find({.host = "own:7"})->hosts, (Hosts{{.host = "own", .port = 7}}));
  EXPECT_EQ(find({})->hosts, (Hosts{{.host = "env", .port = 1}}));
  EXPECT_EQ(find({.socket = "/own.sock", .host = "own:7"}).error().code, Errc::invalid_argument);
  variables.erase("SHAPLEY_HOST");
  EXPECT_EQ(find({})->socket, "/env.sock");
  EXPECT_FALSE(find({})->is_remote());
}

TEST_F(FindDaemon, AHostWithoutPortHasTheDefaultOne) {
  EXPECT_EQ(find({.host = "ctl1"})->hosts, (Hosts{{.host = "ctl1", .port = k_default_port}}));
  EXPECT_EQ(find({.host = "[fd00::2]"})->hosts, (Hosts{{.host = "fd00::2", .port = k_default_port}}));
  const auto wrong = find({.host = "ctl1:seven"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, Errc::invalid_argument);
  EXPECT_PRED2(contains, wrong.error().what, "--host: 'ctl1:seven' is no place to connect");
}

TEST_F(FindDaemon, TheConfigurationGoesBeforeSlurms) {
  variables = {{"SHAPLEYCTL_CONFIG", file("ctl.yaml", "host: there:9\nmunge_socket: /m\nslurm_user: root\n")},
               {"SLURM_CONF", file("slurm.conf", "SlurmctldHost=a(1.2.3.4)\nSlurmctldHost=b\nSlurmUser=root\n")}};
  const auto configured = find({});
  EXPECT_EQ(configured->hosts, (Hosts{{.host = "there", .port = 9}}));
  EXPECT_EQ(configured->munge, "/m");
  EXPECT_EQ(configured->trusted, (std::vector<uid_t>{0}));
  variables.erase("SHAPLEYCTL_CONFIG");
  const auto slurms = find({});
  EXPECT_EQ(slurms->hosts, (Hosts{{.host = "1.2.3.4", .port = k_default_port}, {.host = "b", .port = k_default_port}}));
  EXPECT_PRED2(contains, slurms->otherwise, "SlurmctldHost in " + variables["SLURM_CONF"]);
}

TEST_F(FindDaemon, OnSlurmctldsHostTheSocketIsWhatIsMissing) {
  // TCP is asked nevertheless: a shapleyd with a socket elsewhere may listen, and the other one of two controllers.
  variables = {{"SLURM_CONF", file("slurm.conf", "SlurmctldHost=ctl1(127.0.0.1)\nSlurmctldHost=ctl2(127.0.0.1)\n")},
               {"SHAPLEYCTL_CONFIG", file("ctl.yaml", "host: 127.0.0.1:1\n")}};
  EXPECT_EQ(find({})->missing_here, "") << "a login node";
  EXPECT_PRED2(contains, daemon_ledger(*find({})).error().what, "run this there");
  host_name = "ctl2.example.org";
  const std::string missing = "no shapleyd runs on this host, which is slurmctld's by SlurmctldHost in " +
                              variables["SLURM_CONF"] +
                              " (/run/shapley/shapleyd.sock is not there; systemctl status shapleyd)";
  const Endpoint endpoint = *find({});
  const auto away = Client::connect(endpoint);
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().what, "cannot reach shapleyd: " + missing +
                                   "; nor over TCP: 127.0.0.1:1 does not answer: Connection refused. Another host: "
                                   "--host HOST:PORT or SHAPLEY_HOST; without a daemon: --ledger FILE");
  EXPECT_EQ(daemon_ledger(endpoint).error().what, missing + ", so none says which ledger is its own: name the file");
  variables.erase("SHAPLEYCTL_CONFIG");
  EXPECT_EQ(find({})->missing_here, missing);
  EXPECT_EQ(find({.host = "ctl1"})->missing_here, "") << "that was asked for";
}

TEST_F(FindDaemon, WithoutAnythingItIsTheDefaultSocket) {
  variables = {{"SLURM_CONF", (directory / "absent").string()}};
  EXPECT_EQ(find({})->socket, "/run/shapley/shapleyd.sock");
}

TEST_F(FindDaemon, AFaultyConfigurationIsSaidWithItsLine) {
  variables = {{"SHAPLEYCTL_CONFIG", file("ctl.yaml", "host: there\n")}};
  EXPECT_PRED2(contains, find({}).error().what, "ctl.yaml:1: host: 'there' is no place to connect");
  variables = {{"SHAPLEYCTL_CONFIG", "/nonexistent"}};
  EXPECT_EQ(find({}).error().what, "/nonexistent: cannot be read (SHAPLEYCTL_CONFIG)");
}

}  // namespace
}  // namespace shapley::ctl
