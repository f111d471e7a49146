// A table of nodes with partitions, features and reservations.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "request/placement.hpp"

namespace shapley::request {

inline protocol::NodeRecord node_of(const std::string& name, std::vector<std::string> partitions,
                                    std::vector<std::string> features = {},
                                    std::vector<std::string> reservations = {}) {
  protocol::NodeRecord node;
  node.name = name;
  node.partitions = std::move(partitions);
  node.features = std::move(features);
  node.reservations = std::move(reservations);
  return node;
}

inline NodeTable table_of(const std::vector<protocol::NodeRecord>& nodes) {
  NodeTable table;
  for (const protocol::NodeRecord& node : nodes) table.emplace(node.name, node);
  return table;
}

// n1 and n2 in batch, n2 and n3 in gpu; n4 in batch, but reserved.
inline NodeTable small_cluster() {
  return table_of({node_of("n1", {"batch"}, {"ib"}), node_of("n2", {"batch", "gpu"}, {"a100", "ib"}),
                   node_of("n3", {"gpu"}, {"a100"}), node_of("n4", {"batch"}, {"ib"}, {"maint"})});
}

}  // namespace shapley::request
