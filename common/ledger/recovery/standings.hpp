// books_by_day and contributions_by_day: the books of each day as rows, and what every organization gave by every
// estimator.
//
// A row states the instant and the last event that it covers, so it can always be made again from the events,
// whatever arrived late since.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/file/database.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// The tables that the functions below fill.
[[nodiscard]] std::span<const std::string_view> standing_tables();

// Replaces the day's rows in `schema`: of every organization, and its contributions by these estimators. REQUIRES:
// standings are the state's at state.now(), with all events up to `sequence`.
struct DayOfStandings {
  Instant day;
  std::int64_t sequence = 0;
  accounting::EstimatorSet estimators;
};
[[nodiscard]] Expected<void> write_standings(const Database& database, std::string_view schema,
                                             const DayOfStandings& day, const accounting::State& state,
                                             std::span<const accounting::Standing> standings);

// For who looks on while the days are made again, since the books of all events take long to make.
struct DaysWatch {
  // Of every recorded day, at its instant.
  std::function<void(Instant at, std::span<const accounting::Standing> standings)> on_day;
  // The books of all events, by every estimator that some day was recorded with; not called where no day was. Without
  // it events after the last day are not read. The books have not been moved beyond `end`, which is not before any day
  // that was recorded before the last event.
  std::function<void(accounting::State& books)> at_end;
  Instant end = k_end_of_time;
};

// Computes every day that the tables of "main" name from the events and puts it into `schema` ("main": in place), by
// the estimators that the day was recorded with: one that came with a later release says nothing of days before.
// `on_progress` hears of every day.
[[nodiscard]] Expected<void> rebuild_standings(const Database& database, std::string_view schema,
                                               const ReplayPace& pace = {}, const OnProgress& on_progress = {},
                                               const DaysWatch& watch = {});

// The estimators of the day that was recorded last, or all where none was: those that shapleyd keeps.
[[nodiscard]] Expected<accounting::EstimatorSet> estimators_of_last_day(const Database& database);

// The begin of the last day (UTC) whose standings are recorded (Ledger::record_standings); nullopt: no day is.
// Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::optional<Instant>> last_recorded_day(const Ledger& ledger);

}  // namespace shapley::ledger
