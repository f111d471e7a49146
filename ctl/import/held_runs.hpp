// What runs that a ledger has already hold of their nodes, for those that are imported beside them.
#pragma once

#include <functional>
#include <span>

#include "accounting/events/event.hpp"
#include "ledger/store/ledger.hpp"
#include "sacct/spreading.hpp"

namespace shapley::ctl {

// Calls `add` with a row that has parts (SacctRow::parts) for each segment that lasts, touches [since, until] and is on
// `nodes`: those of the ledger, and those of `more`, events of its runs that are not written yet, in their order; what
// these retract is left out. Errors: of the ledger and of `add`.
[[nodiscard]] Expected<void> add_held(const ledger::Ledger& ledger, std::span<const accounting::Event> more,
                                      const sacct::SiteNodes& nodes, Instant since, Instant until,
                                      const std::function<Expected<void>(const sacct::SacctRow&)>& add);

}  // namespace shapley::ctl
