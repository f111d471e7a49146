#include "ctl/slurm/run_program.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/own_environment.hpp"
#include "base/process.hpp"

namespace shapley::ctl {

namespace {

// Each of Slurm's commands has a family of variables of its own, and all of them read SLURM_*, of which a job's script
// and an allocation's shell have many; those that say how Slurm is reached stay. LANG and LC_* change words and the
// order of rows, TZ times.
bool is_neutral(std::string_view variable) {
  constexpr std::array<std::string_view, 6> k_kept{"SLURM_CONF",        "SLURM_CONF_SERVER", "SLURM_JWT",
                                                   "SLURM_SACK_SOCKET", "SLURM_SACK_KEY",    "SLURM_SACK_JWKS"};
  constexpr std::array<std::string_view, 12> k_families{"SLURM_",    "SQUEUE_", "SPRIO_",    "SBATCH_",
                                                        "SALLOC_",   "SRUN_",   "SCONTROL_", "SACCT_",
                                                        "SACCTMGR_", "SINFO_",  "SSHARE_",   "LC_"};
  constexpr std::array<std::string_view, 3> k_names{"LANG", "LANGUAGE", "TZ"};
  const std::string_view name = variable.substr(0, variable.find('='));
  if (std::ranges::find(k_kept, name) != k_kept.end()) return true;
  return std::ranges::find(k_names, name) == k_names.end() &&
         std::ranges::none_of(k_families, [&](std::string_view family) { return name.starts_with(family); });
}

}  // namespace

std::vector<std::string> neutral_environment(const std::vector<std::string>& variables) {
  std::vector<std::string> neutral;
  std::ranges::copy_if(variables, std::back_inserter(neutral), is_neutral);
  neutral.emplace_back("LC_ALL=C.UTF-8");
  neutral.emplace_back("TZ=UTC0");
  return neutral;
}

std::vector<std::string> about_cluster(std::vector<std::string> words, const std::string& cluster) {
  if (cluster.empty() || words.front() == "sacctmgr") return words;
  // sh -c TEXT sh ARGUMENT...
  constexpr std::size_t k_shell = 4;
  const std::size_t before = words.front() == "sh" ? std::min(k_shell, words.size()) : 1;
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(before), "--clusters=" + cluster);
  return words;
}

Expected<CommandOutput> run_command(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                                    std::size_t most_mib) {
  constexpr std::size_t k_kept_errors = 1U << 20U;
  auto run = run_child(words, {.time = limit,
                               .output_bytes = most_mib << 20U,
                               .error_bytes = k_kept_errors,
                               .environment = neutral_environment(own_environment())});
  const auto failed = [&](Errc code, const std::string& how) {
    return fail(code, fmt::format("{}: {}", words.front(), how));
  };
  if (!run && run.error().code == Errc::not_found)
    return failed(Errc::unavailable, "it is not on this machine; is Slurm's bin folder in PATH?");
  SHAPLEY_TRY(run);
  switch (run->end) {
    case ChildEnd::late:
    case ChildEnd::unwanted:
      return failed(Errc::unavailable, fmt::format("no end within {} s", limit.count() / 1000));
    case ChildEnd::overlong:
      return failed(Errc::limit, fmt::format("wrote more than {} MiB", most_mib));
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
  return fail(Errc::unavailable, fmt::format("{} failed{}", words.front(), said.empty() ? "" : ": " + said));
}

}  // namespace shapley::ctl
