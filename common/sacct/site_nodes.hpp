// The resources of a past cluster's nodes, and what a run held of each of its nodes.
//
// sacct lists a run's nodes and its sums over them. A node's part is exact where there is one node, or where the run
// held all CPUs of its nodes; else the sums are split evenly, the odd ones to the first nodes by name.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "protocol/messages.hpp"
#include "sacct/sorted_rows.hpp"

namespace shapley::sacct {

using SiteNodes = std::map<std::string, protocol::NodeRecord, std::less<>>;  // by name

// The output of `scontrol show nodes --oneliner` (CPUs, memory and generic resources that jobs may use, as the plugin
// reads them), or lines "NODE CPUS" (`sinfo -N -h -o "%N %c"`). Errc::invalid_argument names the line.
[[nodiscard]] Expected<SiteNodes> read_nodes(std::istream& text);

// Without any source of what nodes have: the most CPUs that runs held on each node at once, suspended ones counted with
// their own share only. Memory and generic resources are not known. A lower bound.
[[nodiscard]] Expected<SiteNodes> nodes_by_use(const SortedRows& rows);

// What the run of a row held of each of its nodes, ascending by name. `nodes`: as far as they are known.
[[nodiscard]] std::vector<protocol::NodeHolding> holdings_of(const SacctRow& row, const SiteNodes& nodes);

}  // namespace shapley::sacct
