// What jobs may have of a node that others use, too: limits of partitions (MaxCPUsPerNode), reservations of some of its
// cores, and nodes that are one user's while a job of that user runs there. Pure functions.
//
// Amounts are in millionths of a processor.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "request/placement.hpp"

namespace shapley::client {

// Of a node's CPUs, what the jobs of one partition or of one reservation of cores may hold together. If one of a node's
// partitions has a limit, all of them are there.
struct NodeLimit {
  std::string name;
  bool is_reservation = false;  // no other job may hold these
  std::uint32_t cpus = 0;
  friend auto operator<=>(const NodeLimit&, const NodeLimit&) = default;
};

// The user whose alone a node is, or must be for a job.
using OnlyUser = std::int64_t;
inline constexpr OnlyUser k_any_user = -1;       // of a job: it shares nodes; of a node: nothing runs there
inline constexpr OnlyUser k_several_users = -2;  // of a node: users who share it

// What runs leave of a node.
struct Left {
  std::int64_t free = 0;                  // of the node, for any job
  std::int64_t cpus = 0;                  // that no run holds
  std::vector<std::int64_t> limits = {};  // of each of the node's limits, in their order
  OnlyUser user = k_any_user;
  friend auto operator<=>(const Left&, const Left&) = default;
};

// Of it, what jobs of this placement may use; of jobs in several partitions, in that where it is most. From 0 to free.
[[nodiscard]] std::int64_t free_for(const request::Placement& placement, std::span<const NodeLimit> limits,
                                    const Left& left);

// Whether jobs that want nodes of `only` alone (k_any_user: that share them) may use a node. What an owner's jobs that
// share nodes could use of its own is not counted.
[[nodiscard]] bool may_use(OnlyUser only, const Left& left);

// What limits jobs of this placement on a node: with all that limits an outer set an inner one has no more free of any
// node.
[[nodiscard]] std::set<std::string> bounds_of(const request::Placement& placement, std::span<const NodeLimit> limits);

}  // namespace shapley::client
