// usable_nodes against sets of nodes: the cluster is made up as lists of nodes by partition, feature and reservation,
// and what a job may use is found by joining and intersecting those lists, as a constraint is made up.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "request/placement.hpp"

namespace shapley::request {
namespace {

using Nodes = std::set<std::string>;
using Lists = std::map<std::string, Nodes>;

constexpr int k_nodes = 9;

std::string node_name(int i) {
  return "n" + std::to_string(i);
}

Nodes both(const Nodes& a, const Nodes& b) {
  Nodes common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}
Nodes either(Nodes a, const Nodes& b) {
  a.insert(b.begin(), b.end());
  return a;
}
Nodes without(Nodes a, const Nodes& b) {
  for (const std::string& node : b) a.erase(node);
  return a;
}

Nodes pick_nodes(int percent) {
  Nodes nodes;
  for (int i = 1; i <= k_nodes; ++i) {
    if (*rc::gen::inRange(0, 100) < percent) nodes.insert(node_name(i));
  }
  return nodes;
}

std::string list_of(const Nodes& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += (text.empty() ? "" : ",") + node;
  return text;
}

struct Cluster {
  Nodes all;
  Lists partitions;
  Lists features;
  Lists reservations;
};

Cluster pick_cluster() {
  Cluster cluster;
  for (int i = 1; i <= k_nodes; ++i) cluster.all.insert(node_name(i));
  for (const char* name : {"a", "b", "c"}) cluster.partitions[name] = pick_nodes(40);
  cluster.partitions["all"] = cluster.all;
  for (const char* name : {"f1", "f2", "f3", "f4"}) cluster.features[name] = pick_nodes(50);
  for (const char* name : {"r", "s"}) cluster.reservations[name] = pick_nodes(*rc::gen::element(0, 30));
  return cluster;
}

NodeTable table_of(const Cluster& cluster) {
  NodeTable table;
  const auto names_with = [](const Lists& lists, const std::string& node) {
    std::vector<std::string> names;
    for (const auto& [name, nodes] : lists) {
      if (nodes.contains(node)) names.push_back(name);
    }
    return names;
  };
  for (const std::string& name : cluster.all) {
    protocol::NodeRecord& node = table[name];
    node.name = name;
    node.usable = *rc::gen::arbitrary<bool>();
    node.partitions = names_with(cluster.partitions, name);
    node.features = names_with(cluster.features, name);
    node.reservations = names_with(cluster.reservations, name);
  }
  return table;
}

// A constraint and, found naively, the nodes that it admits.
struct Constraint {
  std::string text;
  Nodes admitted;
};

Constraint pick_feature(const Cluster& cluster) {
  const auto name = *rc::gen::element<std::string>("f1", "f2", "f3", "f4", "f5");
  const auto nodes = cluster.features.find(name);
  return {name, nodes == cluster.features.end() ? Nodes{} : nodes->second};
}

Constraint pick_chain(const Cluster& cluster, int depth);

Constraint pick_operand(const Cluster& cluster, int depth) {
  if (depth == 0 || *rc::gen::inRange(0, 3) > 0) return pick_feature(cluster);
  Constraint group = pick_chain(cluster, depth - 1);
  return {"(" + group.text + ")", std::move(group.admitted)};
}

// Kinds of nodes of which any will do.
Constraint pick_alternatives(const Cluster& cluster, int depth) {
  const bool counted = *rc::gen::arbitrary<bool>();
  Constraint all{"[", {}};
  const auto count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) {
    const Constraint one = pick_operand(cluster, depth);
    if (i > 0) all.text += counted ? "&" : "|";
    all.text += one.text;
    if (counted) all.text += "*" + std::to_string(*rc::gen::inRange(1, 20));
    all.admitted = either(std::move(all.admitted), one.admitted);
  }
  all.text += "]";
  return all;
}

Constraint pick_chain(const Cluster& cluster, int depth) {
  Constraint chain = pick_operand(cluster, depth);
  const auto more = *rc::gen::inRange(0, 4);
  for (int i = 0; i < more; ++i) {
    const Constraint next =
        *rc::gen::inRange(0, 4) == 0 ? pick_alternatives(cluster, depth) : pick_operand(cluster, depth);
    const auto joint = *rc::gen::element<std::string>("&", ",", "|", " | ", " & ");
    chain.text += joint + next.text;
    chain.admitted = joint.find('|') != std::string::npos ? either(chain.admitted, next.admitted)
                                                          : both(chain.admitted, next.admitted);
  }
  return chain;
}

Nodes nodes_of_some(const Lists& lists, std::string& names) {
  Nodes nodes;
  for (const auto& [name, list] : lists) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    names += (names.empty() ? "" : ",") + name;
    nodes = either(std::move(nodes), list);
  }
  return nodes;
}

Nodes all_of(const Lists& lists) {
  Nodes nodes;
  for (const auto& [name, list] : lists) nodes = either(std::move(nodes), list);
  return nodes;
}

RC_GTEST_PROP(PlacementProperty, UsableNodesAreThoseOfTheListsThatTheJobNames, ()) {
  const Cluster cluster = pick_cluster();
  protocol::JobUpdate job;
  Nodes expected = cluster.all;
  const Nodes in_partitions = nodes_of_some(cluster.partitions, job.partition);
  if (!job.partition.empty()) expected = both(expected, in_partitions);
  if (*rc::gen::inRange(0, 3) == 0) {
    Nodes required = pick_nodes(60);
    required.insert(node_name(*rc::gen::inRange(1, k_nodes + 4)));
    job.required_nodes = list_of(required);
    expected = both(expected, required);
  }
  if (*rc::gen::inRange(0, 3) == 0) {
    const Nodes excluded = pick_nodes(30);
    job.excluded_nodes = list_of(excluded);
    expected = without(expected, excluded);
  }
  if (*rc::gen::inRange(0, 3) > 0) {
    const Constraint constraint = pick_chain(cluster, 2);
    job.features = constraint.text;
    expected = both(expected, constraint.admitted);
  }
  const Nodes reserved = nodes_of_some(cluster.reservations, job.reservation);
  expected = job.reservation.empty() ? without(expected, all_of(cluster.reservations)) : both(expected, reserved);
  RC_LOG() << placement_of(job) << '\n';
  const std::vector<std::string> usable = usable_nodes(placement_of(job), table_of(cluster));
  RC_TAG(usable.empty() ? "none" : "some");
  RC_ASSERT(usable == std::vector<std::string>(expected.begin(), expected.end()));
}

}  // namespace
}  // namespace shapley::request
