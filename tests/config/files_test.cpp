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

namespace shapley::config {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "shapley-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

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
  [[noreturn]] static void tell_fault_as_nobody(const fs::path& file) {
    const uid_t nobody = 65534;
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(1);
    std::fputs(fault_of(file).c_str(), stderr);
    _exit(0);
  }

  fs::path folder_;
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

// Root may read everything, so a child that is nobody loads the file.
TEST_F(Files, WithoutPermissionSayWhy) {
  const fs::path file = write("organizations: [{name: a}]\n");
  fs::permissions(folder_, fs::perms{0755});
  fs::permissions(file, fs::perms{0644});
  EXPECT_EXIT(tell_fault_as_nobody(file), testing::ExitedWithCode(0), "^no fault$");
  fs::permissions(file, fs::perms::none);
  EXPECT_EXIT(tell_fault_as_nobody(file), testing::ExitedWithCode(0), "^cannot be opened: Permission denied$");
}

TEST_F(Files, ThatArePipesAreNotWaitedFor) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(fault_of(pipe), "this is no regular file");
}

TEST_F(Files, LargerThanTheLimitAreRefused) {
  EXPECT_EQ(fault_of(write(std::string((4U << 20U) + 1, '#'))), "the file has more than 4 MiB");
}

}  // namespace
}  // namespace shapley::config
