// Runs of jobs, joined from rows of sacct.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/sorted_records.hpp"
#include "base/types.hpp"
#include "sacct/sorted_rows.hpp"

namespace shapley::sacct {

// A run: its row, or its rows if it was resized, in the order of time.
struct Run {
  std::vector<SacctRow> rows;               // never empty
  std::uint64_t number = 0;                 // counts the runs of all jobs
  std::vector<std::int64_t> repeated = {};  // lines of rows that repeat one of these
  bool left_queue = false;                  // the job left the queue after it without running again
  bool is_left_out = false;                 // set by callers that leave it out

  [[nodiscard]] const SacctRow& first() const { return rows.front(); }
  [[nodiscard]] const SacctRow& last() const { return rows.back(); }
  [[nodiscard]] Instant start() const { return *first().start; }
  [[nodiscard]] std::optional<Instant> end() const { return last().end; }
  // Of all rows of the run.
  [[nodiscard]] std::vector<std::int64_t> lines() const {
    std::vector<std::int64_t> lines = repeated;
    for (const SacctRow& row : rows) lines.push_back(row.line);
    return lines;
  }
  // When the run began to hold what this row describes: all rows of a resized run have the run's start.
  [[nodiscard]] Instant begin_of(std::size_t row) const { return row == 0 ? start() : *rows[row - 1].end; }
  [[nodiscard]] Duration suspended() const {
    Duration sum;
    for (const SacctRow& row : rows) sum += row.suspended;
    return end() ? std::min(sum, *end() - start()) : sum;
  }
};

// The runs of one job, in the order of time. A row that repeats another one counts once: a job that is requeued while
// it completes is recorded twice.
[[nodiscard]] std::vector<Run> runs_of(const std::vector<SacctRow>& of_job);

// Visits runs by job and in the order of time.
[[nodiscard]] Expected<void> for_each_run(const SortedRows& rows, const std::function<Expected<void>(Run&)>& visit);

// The changes of runs in the order of time, however they are added: sorted on disk, with the runs that are open at one
// time in memory.
class RunsInTime {
 public:
  // A change of a run that concerns one of its rows. At one instant the lower order comes first, then the lower run.
  struct Moment {
    Instant at;
    std::int64_t order = 0;
    std::size_t row = 0;
  };
  using MomentsOf = std::function<std::vector<Moment>(const Run&)>;

  RunsInTime(const SortedRows& rows, MomentsOf moments_of)
      : moments_of_(std::move(moments_of)), sorted_(rows.empty_list()) {}

  // A run without moments is ignored.
  [[nodiscard]] Expected<void> add(const Run& run);
  [[nodiscard]] Expected<void> for_each(
      const std::function<Expected<void>(const std::shared_ptr<Run>&, const Moment&)>& visit) const;

 private:
  MomentsOf moments_of_;
  SortedRecords sorted_;
};

// Visits the begin of each row of each run, in the order of time.
[[nodiscard]] Expected<void> for_each_part(
    const SortedRows& rows, const std::function<bool(const Run&)>& is_asked,
    const std::function<Expected<void>(const std::shared_ptr<Run>&, std::size_t row)>& visit);

}  // namespace shapley::sacct
