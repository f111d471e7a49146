// The example of docs/equations.md as events: A and B own one processor each; from second 0 to 10 A runs on both, from
// 20 to 30 B runs on both. Job 3, of guests, waits from 35 on.
#pragma once

#include <vector>

#include "accounting/events/event.hpp"

namespace shapley::ctl {

inline constexpr Instant k_example_begin{1'795'000'000};

[[nodiscard]] std::vector<accounting::Event> example_events();

}  // namespace shapley::ctl
