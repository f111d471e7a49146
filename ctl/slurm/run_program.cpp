#include "ctl/slurm/run_program.hpp"

#include <utility>

#include "base/child_process.hpp"

namespace shapley::ctl {

namespace {

// The first line is kept of what it says when it fails.
constexpr std::size_t k_max_said = 400;

}  // namespace

Expected<std::string> run_program(const std::vector<std::string>& words, std::chrono::milliseconds timeout) {
  auto run = run_child(words, {.time = timeout, .output_bytes = k_max_program_output, .error_bytes = k_max_said});
  const std::string& program = words.front();
  if (!run && run.error().code == Errc::not_found) return fail(Errc::not_found, program + " is not on this machine");
  SHAPLEY_TRY(run);
  if (run->end == ChildEnd::late) return fail(Errc::unavailable, program + " does not answer in time");
  if (run->end == ChildEnd::overlong) return fail(Errc::limit, program + " says too much");
  if (run->exit_code != 0) {
    const std::string said = run->errors.substr(0, run->errors.find('\n'));
    return fail(Errc::unavailable, program + " failed" + (said.empty() ? "" : ": " + said));
  }
  return std::move(run->output);
}

}  // namespace shapley::ctl
