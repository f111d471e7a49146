// Rows of sacct, sorted by job on disk (base/sorted_records.hpp); the rows of one job at a time are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/sorted_records.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::sacct {

struct SacctRow {
  std::int64_t line = 0;  // 1-based
  std::uint32_t job = 0;
  std::uint32_t array_job = 0;  // 0: not of an array
  std::optional<std::uint32_t> array_task;
  std::uint32_t het_job = 0;  // 0: not of a heterogeneous job
  std::string user;           // empty: not exported
  std::optional<std::uint32_t> user_id;
  std::string group;
  std::optional<std::uint32_t> group_id;
  std::string account, partition, qos, name, wckey;
  std::string state;  // Slurm's name: "COMPLETED", "CANCELLED" (without the user), "RESIZING", ...
  Instant submit;
  std::optional<Instant> eligible;
  std::optional<Instant> start;          // nullopt: it never started
  std::optional<Instant> end;            // nullopt: it has not ended
  Duration suspended;                    // of the time from start to end
  std::optional<Duration> requested;     // time limit; nullopt: unlimited, or not exported
  std::uint32_t requested_cpus = 0;      // 0: not exported
  std::uint32_t cpus = 0;                // allocated
  std::uint64_t memory = 0;              // MiB allocated, on all nodes; 0: not exported or not allocated
  std::vector<protocol::Tres> gres;      // allocated, on all nodes; each once, without its type ("gres/gpu")
  std::optional<std::uint64_t> billing;  // of all nodes; nullopt: not exported
  std::vector<std::string> nodes;        // ascending, each once; empty: none, or not exported
  // What it held of each node: first the CPUs, then the memory, then each of `gres`; empty: not known (spreading.hpp).
  std::vector<std::uint64_t> parts;

  [[nodiscard]] bool ran() const { return start && cpus > 0 && (end ? *end > *start : state != "PENDING"); }
};

// All members of a row except its nodes, for what keeps rows as bytes.
template <typename Row, typename Pass>
void pass_members(Row& row, Pass& pass) {
  const auto all = [&](auto&... members) { (pass(members), ...); };
  all(row.parts);
  all(row.line, row.job, row.array_job, row.array_task, row.het_job, row.user, row.user_id, row.group, row.group_id);
  all(row.account, row.partition, row.qos, row.name, row.wckey, row.state, row.submit, row.eligible, row.start);
  all(row.end, row.suspended, row.requested, row.requested_cpus, row.cpus, row.memory, row.gres, row.billing);
}

// A row as bytes, and the way back, which takes them off the front of `bytes`.
void pack(const SacctRow& row, std::string& bytes);
[[nodiscard]] SacctRow unpack_row(std::string_view& bytes);

// Above this bound the rows held at one time, of one job or of the open runs, would need gigabytes.
constexpr std::size_t k_max_names = std::size_t{1} << 25U;

class SortedRows {
 public:
  // `directory`: of temporary files; `memory`: bytes, of each list that is sorted.
  explicit SortedRows(std::filesystem::path directory, std::size_t memory = SortedRecords::k_memory)
      : directory_(std::move(directory)), memory_(memory), sorted_(directory_, memory) {}

  [[nodiscard]] Expected<void> add(const SacctRow& row);
  // Visits the rows of each job that are not left out, by job; the rows that ran come first, in the order of time.
  [[nodiscard]] Expected<void> for_each_job(
      const std::function<Expected<void>(const std::vector<SacctRow>&)>& visit) const;
  // REQUIRES: the row of this line was added, and is not left out.
  void leave_out(std::int64_t line) { left_out_.insert(line); }

  // Rows that are not left out.
  [[nodiscard]] std::int64_t size() const { return added_ - static_cast<std::int64_t>(left_out_.size()); }
  [[nodiscard]] std::int64_t never_ran() const { return never_ran_; }  // of all rows, those that did not run
  // An empty list for further data of the rows.
  [[nodiscard]] SortedRecords empty_list() const { return SortedRecords(directory_, memory_); }

 private:
  std::filesystem::path directory_;
  std::size_t memory_;
  SortedRecords sorted_;
  std::set<std::int64_t> left_out_;  // lines
  std::int64_t added_ = 0, never_ran_ = 0;
};

}  // namespace shapley::sacct
