// Which events begin books that had none before.
#pragma once

#include <variant>

#include "accounting/events/event.hpp"

namespace shapley::accounting {

// When books begin that have this event alone: runs, waits, organizations, capacities and periods say when something
// happened or holds. k_end_of_time: such an event says nothing of that.
[[nodiscard]] inline Instant begin_by(const Event& event) {
  const bool begins = std::holds_alternative<SegmentOpened>(event) ||
                      std::holds_alternative<OrganizationsDeclared>(event) ||
                      std::holds_alternative<CapacityChanged>(event) || std::holds_alternative<PeriodDeclared>(event);
  return begins ? time_of(event) : k_end_of_time;
}

}  // namespace shapley::accounting
