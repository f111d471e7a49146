// The page of `shapleyctl report --consortium`: what the members of a consortium of several clusters gave, got and lent
// on each of them and in sum, and the proof of every cluster's books. Pure, except that gnuplot is run. The same report
// gives the same page, byte for byte.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/commands/board.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "ctl/report/page.hpp"
#include "ctl/report/sheets.hpp"

namespace shapley::ctl {

struct ConsortiumReport {
  std::string heading;  // empty: the usual one
  ConsortiumStatement statement;
  std::optional<Board> board = {};
  std::vector<Proof> proofs;  // of the clusters, in the order of the statement; signed heads are not shown

  // Whether the sums are exact and no audit has a finding.
  [[nodiscard]] bool is_proven() const;
  // Whether every ledger was given, and the audits had all that they were to compare.
  [[nodiscard]] bool is_complete() const;
};

// Errors are those of the chart; there are none without it.
[[nodiscard]] Expected<std::string> consortium_page(const ConsortiumReport& report, Charts charts);

// The members' table, whose file is that of `shapleyctl statement --consortium --csv` without users; and if the
// report has users, balances or a board, theirs.
[[nodiscard]] std::vector<Sheet> consortium_sheets(const ConsortiumReport& report);

}  // namespace shapley::ctl
