// Rigid jobs after Lublin and Feitelson [LF03]: sizes from a two-stage uniform distribution of log2, with serial jobs
// and powers of two favoured; run times whose natural logarithm is hyper-gamma, the longer branch likelier for wide
// jobs; arrivals whose gaps have a gamma-distributed logarithm and follow the hours of the day.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "planning/grid.hpp"

namespace shapley::planning {

enum class LublinKind { batch, interactive, any };

struct LublinJob {
  std::int64_t arrival = 0;     // seconds since the first midnight
  std::int64_t length = 1;      // seconds, 1 .. e^12
  std::int64_t processors = 1;  // 1 .. most
  LublinKind kind = LublinKind::any;
};

// The model's published parameters for one kind of jobs.
struct LublinParameters {
  LublinKind kind;
  double serial;                // part of the jobs on one processor
  double power_of_two;          // part of the jobs on 2, 4, 8, ... processors
  double low;                   // least log2 of a parallel job's size
  double below_machine;         // log2 of the machine's size, less that of the widest job
  double medium_distance;       // the two stages of size meet so far below the widest job's log2
  double lower_stage;           // part of the parallel jobs in the lower stage
  double shape1, scale1;        // gamma distributions of the logarithm of run times,
  double shape2, scale2;        // shorter and longer
  double slope, intercept;      // weight of the shorter: slope * processors + intercept, within 0 .. 1
  double gap_shape, gap_scale;  // gamma distribution of the logarithm of gaps in the rush hours
  double gap_all_hours;         // what gap_shape is multiplied by for the whole day
  double day_shape, day_scale;  // gamma distribution of arrivals over the half hours of a day that begins at 5:00
};

// One sample of jobs without kinds, or batch and interactive jobs, which arrive independently; the model's own program
// makes the latter by default.
enum class LublinJobs { one_kind, batch_and_interactive };

[[nodiscard]] const std::vector<LublinParameters>& lublin_parameters(LublinJobs jobs);

// Jobs in the order of their arrivals, for a machine of `most` processors. REQUIRES: most >= 1.
class LublinStream {
 public:
  LublinStream(LublinJobs jobs, std::int64_t most, Rng& rng);

  [[nodiscard]] LublinJob next();

 private:
  static constexpr int k_half_hours = 48;

  // Arrivals of one kind. Time runs at the speed of `rate`, 1 on average, so that gaps are the same at every hour.
  struct Source {
    const LublinParameters* parameters;
    std::array<double, k_half_hours> rate;
    std::int64_t half_hour = 0;  // since the first midnight
    double spent = 0;            // of the rate of this half hour
    [[nodiscard]] double arrival() const;
  };
  void advance(Source& source);

  std::int64_t most_;
  Rng& rng_;
  std::vector<Source> sources_;
};

// Random planning instances, as in the experiments of MO11 Sec. 7.
//
// Owners follow Zipf's law with exponent 1.4267 over the organizations. Same seed, same instance on one platform (the
// distributions go through the C library's log, exp and pow).
//
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
