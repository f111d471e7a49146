// Runs of jobs, put together from rows of sacct.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/types.hpp"
#include "history/sacct_rows.hpp"

namespace shapley::history {

// A run: its row, or its rows if it was resized, in the order of time.
struct Run {
  std::vector<const SacctRow*> rows;  // never empty

  [[nodiscard]] const SacctRow& first() const { return *rows.front(); }
  [[nodiscard]] const SacctRow& last() const { return *rows.back(); }
  [[nodiscard]] Instant start() const { return *first().start; }
  [[nodiscard]] std::optional<Instant> end() const { return last().end; }
  // When it began to hold what this row of it says: a resized run's rows all tell the run's start.
  [[nodiscard]] Instant begin_of(std::size_t row) const { return row == 0 ? start() : *rows[row - 1]->end; }
  [[nodiscard]] Duration suspended() const {
    Duration sum;
    for (const SacctRow* row : rows) sum += row->suspended;
    return end() ? std::min(sum, *end() - start()) : sum;
  }
};

// The rows that ran, by job, each job's in the order of time.
[[nodiscard]] std::vector<std::vector<const SacctRow*>> rows_by_job(const std::vector<SacctRow>& rows);

// By job and in the order of time. A row that repeats another one is left out: a job that is requeued while it
// completes is recorded twice.
[[nodiscard]] std::vector<Run> runs_of(const std::vector<SacctRow>& rows);

}  // namespace shapley::history
