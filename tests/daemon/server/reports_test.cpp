// Reports on the past: read by shapleyctl, in a process of its own, for users who cannot read the ledger.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/requests/child_process.hpp"
#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

constexpr uid_t k_stranger = 65533;

Expected<ChildResult> shell(const std::string& script, const ChildLimits& limits = {}) {
  const test::Deadline deadline("a program");
  return run_child("/bin/sh", {"-c", script}, limits);
}

TEST(ChildProcess, TellsBothStreamsAndTheExitCode) {
  const auto result = shell("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "err\n");
  EXPECT_EQ(result->exit_code, 7);
}

TEST(ChildProcess, TakesMoreThanAPipeHolds) {
  const auto result = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_EQ(result->output.size(), 1'000'000U);
  EXPECT_EQ(result->errors.size(), 4096U);
}

TEST(ChildProcess, HasNoInputAndAnEnvironmentOfItsOwn) {
  ::setenv("SHAPLEY_TEST_SECRET", "x", 1);
  const auto result = shell("cat; env | cut -d= -f1 | sort | tr '\\n' ' '");
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_EQ(result->output.find("SECRET"), std::string::npos) << result->output;
  EXPECT_NE(result->output.find("PATH"), std::string::npos) << result->output;
}

TEST(ChildProcess, IsKilledWhenItTakesTooLongOrNobodyWaits) {
  const auto late = shell("exec sleep 1000", {.time = std::chrono::milliseconds(1)});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Errc::limit);
  const std::atomic<bool> ended = true;
  const auto gone = shell("exec sleep 1000", {.ended = &ended});
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().what, "whoever asked has gone");
}

TEST(ChildProcess, IsBoundInOutput) {
  const auto result = shell("exec yes", {.output_bytes = 1U << 20U});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Errc::limit);
  EXPECT_EQ(result.error().what, "its answer has more than 1 MiB");
}

TEST(ChildProcess, IsTheFirstToGoWhenMemoryRunsOut) {
  // The score is written while the program begins.
  const auto result = shell(
      "for i in $(seq 100); do s=$(cat /proc/self/oom_score_adj); [ $s = 1000 ] && break; sleep 0.1; done; echo $s");
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_EQ(result->output, "1000\n");
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
  const auto result = run_child("/nonexistent/program", {}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().what, "/nonexistent/program: No such file or directory");
}

class ReportsTest : public ServerTest {
 protected:
  // A run that is in the books at k_begin + 100 and no longer at k_begin + 300.
  void observe_a_run() {
    const auto client = feeder();
    client->send(protocol::SnapshotBegin{1, now});
    now = k_begin + 100;
    client->send(observations(2, {running({.id = 1, .node = "n2", .start = k_begin + 50})}));
    client->send(protocol::SnapshotEnd{3, now});
    while (client->expect<protocol::Ack>().sequence < 3) continue;
    now = k_begin + 300;
  }
  static std::string past(std::int64_t at) { return json{{"request", "status_at"}, {"at", at}}.dump(); }
  static std::int64_t used(const json& report) {
    std::int64_t sum = 0;
    for (const json& row : report["organizations"]) sum += row["used"].get<std::int64_t>();
    return sum;
  }
};

TEST_F(ReportsTest, AnybodyLearnsThePast) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
  observe_a_run();
  const auto client = reader_of(k_stranger);
  const json before = client->ask(past(k_begin + 49));
  ASSERT_TRUE(before.contains("organizations")) << before.dump();
  EXPECT_EQ(before["at"], k_begin + 49);
  EXPECT_EQ(used(before), 0);
  EXPECT_GT(used(client->ask(past(k_begin + 60))), 0);
}

// A program that holds a connection would keep it open after the daemon has closed it.
TEST_F(ReportsTest, NoProgramInheritsTheServersSockets) {
  const auto client = reader();
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename().string());
    sockaddr_un own{};
    socklen_t size = sizeof own;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) != 0 || own.sun_family != AF_UNIX) continue;
    if (site.configuration.socket != std::string(own.sun_path)) continue;
    ++sockets;
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(sockets, 2) << "the one that listens, and the reader's";
}

TEST_F(ReportsTest, AnybodyHasAStatementAndAHistory) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
  observe_a_run();
  const auto client = reader_of(k_stranger);
  const json asked{
      {"request", "statement"}, {"since", k_begin}, {"until", k_begin + 60}, {"organizations", {"physics"}}};
  const json report = client->ask(asked.dump());
  ASSERT_TRUE(report.contains("organizations")) << report.dump();
  EXPECT_EQ(report["exact"], true);
  EXPECT_EQ(report["until"], k_begin + 60);
  // Up to the present, though the ledger recorded something last some time ago.
  const json whole = client->ask(R"({"request":"statement"})");
  EXPECT_EQ(whole["until"], k_begin + 300) << whole.dump();
  EXPECT_EQ(client->ask(R"({"request":"history","by":"hour"})")["exact"], true);
}

TEST_F(ReportsTest, WhatMakesNoSenseIsRefusedByName) {
  const auto client = reader();
  const auto error = [&](const char* request) { return client->ask(request)["error"]; };
  EXPECT_EQ(error(R"({"request":"status_at"})")["code"], "invalid_argument");
  EXPECT_EQ(error(R"({"request":"status_at","at":"--ledger"})")["code"], "invalid_argument");
  EXPECT_EQ(error(R"({"request":"status_at","at":99999999999})")["what"], "at lies in the future");
  EXPECT_EQ(error(R"({"request":"status_at","at":1,"contribution":"--at"})")["code"], "invalid_argument");
  EXPECT_EQ(error(R"({"request":"statement","organizations":["a,--ledger=b"]})")["what"],
            "organizations is a list of names");
  EXPECT_EQ(error(R"({"request":"history","by":"year"})")["what"],
            "by is one of 10s, minute, 10min, hour, 6h, day or month");
}

TEST_F(ReportsTest, AListOfJobsWaitsForNoReport) {
  observe_a_run();
  // Not read yet: the report's answer is on its way while the other question is asked and answered.
  const auto slow = reader();
  const auto quick = reader();
  slow->send(protocol::Query{.id = 1, .json = past(k_begin + 60)});
  EXPECT_TRUE(quick->ask(k_all_jobs).contains("jobs"));
  EXPECT_TRUE(slow->expect<protocol::Reply>().json.find("organizations") != std::string::npos);
}

}  // namespace
}  // namespace shapley::daemon
