#include "sim/system/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace shapley::sim {

namespace {
std::atomic<bool> mark{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");
}  // namespace

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { mark = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return mark;
}

}  // namespace shapley::sim
