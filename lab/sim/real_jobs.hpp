// One real schedule, made by EASY in the order of submission, and what each estimator says of it beside the exact
// Shapley value (scheduling/whole_jobs.hpp); and clusters that rank by the estimators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "game/shapley_value.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/policies/policy.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

struct Estimate {
  std::string name;
  std::vector<scheduling::Rational> phi;
  // v of coalitions, as far as the estimator has them.
  std::vector<std::pair<game::Coalition, std::int64_t>> values{};
};

struct RealJobs {
  std::vector<std::int64_t> psi;
  std::int64_t work = 0;
  Estimate exact;
  // hindsight, hindsight_whole, direct_contr, shapley_rate, shares (of processors owned).
  std::vector<Estimate> estimates;
};

[[nodiscard]] std::vector<std::string> estimate_names();

// REQUIRES: validate(instance), which ends at `until`. Errc::limit: more organizations than the exact value takes.
[[nodiscard]] Expected<RealJobs> estimate_all(const scheduling::EasyInstance& instance, std::uint64_t seed);

// psi at the end of a cluster that ranks by this policy: exact, hindsight, hindsight_whole, or a policy of registry.hpp
// that knows backfill, each with a rule in its name if it has one. Errc::invalid_argument: no such policy.
[[nodiscard]] Expected<std::vector<std::int64_t>> psi_ranked_by(const std::string& policy,
                                                                const scheduling::EasyInstance& instance,
                                                                const PolicyOptions& options);

// v of organizations alone, in sum.
[[nodiscard]] double alone_of(const Estimate& estimate);

}  // namespace shapley::sim
