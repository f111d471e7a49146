// What every policy costs, by number of organizations: `bench_policies` (./dev bench).
//
// An event is a release or a completion in the schedule that the policy makes: two per job. Starts are decisions, not
// events, and what happens in the schedules of subcoalitions is not counted at all, so that policies compare.
//
// The workload is generated: users in bursts, as many processors as keep queues coming and going. A real trace, as an
// instance file, comes through the environment: SHAPLEY_BENCH_INSTANCE=FILE; then only its k is run.
#include <cstdlib>
#include <iostream>
#include <string>

#include <benchmark/benchmark.h>

#include "base/rng.hpp"
#include "fairness/simulate.hpp"
#include "sim/instance_file.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {
namespace {

constexpr std::uint32_t k_processors = 70;  // what [SR13] gives LPC-EGEE
constexpr std::size_t k_jobs = 100'000;

// 50 users dealt to the organizations; a user sends bursts of up to 60 jobs of like duration, seconds to hours. The
// mean load is three quarters of the machine.
fairness::Instance bursty_instance(std::size_t organizations) {
  Rng rng(7);
  fairness::Instance instance;
  for (std::size_t u = 0; u < organizations; ++u) {
    const std::size_t share = k_processors / organizations + (u < k_processors % organizations ? 1 : 0);
    instance.processors.push_back(static_cast<std::uint32_t>(share));
  }
  std::int64_t now = 0;
  while (instance.jobs.size() < k_jobs) {
    const std::uint64_t user = std::min(rng.below(50), rng.below(50));
    const std::uint64_t burst = 1 + rng.below(60);
    const std::uint64_t typical = 1ULL << (3 + rng.below(11));
    std::int64_t work = 0;
    for (std::uint64_t j = 0; j < burst; ++j) {
      const auto duration = static_cast<std::int64_t>(1 + rng.below(2 * typical));
      work += duration;
      instance.jobs.push_back({{now + static_cast<std::int64_t>(rng.below(60))},
                               {duration},
                               static_cast<std::uint32_t>(user % organizations)});
    }
    now += work * 4 / (3 * k_processors);
  }
  std::stable_sort(instance.jobs.begin(), instance.jobs.end(),
                   [](const fairness::Job& a, const fairness::Job& b) { return a.release < b.release; });
  instance.end = {now + 100'000};
  return instance;
}

void run_policy(benchmark::State& state, const std::string& name, const fairness::Instance& instance) {
  std::uint64_t events = 0;
  for (auto _ : state) {
    const auto policy = make_policy(name, instance, {});
    if (!policy) {
      state.SkipWithError(policy.error().what.c_str());
      return;
    }
    events += fairness::simulate(instance, **policy).events;
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

void register_policies(const fairness::Instance& instance) {
  const std::string k = std::to_string(instance.organizations());
  for (const std::string& name : policy_names()) {
    benchmark::RegisterBenchmark((name + "/k=" + k).c_str(), [&instance, name](benchmark::State& state) {
      run_policy(state, name, instance);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace shapley::sim

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<shapley::fairness::Instance> instances;
  if (const char* file = std::getenv("SHAPLEY_BENCH_INSTANCE")) {
    auto instance = shapley::sim::read_instance(file);
    if (!instance) {
      std::cerr << "bench_policies: " << instance.error().what << '\n';
      return 1;
    }
    instances.push_back(std::move(instance).value());
  } else {
    for (const std::size_t k : {5U, 8U, 10U, 12U}) instances.push_back(shapley::sim::bursty_instance(k));
  }
  for (const auto& instance : instances) shapley::sim::register_policies(instance);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
