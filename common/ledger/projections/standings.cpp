#include "ledger/projections/standings.hpp"

#include <string>
#include <vector>

#include "ledger/recovery/replay.hpp"

namespace shapley::ledger {

namespace {

using accounting::Standing;

struct RecordedDay {
  Instant day;
  Instant at;
  std::int64_t sequence = 0;
};

Expected<std::vector<RecordedDay>> recorded_days(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT DISTINCT day, at, sequence FROM main.standings_by_day "
                                                        "ORDER BY sequence, at, day"));
  std::vector<RecordedDay> days;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return days;
    days.push_back({{select.integer(0)}, {select.integer(1)}, select.integer(2)});
  }
}

Expected<void> write_row(Statement& insert, const Standing& row) {
  const std::string psi = to_string(row.psi.value);
  const std::string phi_direct = to_string(row.phi_direct.value);
  const std::string phi_rate = to_string(row.phi_rate.value);
  const std::string balance_direct = to_string((row.phi_direct - row.psi).value);
  const std::string balance_rate = to_string((row.phi_rate - row.psi).value);
  const std::string got = to_string(row.got.value);
  const std::string given_direct = to_string(row.given_direct.value);
  const std::string given_rate = to_string(row.given_rate.value);
  insert.bind(6, psi).bind(7, phi_direct).bind(8, phi_rate).bind(9, balance_direct).bind(10, balance_rate);
  insert.bind(11, got).bind(12, given_direct).bind(13, given_rate);
  insert.bind(14, row.owned.value).bind(15, row.used.value).bind(16, row.waiting.value);
  insert.bind(17, row.lent.value).bind(18, row.borrowed.value);
  return insert.run();
}

}  // namespace

Expected<void> write_standings(const Database& database, std::string_view schema, DayOfStandings day,
                               const accounting::State& state, std::span<const Standing> standings) {
  const std::string table = std::string(schema) + ".standings_by_day";
  SHAPLEY_TRY_ASSIGN(Statement forget, database.prepare("DELETE FROM " + table + " WHERE day = ?1"));
  SHAPLEY_TRY(forget.bind(1, day.day.value).run());
  SHAPLEY_TRY_ASSIGN(Statement insert,
                     database.prepare("INSERT INTO " + table +
                                      "(day, organization, at, sequence, period_begin, psi, phi_direct, phi_rate, "
                                      "balance_direct, balance_rate, got, given_direct, given_rate, owned, used, "
                                      "waiting, lent, borrowed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                                      "?12, ?13, ?14, ?15, ?16, ?17, ?18)"));
  for (const Standing& row : standings) {
    insert.bind(1, day.day.value).bind(2, state.organizations().at(row.organization.value));
    insert.bind(3, state.now().value).bind(4, day.sequence).bind(5, state.period_begin().value);
    SHAPLEY_TRY(write_row(insert, row));
  }
  return {};
}

Expected<void> rebuild_standings(const Database& database, std::string_view schema) {
  SHAPLEY_TRY_ASSIGN(const auto days, recorded_days(database));
  Replay replay(database, {});
  for (const RecordedDay& day : days) {
    SHAPLEY_TRY(replay.advance_to(day.sequence));
    accounting::State& state = replay.books().state;
    state.advance(day.at);
    const auto standings = state.standings(day.at);
    SHAPLEY_TRY(write_standings(database, schema, {day.day, day.sequence}, state, standings));
  }
  return {};
}

}  // namespace shapley::ledger
