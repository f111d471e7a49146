// Ledgers of consortia of any size, for pages: three months of them, every day jobs on an organization's own and on
// others' processors, jobs that wait, and a configuration with titles.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace shapley::ctl {

inline constexpr Instant k_consortium_begin{1'791'590'400};  // 2026-10-10T00:00:00Z
inline constexpr Instant k_consortium_end{1'796'428'800};    // 2026-12-05T00:00:00Z

// "physics", "biology", "library", then "institute_for_applied_research_04", ...
[[nodiscard]] std::vector<std::string> consortium_names(std::size_t organizations);

// The last record is of k_consortium_end. REQUIRES: the file is not there.
void write_consortium(const std::filesystem::path& file, const std::vector<std::string>& names);

}  // namespace shapley::ctl
