// What the papers' tables print, to be shown beside our measurements [SR13 Tables 1 and 2; FS13 Tables 1 and 2].
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shapley::sim {

struct PaperNumber {
  double mean = 0;
  double deviation = 0;
};

// The average and standard deviation of `policy` on the trace; `table` is 1 (5e4 s) or 2 (5e5 s).
[[nodiscard]] std::optional<PaperNumber> paper_number(int table, std::string_view trace, std::string_view policy);

// The traces of the experiments, found by the beginning of their file names.
struct KnownTrace {
  std::string_view name;
  std::int64_t processors;  // as the papers simulate it; for traces that they do not use, as the trace says
  bool in_papers;
};
inline constexpr std::array k_known_traces{
    KnownTrace{"LPC-EGEE", 70, true}, KnownTrace{"PIK-IPLEX", 2560, true}, KnownTrace{"SHARCNET-Whale", 3072, true},
    KnownTrace{"RICC", 8192, true},   KnownTrace{"HPC2N", 240, false},     KnownTrace{"KTH-SP2", 100, false}};

}  // namespace shapley::sim
