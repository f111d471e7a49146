// The page of `shapleyctl report --consortium`: what the members of a consortium of several clusters gave, got and lent
// on each of them and in sum, and the proof of every cluster's books. Pure, except that gnuplot is run. The same report
// gives the same page, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "ctl/report/page.hpp"
#include "ctl/report/sheets.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

struct ConsortiumReport {
  std::string heading;  // empty: the usual one
  ConsortiumStatement statement;
  std::vector<Proof> proofs;  // of the clusters, in the order of the statement; signed heads are not shown

  // Whether the sums are exact and no audit has a finding.
  [[nodiscard]] bool is_proven() const;
};

// Errors are those of the chart; there are none without it.
[[nodiscard]] Expected<std::string> consortium_page(const ConsortiumReport& report, Charts charts);

// A row for each member, and for their sum: given and got on each cluster, in its own processors, then in sum over the
// clusters, in processors of the first one. What rounding leaves (paper.hpp) of the sums over members is a row, of
// those over clusters, and of given less got, columns. The file is that of `shapleyctl statement --consortium --csv`.
[[nodiscard]] Sheet members_sheet(const ConsortiumStatement& statement);
// A row for each pair of members of which one lent to the other: core-hours on each cluster, in its own processors, and
// their sum, in processors of the first one; a column of what rounding leaves of it.
[[nodiscard]] tables::Table lent_table(const ConsortiumStatement& statement);

}  // namespace shapley::ctl
