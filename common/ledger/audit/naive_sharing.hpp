// What runs hold of a node that they claim more of than it has: the auditor's own computation, which shares no code
// with accounting/ownership/sharing.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace shapley::ledger {

// One run's claim on a node during [begin, end).
struct NodeUse {
  Instant begin;
  Instant end;
  std::int64_t claimed = 0;  // micro-processors
};

// It held so much during [begin, end).
struct HeldStretch {
  Instant begin;
  Instant end;
  std::int64_t processors = 0;
};

// (at, ordinal) -> what the whole node is worth from then on; 0: not known, nothing is shared.
using WholeNode = std::map<std::pair<Instant, std::uint32_t>, std::int64_t>;

// The stretches of every use, in the order of `uses`, which is that of ties. Where the uses of an instant claim more
// than the node is worth they hold that in proportion to their claims, in integers by largest remainder.
[[nodiscard]] std::vector<std::vector<HeldStretch>> held_stretches(const std::vector<NodeUse>& uses,
                                                                   const WholeNode& whole);

// `total` in proportion to `parts`, as integers: rounded down, then one more to those that lost most by it; of equals,
// to the first. REQUIRES: a part that is not 0.
[[nodiscard]] std::vector<std::int64_t> divided(std::int64_t total, const std::vector<std::int64_t>& parts);

}  // namespace shapley::ledger
