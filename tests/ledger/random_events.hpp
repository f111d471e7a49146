// RapidCheck generators of well-formed events: any single event, and whole histories that hang together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "accounting/events/event.hpp"

namespace shapley::ledger::testing {

// A described job with everything else left empty.
[[nodiscard]] accounting::JobDescribed described(JobId job, Instant submit, std::string organization);

// Any bytes, so that names which are no UTF-8 and control characters come up.
[[nodiscard]] rc::Gen<std::string> any_text();

// A well-formed event of any kind, or of the kind with this index in Event: members by their descriptions.
[[nodiscard]] rc::Gen<accounting::Event> any_event();
[[nodiscard]] rc::Gen<accounting::Event> any_event_of(std::size_t kind);

// A consistent history: organizations a, b, c declared, nodes n1..n4 with dated fractional owners and capacities, jobs
// that wait, run, are suspended, resized, requeued, retracted; amounts that are settled; in order of time except some
// stragglers. No two events
// share a key.
[[nodiscard]] rc::Gen<std::vector<accounting::Event>> any_history();

// The same; the last ones of it come first, so the others come late.
[[nodiscard]] std::vector<accounting::Event> pick_late_history();

}  // namespace shapley::ledger::testing
