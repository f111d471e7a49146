// What nodes were used for, by owner and interval, and how long runs had waited (docs/reference/shapleyctl/history.md).
// ledger/reports/utilization.hpp makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/amounts.hpp"

namespace shapley::ledger {

// GPUs, of whatever type, times how long.
struct GpuTime {
  double gpu_hours = 0;
  CpuTime time = {};  // millionths of a GPU times seconds
};
SHAPLEY_DESCRIBE(GpuTime, gpu_hours, (named, time, "gpu_seconds"));

// capacity = own + lent + unused. Those of a node that is down are unused.
struct GpuUse {
  GpuTime capacity = {};
  GpuTime own = {};
  GpuTime lent = {};
  GpuTime unused = {};
  GpuTime borrowed = {};  // of others' nodes
};
SHAPLEY_DESCRIBE(GpuUse, capacity, own, lent, unused, borrowed);

// An owner's nodes in one interval: capacity = own + lent + idle_wanted + idle_unwanted + down.
struct UtilizationRow {
  Dated begin = {};
  Dated end = {};
  std::string organization = {};
  std::optional<Amount> capacity = {};  // nullopt: a node was down whose worth is not recorded
  Amount own = {};
  Amount lent = {};
  Amount idle_wanted = {};
  Amount idle_unwanted = {};
  std::optional<Amount> down = {};  // likewise
  std::optional<GpuUse> gpus = {};  // nullopt: not all runs say what they had
};
SHAPLEY_DESCRIBE(UtilizationRow, begin, end, organization, capacity, own, lent, idle_wanted, idle_unwanted, down, gpus);

// The runs that began in one interval, by partition and CPUs.
struct WaitedRow {
  Dated begin = {};
  Dated end = {};
  std::string partition = {};  // empty: not known, or with `cpus` "all" every partition
  std::string cpus = {};       // "1", "2-8", ..., "all"
  std::int64_t started = 0;
  std::int64_t not_known = 0;  // of them: it is not recorded since when they could have started
  // Of the others: so many seconds or less waited half of them, nine of ten, and all.
  std::optional<std::int64_t> median_s = {};
  std::optional<std::int64_t> most_of_90_percent_s = {};
  std::optional<std::int64_t> longest_s = {};
};
SHAPLEY_DESCRIBE(WaitedRow, begin, end, partition, cpus, started, not_known, median_s, most_of_90_percent_s, longest_s);

inline constexpr const char* k_all_sizes = "all";

struct UtilizationReport {
  std::vector<UtilizationRow> rows = {};
  std::vector<WaitedRow> waits = {};
  bool is_private = false;  // jobs are private to the asker, so waits are left out
  // What else the time of nodes is divided into, and the ledger does not record.
  std::vector<std::string> not_known = {};
};
SHAPLEY_DESCRIBE(UtilizationReport, rows, waits, (supplement, is_private, "private"), not_known);

}  // namespace shapley::ledger
