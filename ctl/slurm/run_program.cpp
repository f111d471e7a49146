#include "ctl/slurm/run_program.hpp"

#include <utility>

#include "base/process.hpp"

namespace shapley::ctl {

Expected<CommandOutput> run_command(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                                    std::size_t most_mib) {
  constexpr std::size_t k_kept_errors = 1U << 20U;
  auto run = run_child(words, {.time = limit, .output_bytes = most_mib << 20U, .error_bytes = k_kept_errors});
  const auto failed = [&](Errc code, const std::string& how) { return fail(code, words.front() + ": " + how); };
  if (!run && run.error().code == Errc::not_found)
    return failed(Errc::unavailable, "it is not on this machine; is Slurm's bin folder in PATH?");
  SHAPLEY_TRY(run);
  switch (run->end) {
    case ChildEnd::late:
    case ChildEnd::unwanted:
      return failed(Errc::unavailable, "no end within " + std::to_string(limit.count() / 1000) + " s");
    case ChildEnd::overlong:
      return failed(Errc::limit, "wrote more than " + std::to_string(most_mib) + " MiB");
    case ChildEnd::signalled:
      return failed(Errc::unavailable, "was killed by a signal");
    case ChildEnd::exited:
      break;
  }
  return CommandOutput{run->exit_code, std::move(run->output), std::move(run->errors)};
}

Expected<std::string> run_program(const std::vector<std::string>& words, std::chrono::milliseconds timeout) {
  constexpr std::size_t k_most_mib = 4;
  SHAPLEY_TRY_ASSIGN(CommandOutput output, run_command(words, timeout, k_most_mib));
  if (output.exit_code == 0) return std::move(output.out);
  const std::string said = output.err.substr(0, output.err.find('\n'));
  return fail(Errc::unavailable, words.front() + " failed" + (said.empty() ? "" : ": " + said));
}

}  // namespace shapley::ctl
