// Child processes of tests: they die with the test, however it ends, and waiting for one has a deadline.
#pragma once

#include <cerrno>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/waiting.hpp"

namespace shapley::test {

// For a child, first thing after fork(), and again after a change of user, which the kernel takes for a new life: it is
// killed when the thread that forked it ends. `parent` is that process's getpid(), for the case that it is gone
// already.
inline void die_with(pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(127);
}

// REQUIRES: the thread that makes it outlives it.
class Child {
 public:
  // `run` is called in the child and execs a program or ends with _exit(); coming back is exit code 127. In a process
  // with several threads it may do only what is safe in a signal handler.
  Child(std::string name, const std::function<void()>& run) : name_(std::move(name)) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      die_with(parent);
      run();
      ::_exit(127);
    }
    if (pid_ < 0) throw std::runtime_error("no process for " + name_);
  }
  ~Child() {
    signal(SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Nothing happens to a child that was waited for: its pid may be another's by now.
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }
  // Exit code, or minus the signal that ended it. A child that does not end is a failure, and is killed.
  int wait() {
    if (pid_ <= 0) return ended_;
    int status = 0;
    if (!eventually([&] { return reaped(status, WNOHANG); })) {
      ADD_FAILURE() << name_ << " (process " << pid_ << ") did not end within " << k_timeout.count() << " s; killed";
      signal(SIGKILL);
      const Deadline deadline("the killed " + name_);
      while (!reaped(status, 0)) continue;
    }
    pid_ = -1;
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return ended_;
  }

 private:
  // No such child (ECHILD) ends the wait, too: there is nothing to wait for.
  bool reaped(int& status, int options) const {
    const pid_t found = ::waitpid(pid_, &status, options);
    return found == pid_ || (found < 0 && errno != EINTR);
  }

  std::string name_;
  pid_t pid_ = -1;
  int ended_ = 0;
};

}  // namespace shapley::test
