// Whose the nodes were, and how large.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// One organization's part of one node at an instant. Its size is the most that the node offered until then: a node that
// is down for a day belongs to somebody all the same.
struct OwnedPart {
  std::string organization;
  std::string node;
  std::int64_t parts_per_million = 0;  // 1 to 1,000,000
  MicroProcessors largest;             // the whole node
};

// Ascending by organization, then node. What the owners' parts leave of a node belongs to commons. A node that nobody
// ever claimed is left out, and so is one that never offered anything. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant at);

}  // namespace shapley::ledger
