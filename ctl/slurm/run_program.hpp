// A program's standard output. No shell: arguments are what they are.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::ctl {

inline constexpr std::chrono::milliseconds k_program_timeout{5'000};
inline constexpr std::size_t k_max_program_output = std::size_t{4} << 20U;  // bytes

// `words`: the program, found along PATH, and its arguments. Its input and its errors are /dev/null. Errors:
// Errc::not_found when there is no such program, Errc::unavailable when it takes longer than the timeout (it is killed)
// or ends with another code than 0, Errc::limit when it says more than the bound, Errc::io.
[[nodiscard]] Expected<std::string> run_program(const std::vector<std::string>& words,
                                                std::chrono::milliseconds timeout = k_program_timeout);

}  // namespace shapley::ctl
