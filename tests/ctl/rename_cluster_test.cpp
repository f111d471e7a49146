// What an administrator hears who says that the cluster was renamed.
#include "ctl/commands/rename_cluster.hpp"

#include <chrono>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_daemon.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

TEST(RenameCluster, TellsTheDaemonWithTheReason) {
  const TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment{
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
  const FakeDaemon daemon(
      directory / "s", FakeDaemon::welcoming([](const json& request) {
        EXPECT_EQ(request["request"], "rename_cluster");
        EXPECT_EQ(request["reason"], "moved");
        if (request["cluster"] == "apple") {
          return json{{"error", {{"code", "invalid_argument"}, {"what", "it is called so already"}}}};
        }
        return json{{"cluster", request["cluster"]}, {"before", "apple"}};
      }));
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code = run_rename_cluster({.name = "newton", .reason = "moved"}, endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(*code, ExitCode::success);
  EXPECT_EQ(out.str(), "the ledger is of cluster newton from now on, which was called apple\n");
  EXPECT_EQ(run_rename_cluster({.name = "apple", .reason = "moved"}, endpoint, environment).error().code,
            Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::ctl
