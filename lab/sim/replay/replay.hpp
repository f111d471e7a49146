// A site's history under other policies: EASY backfill (scheduling/easy.hpp), the queue in each policy's order.
//
// Of every organization's jobs:
//   wait               start - release, seconds
//   slowdown           (wait + run) / run
//   bounded slowdown   max(1, (wait + run) / max(run, 10 s))  [Feitelson, Metrics for Parallel Job Scheduling and Their
//                      Convergence, JSSPP 2001]: seconds that a short job waits do not rule the mean
// Of the whole: utilization, the processor seconds that ran by those that there were until the last job ended; the
// distance to REF, delta-psi / p_tot at `length` in seconds (sim/comparison), where REF can be computed: it schedules a
// job of q processors as q sequential ones, the only way in which the value of every coalition is defined.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "sim/json.hpp"
#include "sim/registry.hpp"
#include "sim/replay/site_history.hpp"
#include "tables/page.hpp"

namespace shapley::sim {

struct OrganizationOutcome {
  std::uint64_t jobs = 0;
  std::uint64_t never_started = 0;  // always wider than all processors
  std::int64_t work = 0;            // processor seconds of its jobs
  double mean_wait = 0;             // of those that started; 0 if none did
  std::int64_t longest_wait = 0;
  double mean_slowdown = 0;
  double mean_bounded_slowdown = 0;
  std::int64_t psi = 0;  // at the history's end
};
[[nodiscard]] Json json_value(const OrganizationOutcome& outcome);

struct ReplayOutcome {
  std::string policy;                              // "as it ran": what Slurm did
  std::vector<OrganizationOutcome> organizations;  // as in the history
  OrganizationOutcome all;                         // of all jobs; psi summed
  double utilization = 0;                          // 0 to 1
  Duration makespan;                               // until the last job ends
  std::uint64_t backfilled = 0;                    // jobs; 0 of "as it ran"
  std::optional<double> distance_to_ref;           // seconds
};

inline constexpr const char* k_as_it_ran = "as it ran";

struct Replay {
  std::vector<ReplayOutcome> outcomes;  // "as it ran" first, then as asked
  std::string no_reference;             // why there is no distance to REF; empty: there is one
};

// Errc::invalid_argument names a policy that cannot order a queue with backfill; other errors as simulate_easy.
[[nodiscard]] Expected<Replay> replay(const SiteHistory& history, const std::vector<std::string>& policies,
                                      const PolicyOptions& options);

// fcfs, fair_share, fair_tree, direct_contr and shapley_rate, or shapley_rate_sampled if there are many organizations.
[[nodiscard]] std::vector<std::string> usual_policies(const SiteHistory& history);

// `shapley-sim replay`: a site's own jobs, organizations and nodes under chosen policies.
struct ReplayArguments {
  SiteHistorySource source;
  std::string since, until;           // base/time_text.hpp; empty: all
  std::vector<std::string> policies;  // empty: usual_policies()
  std::uint64_t seed = 1;
  std::optional<Duration> horizon;             // nullopt: as configured
  std::optional<game::Guarantee> guarantee;    // nullopt: as configured
  std::optional<game::RunningWeight> running;  // nullopt: as configured
  bool once_a_pass = false;
  bool json = false;
  std::filesystem::path html;
};

// Prints a table, or with `json` one object; lab/docs/shapley-sim.md describes both.
[[nodiscard]] Expected<void> run_replay(const ReplayArguments& arguments, std::ostream& out);

// A replay as a table for people and as JSON (lab/docs/shapley-sim.md).

void print_replay(const SiteHistory& history, const Replay& replay, std::ostream& out);
[[nodiscard]] Json replay_json(const SiteHistory& history, const Replay& replay);

// A decimal without exponent, with `digits` digits after the point.
[[nodiscard]] std::string fixed_text(double value, int digits);
// "12 s", "34 min", "5.6 h", "7.8 d".
[[nodiscard]] std::string span_text(double seconds);

// A replay as one self-contained HTML file: no network, no script. Charts are gnuplot's SVG (common/charts), each above
// its table; without gnuplot the page has tables only and says so.
//
// Errc::io when the file cannot be written.
[[nodiscard]] Expected<void> write_replay_page(const std::filesystem::path& file, const SiteHistory& history,
                                               const Replay& replay);
// Its template (templates/).
[[nodiscard]] std::span<const tables::Template> replay_templates();

}  // namespace shapley::sim
