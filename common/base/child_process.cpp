#include "base/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace shapley {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// For the system's lists of texts, which it does not change. Ends with a null; valid as long as `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
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

  // `output` and `errors`: what becomes its standard output and error; a closed one: /dev/null.
  Expected<pid_t> start(std::vector<std::string> words, std::optional<std::vector<std::string>> environment,
                        const Descriptor& output, const Descriptor& errors) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    direct(STDOUT_FILENO, output);
    direct(STDERR_FILENO, errors);
    if (environment) restore_signals();
    const std::vector<char*> argv = pointers_to(words);
    const std::vector<char*> variables = environment ? pointers_to(*environment) : std::vector<char*>();
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, argv.front(), &actions_, &attributes_, argv.data(),
                                     environment ? variables.data() : environ);
    if (error != 0) return system_failure(words.front(), error, error == ENOENT ? Errc::not_found : Errc::io);
    return pid;
  }

 private:
  void direct(int stream, const Descriptor& to) {
    if (to.is_open()) {
      ::posix_spawn_file_actions_adddup2(&actions_, to.get(), stream);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_WRONLY, 0);
    }
  }
  void restore_signals() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// It has hardly begun when this is done. A kernel that refuses leaves it with our own limits.
void bound(pid_t pid, const ChildOptions& options) {
  const rlimit memory{.rlim_cur = options.memory_bytes, .rlim_max = options.memory_bytes};
  if (options.memory_bytes != 0) ::prlimit(pid, RLIMIT_AS, &memory, nullptr);
  if (!options.is_dispensable) return;
  const std::string file = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  const Descriptor score(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  constexpr std::string_view k_first = "1000";
  if (score.is_open()) (void)!::write(score.get(), k_first.data(), k_first.size());
}

// How long to wait for more, in milliseconds.
int patience(Clock::time_point until, const ChildOptions& options) {
  constexpr std::int64_t k_look_ms = 100;
  constexpr std::int64_t k_most_ms = 3'600'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, options.ended != nullptr ? k_look_ms : k_most_ms));
}

// Takes what the program writes until it has closed both ends (`exited`), or why it is to be killed.
Expected<ChildEnd> collect(const Descriptor& output, const Descriptor& errors, const ChildOptions& options,
                           ChildRun& run) {
  const auto until = Clock::now() + options.time;
  constexpr std::size_t k_buffer_bytes = 64U << 10U;
  std::vector<char> buffer(k_buffer_bytes);
  std::array<pollfd, 2> ends{pollfd{.fd = output.get(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = errors.get(), .events = POLLIN, .revents = 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (options.ended != nullptr && options.ended->load()) return ChildEnd::unwanted;
    if (Clock::now() >= until) return ChildEnd::late;
    const int ready = ::poll(ends.data(), ends.size(), patience(until, options));
    if (ready < 0 && errno != EINTR) return system_failure("poll", errno);
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      const ssize_t n = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        ends[i].fd = -1;
        continue;
      }
      std::string& text = i == 0 ? run.output : run.errors;
      text.append(buffer.data(), static_cast<std::size_t>(n));
      if (i == 0 && text.size() > options.output_bytes) return ChildEnd::overlong;
      if (i == 1) text.resize(std::min(text.size(), options.error_bytes));
    }
  }
  return ChildEnd::exited;
}

// The status of waitpid.
int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Expected<ChildRun> run_child(const std::vector<std::string>& words, const ChildOptions& options) {
  SHAPLEY_TRY_ASSIGN(Pipe output, make_pipe());
  Pipe errors;
  if (options.error_bytes != 0) {
    SHAPLEY_TRY_ASSIGN(errors, make_pipe());
  }
  SHAPLEY_TRY_ASSIGN(const pid_t pid, Spawn().start(words, options.environment, output.write, errors.write));
  output.write.reset();
  errors.write.reset();
  bound(pid, options);
  ChildRun run;
  const Expected<ChildEnd> end = collect(output.read, errors.read, options, run);
  if (end != ChildEnd::exited) ::kill(pid, SIGKILL);
  const int status = reap(pid);
  SHAPLEY_TRY_ASSIGN(run.end, end);
  constexpr int k_signals = 128;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : k_signals + WTERMSIG(status);
  if (run.end == ChildEnd::exited && !WIFEXITED(status)) run.end = ChildEnd::signalled;
  return run;
}

}  // namespace shapley
