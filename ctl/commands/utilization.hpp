// What nodes were used for and how long runs had waited, as tables: of `history --utilization` and of the page of
// `report --utilization`.
#pragma once

#include <string>
#include <vector>

#include "ledger/reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

// Of one view: the table for people, and its exact values.
struct UtilizationView {
  std::string name;  // "utilization", "gpus", "waits"
  tables::Table table;
  tables::Table values;
};

// What of the columns is not known is printed so, and never as 0. Without GPUs there is no view of them.
// REQUIRES: the report has its utilization.
[[nodiscard]] std::vector<UtilizationView> utilization_views(const ledger::HistoryReport& report);

// All values in one table, for -P and --csv.
[[nodiscard]] tables::Table exact_utilization(const ledger::HistoryReport& report);

// The tables for people, and what they mean.
[[nodiscard]] std::string utilization_text(const ledger::HistoryReport& report);

// The meanings of the columns, a sentence each.
[[nodiscard]] std::string utilization_notes(const ledger::HistoryReport& report);

}  // namespace shapley::ctl
