// Where shapleyctl asks: options, environment, files, in this order.
#include "ctl/find_daemon.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "ctl/slurm_conf.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

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

  TemporaryDirectory directory;
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
  EXPECT_TRUE(contains(wrong.error().what, "--host: 'ctl1:seven' is no place to connect")) << wrong.error().what;
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
  EXPECT_TRUE(contains(slurms->otherwise, "SlurmctldHost in " + variables["SLURM_CONF"])) << slurms->otherwise;
}

TEST_F(FindDaemon, OnSlurmctldsHostTheSocketIsWhatIsMissing) {
  // TCP is asked all the same: a shapleyd with a socket elsewhere may listen, and the other one of two controllers.
  variables = {{"SLURM_CONF", file("slurm.conf", "SlurmctldHost=ctl1(127.0.0.1)\nSlurmctldHost=ctl2(127.0.0.1)\n")},
               {"SHAPLEYCTL_CONFIG", file("ctl.yaml", "host: 127.0.0.1:1\n")}};
  EXPECT_EQ(find({})->missing_here, "") << "a login node";
  EXPECT_TRUE(contains(daemon_ledger(*find({})).error().what, "run this there"));
  host_name = "ctl2.example.org";
  const std::string missing = "no shapleyd runs on this host, which is slurmctld's by SlurmctldHost in " +
                              variables["SLURM_CONF"] +
                              " (/run/shapley/shapleyd.sock is not there; systemctl status shapleyd)";
  const Endpoint endpoint = *find({});
  const auto away = Client::connect(endpoint);
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().what,
            "cannot reach shapleyd: " + missing +
                "; nor over TCP: 127.0.0.1:1 does not answer: Connection refused. Another host: --host HOST:PORT or "
                "SHAPLEY_HOST; without a daemon: --ledger FILE");
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
  EXPECT_TRUE(contains(find({}).error().what, "ctl.yaml:1: host: 'there' is no place to connect"));
  variables = {{"SHAPLEYCTL_CONFIG", "/nonexistent"}};
  EXPECT_EQ(find({}).error().what, "/nonexistent: cannot be read (SHAPLEYCTL_CONFIG)");
}

}  // namespace
}  // namespace shapley::ctl
