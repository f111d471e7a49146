#include "ctl/adoption/command.hpp"

#include <utility>

#include "base/child_process.hpp"

namespace shapley::ctl {

Expected<CommandOutput> run_command(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
  constexpr std::size_t k_max_bytes = 64U << 20U;
  constexpr std::size_t k_kept_errors = 1U << 20U;
  auto run = run_child(arguments, {.time = limit, .output_bytes = k_max_bytes, .error_bytes = k_kept_errors});
  const auto failed = [&](Errc code, const std::string& how) { return fail(code, arguments.front() + ": " + how); };
  if (!run) return fail(Errc::unavailable, run.error().what + "; is Slurm's bin folder in PATH?");
  switch (run->end) {
    case ChildEnd::late:
    case ChildEnd::unwanted:
      return failed(Errc::unavailable, "no end within " + std::to_string(limit.count() / 1000) + " s");
    case ChildEnd::overlong:
      return failed(Errc::limit, "wrote more than 64 MiB");
    case ChildEnd::signalled:
      return failed(Errc::unavailable, "was killed by a signal");
    case ChildEnd::exited:
      break;
  }
  return CommandOutput{run->exit_code, std::move(run->output), std::move(run->errors)};
}

}  // namespace shapley::ctl
