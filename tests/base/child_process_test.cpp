#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/process.hpp"
#include "tests/support/must.hpp"

namespace shapley {
namespace {

using namespace std::chrono_literals;

Expected<ChildRun> shell(const std::string& script, const ChildOptions& options = {.time = 1h}) {
  return run_child({"/bin/sh", "-c", script}, options);
}

TEST(ChildProcess, TellsBothStreamsAndTheExitCode) {
  const auto run = must(shell("cat; echo out; echo err >&2; exit 7"));
  EXPECT_EQ(run.end, ChildEnd::exited);
  EXPECT_EQ(run.output, "out\n") << "there is no input";
  EXPECT_EQ(run.errors, "err\n");
  EXPECT_EQ(run.exit_code, 7);
}

// More than a pipe holds, and whether it is read or not.
TEST(ChildProcess, IsGivenInput) {
  const std::string input(1'000'000, 'x');
  const auto counted = must(run_child({"/bin/sh", "-c", "wc -c"}, {.input = input}));
  EXPECT_EQ(counted.output, "1000000\n");
  EXPECT_EQ(must(run_child({"/bin/true"}, {.input = input})).exit_code, 0);
}

TEST(ChildProcess, IsLookedForInPathAndGetsItsWordsAsTheyAre) {
  const auto run = must(run_child({"echo", "$(id); `id` > x | y", "*"}, {.time = 1h}));
  EXPECT_EQ(run.output, "$(id); `id` > x | y *\n");
}

TEST(ChildProcess, TakesMoreThanAPipeHoldsAndKeepsSoMuchOfTheErrors) {
  const std::string script = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2";
  const auto run = must(shell(script, {.time = 1h, .error_bytes = 300'000}));
  EXPECT_EQ(run.output.size(), 1'000'000U);
  EXPECT_EQ(run.errors.size(), 300'000U);
  const auto silent = must(shell(script + "; readlink /proc/self/fd/2", {.time = 1h, .error_bytes = 0}));
  EXPECT_EQ(silent.output.substr(1'000'000), "/dev/null\n");
  EXPECT_EQ(silent.errors, "");
}

TEST(ChildProcess, SaysHowItEnded) {
  const std::atomic<bool> ended = true;
  const auto end_of = [](const std::string& script, const ChildOptions& options) {
    const auto run = shell(script, options);
    return run ? std::pair(run->end, run->exit_code) : std::pair(ChildEnd::exited, -1);
  };
  const std::pair killed_by = {ChildEnd::signalled, 128 + SIGTERM};
  EXPECT_EQ(end_of("kill -TERM $$", {.time = 1h}), killed_by);
  EXPECT_EQ(end_of("exec sleep 86400", {.time = 1ms}), std::pair(ChildEnd::late, 128 + SIGKILL));
  EXPECT_EQ(end_of("exec yes", {.time = 1h, .output_bytes = 1000}), std::pair(ChildEnd::overlong, 128 + SIGKILL));
  EXPECT_EQ(end_of("exec sleep 86400", {.time = 1h, .ended = &ended}), std::pair(ChildEnd::unwanted, 128 + SIGKILL));
  EXPECT_EQ(end_of("exec head -c 1000 /dev/zero", {.time = 1h, .output_bytes = 1000}), std::pair(ChildEnd::exited, 0));
}

TEST(ChildProcess, InheritsOurEnvironmentUnlessItGetsItsOwn) {
  ::setenv("SHAPLEY_TEST_SECRET", "x", 1);
  const std::string script = "echo ${SHAPLEY_TEST_SECRET-none} ${OWN-none}";
  EXPECT_EQ(must(shell(script)).output, "x none\n");
  const auto own = must(shell(script, {.time = 1h, .environment = std::vector<std::string>{"OWN=y"}}));
  EXPECT_EQ(own.output, "none y\n");
}

TEST(ChildProcess, WithAnEnvironmentOfItsOwnIgnoresAndBlocksNoSignal) {
  // A program hands what it ignores and blocks on to those that it starts.
  const auto ignored_before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t term;
  sigset_t blocked_before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &blocked_before);
  const auto end_by = [](const std::string& signal, const ChildOptions& options) {
    const auto run = shell("kill -" + signal + " $$; echo alive", options);
    return run ? run->output + std::to_string(run->exit_code) : run.error().what;
  };
  EXPECT_EQ(end_by("PIPE", {.time = 1h}), "alive\n0");
  EXPECT_EQ(end_by("TERM", {.time = 1h}), "alive\n0");
  const ChildOptions own{.time = 1h, .environment = std::vector<std::string>()};
  EXPECT_EQ(end_by("PIPE", own), std::to_string(128 + SIGPIPE));
  EXPECT_EQ(end_by("TERM", own), std::to_string(128 + SIGTERM));
  pthread_sigmask(SIG_SETMASK, &blocked_before, nullptr);
  std::signal(SIGPIPE, ignored_before);
}

TEST(ChildProcess, IsBoundInMemoryAndDispensableOnWish) {
  // Both are said while the program begins.
  const std::string script =
      "for i in $(seq 600); do [ $(ulimit -v) = 1048576 ] && read s </proc/self/oom_score_adj && [ $s = 1000 ] && "
      "break; sleep 0.1; done; ulimit -v; echo $s";
  const auto run = must(shell(script, {.time = 1h, .memory_bytes = 1UL << 30U, .is_dispensable = true}));
  EXPECT_EQ(run.output, "1048576\n1000\n");
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
  const auto absent = run_child({"no-such-program-4711"}, {});
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, Errc::not_found);
  EXPECT_EQ(absent.error().what, "no-such-program-4711: No such file or directory");
  const auto folder = run_child({"/"}, {});
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, Errc::io);
}

}  // namespace
}  // namespace shapley
