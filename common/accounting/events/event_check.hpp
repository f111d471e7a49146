// Which events make sense by themselves: what State::apply and State::load accept. Pure.
#pragma once

#include "accounting/events/event.hpp"
#include "base/error.hpp"

namespace shapley::accounting {

// Instants of events are in [0, k_last_instant]: the calendar's range, and far inside that of the exact sums.
inline constexpr Instant k_last_instant{253'402'300'799};  // 9999-12-31T23:59:59Z
// What one run holds or one node offers: a million processors. What one pending job (or job array) may ask for: more.
inline constexpr MicroProcessors k_max_held{1'000'000'000'000};
inline constexpr MicroProcessors k_max_wanted{100'000'000'000'000};

// Errc::invalid_argument, naming the event, what is wrong with it and what is allowed.
[[nodiscard]] Expected<void> check(const Event& event);
// The same without the event's name, for those who asked for something and know no events.
[[nodiscard]] Expected<void> check_fact(const Event& event);

}  // namespace shapley::accounting
