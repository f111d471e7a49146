// How long the planning algorithms take: bench_planning [JOBS [CLUSTERS [PROCESSORS]]], by default 100000 20 512.
// Jobs as the paper's `uni`, owners Zipf; times are printed, never judged.
#include <chrono>
#include <cmath>
#include <iostream>

#include "base/rng.hpp"
#include "planning/algorithms.hpp"

namespace {

using namespace shapley;

planning::Grid make_grid(std::int64_t jobs, std::int64_t clusters, std::int64_t processors) {
  Rng rng(7);
  planning::Grid grid;
  grid.clusters.assign(static_cast<std::size_t>(clusters), processors);
  std::vector<double> cumulative;
  double total = 0;
  for (std::int64_t k = 1; k <= clusters; ++k) cumulative.push_back(total += std::pow(k, -1.4267));
  for (std::int64_t i = 0; i < jobs; ++i) {
    const double draw = static_cast<double>(rng.below(1U << 30)) / (1U << 30) * total;
    std::uint32_t owner = 0;
    while (cumulative[owner] < draw) ++owner;
    grid.jobs.push_back({owner, 1 + static_cast<std::int64_t>(rng.below(50)),
                         1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(processors)))});
  }
  return grid;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int index, std::int64_t otherwise) {
    return argc > index ? std::atoll(argv[index]) : otherwise;
  };
  const planning::Grid grid = make_grid(argument(1, 100000), argument(2, 20), argument(3, 512));
  for (const std::string_view name : planning::algorithm_names()) {
    const auto begin = std::chrono::steady_clock::now();
    const auto schedule = planning::plan(grid, name);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!schedule) {
      std::cerr << "bench_planning: " << name << ": " << schedule.error().what << '\n';
      return 1;
    }
    const Int128 makespan = planning::makespan(grid, *schedule);
    std::cout << name << ": " << took.count() << " s, score "
              << static_cast<double>(makespan) / static_cast<double>(grid.lower_bound()) << '\n';
  }
  return 0;
}
