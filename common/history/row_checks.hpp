// What cannot be, though every field can be read: rows against each other, and against the nodes that they ran on.
//
// Each check ends with the first bad row as an error (Malformed::refuse), or takes bad rows out of `rows` and appends
// them to `bad` (Malformed::skip). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.hpp"
#include "history/sacct_rows.hpp"
#include "history/site_nodes.hpp"

namespace shapley::history {

using Faults = std::map<std::int64_t, std::string>;  // by line

// What every check ends with.
[[nodiscard]] Expected<void> leave_out(SacctRows& sacct, const Faults& faults, Malformed choice);

// A job runs once at a time: rows of one number whose times overlap are parts of a resized run, or they contradict each
// other, as those of two clusters do. Of two such rows both are bad, but of a run that goes on and one that begins
// later or tells an end the former. No run begins before its job was submitted.
[[nodiscard]] Expected<void> check_rows(SacctRows& sacct, Malformed choice);

// Every run is on nodes that are known, and holds no more CPUs than they have; `oversubscribed`: the runs of a node may
// hold more together, else the one that goes on is bad, or the one that began last. Where a run's part of a node is not
// certain the least that it can be counts, and what was suspended does not.
[[nodiscard]] Expected<void> check_nodes(SacctRows& sacct, const SiteNodes& nodes, bool oversubscribed,
                                         Malformed choice);

// Every run has nodes at all.
[[nodiscard]] Expected<void> check_places(SacctRows& sacct, Malformed choice);

}  // namespace shapley::history
