// Who owned a node in a time that is past, stated anew. Not for other folders: adjustment.hpp.
//
// Statements are never edited: each that spoke of the time gets a revision, of the same `effective`, and one at the
// time's end says what held from there on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// Of one node; in any order.
using OwnershipStatements = std::vector<accounting::OwnershipStated>;

// What makes `owners` those of the node in [since, until). REQUIRES: since < until.
[[nodiscard]] OwnershipStatements revise_ownership(const std::string& node, const OwnershipStatements& known,
                                                   std::vector<accounting::OwnerPart> owners, Instant since,
                                                   Instant until, std::uint32_t revision);

// What makes the node's owners those of before the revision `taken_back`, as a new revision. REQUIRES: what is of a
// higher revision than that is taken back itself.
[[nodiscard]] OwnershipStatements restore_ownership(const OwnershipStatements& known, std::uint32_t taken_back,
                                                    std::uint32_t revision);

}  // namespace shapley::ledger
