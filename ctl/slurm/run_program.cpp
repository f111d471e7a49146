#include "ctl/slurm/run_program.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.hpp"

// spawn passes it on.
extern char** environ;

namespace shapley::ctl {

namespace {

using SteadyClock = std::chrono::steady_clock;

Expected<pid_t> spawn(const std::vector<std::string>& words, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> copy = words;
  std::vector<char*> arguments;
  for (std::string& word : copy) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return fail(Errc::not_found, words.front() + " is not on this machine");
  if (error != 0) return fail(Errc::io, words.front() + ": " + std::strerror(error));
  return pid;
}

Expected<std::string> read_all(const std::string& program, int from, SteadyClock::time_point until) {
  std::string text;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0) return fail(Errc::unavailable, program + " does not answer in time");
    pollfd poll_for{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&poll_for, 1, static_cast<int>(left));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    std::array<char, 16384> buffer{};
    const ssize_t n = ready < 0 ? -1 : ::read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(Errc::io, program + ": " + std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > k_max_program_output) return fail(Errc::limit, program + " says too much");
  }
}

}  // namespace

Expected<std::string> run_program(const std::vector<std::string>& words, std::chrono::milliseconds timeout) {
  const auto until = SteadyClock::now() + timeout;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Errc::io, std::string("pipe: ") + std::strerror(errno));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const auto pid = spawn(words, writing.get());
  writing.reset();
  if (!pid) return tl::unexpected(pid.error());
  auto text = read_all(words.front(), reading.get(), until);
  // One that has closed its output has nothing more to say: it does not keep us.
  if (!text) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!text) return text;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Errc::unavailable, words.front() + " failed");
  }
  return text;
}

}  // namespace shapley::ctl
