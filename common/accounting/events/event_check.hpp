// Checks of single events: what State::apply and State::load accept. Pure.
#pragma once

#include <variant>

#include "accounting/events/event.hpp"
#include "base/error.hpp"

namespace shapley::accounting {

// Instants of events are in [0, k_last_instant]: the calendar's range, and far inside that of the exact sums.
inline constexpr Instant k_last_instant{253'402'300'799};  // 9999-12-31T23:59:59Z
// The most that one run holds or one node offers: a million processors. A pending job (or array) may ask for more.
inline constexpr ProcessorMillionths k_max_held{1'000'000'000'000};
inline constexpr ProcessorMillionths k_max_wanted{100'000'000'000'000};
// The range of another cluster's figures: what a million processors do in a thousand million seconds at most
// (base/types.hpp), so that their sums do not overflow.
inline constexpr Int128 k_max_work_elsewhere = Int128{k_max_held.value} * 1'000'000'000;
inline constexpr Int128 k_max_balance_elsewhere = k_max_work_elsewhere * 1'000'000'000;

// Errc::invalid_argument, naming the event, what is wrong with it and what is allowed.
[[nodiscard]] Expected<void> check(const Event& event);
// As check(), without the event's name, for messages to users who do not know events.
[[nodiscard]] Expected<void> check_fact(const Event& event);

// Which events begin the books.

// The instant at which books begin that have this event alone: runs, waits, organizations, capacities and periods have
// a time at which something happened or holds. k_end_of_time: this event does not begin books.
[[nodiscard]] inline Instant begin_by(const Event& event) {
  const bool begins = std::holds_alternative<SegmentOpened>(event) ||
                      std::holds_alternative<OrganizationsDeclared>(event) ||
                      std::holds_alternative<CapacityChanged>(event) || std::holds_alternative<PeriodDeclared>(event);
  return begins ? time_of(event) : k_end_of_time;
}

}  // namespace shapley::accounting
