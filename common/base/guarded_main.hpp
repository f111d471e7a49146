// What a program's main function does with an exception that nothing below it caught.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace shapley {

// The exit code of a program that got no memory (sysexits' EX_OSERR): it is no defect, and may work another time.
inline constexpr int k_exit_no_memory = 71;

// What `body` returns. An exception that leaves it ends in one sentence for `say`: std::bad_alloc with
// k_exit_no_memory, whatever else with `internal`, the program's exit code for a defect. One that leaves another thread
// meanwhile ends the process at once, with the same sentence and code. REQUIRES: no other call goes on.
[[nodiscard]] int run_guarded(std::string_view program, int internal,
                              const std::function<void(const std::string&)>& say, const std::function<int()>& body);

}  // namespace shapley
