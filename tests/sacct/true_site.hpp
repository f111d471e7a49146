// Random sites with what ran on them, as sacct shows it: of each run the sums over its nodes, which fitted there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sacct/site_nodes.hpp"
#include "sacct/sorted_rows.hpp"

namespace shapley::sacct::testing {

// A site that ran jobs, some of them on several nodes, without ever giving away what it did not have.
struct TrueSite {
  SiteNodes nodes;
  std::vector<SacctRow> rows;
};

inline constexpr std::int64_t k_seconds = 40;

class SiteMaker {
 public:
  explicit SiteMaker(std::uint32_t seed) : random_(seed) {}

  TrueSite make() {
    TrueSite made;
    const std::size_t count = 2 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      protocol::NodeRecord& node = made.nodes["n" + std::to_string(i + 1)];
      node.cpus = static_cast<std::uint32_t>(1 + below(below(2) == 0 ? 8 : 64));
      node.memory = node.cpus * 100;
      if (below(2) == 0) node.gres = {{"gres/gpu", 1 + below(4)}};
    }
    for (const auto& [name, node] : made.nodes) {
      free_[name].fill({node.cpus, static_cast<std::int64_t>(node.gres.empty() ? 0 : node.gres[0].count)});
    }
    for (int job = 0; job < 25; ++job) {
      const auto start = static_cast<std::int64_t>(below(k_seconds - 1));
      const auto end = start + 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(k_seconds - start)));
      SacctRow row;
      row.start = row.submit = Instant{start};
      row.end = Instant{end};
      row.state = "COMPLETED";
      std::uint64_t gpus = 0;
      for (const auto& [name, node] : made.nodes) {
        if (below(2) == 0) continue;
        const Free least = least_of(name, start, end);
        if (least[0] == 0) continue;
        const auto cpus = static_cast<std::int64_t>(1 + below(static_cast<std::size_t>(least[0])));
        const auto gpu = static_cast<std::int64_t>(below(static_cast<std::size_t>(least[1]) + 1));
        for (std::int64_t t = start; t < end; ++t) {
          Free& free = free_[name][static_cast<std::size_t>(t)];
          free = {free[0] - cpus, free[1] - gpu};
        }
        row.nodes.push_back(name);
        row.cpus += static_cast<std::uint32_t>(cpus);
        gpus += static_cast<std::uint64_t>(gpu);
      }
      if (row.nodes.empty()) continue;
      row.memory = row.cpus * 100;
      if (gpus > 0) row.gres = {{"gres/gpu", gpus}};
      made.rows.push_back(row);
    }
    return made;
  }

 private:
  using Free = std::array<std::int64_t, 2>;  // CPUs, GPUs

  std::size_t below(std::size_t n) { return random_() % n; }
  Free least_of(const std::string& name, std::int64_t start, std::int64_t end) {
    Free least = free_[name][static_cast<std::size_t>(start)];
    for (std::int64_t t = start; t < end; ++t) {
      const Free& free = free_[name][static_cast<std::size_t>(t)];
      least = {std::min(least[0], free[0]), std::min(least[1], free[1])};
    }
    return least;
  }

  std::mt19937 random_;
  std::map<std::string, std::array<Free, k_seconds + 1>> free_;
};

}  // namespace shapley::sacct::testing
