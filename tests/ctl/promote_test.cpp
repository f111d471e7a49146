// What slurmctld's programs hear of a daemon that is promoted or demoted.
#include "ctl/commands/promote.hpp"

#include <atomic>
#include <chrono>
#include <sstream>

#include <gtest/gtest.h>

#include "fake_daemon.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

class Promote : public testing::Test {
 protected:
  static constexpr std::chrono::minutes k_patience{4};

  [[nodiscard]] Endpoint endpoint() const { return {.socket = directory / "s", .timeout = k_patience}; }

  TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Environment environment{
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
};

TEST_F(Promote, waits_until_the_daemon_writes) {
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            EXPECT_EQ(request["request"], "promote");
                            EXPECT_TRUE(request["by"].get<std::string>().starts_with("uid "));
                            const bool writes = ++asked == 3;
                            return json{{"role", writes ? "active" : "standby"},
                                        {"state", "is being promoted"},
                                        {"epoch", writes ? 4 : 3},
                                        {"fault", nullptr}};
                          }));
  const auto code = run_promote(endpoint(), k_patience, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(*code, ExitCode::success);
  EXPECT_EQ(out.str(), "writes the ledger: epoch 4\n");
  EXPECT_EQ(asked, 3);
}

TEST_F(Promote, says_how_far_it_is_when_it_takes_too_long) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json&) {
                            return json{{"role", "standby"},
                                        {"state", "is being promoted"},
                                        {"epoch", 3},
                                        {"fault", "not promoted yet: the disk is full"}};
                          }));
  const auto code = run_promote(endpoint(), std::chrono::milliseconds(0), environment);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, Errc::unavailable);
  EXPECT_EQ(code.error().what,
            "shapleyd is being promoted: not promoted yet: the disk is full; it goes on without shapleyctl: shapleyctl "
            "status says how far it is");
}

TEST_F(Promote, tries_no_longer_when_it_is_refused) {
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json&) {
                            ++asked;
                            return json{{"error", {{"code", "conflict"}, {"what", "it is the only one"}}}};
                          }));
  EXPECT_EQ(run_promote(endpoint(), k_patience, environment).error().code, Errc::conflict);
  EXPECT_EQ(asked, 1);
}

TEST_F(Promote, says_so_when_the_daemon_is_away) {
  const auto code = run_promote(endpoint(), std::chrono::milliseconds(0), environment);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, Errc::unavailable);
  EXPECT_TRUE(contains(code.error().what, "cannot reach shapleyd")) << code.error().what;
}

TEST_F(Promote, and_demote_insists_only_when_told) {
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([](const json& request) {
                            if (request["request"] != "demote") return json::object();
                            if (request["force"] == true) return json{{"role", "standby"}, {"epoch", 3}};
                            return json{{"error", {{"code", "conflict"}, {"what", "a plugin is connected"}}}};
                          }));
  EXPECT_EQ(run_demote({.force = false}, endpoint(), environment).error().code, Errc::conflict);
  const auto code = run_demote({.force = true}, endpoint(), environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(out.str(), "writes the ledger no more: epoch 3\n");
}

}  // namespace
}  // namespace shapley::ctl
