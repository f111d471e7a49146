#include "ctl/slurm/run_program.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/process.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace shapley::ctl {

namespace {

bool is_neutral(std::string_view variable) {
  // Slurm's input variables by the pages of its commands; LANG and LC_* change words, the order of rows and times.
  constexpr std::array<std::string_view, 8> k_families{"SQUEUE_", "SPRIO_", "SBATCH_", "SCONTROL_",
                                                       "SACCT_",  "SINFO_", "SSHARE_", "LC_"};
  constexpr std::array<std::string_view, 7> k_names{
      "SLURM_CLUSTERS", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_TOPO_LEN", "SLURM_HINT", "LANG", "LANGUAGE"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::ranges::find(k_names, name) == k_names.end() &&
         std::ranges::none_of(k_families, [&](std::string_view family) { return name.starts_with(family); });
}

std::vector<std::string> callers_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

}  // namespace

std::vector<std::string> neutral_environment(const std::vector<std::string>& variables) {
  std::vector<std::string> neutral;
  std::ranges::copy_if(variables, std::back_inserter(neutral), is_neutral);
  neutral.emplace_back("LC_ALL=C.UTF-8");
  return neutral;
}

Expected<CommandOutput> run_command(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                                    std::size_t most_mib) {
  constexpr std::size_t k_kept_errors = 1U << 20U;
  auto run = run_child(words, {.time = limit,
                               .output_bytes = most_mib << 20U,
                               .error_bytes = k_kept_errors,
                               .environment = neutral_environment(callers_environment())});
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
