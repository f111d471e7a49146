// Runs stated anew under another organization. Not for other folders: adjustment.hpp.
//
// Every segment of the run is retracted and stated again under the next ordinal, to the second and the node as it was.
// A retraction says the segment's own begin, so that records of slurmctld that were read before the adjustment and come
// after it are not taken for older ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

struct Restated {
  std::vector<accounting::Event> facts;
  std::int64_t runs = 0;
  CpuTime work;
};

// No runs: none of those that are asked for is another's. Errc::limit.
[[nodiscard]] Expected<Restated> attribute_runs(const Database& database, const AttributionAsked& asked, Instant now);

// The same back again: of what these facts retracted and stated anew under `into`. Errc::conflict names a run that is
// booked under somebody else by now.
[[nodiscard]] Expected<Restated> restore_runs(const Database& database, const std::vector<accounting::Event>& facts,
                                              const std::string& into, Instant now);

}  // namespace shapley::ledger
