// /etc/shapley/shapleyctl.yaml: where shapleyctl finds shapleyd from another host.
#include "config/reader_settings.hpp"

#include <string>

#include <gtest/gtest.h>

#include "config/configuration.hpp"

namespace shapley::config {
namespace {

std::string faults_in(const std::string& yaml) {
  const auto settings = parse_reader_settings(yaml);
  return settings ? "none" : format_faults(settings.error(), "f");
}

TEST(ReaderSettings, NameOneHostOrMore) {
  const auto one = parse_reader_settings("host: ctl1:7020\n");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->hosts, (std::vector<Endpoint>{{.host = "ctl1", .port = 7020}}));
  EXPECT_EQ(one->slurm_user, "slurm");
  EXPECT_TRUE(one->munge_socket.empty());
  const auto two = parse_reader_settings("host: [ctl1:7020, '[fd00::2]:7021']\nslurm_user: bob\nmunge_socket: /m\n");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->hosts, (std::vector<Endpoint>{{.host = "ctl1", .port = 7020}, {.host = "fd00::2", .port = 7021}}));
  EXPECT_EQ(two->slurm_user, "bob");
  EXPECT_EQ(two->munge_socket, "/m");
}

TEST(ReaderSettings, SayEveryFaultWithItsLine) {
  EXPECT_EQ(faults_in("slurm_user: bob\n"), "f:1: host is missing; write host: NAME:PORT, where shapleyd has `listen`");
  const std::string two = faults_in("host: ctl1\nmunge_socket: here\n");
  EXPECT_NE(two.find("f:1: host: 'ctl1' is no place to connect"), std::string::npos) << two;
  EXPECT_NE(two.find("f:2: munge_socket: 'here' is no absolute path"), std::string::npos) << two;
  EXPECT_NE(faults_in("host: []\n").find("f:1: host: the list is empty"), std::string::npos);
  EXPECT_NE(faults_in("hosts: a:1\n").find("f:1:"), std::string::npos);
  EXPECT_NE(faults_in("host: [\n").find("f:"), std::string::npos);
}

}  // namespace
}  // namespace shapley::config
