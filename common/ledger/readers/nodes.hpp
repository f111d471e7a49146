// Whose the nodes were, and how large.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// One organization's part of one node during [begin, end). Its size is the most that the node had offered by `begin`: a
// node that is down for a day belongs to somebody all the same. What the owners' parts leave of a node belongs to
// commons.
struct OwnedPart {
  std::string organization;
  std::string node;
  std::int64_t parts_per_million = 0;  // 1 to 1,000,000
  MicroProcessors largest;             // the whole node
  Instant begin;
  Instant end;
};

// Everything before `until`, ascending by organization, node and begin; pieces touch where a node grew. A node counts
// from when the ledger first heard of it, at the size that it offered first; those that it heard of when it began count
// from the beginning of time. A node that nobody ever claimed is left out, and so is one that never offered anything.
// Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant until);

}  // namespace shapley::ledger
