// What a run blocks of a node: the largest of its parts of the node's CPUs, memory and generic resources (GRES), times
// the node's CPUs. A run that has half of the memory leaves half of the node to others, however few CPUs it has.
//
// It is measured in processors, which are CPUs of nodes, and not in what they cost: who owns, uses, lends and borrows
// how much of the nodes is counted so, and `charge: dominant` is charged so. Pure; exact integers, rounded down. Memory
// is in MiB; counts are from 0 to 2^60, CPUs below 2^32.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/contract.hpp"
#include "base/types.hpp"

namespace shapley::game {

// An amount of a generic resource. `name` must outlive its use.
struct NamedCount {
  std::string_view name;
  std::int64_t count = 0;
};

// What a node has, or what a run holds or a request asks for of it; each resource once.
struct Amounts {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  std::vector<NamedCount> gres;
};

[[nodiscard]] inline std::int64_t count_in(const std::vector<NamedCount>& resources, std::string_view name) {
  const auto found =
      std::find_if(resources.begin(), resources.end(), [&](const NamedCount& r) { return r.name == name; });
  return found == resources.end() ? 0 : found->count;
}

// A part of a node, of / whole; larger than 1 if more is asked for than one node has. whole > 0.
struct NodePart {
  std::int64_t of = 0;
  std::int64_t whole = 1;
  friend bool operator<(const NodePart& a, const NodePart& b) {
    return static_cast<Int128>(a.of) * b.whole < static_cast<Int128>(b.of) * a.whole;
  }
};

// The largest part. What the node does not list cannot be held there (or Slurm does not count it), so it blocks
// nothing. REQUIRES: node.cpus > 0.
[[nodiscard]] inline NodePart dominant_part(const Amounts& held, const Amounts& node) {
  SHAPLEY_REQUIRE(node.cpus > 0);
  NodePart largest{held.cpus, node.cpus};
  if (node.memory > 0) largest = std::max(largest, NodePart{held.memory, node.memory});
  for (const NamedCount& r : node.gres) {
    if (r.count > 0) largest = std::max(largest, NodePart{count_in(held.gres, r.name), r.count});
  }
  return largest;
}

// The processors that are blocked: at least a millionth, at most the node's CPUs. All of them if the run has the node
// to itself, which its CPUs need not show: Slurm counts one CPU of each core for jobs that use one thread of it.
// REQUIRES: node.cpus > 0.
[[nodiscard]] inline ProcessorMillionths blocked(const Amounts& held, const Amounts& node, bool exclusive) {
  const std::int64_t all = node.cpus * k_micro;
  if (exclusive) return {all};
  const NodePart part = dominant_part(held, node);
  const Int128 exact = static_cast<Int128>(all) * part.of / part.whole;
  return {static_cast<std::int64_t>(std::clamp<Int128>(exact, 1, all))};
}

}  // namespace shapley::game
