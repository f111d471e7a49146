// What the engine costs: `bench_accounting` (design goals: apply() about a microsecond or two beside 100,000 open
// segments, 100,000 live jobs in well under 100 MiB).
#include <fstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/rng.hpp"

namespace shapley::accounting {
namespace {

constexpr Instant k_start{1'700'000'000};
constexpr std::uint32_t k_nodes = 1'000;

std::string node_name(std::uint64_t i) {
  return "node" + std::to_string(i);
}
std::string organization_name(std::uint64_t i) {
  return "organization" + std::to_string(i);
}

State cluster(int organizations) {
  State state;
  std::vector<std::string> names;
  for (int i = 0; i < organizations; ++i) names.push_back(organization_name(static_cast<std::uint64_t>(i)));
  benchmark::DoNotOptimize(state.apply(OrganizationsDeclared{k_start, names}));
  for (std::uint32_t n = 0; n < k_nodes; ++n) {
    const std::string& owner = names[n % names.size()];
    benchmark::DoNotOptimize(
        state.apply(OwnershipStated{node_name(n), k_start, {{k_beginning_of_time, {{owner, 1'000'000}}}}}));
    benchmark::DoNotOptimize(state.apply(CapacityChanged{node_name(n), k_start, 0, {k_micro * 128}}));
  }
  return state;
}

SegmentOpened some_run(Rng& rng, std::uint32_t job, Instant begin, int organizations) {
  const auto owner = rng.below(static_cast<std::uint64_t>(organizations));
  return {{SegmentKind::run, {job}, begin, 0},
          organization_name(owner),
          begin,
          {k_micro},
          {{node_name(rng.below(k_nodes)), {k_micro}}}};
}

SegmentOpened some_wait(Rng& rng, std::uint32_t job, Instant begin, int organizations) {
  const auto owner = rng.below(static_cast<std::uint64_t>(organizations));
  return {{SegmentKind::wait, {job}, begin, 0}, organization_name(owner), begin, {k_micro}, {}};
}

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

// A start and an end per turn beside 100,000 open runs, ten a second, ranks asked for once a second.
void apply_beside_open_segments(benchmark::State& bench) {
  const int organizations = static_cast<int>(bench.range(0));
  Rng rng(1);
  State state = cluster(organizations);
  std::uint32_t job = 1;
  for (; job <= 100'000; ++job) benchmark::DoNotOptimize(state.apply(some_run(rng, job, k_start, organizations)));
  Instant now = k_start;
  std::int64_t turns = 0;
  for (auto _ : bench) {
    if (++turns % 10 == 0) {
      now = now + Duration{1};
      benchmark::DoNotOptimize(state.advance(now).ranking(k_default_estimator));
    }
    if (turns % 100'000 == 0) state.compact();
    const SegmentOpened opened = some_run(rng, job++, now, organizations);
    benchmark::DoNotOptimize(state.apply(opened));
    benchmark::DoNotOptimize(state.apply(SegmentClosed{opened.key, now, CloseReason::ended, "COMPLETED"}));
  }
  bench.SetItemsProcessed(2 * bench.iterations());
}
BENCHMARK(apply_beside_open_segments)->Arg(3)->Arg(8)->Arg(12);

// Runs of one processor that all share one node of 128, then their ends; what they hold is asked for at the end.
void starts_on_one_node(benchmark::State& bench) {
  const auto runs = static_cast<std::uint32_t>(bench.range(0));
  for (auto _ : bench) {
    State state = cluster(2);
    CapacityChanged node{node_name(0), k_start, 1, {k_micro * 128}};
    node.whole = node.processors;
    benchmark::DoNotOptimize(state.apply(node));
    std::vector<SegmentOpened> opened;
    for (std::uint32_t job = 1; job <= runs; ++job) {
      const Instant begin = k_start + Duration{job};
      opened.push_back({{SegmentKind::run, {job}, begin, 0},
                        organization_name(job % 2),
                        begin,
                        {k_micro},
                        {{node_name(0), {k_micro}}}});
      benchmark::DoNotOptimize(state.apply(opened.back()));
    }
    for (const SegmentOpened& run : opened)
      benchmark::DoNotOptimize(
          state.apply(SegmentClosed{run.key, run.begin + Duration{runs}, CloseReason::ended, "COMPLETED"}));
    benchmark::DoNotOptimize(state.advance(k_start + Duration{3 * runs}).standings(EstimatorSet::all()));
  }
}
BENCHMARK(starts_on_one_node)->Arg(1'000)->Arg(4'000)->Arg(20'000)->Iterations(1)->Unit(benchmark::kMillisecond);

void memory_of_live_jobs(benchmark::State& bench) {
  for (auto _ : bench) {
    const std::int64_t before = resident_kib();
    Rng rng(1);
    State state = cluster(8);
    for (std::uint32_t job = 1; job <= 100'000; ++job) {
      const SegmentOpened waiting = some_wait(rng, job, k_start, 8);
      benchmark::DoNotOptimize(state.apply(JobDescribed{.job = {job},
                                                        .submit = k_start,
                                                        .organization = waiting.organization,
                                                        .array_task = {},
                                                        .account = "a",
                                                        .partition = "p",
                                                        .qos = "q",
                                                        .name = {},
                                                        .wckey = {}}));
      benchmark::DoNotOptimize(state.apply(waiting));
      if (bench.range(0) == 0) continue;
      benchmark::DoNotOptimize(
          state.apply(SegmentClosed{waiting.key, k_start + Duration{1}, CloseReason::started, "RUNNING"}));
      benchmark::DoNotOptimize(state.apply(some_run(rng, job, k_start + Duration{1}, 8)));
    }
    bench.counters["MiB"] = static_cast<double>(resident_kib() - before) / 1024;
  }
}
BENCHMARK(memory_of_live_jobs)->Arg(0)->Arg(1)->ArgName("running")->Iterations(1)->Unit(benchmark::kMillisecond);

void save_and_load(benchmark::State& bench) {
  Rng rng(1);
  State state = cluster(8);
  for (std::uint32_t job = 1; job <= 100'000; ++job)
    benchmark::DoNotOptimize(state.apply(some_run(rng, job, k_start, 8)));
  std::string text;
  for (auto _ : bench) {
    text = state.save();
    benchmark::DoNotOptimize(State::load(text));
  }
  bench.counters["MiB"] = static_cast<double>(text.size()) / (1 << 20);
}
BENCHMARK(save_and_load)->Unit(benchmark::kMillisecond);

// News that are an hour late, with something happening every second.
void late_news(benchmark::State& bench) {
  const int organizations = static_cast<int>(bench.range(0));
  Rng rng(1);
  State state = cluster(organizations);
  std::uint32_t job = 1;
  Instant now = k_start;
  for (; job <= 7'200; ++job) {
    now = now + Duration{1};
    benchmark::DoNotOptimize(state.apply(some_run(rng, job, now, organizations)));
    benchmark::DoNotOptimize(state.advance(now).standings());
  }
  for (auto _ : bench) {
    benchmark::DoNotOptimize(state.apply(some_run(rng, job++, now - Duration{3'600}, organizations)));
    benchmark::DoNotOptimize(state.advance(now).standings());
  }
}
BENCHMARK(late_news)->Arg(3)->Arg(8)->Arg(12)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shapley::accounting

BENCHMARK_MAIN();
