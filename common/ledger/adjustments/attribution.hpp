// Runs restated under another organization. Not for other folders: adjustment.hpp.
//
// Every segment of the run is retracted and stated again under the next ordinal, to the second and the node as it was.
// A retraction says the segment's own begin, so that records of slurmctld that were read before the adjustment and come
// after it are not taken for older ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

struct Restated {
  std::vector<accounting::Event> facts;
  std::int64_t runs = 0;
  CpuTime work;
};

// No runs: none of those that are asked for is another's. Errc::limit.
[[nodiscard]] Expected<Restated> attribute_runs(const Database& database, const AttributionAsked& asked, Instant now);

// The same back again: of what these facts retracted and restated under `into`. Errc::conflict names a run that is
// booked under another organization by now.
[[nodiscard]] Expected<Restated> restore_runs(const Database& database, const std::vector<accounting::Event>& facts,
                                              const std::string& into, Instant now);

// The owners of a node in the past, restated. Not for other folders: adjustment.hpp.
//
// Statements are never edited: each that spoke of the time gets a revision, of the same `effective`, and one at the
// time's end says what held from there on.

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
