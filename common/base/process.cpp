#include "base/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/printable.hpp"

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

// A file in memory that holds `input`, so that a program may read it late, or not at all; a closed one if it is empty.
Expected<Descriptor> file_of(std::string_view input) {
  if (input.empty()) return Descriptor();
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file.is_open()) return system_failure("memfd_create", errno);
  while (!input.empty()) {
    const ssize_t n = ::write(file.get(), input.data(), input.size());
    if (n < 0 && errno != EINTR) return system_failure("write", errno);
    if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return system_failure("lseek", errno);
  return file;
}

// Pointers for the system's calls, which do not change the texts. Ends with a null; valid as long as `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The attributes and file actions of posix_spawn for the child; freed at the end.
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

  // The descriptors become its standard input, output and error; a closed one is replaced by /dev/null.
  Expected<pid_t> start(std::vector<std::string> words, std::optional<std::vector<std::string>> environment,
                        const Descriptor& input, const Descriptor& output, const Descriptor& errors) {
    direct(STDIN_FILENO, input, O_RDONLY);
    direct(STDOUT_FILENO, output, O_WRONLY);
    direct(STDERR_FILENO, errors, O_WRONLY);
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
  void direct(int stream, const Descriptor& to, int mode) {
    if (to.is_open()) {
      ::posix_spawn_file_actions_adddup2(&actions_, to.get(), stream);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", mode, 0);
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

// Sets the child's limits just after it began. Where the kernel refuses, the child keeps our limits.
void bound(pid_t pid, const ChildOptions& options) {
  const rlimit memory{.rlim_cur = options.memory_bytes, .rlim_max = options.memory_bytes};
  if (options.memory_bytes != 0) ::prlimit(pid, RLIMIT_AS, &memory, nullptr);
  if (!options.is_dispensable) return;
  const std::string file = "/proc/" + std::to_string(pid) + "/oom_score_adj";
  const Descriptor score(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  constexpr std::string_view k_first = "1000";
  if (score.is_open()) (void)!::write(score.get(), k_first.data(), k_first.size());
}

// The time to wait for more output, in milliseconds.
int patience(Clock::time_point until, const ChildOptions& options) {
  constexpr std::int64_t k_look_ms = 100;
  constexpr std::int64_t k_most_ms = 3'600'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, options.ended != nullptr ? k_look_ms : k_most_ms));
}

// Reads the program's output until it has closed both ends (`exited`); else returns why it has to be killed.
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

// Waits for the process and returns the status of waitpid.
int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct Program {
  std::string name;
  int internal = 0;
  std::function<void(const std::string&)> say;

  // Reports the exception and returns the exit code.
  [[nodiscard]] int say_why(const std::exception_ptr& thrown) const {
    const std::string report = "; this is a defect of " + name + ", please report it";
    try {
      if (thrown) std::rethrow_exception(thrown);
      say(name + ": internal error without an exception" + report);
    } catch (const std::bad_alloc&) {
      say(name +
          ": there is not enough memory for this; ask for less at once (a shorter time, fewer rows), or allow it "
          "more (ulimit -v, MemoryMax= of its unit)");
      return k_exit_no_memory;
    } catch (const std::exception& defect) {
      say(name + ": internal error: " + printable(defect.what()) + report);
    } catch (...) {
      say(name + ": internal error of an unknown kind" + report);
    }
    return internal;
  }
};

const Program* running = nullptr;

}  // namespace

Expected<ChildRun> run_child(const std::vector<std::string>& words, const ChildOptions& options) {
  SHAPLEY_TRY_ASSIGN(const Descriptor input, file_of(options.input));
  SHAPLEY_TRY_ASSIGN(Pipe output, make_pipe());
  Pipe errors;
  if (options.error_bytes != 0) {
    SHAPLEY_TRY_ASSIGN(errors, make_pipe());
  }
  SHAPLEY_TRY_ASSIGN(const pid_t pid, Spawn().start(words, options.environment, input, output.write, errors.write));
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

int run_guarded(std::string_view program, int internal, const std::function<void(const std::string&)>& say,
                const std::function<int()>& body) {
  const Program guarded{std::string(program), internal, say};
  running = &guarded;
  // Called for an exception that leaves another thread.
  const std::terminate_handler before =
      std::set_terminate([] { std::_Exit(running->say_why(std::current_exception())); });
  int code = 0;
  try {
    code = body();
  } catch (...) {
    code = guarded.say_why(std::current_exception());
  }
  std::set_terminate(before);
  return code;
}

}  // namespace shapley
