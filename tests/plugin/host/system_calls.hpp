// Counts the system calls of a piece of code, whatever library makes them: the kernel reports each one of the thread
// that runs it (seccomp), so nothing can hide.
#pragma once

#include <functional>
#include <vector>

namespace shapley::host {

// Runs the code in a thread of its own and returns the numbers of the system calls that it made. Such a call is not
// carried out: it fails with ENOSYS. Throws std::runtime_error where the kernel has no seccomp filters.
[[nodiscard]] std::vector<int> system_calls_of(const std::function<void()>& code);

}  // namespace shapley::host
