// standings_by_day: the books of each day as rows.
//
// A row states the instant and the last event that it speaks for, so it can be made again from the events for ever,
// whatever arrived late since.
#pragma once

#include <span>
#include <string_view>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

// Replaces the day's rows in `schema`. REQUIRES: standings are the state's at state.now(), with all events up to
// `sequence`.
struct DayOfStandings {
  Instant day;
  std::int64_t sequence = 0;
};
[[nodiscard]] Expected<void> write_standings(const Database& database, std::string_view schema, DayOfStandings day,
                                             const accounting::State& state,
                                             std::span<const accounting::Standing> standings);

// Computes every day that main.standings_by_day names from the events and puts it into `schema` ("main": in place).
[[nodiscard]] Expected<void> rebuild_standings(const Database& database, std::string_view schema);

}  // namespace shapley::ledger
