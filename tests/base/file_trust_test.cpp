#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley {
namespace {

using std::filesystem::path;

class FileTrust : public testing::Test {
 protected:
  void SetUp() override {
    file = directory / "it's a file";
    std::ofstream(file) << "text";
    ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  }
  // The refusal's text; "" without a refusal.
  static std::string refusal(const Expected<void>& checked) {
    if (checked) return "";
    EXPECT_EQ(checked.error().code, Errc::denied) << checked.error().what;
    return checked.error().what;
  }
  // Runs the command that the refusal gives, as an administrator would.
  static void obey(const std::string& text) {
    const std::string mark = "run: ";
    ASSERT_NE(text.find(mark), std::string::npos) << text;
    ASSERT_EQ(std::system(text.substr(text.find(mark) + mark.size()).c_str()), 0) << text;
  }

  TempDirectory own;
  path directory = own.path();
  path file;
};

TEST_F(FileTrust, TakesWhatOnlyItsOwnerCanWrite) {
  for (const mode_t mode : {0600U, 0640U, 0644U, 0444U}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_EQ(refusal(check_unwritable(file, "x")), "") << std::oct << mode;
  }
}

TEST_F(FileTrust, RefusesWhatOthersCanWriteAndSaysWhatToDo) {
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    const std::string text = refusal(check_unwritable(file, "the configuration"));
    EXPECT_TRUE(text.starts_with("the configuration: " + file.string())) << text;
    EXPECT_NE(text.find("mode 06"), std::string::npos) << text;
    obey(text);
    EXPECT_EQ(refusal(check_unwritable(file, "x")), "");
  }
}

TEST_F(FileTrust, RefusesWhatAnotherOwns) {
  ASSERT_EQ(geteuid(), 0U) << "run as root: the test gives a file away";
  ASSERT_EQ(chown(file.c_str(), 65'533, 65'533), 0);
  const std::string text = refusal(check_unwritable(file, "x"));
  EXPECT_NE(text.find("uid 65533"), std::string::npos) << text;
  obey(text);
  EXPECT_EQ(refusal(check_unwritable(file, "x")), "");
}

TEST_F(FileTrust, LeavesAFileToItsOwnerAloneAndSaysWhatItsModeWas) {
  const auto mode_of = [this] {
    struct stat status {};
    EXPECT_EQ(stat(file.c_str(), &status), 0);
    return status.st_mode & 07777U;
  };
  for (const auto& [mode, said] : {std::pair{0640U, "0640"}, {0604U, "0604"}, {0755U, "0755"}, {0440U, "0440"}}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    const auto before = make_private(file, "x");
    ASSERT_TRUE(before.has_value()) << before.error().what;
    EXPECT_EQ(before->value_or("nothing"), said);
    EXPECT_EQ(mode_of(), mode & 0600U);
    EXPECT_FALSE(make_private(file, "x")->has_value()) << "it is private already";
  }
}

TEST_F(FileTrust, DoesNotMakePrivateWhatItRefuses) {
  ASSERT_EQ(chmod(file.c_str(), 0660), 0);
  const auto writable = make_private(file, "x");
  ASSERT_FALSE(writable.has_value());
  obey(writable.error().what);
  const path link = directory / "link";
  std::filesystem::create_symlink(file, link);
  const auto linked = make_private(link, "x");
  ASSERT_FALSE(linked.has_value());
  EXPECT_EQ(linked.error().code, Errc::denied) << linked.error().what;
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0640)) << "the file behind the link";
  EXPECT_TRUE(make_private(file, "x")->has_value());
  ASSERT_EQ(geteuid(), 0U) << "run as root: the test gives a file away";
  ASSERT_EQ(chown(file.c_str(), 65'533, 65'533), 0);
  EXPECT_FALSE(make_private(file, "x").has_value());
  EXPECT_EQ(make_private(directory / "nothing", "x").error().code, Errc::not_found);
  EXPECT_FALSE(make_private(directory, "x")->has_value()) << "a directory stays as it is";
}

TEST_F(FileTrust, LooksAtTheDirectoryAndThoseAboveIt) {
  const path inner = directory / "a" / "b";
  std::filesystem::create_directories(inner);
  EXPECT_EQ(refusal(check_directory(inner, "ledger")), "");
  for (const path& open : {inner, directory / "a"}) {
    ASSERT_EQ(chmod(open.c_str(), 0777), 0);
    const std::string text = refusal(check_directory(inner, "ledger"));
    EXPECT_NE(text.find(open.string() + " has mode 0777"), std::string::npos) << text;
    obey(text);
    EXPECT_EQ(refusal(check_directory(inner, "ledger")), "");
  }
}

TEST_F(FileTrust, TakesAStickyDirectoryAboveButNotAsTheDirectoryItself) {
  const path inner = directory / "inner";
  std::filesystem::create_directory(inner);
  ASSERT_EQ(chmod(directory.c_str(), 01777), 0);
  EXPECT_EQ(refusal(check_directory(inner, "ledger")), "");
  EXPECT_NE(refusal(check_directory(directory, "ledger")), "");
  EXPECT_EQ(refusal(check_directory(directory, "socket", Sticky::allowed)), "");
}

TEST_F(FileTrust, SaysThatSomethingIsNotThere) {
  const auto checked = check_unwritable(directory / "nothing", "x");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Errc::not_found);
  EXPECT_EQ(check_directory(directory / "nothing", "x").error().code, Errc::not_found);
}

}  // namespace
}  // namespace shapley
