// `experiment consortium`: two clusters of the same organizations, each with its own schedule and books, that rank by
// their own figures or by the sum over both (scheduling/consortium.hpp): cases, measures, and results for people and
// programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "scheduling/consortium.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

struct ConsortiumCase {
  std::string name;
  std::string about;                           // one line
  std::vector<scheduling::Instance> clusters;  // of the same organizations, with one end
};

// The cases: organizations A, B and C with 16 processors on each of two clusters, run times as in the cases
// of `experiment stability`, `length` seconds; a load is what an organization sends, relative to the capacity of its
// own 16.
//
// cross      C lends on 1 to A and A on 2 to C: A sends 2.1 on 1 only, C 2.1 on 2 only, B 1.05 on each
// repay      A sends nothing on 1 for 30 days (an eighth of the length, if that is less) while B and C send 1.575
//            there; from then on A sends 1 on 1 and twice its part, 2.1, on 2; all others 1.05
// symmetric  all send 1.05 on each
[[nodiscard]] std::vector<ConsortiumCase> consortium_cases(Duration length, std::uint64_t seed);

// E[d^2] / 2 E[d] of all jobs of the case, an hour at least.
[[nodiscard]] Duration mean_residual(const ConsortiumCase& one);

// How long after a statement its figures are extrapolated; then they stay.
enum class Extrapolation { always, residual };  // residual: mean_residual

struct ConsortiumSetting {
  bool by_sum = true;
  game::ServingRule serving;
  Duration every{60};
  Extrapolation extrapolation = Extrapolation::always;
};
// By the clusters' own figures; by the sum with an exchange every minute, hour, day and week.
[[nodiscard]] std::vector<ConsortiumSetting> consortium_settings(const game::ServingRule& rule);

// Measures of one run, or the mean of several.
struct ConsortiumMeasures {
  std::vector<std::vector<double>> mean_wait_s;  // by cluster, organization; as measure_stability's
  // By organization. The standing in core-hours, summed over all clusters, at the end of each week and of the case; the
  // part of all clusters' processors that its jobs used, by whole week.
  std::vector<std::vector<double>> standing;
  std::vector<std::vector<double>> share;
  // Standard deviation of weekly shares over the last third of the weeks, the greatest of all organizations': for all
  // clusters together, and on the cluster where it is greatest.
  double deviation = 0;
  double deviation_of_cluster = 0;

  // Weeks until every standing stays within a core-hour per processor of the consortium; nullopt: one ends above.
  [[nodiscard]] std::optional<std::int64_t> weeks_to_settle(double processors) const;
};
constexpr auto description_of(std::type_identity<ConsortiumMeasures>) {
  using M = ConsortiumMeasures;
  return describe(member("mean_wait_s", &M::mean_wait_s), member("standing", &M::standing), member("share", &M::share),
                  member("deviation", &M::deviation), member("deviation_of_cluster", &M::deviation_of_cluster));
}

// Errors: those of make_policy().
[[nodiscard]] Expected<ConsortiumMeasures> run_consortium(const ConsortiumCase& one, const std::string& estimator,
                                                          const ConsortiumSetting& setting, std::uint64_t seed);
// REQUIRES: at least one run, all of one case.
[[nodiscard]] ConsortiumMeasures mean_of(std::span<const ConsortiumMeasures> runs);

// The case of the first seed, for which a table is made for each estimator.
struct MeasuredConsortiumCase {
  std::string name;
  std::string about;
  std::vector<std::string> jobs;  // their digests, by cluster
  std::int64_t residual_s = 0;
  std::int64_t processors = 0;  // of all clusters
};
constexpr auto description_of(std::type_identity<MeasuredConsortiumCase>) {
  using C = MeasuredConsortiumCase;
  return describe(member("case", &C::name), member("about", &C::about), member("jobs", &C::jobs),
                  member("mean_residual_s", &C::residual_s), member("processors", &C::processors));
}
struct MeasuredConsortium {
  std::vector<MeasuredConsortiumCase> cases{};
  // Every setting of every case, estimator and seed, the seeds of one row next to each other.
  Units<ConsortiumMeasures> runs{};
};
constexpr auto description_of(std::type_identity<MeasuredConsortium>) {
  return describe(member("cases", &MeasuredConsortium::cases), member("runs", &MeasuredConsortium::runs));
}

struct ConsortiumRow {
  ConsortiumSetting setting;
  ConsortiumMeasures measures;
  std::optional<std::int64_t> settled;  // weeks
};
[[nodiscard]] Json json_value(const ConsortiumRow& row);

// One case under one estimator.
struct ConsortiumTable {
  std::string name;
  std::string about;
  std::string estimator;
  std::size_t seeds = 0;
  std::int64_t residual_s = 0;  // mean_residual of the first seed's case
  std::vector<ConsortiumRow> rows;
};
constexpr auto description_of(std::type_identity<ConsortiumTable>) {
  using T = ConsortiumTable;
  return describe(member("case", &T::name), member("about", &T::about), member("estimator", &T::estimator),
                  member("seeds", &T::seeds), member("mean_residual_s", &T::residual_s), member("rows", &T::rows));
}
void print_consortium(const ConsortiumTable& table, std::ostream& out);

// consortium-CASE-standing.svg: over the weeks, the standing of the organization for which it is greatest under the
// first rule, by own figures and by the sum; consortium-CASE-exchange.svg: by interval of exchanges, the weekly share
// of the organization whose share varies most under the rule under which shares vary most.
[[nodiscard]] Expected<void> plot_consortium(const std::filesystem::path& folder, const ConsortiumTable& table);

}  // namespace shapley::sim
