// The resources of a past cluster's nodes.
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

// Without any source of what nodes have: the most CPUs that runs held on each node at once, if each had its CPUs evenly
// on its nodes, suspended ones counted with their own share only. Memory and generic resources are not known. A lower
// bound.
[[nodiscard]] Expected<SiteNodes> nodes_by_use(const SortedRows& rows);

}  // namespace shapley::sacct
