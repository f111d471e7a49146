// Random planning instances, as in the experiments of MO11 Sec. 7.
//
// Owners follow Zipf's law with exponent 1.4267 over the organizations. Same seed, same instance on one platform (the
// distributions go through the C library's log, exp and pow).
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "planning/model/grid.hpp"

namespace shapley::planning {

// uni: lengths uniform on 1..50, processors uniform on 1..m. swf: the first jobs, from midnight on, of the model of
// Lublin and Feitelson [LF03], batch and interactive ones as its program makes them, with all releases at 0;
// swf_one_kind: by the model's parameters for all jobs together.
enum class WorkloadModel { uni, swf, swf_one_kind };

inline constexpr double k_zipf_exponent = 1.4267;

// REQUIRES: at least one cluster. m, the bound on a job's processors, is the smallest cluster.
[[nodiscard]] Grid generate_grid(WorkloadModel model, std::vector<std::int64_t> clusters, std::size_t jobs, Rng& rng);

// Cluster sizes from a Pareto distribution from 128 on, those above 1024 drawn again [MO11 Sec. 7.4]. REQUIRES: shape >
// 0.
[[nodiscard]] std::vector<std::int64_t> pareto_clusters(std::size_t count, double shape, Rng& rng);

}  // namespace shapley::planning
