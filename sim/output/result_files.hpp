// Results of a run as files for other tools: one row per organization, and Batsim's jobs.csv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/policies/policy.hpp"
#include "scheduling/simulate.hpp"

namespace shapley::sim {

struct PolicyResult {
  std::string policy;
  scheduling::SimulationResult simulation;
  std::optional<std::vector<scheduling::Rational>> phi;
  std::vector<std::pair<game::Coalition, std::int64_t>> coalition_values;
  std::vector<std::int64_t> utilities;  // by organization; empty for psi_sp, which psi has
};

// Numbers, ascending, for the processors of every start of `schedule`, in its order: the lowest that are free.
// Processors are alike in the model, so this is one of many valid assignments. REQUIRES: the schedule fits the
// instance.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> place_jobs(const scheduling::Instance& instance,
                                                                 const std::vector<scheduling::Start>& schedule);

// policy,organization,processors,jobs,started,completed,work,psi,phi - phi as a fraction, empty where there is none.
[[nodiscard]] Expected<void> write_organizations(const std::filesystem::path& file,
                                                 const scheduling::Instance& instance,
                                                 const std::vector<PolicyResult>& results);

// The columns of Batsim's _jobs.csv, for the jobs that ended before the instance's end. The profile is the
// organization.
[[nodiscard]] Expected<void> write_batsim_jobs(const std::filesystem::path& file, const scheduling::Instance& instance,
                                               const PolicyResult& result);

}  // namespace shapley::sim
