#include "plugin/client/requests/limits.hpp"

#include <algorithm>

namespace shapley::client {

std::int64_t free_for(const request::Placement& placement, std::span<const NodeLimit> limits, const Left& left) {
  if (limits.empty()) return left.free;
  std::int64_t free = left.free;
  std::int64_t cpus = left.cpus;
  std::int64_t of_partitions = 0;
  bool is_limited = false;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].is_reservation) {
      if (!placement.asks_for_partition(limits[i].name)) continue;
      is_limited = true;
      of_partitions = std::max(of_partitions, left.limits[i]);
    } else if (placement.asks_for_reservation(limits[i].name)) {
      free = std::min(free, left.limits[i]);
    } else {
      cpus -= left.limits[i];
    }
  }
  if (is_limited) free = std::min(free, of_partitions);
  return std::max<std::int64_t>(0, std::min(free, cpus));
}

bool may_use(OnlyUser only, const Left& left) {
  if (only == k_any_user) return left.user < 0;
  return left.user == k_any_user || left.user == only;
}

std::set<std::string> bounds_of(const request::Placement& placement, std::span<const NodeLimit> limits) {
  std::set<std::string> bounds;
  std::string partitions;
  for (const NodeLimit& limit : limits) {
    if (limit.is_reservation) {
      bounds.insert((placement.asks_for_reservation(limit.name) ? "within " : "beside ") + limit.name);
    } else if (placement.asks_for_partition(limit.name)) {
      partitions += ' ' + limit.name;
    }
  }
  if (!partitions.empty()) bounds.insert("partition" + partitions);
  return bounds;
}

}  // namespace shapley::client
