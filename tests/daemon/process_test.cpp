// The real shapleyd: started, fed, killed, started again.
#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/keys.hpp"
#include "daemon/application.hpp"
#include "ledger/store/ledger_file.hpp"
#include "records.hpp"
#include "test_client.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/cli_help.hpp"
#include "tests/support/naive_printable.hpp"

namespace shapley::daemon {
namespace {

constexpr const char* k_pid_file = "SHAPLEY_TEST_PID_FILE";

TEST_F(ProcessTest, WhatWasAcknowledgedSurvivesSigkill) {
  const std::int64_t start_time = std::time(nullptr) - 3600;
  {
    const auto daemon = start();
    const auto feeder = connect(feeder_hello());
    feed(*feeder, 1, {running({.id = 1, .node = "n2", .start = start_time})});
    feed(*feeder, 2, {ended({.id = 1, .node = "n2", .start = start_time}, start_time + 600)});
    daemon->signal(SIGKILL);
  }
  const auto again = start();
  const auto reader = connect({});
  const auto jobs = reader->ask(R"({"request":"jobs","all":true})");
  ASSERT_EQ(jobs["jobs"].size(), 1U) << jobs.dump();
  const auto status = reader->ask(R"({"request":"status"})");
  EXPECT_GT(status["daemon"]["replayed_at_start"].get<int>(), 0) << status.dump();
  EXPECT_EQ(status["organizations"][0]["name"], "chemistry") << status.dump();
}

TEST_F(ProcessTest, SigtermEndsCleanly) {
  {
    const auto daemon = start();
    const auto feeder = connect(feeder_hello());
    feed(*feeder, 1, {running({.id = 1, .node = "n2", .start = std::time(nullptr) - 60})});
    daemon->signal(SIGTERM);
    EXPECT_EQ(daemon->wait(), static_cast<int>(ExitCode::success)) << logged();
  }
  EXPECT_FALSE(std::filesystem::exists(socket()));
  EXPECT_FALSE(std::filesystem::exists(directory / "ledger.db-wal")) << "all of it is in the file";
  const auto again = start();
  const auto status = connect({})->ask(R"({"request":"status"})");
  EXPECT_EQ(status["daemon"]["events_since_checkpoint"], status["daemon"]["replayed_at_start"]) << status.dump();
  EXPECT_EQ(connect({})->ask(R"({"request":"jobs","all":true})")["jobs"].size(), 1U);
}

TEST_F(ProcessTest, SighupReloadsAndRefusesAFaultyFile) {
  const auto daemon = start();
  const auto feeder = connect(feeder_hello());
  feeder->expect<protocol::Ranks>();
  configure(yaml_in(directory) + "mode: observe\n");
  daemon->signal(SIGHUP);
  EXPECT_FALSE(feeder->expect<protocol::Welcome>().act) << logged();
  configure("organizations: [");
  daemon->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return logged().find("the running configuration stays") != std::string::npos; }));
  const auto status = connect({})->ask(R"({"request":"status"})");
  EXPECT_EQ(status["daemon"]["mode"], "observe");
  const auto& configuration = status["daemon"]["configuration"];
  EXPECT_EQ(configuration["file"], (directory / "shapleyd.yaml").string());
  EXPECT_GE(configuration["refused_at"], configuration["loaded_at"]);
  EXPECT_NE(configuration["refusal"].get<std::string>().find("shapleyd.yaml:1: "), std::string::npos) << configuration;
  configure(yaml_in(directory));
  daemon->signal(SIGHUP);
  EXPECT_TRUE(feeder->expect<protocol::Welcome>().act) << logged();
  const auto again = connect({})->ask(R"({"request":"status"})")["daemon"]["configuration"];
  EXPECT_EQ(again["refusal"], nullptr);
  EXPECT_NE(again["hash"], configuration["hash"]);
  EXPECT_EQ(status["ranks_act"], false);
  for (const auto& organization : status["organizations"]) {
    EXPECT_EQ(organization["would_rank"], organization["rank"]) << "nothing has happened since the ranks were computed";
  }
}

TEST_F(ProcessTest, ASecondDaemonIsRefused) {
  const auto daemon = start();
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::ledger)) << logged();
  EXPECT_TRUE(connect({})->ask(R"({"request":"ping"})").contains("pong"));
  // Another ledger, the same socket.
  std::string other = yaml_in(directory);
  other.replace(other.find("ledger.db"), 9, "other.db_");
  configure(other);
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::socket)) << logged();
  EXPECT_TRUE(connect({})->ask(R"({"request":"ping"})").contains("pong"));
}

// What a reload would be refused for, `systemctl reload` says before it sends a signal.
TEST_F(ProcessTest, ACheckKnowsFormerNamesByTheBooks) {
  const std::string file = (directory / "shapleyd.yaml").string();
  {
    ledger::Ledger books = ledger::testing::writer(directory / "ledger.db");
    accounting::AdjustmentMade made;
    made.number = 1;
    made.at = Instant{1'795'000'000};
    made.kind = accounting::AdjustmentKind::rename;
    made.organization = "physics";
    made.into = "sciences";
    made.author = "uid 0 (root)";
    made.reason = "a test";
    const std::vector<accounting::Event> events{accounting::OrganizationsDeclared{made.at, {"physics", "sciences"}},
                                                made};
    ledger::testing::must(books.append(events, made.at));
  }
  EXPECT_EQ(run({"--check-config", "--config", file}), static_cast<int>(ExitCode::configuration)) << logged();
  EXPECT_NE(logged().find("organization 'physics' was renamed to sciences by a correction of the books of 2026-11-18; "
                          "write sciences"),
            std::string::npos)
      << logged();
  // Books that cannot be read are no fault of the file.
  std::ofstream(directory / "ledger.db") << "noise\n";
  EXPECT_EQ(run({"--check-config", "--config", file}), static_cast<int>(ExitCode::success)) << logged();
  EXPECT_NE(logged().find("names of organizations were not compared with the books: "), std::string::npos) << logged();
}

TEST_F(ProcessTest, ACheckReadsTheConsortiumsKeysAndKnowsThisCluster) {
  const std::string file = (directory / "shapleyd.yaml").string();
  const std::string key = (directory / "key").string();
  ASSERT_TRUE(ledger::make_key_files(key).has_value());
  const auto with = [&](const std::string& public_key) {
    configure(yaml_in(directory) + "signing_key: " + key +
              "\nconsortium:\n  name: uni\n  clusters:\n    - {name: south, standing: /s, public_key: " + public_key +
              "}\n    - {name: box, standing: /b, public_key: " + key + ".pub}\n");
    return run({"--check-config", "--config", file});
  };
  EXPECT_EQ(with(key + ".pub"), static_cast<int>(ExitCode::success)) << logged();
  EXPECT_EQ(with("/no/such.pub"), static_cast<int>(ExitCode::configuration)) << logged();
  EXPECT_NE(logged().find(":15: consortium: cluster 'south': public_key: "), std::string::npos) << logged();
  {
    ledger::Ledger books = ledger::testing::writer(directory / "ledger.db");
    const std::vector<accounting::Event> events{
        accounting::ClusterNamed{Instant{1'795'000'000}, "box", "the first feeder", ""}};
    ledger::testing::must(books.append(events, Instant{1'795'000'000}));
  }
  EXPECT_EQ(with(key + ".pub"), static_cast<int>(ExitCode::configuration)) << logged();
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::ledger)) << logged();
  const std::string fault = ":16: consortium: cluster 'box' is this cluster itself; ";
  const std::size_t first = logged().find(fault);
  ASSERT_NE(first, std::string::npos) << logged();
  EXPECT_NE(logged().find(fault, first + 1), std::string::npos) << logged();
}

TEST_F(ProcessTest, ExitCodesOfTheCommandLine) {
  const std::string file = (directory / "shapleyd.yaml").string();
  EXPECT_EQ(run({"--check-config", "--config", file}), static_cast<int>(ExitCode::success));
  EXPECT_NE(logged().find("2 organizations"), std::string::npos) << logged();
  EXPECT_EQ(run({"--version"}), static_cast<int>(ExitCode::success));
  EXPECT_EQ(run({"-V"}), static_cast<int>(ExitCode::success));
  EXPECT_EQ(run({"--help"}), static_cast<int>(ExitCode::success));
  EXPECT_TRUE(test::shows_default(logged(), config::k_default_file)) << logged();
  EXPECT_EQ(run({"--nonsense"}), static_cast<int>(ExitCode::usage));
  EXPECT_EQ(run({"--log-level", "loud", "--check-config", "--config", file}), static_cast<int>(ExitCode::usage));
  EXPECT_EQ(run({"--check-config", "--config", (directory / "absent.yaml").string()}),
            static_cast<int>(ExitCode::configuration));
  std::string unknown_user = yaml_in(directory);
  unknown_user.replace(unknown_user.find("accounts: [phys]"), 16, "users: [no_such_user_here]");
  configure(unknown_user);
  EXPECT_EQ(run({"--check-config", "--config", file}), static_cast<int>(ExitCode::configuration));
  EXPECT_NE(logged().find("no_such_user_here"), std::string::npos) << logged();
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::configuration));
}

TEST_F(ProcessTest, RootRunsNoDaemonOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "root can start a daemon that is another user's";
  std::string other = yaml_in(directory);
  other.replace(other.find("slurm_user: root"), 16, "slurm_user: daemon");
  configure(other);
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::configuration));
  EXPECT_NE(logged().find("run it as daemon"), std::string::npos) << logged();
  EXPECT_FALSE(std::filesystem::exists(ledger()));
}

TEST_F(ProcessTest, ALedgerThatCannotBeOpenedIsSaidSo) {
  std::filesystem::create_directory(directory / "ledger.db");
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::damaged));
  EXPECT_NE(logged().find("ledger.db"), std::string::npos) << logged();
  EXPECT_NE(logged().find("shapleyctl restore BACKUP"), std::string::npos) << logged();
}

// Names that peers, files and arguments bring: a sequence that wipes the screen, C1 as a character and as a byte, a
// mark of direction, a forged line.
TEST_F(ProcessTest, NothingThatATerminalObeysIsLoggedOrPrinted) {
  const std::string hostile = "x\033[2J\u009b\u202e\x9b\nready\r";
  const std::string escaped = "x\\x1b[2J\\u009b\\u202e\\x9b\\x0aready\\x0d";
  {
    const auto daemon = start();
    protocol::Hello hello = feeder_hello();
    hello.program = hello.slurm_version = hello.cluster = hostile;
    const auto feeder = connect(hello);
    protocol::JobUpdate job = running({.id = 1, .start = std::time(nullptr) - 60});
    job.name = job.qos = job.wckey = hostile;
    feed(*feeder, 1, {job});
    EXPECT_TRUE(eventually([&] { return logged().find(escaped) != std::string::npos; })) << logged();
    configure("\"colour\\e[2J\\nready\": green\n");
    daemon->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return logged().find("colour\\x1b[2J\\x0aready") != std::string::npos; })) << logged();
    daemon->signal(SIGTERM);
    EXPECT_EQ(daemon->wait(), static_cast<int>(ExitCode::success)) << logged();
  }
  EXPECT_EQ(run({"--check-config", "--config", (directory / "shapleyd.yaml").string()}),
            static_cast<int>(ExitCode::configuration));
  EXPECT_EQ(run({"--check-config", "--config", (directory / hostile).string()}),
            static_cast<int>(ExitCode::configuration));
  EXPECT_EQ(run({"--" + hostile}), static_cast<int>(ExitCode::usage));
  EXPECT_EQ(run({"--log-level", hostile}), static_cast<int>(ExitCode::usage));
  EXPECT_TRUE(test::is_printable(logged())) << test::naive_printable(logged(), true);
  EXPECT_EQ(("\n" + logged()).find("\nready"), std::string::npos) << logged();
}

// Refused before it is read: a start that reads it would never end.
TEST_F(ProcessTest, ALedgerWithAnotherViewOfItsEventsIsDamaged) {
  { const auto daemon = start(); }  // makes the ledger
  std::filesystem::remove(log());
  ledger::testing::tamper(directory / "ledger.db",
                          "DROP VIEW events; CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL "
                          "SELECT seq + 1 FROM n) SELECT seq, seq AS key, 0 AS at, 0 AS received, '' AS kind, '' AS "
                          "payload, x'' AS hash FROM n");
  EXPECT_EQ(run(arguments()), static_cast<int>(ExitCode::damaged));
  EXPECT_NE(logged().find("view events is not as the program makes it"), std::string::npos) << logged();
  EXPECT_NE(logged().find("shapleyctl restore BACKUP"), std::string::npos) << logged();
}

// Where a supervisor listens for what a daemon says about itself.
class Supervisor {
 public:
  explicit Supervisor(std::filesystem::path path) : path_(std::move(path)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    timeval timeout{};
    timeout.tv_sec = k_timeout.count();
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }
  ~Supervisor() { close(descriptor_); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Empty: nothing was said in time.
  [[nodiscard]] std::string heard() const {
    std::array<char, 256> buffer{};
    const ssize_t got = recv(descriptor_, buffer.data(), buffer.size(), 0);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))};
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(ProcessTest, ReadinessIsSaidToTheSupervisor) {
  const Supervisor supervisor(directory / "notify");
  Process daemon(arguments(), log(), {"NOTIFY_SOCKET=" + supervisor.path().string()});
  EXPECT_EQ(supervisor.heard(), "READY=1") << logged();
  EXPECT_TRUE(answers(socket()));
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(), static_cast<int>(ExitCode::success));
}

// A supervisor that asked for it hears again and again that the loop goes round; not if another process is meant.
TEST_F(ProcessTest, TheLoopGivesSignsOfLifeToTheSupervisor) {
  const Supervisor supervisor(directory / "notify");
  for (const bool is_asked : {true, false}) {
    std::vector<std::string> environment{"NOTIFY_SOCKET=" + supervisor.path().string(), "WATCHDOG_USEC=20000"};
    if (!is_asked) environment.emplace_back("WATCHDOG_PID=1");
    Process daemon(arguments(), log(), environment);
    EXPECT_EQ(supervisor.heard(), "READY=1") << logged();
    for (int i = 0; is_asked && i < 10; ++i) EXPECT_EQ(supervisor.heard(), "WATCHDOG=1") << logged();
    daemon.signal(SIGINT);
    std::string last = supervisor.heard();
    while (is_asked && last == "WATCHDOG=1") last = supervisor.heard();
    EXPECT_EQ(last, "STOPPING=1") << logged();
    EXPECT_EQ(daemon.wait(), static_cast<int>(ExitCode::success));
  }
}

TEST_F(ProcessTest, AnOlderLedgerIsMigratedWhileTheSupervisorWaits) {
  const std::string dump = ledger::testing::content_of(std::filesystem::path(SHAPLEY_LEDGER_DUMPS) / "001.sql");
  ASSERT_FALSE(dump.empty());
  ledger::testing::tamper(directory / "ledger.db", dump);
  std::filesystem::permissions(directory / "ledger.db", std::filesystem::perms(0640));
  const Supervisor supervisor(directory / "notify");
  Process daemon(arguments(), log(), {"NOTIFY_SOCKET=" + supervisor.path().string()}, SHAPLEYD_NEXT);
  EXPECT_EQ(supervisor.heard(),
            "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=1800000000\nSTATUS=migrating the ledger: a copy of the ledger as it is is "
            "being made");
  EXPECT_EQ(supervisor.heard(), "READY=1") << logged();
  EXPECT_NE(logged().find("ledger.db: migration: a copy of the ledger as it is is being made"), std::string::npos)
      << logged();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), static_cast<int>(ExitCode::success)) << logged();
  EXPECT_EQ(ledger::testing::rows(directory / "ledger.db", "PRAGMA user_version"),
            std::vector<std::string>{std::to_string(ledger::newest_schema() + 1)});
}

// The test that the next one kills: it holds a daemon until it is killed itself. The daemon's pid goes into the file
// that the environment names.
TEST_F(ProcessTest, DISABLED_HoldsADaemon) {
  const char* file = std::getenv(k_pid_file);
  ASSERT_NE(file, nullptr) << "this is no test of its own: run AKilledTestLeavesNoDaemon";
  const auto daemon = start();
  const std::string ready = file + std::string(".new");
  std::ofstream(ready) << daemon->pid();
  std::filesystem::rename(ready, file);  // whole, or not there
  std::this_thread::sleep_for(k_timeout);
  FAIL() << "this test was not killed";
}

// Ctrl-C, ctest's time limit and `timeout` may kill a test in any state: its daemons end with it.
TEST_F(ProcessTest, AKilledTestLeavesNoDaemon) {
  const std::filesystem::path pid_file = directory / "pid";
  test::Child killed("the test to kill", [&] {
    setenv(k_pid_file, pid_file.c_str(), 1);
    setenv("TMPDIR", (directory / "").c_str(), 1);  // what it leaves goes with this directory
    const int out = open(log().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execl("/proc/self/exe", "test_shapleyd_process", "--gtest_filter=ProcessTest.DISABLED_HoldsADaemon",
          "--gtest_also_run_disabled_tests", nullptr);
  });
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(pid_file); })) << logged();
  pid_t pid = -1;
  std::ifstream(pid_file) >> pid;
  // A descriptor of the process, because a pid may be another's soon.
  const int daemon = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  ASSERT_GE(daemon, 0) << std::strerror(errno);
  pollfd ended{daemon, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 0), 0) << "the daemon ended by itself";
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), -SIGKILL);
  EXPECT_TRUE(eventually([&] { return poll(&ended, 1, 0) == 1; })) << "shapleyd " << pid << " lives on";
  close(daemon);
}

}  // namespace
}  // namespace shapley::daemon
