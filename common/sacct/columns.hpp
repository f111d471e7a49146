// The columns of `sacct -P`, and a row of it as texts: what the readers of all of a row (sacct_rows.hpp) and of what
// runs are compared by (slurm_records.hpp) have in common. Values of these texts: sacct_fields.hpp. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shapley::sacct {

enum class Column {
  cluster,
  job_id,
  job_id_raw,
  user,
  user_id,
  group,
  group_id,
  account,
  partition,
  qos,
  name,
  wckey,
  state,
  submit,
  eligible,
  start,
  end,
  suspended,
  elapsed_seconds,
  elapsed,
  limit_minutes,
  limit,
  requested_cpus,
  cpus,
  cpus_or_requested,
  tres,
  nodes,
};
// As the header has them, by Column.
inline constexpr std::array<std::string_view, 27> k_columns{
    "Cluster",    "JobID",   "JobIDRaw",     "User",      "UID",     "Group",     "GID",   "Account",   "Partition",
    "QOS",        "JobName", "WCKey",        "State",     "Submit",  "Eligible",  "Start", "End",       "Suspended",
    "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "ReqCPUS", "AllocCPUS", "NCPUS", "AllocTRES", "NodeList"};
static_assert(k_columns.size() == static_cast<std::size_t>(Column::nodes) + 1, "every column has its name");
[[nodiscard]] constexpr std::string_view name_of(Column column) {
  return k_columns[static_cast<std::size_t>(column)];
}

// Where an export has its columns, by its first line. They may be in any order; further ones are ignored.
class Columns {
 public:
  explicit Columns(std::string_view header);

  [[nodiscard]] std::size_t count() const { return count_; }  // further ones, too
  [[nodiscard]] std::optional<std::size_t> place_of(Column column) const {
    return places_[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] bool has(Column column) const { return place_of(column).has_value(); }
  // The first one of these that is missing; nullopt: none.
  [[nodiscard]] std::optional<Column> missing(std::initializer_list<Column> needed) const;

 private:
  std::size_t count_;
  std::array<std::optional<std::size_t>, k_columns.size()> places_;
};

// What a row is about: a job, one of its steps ("17.batch"), or the tasks of an array that have not started
// ("17_[3-9]").
enum class RowKind { job, step, pending_array };

// One row. Lives as long as the columns and the line.
class Fields {
 public:
  Fields(const Columns& columns, std::string_view line);

  // "3 fields where the header has 15"; empty: as many. REQUIRES of all others: as many.
  [[nodiscard]] std::string miscount() const;
  [[nodiscard]] bool has(Column column) const { return columns_.has(column); }
  // Empty where the column is missing.
  [[nodiscard]] std::string_view text(Column column) const {
    const auto place = columns_.place_of(column);
    return place ? texts_[*place] : std::string_view{};
  }
  [[nodiscard]] RowKind kind() const;
  // Slurm's name of the state: without who cancelled ("CANCELLED by 1000").
  [[nodiscard]] std::string_view state() const;

 private:
  const Columns& columns_;
  std::vector<std::string_view> texts_;
};

// Each cluster numbers its own jobs, so rows of two clusters are not rows of the same jobs.
class OneCluster {
 public:
  // False: the row is of another cluster than the first one.
  [[nodiscard]] bool takes(const Fields& row, std::int64_t line);
  // Of the first row: its cluster's name, at most 64 bytes of it, and its line.
  [[nodiscard]] std::string name() const { return name_.substr(0, 64); }
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::string name_;
  std::int64_t line_ = 0;
};

}  // namespace shapley::sacct
