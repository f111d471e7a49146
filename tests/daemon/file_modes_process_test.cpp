// The real shapleyd and the modes of its files: what others could change or read.
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/application.hpp"
#include "process.hpp"
#include "records.hpp"
#include "test_client.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::daemon {
namespace {

// The command at the end of the last line that says "run: ", done as an administrator would.
int obey(const std::string& log) {
  const std::string mark = "run: ";
  const std::size_t at = log.rfind(mark);
  if (at == std::string::npos) return -1;
  return std::system(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size()).c_str());
}

TEST_F(ProcessTest, FilesThatOthersCouldChangeAreRefusedUntilTheirModesAreCorrected) {
  { const auto daemon = start(); }  // makes the ledger
  struct Case {
    std::filesystem::path path;
    std::filesystem::perms loose;
    ExitCode code;
  };
  using std::filesystem::perms;
  std::filesystem::create_directory(directory / "run");
  std::string yaml = yaml_in(directory);
  yaml.replace(yaml.find("/sock"), 5, "/run/sock");
  configure(yaml);
  for (const Case& c : {Case{directory / "shapleyd.yaml", perms(0664), ExitCode::configuration},
                        Case{directory / "shapleyd.yaml", perms(0646), ExitCode::configuration},
                        Case{directory / "ledger.db", perms(0660), ExitCode::ledger},
                        Case{directory / "run", perms(0777), ExitCode::socket},
                        Case{directory / "", perms(0777), ExitCode::configuration}}) {
    std::filesystem::remove(log());
    std::filesystem::permissions(c.path, c.loose);
    EXPECT_EQ(run(arguments()), static_cast<int>(c.code)) << c.path << logged();
    EXPECT_EQ(obey(logged()), 0) << logged();
    Process daemon(arguments(), log());
    EXPECT_TRUE(eventually([&] { return answers(directory / "run/sock"); })) << logged();
  }
}

TEST_F(ProcessTest, ASocketInASharedDirectoryIsAWarningOnly) {
  const std::filesystem::path shared = directory / "shared";
  std::filesystem::create_directory(shared);
  std::filesystem::permissions(shared, std::filesystem::perms(01777));
  std::string yaml = yaml_in(directory);
  yaml.replace(yaml.find("/sock"), 5, "/shared/sock");
  configure(yaml);
  Process daemon(arguments(), log());
  EXPECT_TRUE(eventually([&] { return answers(shared / "sock"); })) << logged();
  const std::string warning = "every user can write to " + shared.string();
  EXPECT_TRUE(eventually([&] { return logged().find(warning) != std::string::npos; })) << logged();
}

constexpr const char* k_live_files[] = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.lock"};

// What a daemon of an older release, killed, has left: all its files, for their group and others to read.
void open_to_all(const std::filesystem::path& directory) {
  for (const char* name : k_live_files) {
    std::filesystem::permissions(directory / name, std::filesystem::perms(0644));
  }
}

TEST_F(ProcessTest, LiveFilesThatOthersCanReadAreLeftToTheDaemonAloneWithAWarning) {
  {
    const auto daemon = start();
    EXPECT_EQ(logged().find("warning"), std::string::npos) << logged();
    const auto feeder = connect(feeder_hello());
    feed(*feeder, 1, {running({.id = 1, .node = "n2", .start = std::time(nullptr) - 60})});
    daemon->signal(SIGKILL);
  }
  open_to_all(directory / "");
  const auto again = start();
  for (const char* name : k_live_files) {
    const std::filesystem::path file = directory / name;
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600)) << file;
    EXPECT_NE(logged().find("warning: ledger: " + file.string() + " had mode 0644"), std::string::npos) << logged();
  }
  const auto jobs = connect({})->ask(R"({"request":"jobs","all":true})");
  EXPECT_EQ(jobs["jobs"].size(), 1U) << "the log was read nevertheless: " << jobs.dump();
}

// Who cannot open a file can hold no lock on it: neither one that stops commits, nor one that refuses a start.
TEST_F(ProcessTest, AnotherUserCanOpenNoLiveFile) {
  ASSERT_EQ(geteuid(), 0U) << "run as root: it tries as another user";
  constexpr uid_t k_unprivileged = 65'534;
  std::filesystem::permissions(directory / "", std::filesystem::perms(0755));  // it can get at the names
  const auto opens = [&](const char* name) {
    int descriptor = -1;
    // Linux keeps users per thread.
    std::thread([&] {
      EXPECT_EQ(::syscall(SYS_setresuid, k_unprivileged, k_unprivileged, k_unprivileged), 0);
      descriptor = ::open((directory / name).c_str(), O_RDONLY | O_CLOEXEC);
    }).join();
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  };
  const auto daemon = start();
  const auto feeder = connect(feeder_hello());
  feed(*feeder, 1, {running({.id = 1, .node = "n2", .start = std::time(nullptr) - 60})});
  for (const char* name : k_live_files) {
    ASSERT_TRUE(std::filesystem::exists(directory / name)) << name;
    EXPECT_FALSE(opens(name)) << name;
  }
  std::filesystem::permissions(directory / "shapleyd.yaml", std::filesystem::perms(0644));
  EXPECT_TRUE(opens("shapleyd.yaml")) << "what this test would see if a mode were wrong";
}

TEST_F(ProcessTest, ALockFileThatIsALinkIsRefused) {
  std::ofstream(directory / "precious") << "text";
  std::filesystem::create_symlink(directory / "precious", directory / "ledger.db.lock");
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::ledger));
  EXPECT_EQ(ledger::testing::content_of(directory / "precious"), "text");
  EXPECT_EQ(obey(logged()), 0) << logged();
  const auto daemon = start();
}

TEST_F(ProcessTest, TheFilesBesideALinkedLedgerAreLookedAtWhereTheyAre) {
  const std::filesystem::path disk = directory / "disk";
  std::filesystem::create_directory(disk);
  { const auto daemon = start(); }
  for (const char* name : k_live_files) {
    std::error_code absent;
    std::filesystem::rename(directory / name, disk / name, absent);
  }
  std::filesystem::create_symlink(disk / "ledger.db", directory / "ledger.db");
  std::filesystem::permissions(disk / "ledger.db.lock", std::filesystem::perms(0644));
  {
    const auto daemon = start();
    EXPECT_EQ(std::filesystem::status(disk / "ledger.db.lock").permissions(), std::filesystem::perms(0600));
  }
  std::filesystem::permissions(disk, std::filesystem::perms(0777));
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::ledger)) << logged();
}

TEST_F(ProcessTest, AConfigurationThatOthersCouldHaveChangedIsNotTakenOver) {
  const auto daemon = start();
  configure(yaml_in(directory) + "mode: observe\n");
  std::filesystem::permissions(directory / "shapleyd.yaml", std::filesystem::perms(0666));
  daemon->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return logged().find("the running configuration stays") != std::string::npos; }));
  EXPECT_TRUE(eventually([&] { return logged().find("has mode 0666") != std::string::npos; })) << logged();
  EXPECT_EQ(connect({})->ask(R"({"request":"status"})")["daemon"]["mode"], "priorities");
}

}  // namespace
}  // namespace shapley::daemon
