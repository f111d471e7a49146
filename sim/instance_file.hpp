// Instances as JSON files: {"machines": [m0, ...], "jobs": [[release, duration, organization], ...], "t_end": T}.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "fairness/instance.hpp"

namespace shapley::sim {

// Errors name the file and the member at fault. The instance is validated.
[[nodiscard]] Expected<fairness::Instance> read_instance(const std::filesystem::path& file);
[[nodiscard]] Expected<fairness::Instance> parse_instance_json(std::string_view text);

}  // namespace shapley::sim
