// Instances as JSON files: {"machines": [m0, ...], "jobs": [[release, duration, organization], ...], "t_end": T}.
// A fourth member of a job is its number of processors: as many copies, as if the file listed the job so often, or a
// rigid job.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "scheduling/instance.hpp"
#include "workload/window.hpp"

namespace shapley::sim {

// Errors name the file and the member at fault. The instance is validated.
[[nodiscard]] Expected<scheduling::Instance> read_instance(
    const std::filesystem::path& file, workload::ParallelJobs parallel = workload::ParallelJobs::copies);
[[nodiscard]] Expected<scheduling::Instance> parse_instance_json(
    std::string_view text, workload::ParallelJobs parallel = workload::ParallelJobs::copies);

}  // namespace shapley::sim
