#include "ledger/reports/utilization.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/contract.hpp"

namespace shapley::ledger {

namespace {

template <typename Amounts>
typename Amounts::value_type at(const Amounts& amounts, std::size_t id) {
  return id < amounts.size() ? amounts[id] : typename Amounts::value_type{};
}

GpuTime gpu_time(Int128 time) {
  return {core_hours({time}), {time}};
}

// nullopt: not all that had GPUs is known.
std::optional<GpuUse> gpus_of(const NodeUse& use, std::size_t id) {
  const GpuTimes times = at(use.gpus, id);
  const Int128 unused = times.configured - times.own - times.lent;
  if (at(use.gpus_not_known, id) || unused < 0) return std::nullopt;
  return GpuUse{gpu_time(times.configured), gpu_time(times.own), gpu_time(times.lent), gpu_time(unused),
                gpu_time(times.borrowed)};
}

UtilizationRow row_of(const Stretch& stretch, const OwnerMatrix& matrix, std::size_t id, const std::string& name) {
  UtilizationRow row{.begin = stretch.begin,
                     .end = stretch.end,
                     .organization = name,
                     .capacity = {},
                     .own = {matrix[id][id]},
                     .lent = {},
                     .idle_wanted = {at(stretch.idle_wanted, id)},
                     .idle_unwanted = {},
                     .down = {},
                     .gpus = gpus_of(*stretch.use, id)};
  for (std::size_t other = 0; other < matrix.size(); ++other) {
    if (other != id) row.lent.work += matrix[other][id];
  }
  const CpuTime offered = at(stretch.offered, id);
  row.idle_unwanted = {offered - row.own.work - row.lent.work - row.idle_wanted.work};
  if (at(stretch.use->whole_not_known, id)) return row;
  row.capacity = Amount{at(stretch.use->whole, id)};
  row.down = Amount{row.capacity->work - offered};
  return row;
}

// The least of these, ascending, that so many per cent do not exceed.
std::int64_t percentile(const std::vector<std::int64_t>& ascending, std::size_t percent) {
  SHAPLEY_REQUIRE(!ascending.empty());
  return ascending[(ascending.size() * percent + 99) / 100 - 1];
}

WaitedRow waited_row(const Stretch& stretch, const std::string& partition, const std::string& cpus, Waits waits) {
  WaitedRow row{.begin = stretch.begin, .end = stretch.end, .partition = partition, .cpus = cpus};
  row.started = static_cast<std::int64_t>(waits.seconds.size()) + waits.not_known;
  row.not_known = waits.not_known;
  if (waits.seconds.empty()) return row;
  std::ranges::sort(waits.seconds);
  row.median_s = percentile(waits.seconds, 50);
  row.most_of_90_percent_s = percentile(waits.seconds, 90);
  row.longest_s = waits.seconds.back();
  return row;
}

void add(Waits& sum, const Waits& more) {
  sum.seconds.insert(sum.seconds.end(), more.seconds.begin(), more.seconds.end());
  sum.not_known += more.not_known;
}

}  // namespace

void add_utilization(UtilizationReport& report, const Stretch& stretch, const OwnerMatrix& matrix,
                     const std::vector<std::pair<OrgId, std::string>>& organizations) {
  SHAPLEY_REQUIRE(stretch.use.has_value());
  if (stretch.begin == stretch.end) return;
  std::map<std::pair<std::string, std::size_t>, Waits> by_size;
  Waits all;
  for (const auto& [id, name] : organizations) {
    report.rows.push_back(row_of(stretch, matrix, id.value, name));
    for (const auto& [key, waits] : stretch.use->waits) {
      if (key.organization != id) continue;
      add(by_size[{key.partition, key.size}], waits);
      add(all, waits);
    }
  }
  for (auto& [key, waits] : by_size)
    report.waits.push_back(waited_row(stretch, key.first, run_size_text(key.second), std::move(waits)));
  if (!by_size.empty()) report.waits.push_back(waited_row(stretch, "", k_all_sizes, std::move(all)));
}

}  // namespace shapley::ledger
