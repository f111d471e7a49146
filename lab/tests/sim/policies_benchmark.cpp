// What every policy costs, by number of organizations: `bench_policies` (./dev bench).
//
// An event is a release or a completion in the schedule that the policy makes: two per job. Starts are decisions, not
// events, and what happens in the schedules of subcoalitions is not counted at all, so that policies compare.
//
// The workload is generated: users in bursts, as many processors as keep queues coming and going. A real trace, as
// instance files, comes through the environment: SHAPLEY_BENCH_INSTANCES="FILE FILE ..."; all of one k are run
// together.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {
namespace {

constexpr std::uint32_t k_processors = 70;  // what [SR13] gives LPC-EGEE
constexpr std::size_t k_jobs = 100'000;

// 50 users dealt to the organizations; a user sends bursts of up to 60 jobs of like duration, seconds to hours. The
// mean load is three quarters of the machine.
scheduling::Instance bursty_instance(std::size_t organizations) {
  Rng rng(7);
  scheduling::Instance instance;
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
                   [](const scheduling::Job& a, const scheduling::Job& b) { return a.release < b.release; });
  instance.end = {now + 100'000};
  return instance;
}

void run_policy(benchmark::State& state, const std::string& name, const std::vector<scheduling::Instance>& instances) {
  std::uint64_t events = 0;
  for (auto _ : state) {
    for (const scheduling::Instance& instance : instances) {
      const auto policy = make_policy(name, instance, {});
      if (!policy) {
        state.SkipWithError(policy.error().what.c_str());
        return;
      }
      events += scheduling::simulate(instance, **policy).events;
    }
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

void register_policies(std::size_t organizations, const std::vector<scheduling::Instance>& instances) {
  for (const std::string& name : policy_names()) {
    benchmark::RegisterBenchmark((name + "/k=" + std::to_string(organizations)).c_str(), [&instances, name](
                                                                                             benchmark::State& state) {
      run_policy(state, name, instances);
    })->Unit(benchmark::kMillisecond);
  }
}

Expected<std::map<std::size_t, std::vector<scheduling::Instance>>> benchmark_instances() {
  std::map<std::size_t, std::vector<scheduling::Instance>> instances;
  const char* files = std::getenv("SHAPLEY_BENCH_INSTANCES");
  if (files == nullptr) {
    for (const std::size_t k : {5U, 8U, 10U, 12U}) instances[k].push_back(bursty_instance(k));
    return instances;
  }
  std::istringstream names(files);
  for (std::string name; names >> name;) {
    SHAPLEY_TRY_ASSIGN(scheduling::Instance instance, read_instance(name));
    instances[instance.organizations()].push_back(std::move(instance));
  }
  return instances;
}

}  // namespace
}  // namespace shapley::sim

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const auto instances = shapley::sim::benchmark_instances();
  if (!instances) {
    std::cerr << "bench_policies: " << instances.error().what << '\n';
    return 1;
  }
  for (const auto& [organizations, of_one_k] : *instances) shapley::sim::register_policies(organizations, of_one_k);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
