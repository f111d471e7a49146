#include "ledger/recovery/standings.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::EstimatorId;
using accounting::EstimatorSet;
using accounting::Standing;

constexpr std::array<std::string_view, 2> k_standing_tables{"books_by_day", "contributions_by_day"};

struct RecordedDay {
  Instant at;
  DayOfStandings day;
};

Expected<EstimatorSet> recorded_estimators(const Database& database, Instant day) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT DISTINCT estimator FROM main.contributions_by_day WHERE day = ?1"));
  select.bind(1, day.value);
  EstimatorSet estimators;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return estimators;
    // Rows of an estimator that this program does not know are found by an audit, or named as not checked.
    if (const auto known = accounting::parse_estimator(select.text(0))) estimators.insert(*known);
  }
}

Expected<std::vector<RecordedDay>> recorded_days(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT DISTINCT day, at, sequence FROM main.books_by_day "
                                                        "ORDER BY sequence, at, day"));
  std::vector<RecordedDay> days;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return days;
    const Instant day{select.integer(0)};
    SHAPLEY_TRY_ASSIGN(const EstimatorSet estimators, recorded_estimators(database, day));
    days.push_back({{select.integer(1)}, {day, select.integer(2), estimators}});
  }
}

EstimatorSet all_of(const std::vector<RecordedDay>& days) {
  EstimatorSet all;
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    const auto has_it = [&](const RecordedDay& day) { return day.day.estimators.contains(estimator); };
    if (std::ranges::any_of(days, has_it)) all.insert(estimator);
  }
  return all;
}

Expected<void> forget_day(const Database& database, std::string_view schema, Instant day) {
  for (const std::string_view table : k_standing_tables) {
    SHAPLEY_TRY_ASSIGN(Statement forget, database.prepare("DELETE FROM " + std::string(schema) + "." +
                                                          std::string(table) + " WHERE day = ?1"));
    SHAPLEY_TRY(forget.bind(1, day.value).run());
  }
  return {};
}

Expected<void> write_books(const Database& database, std::string_view schema, const DayOfStandings& day,
                           const accounting::State& state, std::span<const Standing> standings) {
  SHAPLEY_TRY_ASSIGN(Statement insert,
                     database.prepare("INSERT INTO " + std::string(schema) +
                                      ".books_by_day(day, organization, at, sequence, period_begin, psi, got, owned, "
                                      "used, waiting, lent, borrowed) "
                                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
  for (const Standing& row : standings) {
    if (state.row_of(row.organization) != row.organization) continue;
    const std::string psi = to_string(row.psi.value);
    const std::string got = to_string(row.got.value);
    insert.bind(1, day.day.value).bind(2, state.organizations().at(row.organization.value));
    insert.bind(3, state.now().value).bind(4, day.sequence).bind(5, state.period_begin().value);
    insert.bind(6, psi).bind(7, got).bind(8, row.owned.value).bind(9, row.used.value);
    insert.bind(10, row.waiting.value).bind(11, row.lent.value).bind(12, row.borrowed.value);
    SHAPLEY_TRY(insert.run());
  }
  return {};
}

Expected<void> write_contributions(const Database& database, std::string_view schema, const DayOfStandings& day,
                                   const accounting::State& state, std::span<const Standing> standings) {
  SHAPLEY_TRY_ASSIGN(Statement insert,
                     database.prepare("INSERT INTO " + std::string(schema) +
                                      ".contributions_by_day(day, organization, estimator, phi, balance, given) "
                                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  for (const Standing& row : standings) {
    if (state.row_of(row.organization) != row.organization) continue;
    for (const EstimatorId estimator : accounting::estimator_ids()) {
      if (!day.estimators.contains(estimator)) continue;
      const std::string phi = to_string(row.phi(estimator).value);
      const std::string balance = to_string(row.balance(estimator).value);
      const std::string given = to_string(row.given(estimator).value);
      insert.bind(1, day.day.value).bind(2, state.organizations().at(row.organization.value));
      insert.bind(3, accounting::name_of(estimator)).bind(4, phi).bind(5, balance).bind(6, given);
      SHAPLEY_TRY(insert.run());
    }
  }
  return {};
}

}  // namespace

std::span<const std::string_view> standing_tables() {
  return k_standing_tables;
}

Expected<void> write_standings(const Database& database, std::string_view schema, const DayOfStandings& day,
                               const accounting::State& state, std::span<const Standing> standings) {
  SHAPLEY_TRY(forget_day(database, schema, day.day));
  SHAPLEY_TRY(write_books(database, schema, day, state, standings));
  return write_contributions(database, schema, day, state, standings);
}

Expected<EstimatorSet> estimators_of_last_day(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT MAX(day) FROM main.books_by_day"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row || select.is_null(0)) return EstimatorSet::all();
  return recorded_estimators(database, {select.integer(0)});
}

Expected<void> rebuild_standings(const Database& database, std::string_view schema, const ReplayPace& pace,
                                 const OnProgress& on_progress, const DaysWatch& watch) {
  SHAPLEY_TRY_ASSIGN(const auto days, recorded_days(database));
  if (days.empty()) return {};
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  const std::int64_t last = watch.at_end ? head.sequence : days.back().day.sequence;
  const accounting::StateOptions options = remembers_nothing(all_of(days));
  SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database, options));
  SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_number(database, std::move(opening), last, options, {.pace = pace}));
  bool has_ended = false;
  const auto end = [&] {
    if (watch.at_end && !std::exchange(has_ended, true)) watch.at_end(fold.books().state);
  };
  for (const RecordedDay& recorded : days) {
    report_progress(on_progress, {.what = "books of every day", .done = fold.books().last_sequence, .all = last});
    SHAPLEY_TRY(fold.advance_to_event(recorded.day.sequence));
    SHAPLEY_TRY(fold.forget());
    if (recorded.day.sequence == last && recorded.at > watch.end) end();
    accounting::State& state = fold.books().state;
    state.advance(recorded.at);
    const auto standings = state.standings(recorded.day.estimators);
    SHAPLEY_TRY(write_standings(database, schema, recorded.day, state, standings));
    if (watch.on_day) watch.on_day(recorded.at, standings);
  }
  if (!watch.at_end) return {};
  SHAPLEY_TRY(fold.advance_to_event(last));
  SHAPLEY_TRY(fold.forget());
  end();
  return {};
}

Expected<std::optional<Instant>> last_recorded_day(const Ledger& ledger) {
  return ledger.rows().run("read the days", [](const Database& database) -> Expected<std::optional<Instant>> {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT MAX(day) FROM books_by_day"));
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row || select.is_null(0)) return std::nullopt;
    return Instant{select.integer(0)};
  });
}

}  // namespace shapley::ledger
