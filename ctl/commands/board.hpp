// `--board` of `statement --consortium` and `report --consortium`: for those who decide. Standings beside those of a
// month before, what was decided on all clusters, and how long statements of clusters did not count on others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "reports/board.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

struct Board {
  Instant earlier_at = {};  // the end of the month (UTC) before the one in which the statement's time ends
  std::optional<ConsortiumStatement> earlier = {};  // of that month; nullopt: no ledger has books of it
  std::vector<ledger::Decision> decisions = {};     // on all clusters, in the order of time
  std::vector<ledger::ClusterHeard> heard = {};
};

// Of the time and the ledgers of the statement. Errors as of consortium_statement().
[[nodiscard]] Expected<Board> board_of(const std::vector<std::string>& ledgers, IntervalArguments interval,
                                       const ConsortiumStatement& statement);

// One of its parts: the table for people, and its exact values in the columns of a consortium's CSV.
struct BoardPart {
  std::string file;  // "standings_before.csv", ...
  tables::Table table;
  tables::Table values;
  std::string note;  // what the columns mean
};
[[nodiscard]] std::vector<BoardPart> board_parts(const ConsortiumStatement& statement, const Board& board);

// All parts for people.
[[nodiscard]] std::string board_text(const ConsortiumStatement& statement, const Board& board);
// Adds the values of all parts to a consortium's CSV, with columns for decisions behind its own.
void add_exact(tables::Table& table, const ConsortiumStatement& statement, const Board& board);
// The member of a consortium's JSON.
[[nodiscard]] nlohmann::json board_values(const Board& board);

}  // namespace shapley::ctl
