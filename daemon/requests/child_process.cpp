#include "daemon/requests/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace shapley::daemon {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_kept_errors = 4096;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Errc::io, std::string("pipe: ") + std::strerror(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// What posix_spawn is to do in the child, freed at the end.
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  Expected<pid_t> start(const std::filesystem::path& program, const std::vector<std::string>& arguments, int output,
                        int errors) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    // The daemon ignores and blocks signals; the program must not.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string name = program.native();
    std::vector<std::string> own = arguments;
    std::vector<char*> argv{name.data()};
    for (std::string& argument : own) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<std::string, 2> variables{"PATH=/usr/bin:/bin", "LC_ALL=C"};
    const std::array<char*, 3> environment{variables[0].data(), variables[1].data(), nullptr};
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), environment.data());
    if (error != 0) return fail(Errc::io, program.native() + ": " + std::strerror(error));
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// It has hardly begun when this is done. A kernel that refuses leaves it with the daemon's own limits.
void bound(pid_t pid, std::size_t memory_bytes) {
  const rlimit memory{.rlim_cur = memory_bytes, .rlim_max = memory_bytes};
  if (memory_bytes != 0) ::prlimit(pid, RLIMIT_AS, &memory, nullptr);
  const std::string file = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  const Descriptor score(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  constexpr std::string_view k_first = "1000";
  if (score.is_open()) (void)!::write(score.get(), k_first.data(), k_first.size());
}

// What the program prints, until it closes both ends. Errc::limit: why it is to be killed.
Expected<void> collect(const Descriptor& output, const Descriptor& errors, const ChildLimits& limits,
                       ChildResult& result) {
  const auto until = Clock::now() + limits.time;
  constexpr int k_look_ms = 100;
  constexpr std::size_t k_buffer_bytes = 64U << 10U;
  std::vector<char> buffer(k_buffer_bytes);
  std::array<pollfd, 2> ends{pollfd{.fd = output.get(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = errors.get(), .events = POLLIN, .revents = 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (limits.ended != nullptr && limits.ended->load()) return fail(Errc::limit, "whoever asked has gone");
    if (Clock::now() >= until) {
      return fail(Errc::limit, "it took more than " + std::to_string(limits.time.count() / 1000) + " s");
    }
    if (::poll(ends.data(), ends.size(), k_look_ms) < 0 && errno != EINTR) return system_failure("poll", errno);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      const ssize_t n = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        ends[i].fd = -1;
        continue;
      }
      std::string& text = i == 0 ? result.output : result.errors;
      text.append(buffer.data(), static_cast<std::size_t>(n));
      if (i == 0 && text.size() > limits.output_bytes) {
        return fail(Errc::limit, "its answer has more than " + std::to_string(limits.output_bytes >> 20U) + " MiB");
      }
      if (i == 1) text.resize(std::min(text.size(), k_kept_errors));
    }
  }
  return {};
}

int reap(pid_t pid) {
  constexpr int k_signals = 128;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : k_signals + WTERMSIG(status);
}

}  // namespace

Expected<ChildResult> run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                const ChildLimits& limits) {
  SHAPLEY_TRY_ASSIGN(Pipe output, make_pipe());
  SHAPLEY_TRY_ASSIGN(Pipe errors, make_pipe());
  SHAPLEY_TRY_ASSIGN(const pid_t pid, Spawn().start(program, arguments, output.write.get(), errors.write.get()));
  output.write.reset();
  errors.write.reset();
  bound(pid, limits.memory_bytes);
  ChildResult result;
  const Expected<void> collected = collect(output.read, errors.read, limits, result);
  if (!collected) ::kill(pid, SIGKILL);
  result.exit_code = reap(pid);
  SHAPLEY_TRY(collected);
  return result;
}

}  // namespace shapley::daemon
