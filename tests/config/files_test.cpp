#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/configuration.hpp"
#include "config/reader_settings.hpp"
#include "config/values.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::config {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  fs::path write(const std::string& text) {
    const fs::path file = folder_ / "shapleyd.yaml";
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  // The only fault of a file that cannot be read.
  static std::string fault_of(const fs::path& file) {
    const auto loaded = load(file);
    if (loaded) return "no fault";
    EXPECT_EQ(loaded.error().size(), 1U);
    EXPECT_EQ(loaded.error().front().line, 0);
    return loaded.error().front().what;
  }

  // Writes the fault to the standard error of a process without rights, and ends it.
  [[noreturn]] static void print_fault_as_unprivileged(const fs::path& file) {
    const uid_t nobody = 65534;
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(1);
    std::fputs(fault_of(file).c_str(), stderr);
    _exit(0);
  }

  TempDirectory directory_;
  fs::path folder_ = directory_.path();
};

TEST_F(Files, KeepTheirTextAsRead) {
  const std::string text = "# ours\r\norganizations: [{name: physics}]\r\n";
  const auto loaded = load(write(text));
  ASSERT_TRUE(loaded.has_value()) << format_faults(loaded.error(), "f");
  EXPECT_EQ(loaded->text, text);
  EXPECT_EQ(loaded->configuration.organizations.at(0).name, "physics");
}

TEST_F(Files, MayBeginWithAByteOrderMark) {
  EXPECT_TRUE(load(write("\xef\xbb\xbforganizations: [{name: physics}]\n")).has_value());
}

TEST_F(Files, WithFaultsReportThemByLine) {
  const auto loaded = load(write("organizations: [{name: a}]\nmode: x\nperiod: y\n"));
  ASSERT_FALSE(loaded.has_value());
  ASSERT_EQ(loaded.error().size(), 2U);
  EXPECT_EQ(loaded.error()[0].line, 2);
  EXPECT_EQ(loaded.error()[1].line, 3);
}

TEST_F(Files, ThatCannotBeReadSayWhy) {
  EXPECT_EQ(fault_of(folder_ / "none"), "there is no such file");
  EXPECT_EQ(fault_of(folder_), "this is a directory");
  const fs::path loop = folder_ / "loop";
  fs::create_symlink(loop, loop);
  EXPECT_EQ(fault_of(loop), "cannot be opened: Too many levels of symbolic links");
}

// Root may read everything, so a child of an unprivileged user loads the file.
TEST_F(Files, WithoutPermissionSayWhy) {
  const fs::path file = write("organizations: [{name: a}]\n");
  fs::permissions(folder_, fs::perms{0755});
  fs::permissions(file, fs::perms{0644});
  EXPECT_EXIT(print_fault_as_unprivileged(file), testing::ExitedWithCode(0), "^no fault$");
  fs::permissions(file, fs::perms::none);
  EXPECT_EXIT(print_fault_as_unprivileged(file), testing::ExitedWithCode(0), "^cannot be opened: Permission denied$");
}

TEST_F(Files, ThatArePipesAreNotWaitedFor) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(fault_of(pipe), "this is no regular file");
}

TEST_F(Files, LargerThanTheLimitAreRefused) {
  EXPECT_EQ(fault_of(write(std::string((4U << 20U) + 1, '#'))), "the file has more than 4 MiB");
}

// /etc/shapley/shapleyctl.yaml: where shapleyctl finds shapleyd from another host.

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

TEST(Endpoint, is_host_and_port) {
  EXPECT_EQ(*parse_endpoint("ctl2:7020"), (Endpoint{"ctl2", 7020}));
  EXPECT_EQ(*parse_endpoint("10.0.0.2:65535"), (Endpoint{"10.0.0.2", 65535}));
  EXPECT_EQ(*parse_endpoint("[fd00::2]:1"), (Endpoint{"fd00::2", 1}));
}

TEST(Endpoint, nothing_else) {
  for (const char* text :
       {"", ":", "ctl2", "ctl2:", ":7020", "ctl2:0", "ctl2:65536", "ctl2:-1", "ctl2:+1", "ctl2:7020 ", " ctl2:7020",
        "ctl2: 7020", "ctl2:70x", "fd00::2:7020", "[fd00::2]", "[]:7020", "[a:7020", "a/b:7020", "/run/a.sock"}) {
    const auto parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
    EXPECT_NE(parsed.error().what.find("write HOST:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace shapley::config
