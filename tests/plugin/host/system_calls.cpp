#include "system_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/support/waiting.hpp"

namespace shapley::host {

namespace {

constexpr std::size_t k_max_recorded = 1024;
std::array<int, k_max_recorded> g_recorded;
std::atomic<std::size_t> g_count = 0;

void record(int, siginfo_t* info, void* context) {
  const std::size_t place = g_count++;
  if (place < k_max_recorded) g_recorded[place] = info->si_syscall;
#if defined(__x86_64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
#elif defined(__aarch64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.regs[0] = static_cast<unsigned long>(-ENOSYS);
#endif
}

// Every call traps but the return from the trap and what ends a thread.
bool install_filter() {
  constexpr std::array<unsigned, 6> allowed{SYS_rt_sigreturn, SYS_exit,   SYS_exit_group,
                                            SYS_madvise,      SYS_munmap, SYS_rt_sigprocmask};
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : allowed) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

std::vector<int> system_calls_of(const std::function<void()>& code) {
  struct sigaction action {};
  action.sa_sigaction = record;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  g_count = 0;
  bool filtered = false;
  std::size_t made = 0;
  const test::Deadline deadline("the code whose system calls are counted");
  std::thread([&] {
    filtered = install_filter();
    if (!filtered) return;
    const std::size_t before = g_count;
    code();
    made = g_count - before;
  }).join();
  if (!filtered) throw std::runtime_error("system_calls_of: no seccomp filter: this kernel forbids it");
  return {g_recorded.begin(), g_recorded.begin() + static_cast<std::ptrdiff_t>(std::min(made, k_max_recorded))};
}

}  // namespace shapley::host
