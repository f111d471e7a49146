// books_by_day and contributions_by_day: the books of each day as rows, and what every organization gave by every
// estimator.
//
// A row has the instant and the last event that it covers, so it can always be made again from the events, whatever
// arrived late since.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/file/database.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// The tables that the functions below fill.
[[nodiscard]] std::span<const std::string_view> standing_tables();

// Replaces the day's rows in `schema`: a row of every organization, and its contributions by these estimators.
// REQUIRES: standings are the state's at state.now(), with all events up to `sequence`.
struct DayOfStandings {
  Instant day;
  std::int64_t sequence = 0;
  accounting::EstimatorSet estimators;
};
[[nodiscard]] Expected<void> write_standings(const Database& database, std::string_view schema,
                                             const DayOfStandings& day, const accounting::State& state,
                                             std::span<const accounting::Standing> standings);

// Callbacks while the days are made again, because making the books of all events takes long.
struct DaysWatch {
  // Called for every recorded day, at its instant.
  std::function<void(Instant at, std::span<const accounting::Standing> standings)> on_day;
  // Called with the books of all events, by every estimator that some day was recorded with; not called if no day was
  // recorded. Without it events after the last day are not read. The books were not moved beyond `end`, which is at or
  // after every day that was recorded before the last event.
  std::function<void(accounting::State& books)> at_end;
  Instant end = k_end_of_time;
};

// Computes every day that the tables of "main" name from the events and stores it in `schema` ("main": in place), by
// the estimators that the day was recorded with: an estimator of a later release has no figures for days before.
// `on_progress` is called for every day.
[[nodiscard]] Expected<void> rebuild_standings(const Database& database, std::string_view schema,
                                               const ReplayPace& pace = {}, const OnProgress& on_progress = {},
                                               const DaysWatch& watch = {});

// The estimators of the day that was recorded last, or all if no day was: those that shapleyd keeps.
[[nodiscard]] Expected<accounting::EstimatorSet> estimators_of_last_day(const Database& database);

// The begin of the last day (UTC) whose standings are recorded (Ledger::record_standings); nullopt: no day was.
// Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::optional<Instant>> last_recorded_day(const Ledger& ledger);

}  // namespace shapley::ledger
