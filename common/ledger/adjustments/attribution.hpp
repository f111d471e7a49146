// Restates runs under another organization. Not for other folders: adjustment.hpp.
//
// Every segment of the run is retracted and stated again under the next ordinal, with the same times and nodes. A
// retraction has the segment's own begin as its time, so that records of slurmctld that were read before the adjustment
// and arrive after it are not taken for older ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct Restated {
  std::vector<accounting::Event> facts;
  std::int64_t runs = 0;
  CpuTime work;
};

// `runs` is 0 if no run that is asked for belongs to another organization. Errc::limit.
[[nodiscard]] Expected<Restated> attribute_runs(const Ledger& ledger, const AttributionAsked& asked, Instant now);

// The reverse: takes back what these facts retracted and restated under `into`. Errc::conflict names a run that is
// booked under a different organization by now.
[[nodiscard]] Expected<Restated> restore_runs(const Ledger& ledger, const std::vector<accounting::Event>& facts,
                                              const std::string& into, Instant now);

// Restates the owners of a node in the past. Not for other folders: adjustment.hpp.
//
// Statements are never edited: each one that was in force in that time gets a revision, of the same `effective`; a
// further one at the end of the time states what holds from there on.

// Statements about one node, in any order.
using OwnershipStatements = std::vector<accounting::OwnershipStated>;

// The statements that make `owners` own the node in [since, until). REQUIRES: since < until.
[[nodiscard]] OwnershipStatements revise_ownership(const std::string& node, const OwnershipStatements& known,
                                                   std::vector<accounting::OwnerPart> owners, Instant since,
                                                   Instant until, std::uint32_t revision);

// The statements that restore the node's owners of before revision `taken_back`, as a new revision. REQUIRES: all
// revisions above it are taken back themselves.
[[nodiscard]] OwnershipStatements restore_ownership(const OwnershipStatements& known, std::uint32_t taken_back,
                                                    std::uint32_t revision);

}  // namespace shapley::ledger
