// `shapley-sim experiment mosp`: the experiments of MO11 Section 7 beside the paper's figures.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "base/error.hpp"

namespace shapley::sim {

struct MospArguments {
  std::size_t instances = 50;  // per cell of (model, N, n, m), as in the paper
  std::uint64_t seed = 1;
  unsigned threads = 0;  // 0: one per core
};

[[nodiscard]] Expected<void> experiment_mosp(const MospArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
