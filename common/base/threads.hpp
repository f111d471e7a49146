// Threads that no signal is delivered to: another thread of the program waits for signals, or slurmctld's own does.
#pragma once

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace shapley {

// Starts the thread. `what` is for the message: "start WHAT: ...". Errc::unavailable: the system has no room for it.
template <typename Body>
[[nodiscard]] Expected<std::thread> start_without_signals(const std::string& what, Body&& body) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Expected<std::thread> started;
  try {
    started = std::thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    started = fail(Errc::unavailable, "start " + what + ": " + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace shapley
