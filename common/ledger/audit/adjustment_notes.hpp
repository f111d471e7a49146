// What an audit says of the corrections that somebody made: they are no findings, but nobody should overlook them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"

namespace shapley::ledger {

// A sentence for each, by number; of many the last ones, and how many there are before them.
[[nodiscard]] std::vector<std::string> adjustment_notes(
    const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

// One sentence that names those by which runs are booked under another organization; "" where there are none.
[[nodiscard]] std::string attribution_note(const std::map<std::uint32_t, accounting::AdjustmentMade>& adjustments);

}  // namespace shapley::ledger
