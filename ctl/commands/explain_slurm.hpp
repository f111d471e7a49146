// Slurm's part of an explanation, for people: its state and reason, its priority beside what the books ask for, and its
// estimate for a job that was not submitted.
#pragma once

#include <optional>
#include <string>

#include "ctl/commands/explain.hpp"

namespace shapley::ctl {

[[nodiscard]] std::string slurm_lines(const Explanation& explanation);
[[nodiscard]] std::string priority_lines(const Explanation& explanation);
// `answer`: of test_only() (slurm/submission.hpp); "" if sbatch was not asked.
[[nodiscard]] std::string test_only_line(const std::optional<std::string>& answer);

}  // namespace shapley::ctl
