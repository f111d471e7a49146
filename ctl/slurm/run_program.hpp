// Runs another program and takes what it writes. No shell: arguments are what they are. Its standard input is empty; it
// is bounded in time and in bytes. What the caller's shell says of Slurm's commands does not change their answers
// (neutral_environment).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::ctl {

// These variables ("NAME=VALUE") without those by which a user changes what Slurm's commands answer, in which form, and
// of which cluster: SQUEUE_*, SPRIO_*, SBATCH_* and their like, SLURM_* except those that say where Slurm is; in the
// language C, with times in UTC as shapleyctl's own.
[[nodiscard]] std::vector<std::string> neutral_environment(const std::vector<std::string>& variables);

// The words of one of Slurm's commands so that it answers about this cluster; empty: this host's. sacctmgr asks
// slurmdbd, which has all clusters.
[[nodiscard]] std::vector<std::string> about_cluster(std::vector<std::string> words, const std::string& cluster);

struct CommandOutput {
  int exit_code = 0;
  std::string out;
  std::string err;  // the first MiB
};

// `words`: the program, looked for in PATH, and its arguments; not empty. Errc::unavailable: there is no such program,
// it was killed by a signal, or did not end within `limit` (it is killed then); Errc::limit: it wrote more than so many
// MiB (likewise); Errc::io: it cannot be started.
[[nodiscard]] Expected<CommandOutput> run_command(const std::vector<std::string>& words,
                                                  std::chrono::milliseconds limit, std::size_t most_mib = 64);

inline constexpr std::chrono::milliseconds k_program_timeout{5'000};

// The standard output of a program that ends with 0 within the timeout and writes 4 MiB at most. The error of one that
// ends otherwise has the first line of its standard error.
[[nodiscard]] Expected<std::string> run_program(const std::vector<std::string>& words,
                                                std::chrono::milliseconds timeout = k_program_timeout);

}  // namespace shapley::ctl
