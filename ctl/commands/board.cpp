#include "ctl/commands/board.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "answers/board.hpp"
#include "base/calendar.hpp"
#include "base/json.hpp"
#include "ctl/commands/consortium_tables.hpp"
#include "ctl/output/amounts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

std::string heard_text(const json& seconds) {
  return short_duration(seconds.get<std::int64_t>());
}

constexpr Field k_decision_fields[] = {
    left({"at", "At (UTC)", {}, "at_utc"}),
    left({"cluster", "Cluster"}),
    left({"kind", "Kind"}),
    left({"what", "What"}),
    left({"author", "By"}),
    left({"reason", "Why"}),
};
constexpr Field k_heard_fields[] = {
    left({"cluster", "On"}),
    left({"statements", "StatementsOf"}),
    {"stale", "Stale", {}, "stale_s", heard_text},
    {"stale_times", "Times"},
    {"refused", "Refused", {}, "refused_s", heard_text},
    {"without", "None", {}, "without_s", heard_text},
    {"in_consortium", "OfTime", {}, "in_consortium_s", heard_text},
    left({"last_stated", "LastOne", {}, "last_stated_utc"}),
};
// Of the columns of exact_consortium; the last three are a board's.
constexpr Field k_exact_board_fields[] = {{"begin_utc"}, {"end_utc"}, {"organization"}, {"cluster"},
                                          {"item"},      {"other"},   {"core_hours"},   {"exact"},
                                          {"unit"},      {"what"},    {"author"},       {"reason"}};
constexpr std::array k_more_columns{"what", "author", "reason"};

json standing_rows(const Board& board) {
  json rows = json::array();
  if (!board.earlier) return rows;
  for (const MemberOnCluster& row : board.earlier->members) {
    if (!row.standing_core_hours) continue;
    rows.push_back({{"begin_utc", board.earlier->of.front().since.utc()},
                    {"end_utc", board.earlier->of.front().until.utc()},
                    {"organization", row.organization},
                    {"cluster", row.cluster},
                    {"item", "standing_month_before"},
                    {"core_hours", *row.standing_core_hours},
                    {"exact", format_micro(row.phi_minus_psi.value_or(Utility{}).value)},
                    {"unit", "processor_seconds_squared"}});
  }
  return rows;
}

json decision_rows(const Board& board) {
  json rows = json::array();
  for (const ledger::Decision& decision : board.decisions) {
    rows.push_back({{"begin_utc", decision.at.utc()},
                    {"cluster", decision.cluster},
                    {"item", "decision"},
                    {"other", decision.kind},
                    {"what", decision.what},
                    {"author", json_of(decision.author)},
                    {"reason", decision.reason}});
  }
  return rows;
}

json heard_rows(const ConsortiumStatement& statement, const Board& board) {
  json rows = json::array();
  for (const ledger::ClusterHeard& heard : board.heard) {
    const auto add = [&](const char* item) -> json& {
      rows.push_back({{"begin_utc", statement.of.front().since.utc()},
                      {"end_utc", heard.until.utc()},
                      {"cluster", heard.cluster},
                      {"item", item},
                      {"other", heard.statements}});
      return rows.back();
    };
    for (const auto& [item, time] :
         {std::pair("in_consortium", heard.in_consortium), std::pair("stale", heard.stale),
          std::pair("refused", heard.refused), std::pair("without_statement", heard.without)})
      add(item).update({{"exact", time.value}, {"unit", "seconds"}});
    add("stale_times").update({{"exact", heard.stale_times}, {"unit", "times"}});
    add("last_stated")["what"] = heard.last_stated.utc();
  }
  return rows;
}

Table exact_board_table(json rows) {
  return {.columns = columns_of(k_exact_board_fields), .rows = std::move(rows)};
}

const ConsortiumStatement* earlier_of(const Board& board) {
  return board.earlier ? &*board.earlier : nullptr;
}

}  // namespace

Expected<Board> board_of(const std::vector<std::string>& ledgers, IntervalArguments interval,
                         const ConsortiumStatement& statement) {
  interval.ledger = ledgers.front();
  SHAPLEY_TRY_ASSIGN(const IntervalQuestion question, interval_question(interval));
  const Instant since = statement.of.front().since;
  // Amounts end where the first of the ledgers does: one of a cluster that is away, of which the others know more.
  const Instant until = question.of.until.value_or(k_end_of_time);
  Board board;
  board.earlier_at = period_begin(Period::monthly, statement.of.front().until - Duration{1});
  interval.since = format_instant(period_begin(Period::monthly, board.earlier_at - Duration{1}));
  interval.until = format_instant(board.earlier_at);
  SHAPLEY_TRY_ASSIGN(board.earlier, earlier_statement(ledgers, interval));
  for (const std::string& file : ledgers) {
    SHAPLEY_TRY_ASSIGN(ledger::ClusterBoard of_cluster,
                       answers::board({.path = file, .known_until = question.file.known_until}, since, until));
    std::ranges::move(of_cluster.decisions, std::back_inserter(board.decisions));
    std::ranges::move(of_cluster.heard, std::back_inserter(board.heard));
  }
  std::ranges::stable_sort(board.decisions, {}, [](const ledger::Decision& decision) { return decision.at.value; });
  return board;
}

std::vector<BoardPart> board_parts(const ConsortiumStatement& statement, const Board& board) {
  json decisions = json_of(board.decisions);
  for (json& decision : decisions) {
    if (decision["author"].is_null()) decision["author"] = "not known";
  }
  std::vector<BoardPart> parts;
  parts.push_back({"standings_before.csv", standings_table(statement, earlier_of(board)),
                   exact_board_table(standing_rows(board)),
                   "MonthBefore: at " + format_instant(board.earlier_at) + ", on average over the period so far."});
  parts.push_back({"decisions.csv",
                   {.name = "Decisions", .columns = columns_of(k_decision_fields), .rows = std::move(decisions)},
                   exact_board_table(decision_rows(board)),
                   "By: who changed a configuration is not recorded."});
  parts.push_back(
      {"heard.csv",
       {.name = "Statements of other clusters", .columns = columns_of(k_heard_fields), .rows = json_of(board.heard)},
       exact_board_table(heard_rows(statement, board)),
       "Stale: the last statement was too old to be carried on, also because later ones were refused or "
       "shapleyd was down. Refused: the other cluster's ledger had changed, and that was not accepted yet. "
       "None: no statement had come. OfTime: how long it was in the consortium."});
  return parts;
}

std::string board_text(const ConsortiumStatement& statement, const Board& board) {
  std::string text;
  for (const BoardPart& part : board_parts(statement, board)) {
    text += '\n' + part.table.name + ":\n";
    text += part.table.rows.empty() ? "none\n" : people_text(part.table) + '\n' + part.note + '\n';
  }
  return text;
}

void add_exact(Table& table, const ConsortiumStatement& statement, const Board& board) {
  for (const char* column : k_more_columns) table.columns.push_back({.name = column});
  for (const BoardPart& part : board_parts(statement, board))
    table.rows.insert(table.rows.end(), part.values.rows.begin(), part.values.rows.end());
}

json board_values(const Board& board) {
  return {{"earlier_at", board.earlier_at.value},
          {"earlier_at_utc", format_instant(board.earlier_at)},
          {"earlier", board.earlier ? json_of(board.earlier->members) : json()},
          {"decisions", json_of(board.decisions)},
          {"heard", json_of(board.heard)}};
}

}  // namespace shapley::ctl
