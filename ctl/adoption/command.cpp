#include "ctl/adoption/command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace shapley::ctl {

namespace {

constexpr std::size_t k_max_bytes = 64U << 20U;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Errc::io, std::string("make a pipe: ") + std::strerror(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// A child that is waited for in any case.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait());
  }
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

Expected<pid_t> start_child(const std::vector<std::string>& arguments, const Pipe& out, const Pipe& err) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int fault = ::posix_spawnp(&pid, pointers.front(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault == 0) return pid;
  return fail(Errc::unavailable, arguments.front() + ": " + std::strerror(fault) + "; is Slurm's bin folder in PATH?");
}

// False: the other end was closed.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

Expected<CommandOutput> run_command(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + limit;
  SHAPLEY_TRY_ASSIGN(Pipe out, make_pipe());
  SHAPLEY_TRY_ASSIGN(Pipe err, make_pipe());
  SHAPLEY_TRY_ASSIGN(const pid_t pid, start_child(arguments, out, err));
  Child child(pid);
  out.write.reset();
  err.write.reset();
  CommandOutput output;
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    std::array<pollfd, 2> ends{pollfd{out_open ? out.read.get() : -1, POLLIN, 0},
                               pollfd{err_open ? err.read.get() : -1, POLLIN, 0}};
    const int ready = left <= 0 ? 0 : ::poll(ends.data(), ends.size(), static_cast<int>(left));
    if (ready == 0) {
      return fail(Errc::unavailable,
                  arguments.front() + ": no end within " + std::to_string(limit.count() / 1000) + " s");
    }
    if (ready > 0 && ends[0].revents != 0) out_open = drain(out.read.get(), output.out);
    if (ready > 0 && ends[1].revents != 0) err_open = drain(err.read.get(), output.err);
    if (output.out.size() + output.err.size() > k_max_bytes) {
      return fail(Errc::limit, arguments.front() + ": wrote more than 64 MiB");
    }
  }
  const int status = child.wait();
  if (!WIFEXITED(status)) return fail(Errc::unavailable, arguments.front() + ": was killed by a signal");
  output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace shapley::ctl
