// Reports on the past: read by shapleyctl, in a process of its own, for users who cannot read the ledger.
#include "daemon/requests/reports.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

constexpr uid_t k_stranger = 65533;

Expected<json> shell(const std::string& script, const ChildLimits& limits = {}) {
  const test::Deadline deadline("a program");
  return ask_program({"/bin/sh", "-c", script}, json{{"asked", 7}}, limits);
}

TEST(ReadingProgram, ReadsTheRequestAndRepliesWithItsReport) {
  const auto report = shell(R"(read -r line; echo "{\"report\": $line}"; exit 1)");
  ASSERT_TRUE(report.has_value()) << report.error().what;
  EXPECT_EQ(*report, json({{"asked", 7}}));
}

TEST(ReadingProgram, IsGivenMoreThanAPipeHolds) {
  const auto report =
      ask_program({"/bin/sh", "-c", R"(echo "{\"report\": $(wc -c)}")"}, std::string(1'000'000, 'x'), {});
  ASSERT_TRUE(report.has_value()) << report.error().what;
  EXPECT_EQ(*report, 1'000'002);
}

TEST(ReadingProgram, RepliesWithAnErrorOfItsOwn) {
  const auto refused = shell(R"(echo '{"error": {"code": "corrupt", "what": "event 7 is damaged"}}')");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::corrupt);
  EXPECT_EQ(refused.error().what, "event 7 is damaged");
}

TEST(ReadingProgram, ThatEndsWithoutAReplyIsAnError) {
  for (const auto& [script, why] :
       {std::pair{"echo 'no memory' >&2; exit 71", "report: the program ended with code 71 and no reply: no memory"},
        std::pair{"echo '[]'; exit 7", "report: the program ended with code 7 and no reply"},
        std::pair{"kill -9 $$", "report: the program ended with code 137 and no reply"}}) {
    const auto report = shell(script);
    ASSERT_FALSE(report.has_value()) << script;
    EXPECT_EQ(report.error().code, Errc::io) << script;
    EXPECT_EQ(report.error().what, why) << script;
  }
}

TEST(ReadingProgram, HasAnEnvironmentOfItsOwn) {
  ::setenv("SHAPLEY_TEST_SECRET", "x", 1);
  const auto names = shell(R"(echo "{\"report\": \"$(env | cut -d= -f1 | sort | tr '\n' ' ')\"}")");
  ASSERT_TRUE(names.has_value()) << names.error().what;
  EXPECT_EQ(names->get<std::string>().find("SECRET"), std::string::npos) << *names;
  EXPECT_NE(names->get<std::string>().find("PATH"), std::string::npos) << *names;
}

TEST(ReadingProgram, IsKilledWhenItTakesTooLongOrTheClientDisconnects) {
  const auto late = shell("exec sleep 1000", {.time = std::chrono::milliseconds(1)});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Errc::limit);
  EXPECT_EQ(
      late.error().what,
      "report: it took more than 0 s, the daemon's limit; read the ledger or a copy of it (shapleyctl backup) with "
      "--ledger FILE");
  const std::atomic<bool> ended = true;
  const auto gone = shell("exec sleep 1000", {.ended = &ended});
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code, Errc::limit);
  EXPECT_EQ(gone.error().what, "report: the client disconnected");
}

TEST(ReadingProgram, IsBoundInOutput) {
  const auto result = shell("exec yes", {.output_bytes = 1U << 20U});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Errc::limit);
  EXPECT_EQ(result.error().what,
            "report: its answer has more than 1 MiB, the daemon's limit; read the ledger or a copy of it (shapleyctl "
            "backup) with --ledger FILE");
}

TEST(ReadingProgram, IsTheFirstToGoWhenMemoryRunsOut) {
  // The score is written while the program begins.
  const auto score = shell(
      "for i in $(seq 100); do s=$(cat /proc/self/oom_score_adj); [ $s = 1000 ] && break; sleep 0.1; done; "
      R"(echo "{\"report\": $s}")");
  ASSERT_TRUE(score.has_value()) << score.error().what;
  EXPECT_EQ(*score, 1000);
}

TEST(ReadingProgram, ThatCannotBeStartedIsNamed) {
  const auto result = ask_program({"/nonexistent/program"}, {}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().what, "report: /nonexistent/program: No such file or directory");
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
  EXPECT_FALSE(before.contains("forecast"));
  json with_forecast = json::parse(past(k_begin + 60));
  with_forecast["forecast"] = true;
  EXPECT_EQ(client->ask(with_forecast.dump())["forecast"]["pairs"], 3);
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
  // A name is data to the program, whatever it looks like.
  observe_a_run();
  const std::string unknown = error(R"({"request":"statement","organizations":["a,--ledger=b"]})")["what"];
  EXPECT_NE(unknown.find("'a,--ledger=b'"), std::string::npos) << unknown;
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
