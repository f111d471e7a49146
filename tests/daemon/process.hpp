// A real shapleyd as a child process, and its site in a directory of its own.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/own_environment.hpp"
#include "records.hpp"
#include "test_client.hpp"
#include "tests/support/child.hpp"

namespace shapley::daemon {

using test::eventually;

// shapleyd with its output added to a file, and with these variables ("NAME=value") in its environment; killed when it
// goes out of scope.
class Process {
 public:
  Process(std::vector<std::string> arguments, const std::filesystem::path& log, std::vector<std::string> variables = {},
          const char* program = SHAPLEYD) {
    arguments.insert(arguments.begin(), program);
    std::ranges::move(own_environment(), std::back_inserter(variables));
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> envp = pointers(variables);
    child_ = std::make_unique<test::Child>("shapleyd", [&] {
      const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      execve(argv[0], argv.data(), envp.data());
    });
  }

  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  void signal(int number) const { child_->signal(number); }
  // Exit code, or minus the signal that ended it.
  int wait() { return child_->wait(); }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  std::unique_ptr<test::Child> child_;
};

// Whether a daemon serves on the socket: that one listens is not enough, it may not have begun yet, or be about to end.
inline bool answers(const std::filesystem::path& socket) {
  TestClient client(socket);
  if (!client.is_connected()) return false;
  client.send(protocol::Hello{});
  const auto answer = client.next();
  return answer && std::holds_alternative<protocol::Welcome>(*answer);
}

// Configuration, socket, log and ledger of a shapleyd.
class ProcessSite {
 public:
  ProcessSite() { configure(yaml_in(directory)); }

  void configure(const std::string& yaml) const { std::ofstream(directory / "shapleyd.yaml") << yaml; }
  [[nodiscard]] std::filesystem::path socket() const { return directory / "sock"; }
  [[nodiscard]] std::filesystem::path ledger() const { return directory / "ledger.db"; }
  [[nodiscard]] std::filesystem::path log() const { return directory / "log"; }
  [[nodiscard]] std::string logged() const {
    std::stringstream text;
    text << std::ifstream(log()).rdbuf();
    return text.str();
  }
  [[nodiscard]] bool logs(const std::string& words) const {
    return eventually([&] { return logged().find(words) != std::string::npos; });
  }
  [[nodiscard]] bool serves() const {
    return eventually([&] { return answers(socket()); });
  }
  [[nodiscard]] std::vector<std::string> arguments() const {
    return {"--config", (directory / "shapleyd.yaml").string()};
  }

  [[nodiscard]] std::unique_ptr<Process> launch(std::vector<std::string> variables = {}) const {
    return std::make_unique<Process>(arguments(), log(), std::move(variables));
  }
  // The same, and it serves.
  [[nodiscard]] std::unique_ptr<Process> start(std::vector<std::string> variables = {}) const {
    auto process = launch(std::move(variables));
    EXPECT_TRUE(serves()) << logged();
    return process;
  }
  void stop(Process& daemon) const {
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << logged();
  }

  [[nodiscard]] std::unique_ptr<TestClient> connect(const protocol::Hello& hello = {}) const {
    auto client = std::make_unique<TestClient>(socket());
    client->send(hello);
    client->expect<protocol::Welcome>();
    return client;
  }
  [[nodiscard]] nlohmann::json ask(const std::string& request) const { return connect()->ask(request); }
  [[nodiscard]] nlohmann::json status() const { return ask(R"({"request":"status"})"); }
  // Waits until this message is durable.
  static void await(TestClient& feeder, std::uint64_t sequence) {
    while (!testing::Test::HasFailure() && feeder.expect<protocol::Ack>().sequence < sequence) continue;
  }

  TempDirectory directory;
};

// Tests of one shapleyd, and of the plugin that feeds it.
class ProcessTest : public testing::Test, protected ProcessSite {
 protected:
  int run(const std::vector<std::string>& args) const { return Process(args, log()).wait(); }

  static void feed(TestClient& feeder, std::uint64_t sequence, std::vector<protocol::JobUpdate> jobs) {
    protocol::Observations o;
    o.sequence = sequence;
    o.observed_at = std::time(nullptr);
    o.jobs = std::move(jobs);
    o.nodes = {node_record("n1"), node_record("n2")};
    feeder.send(std::move(o));
    await(feeder, sequence);
  }
};

}  // namespace shapley::daemon
