// What an administrator hears who lets one of two controllers begin.
#include "ctl/commands/begin.hpp"

#include <chrono>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_daemon.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

using nlohmann::json;

TEST(Begin, SaysWhetherItWasNeeded) {
  const TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment{
      .out = out, .err = err, .terminal = false, .variable = [](const char*) { return std::optional<std::string>(); }};
  bool is_needed = true;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& request) {
                            EXPECT_EQ(request["request"], "begin");
                            if (std::exchange(is_needed, false)) return json{{"allowed", true}};
                            return json{{"error", {{"code", "conflict"}, {"what", "that is not needed"}}}};
                          }));
  const Endpoint endpoint{.socket = directory / "s", .timeout = std::chrono::minutes(4)};
  const auto code = run_begin(endpoint, environment);
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_EQ(*code, ExitCode::success);
  EXPECT_EQ(out.str(), "this shapleyd writes with the ledger that it has as soon as slurmctld's plugin connects\n");
  EXPECT_EQ(run_begin(endpoint, environment).error().code, Errc::conflict);
}

}  // namespace
}  // namespace shapley::ctl
