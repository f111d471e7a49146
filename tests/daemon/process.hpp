// A real shapleyd as a child process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

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
    for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
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

}  // namespace shapley::daemon
