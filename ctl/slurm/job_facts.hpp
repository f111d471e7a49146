// What Slurm itself says about a job: squeue (state, priority, reason, dependency), sprio (the parts of the priority),
// scontrol (the weights and the partitions' tiers). Their output is asked for in fixed columns without the names that
// users choose, so nothing in a job can pass for another column.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace shapley::ctl {

// Runs a program (run_program.hpp); tests put others in its place.
using ProgramRunner = std::function<Expected<std::string>(const std::vector<std::string>& words)>;

// {"asked": true, "job": {"state", "priority", "reason", "dependency", "partition", "qos", "nice", "reservation",
// "start"}, "parts": [{"partition", "priority", "site", "age", "assoc", "fairshare", "jobsize", "part_weight", "qos",
// "nice", "tres"}], "weights": {"type", "others_max", "bounded"}, "tiers": {PARTITION: TIER}}. What a command does not
// tell is null; {"asked": false, "why": TEXT} when squeue itself cannot be asked.
// `job`: "4711" or "4711_3".
[[nodiscard]] nlohmann::json slurm_facts(const std::string& job, const ProgramRunner& run);

// The other case of it: Slurm was not asked, and why.
[[nodiscard]] nlohmann::json slurm_not_asked(const std::string& why);

}  // namespace shapley::ctl
