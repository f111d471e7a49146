// A job as Slurm's commands name it, and as people do.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/slurm_text.hpp"

namespace shapley {

struct JobName {
  std::uint32_t job = 0;                   // its number, or its array's
  std::optional<std::uint32_t> task = {};  // of the array
  std::uint32_t het_job = 0;               // the heterogeneous job that it is a part of, if named so
};

// "4711", "4711_3" (a task of an array) or "4711+1" (a part of a heterogeneous job), which has the number 4712, because
// Slurm numbers the parts consecutively. nullopt: the text has another form.
[[nodiscard]] inline std::optional<JobName> parse_job_name(std::string_view text) {
  const std::size_t mark = text.find_first_of("+_");
  const auto job = parse_number<std::uint32_t>(text.substr(0, mark));
  if (!job || *job == 0) return std::nullopt;
  if (mark == std::string_view::npos) return JobName{.job = *job};
  const auto number = parse_number<std::uint32_t>(text.substr(mark + 1));
  if (!number) return std::nullopt;
  if (text[mark] == '_') return JobName{.job = *job, .task = *number};
  if (*number > std::numeric_limits<std::uint32_t>::max() - *job) return std::nullopt;
  return JobName{.job = *job + *number, .het_job = *job};
}

}  // namespace shapley
