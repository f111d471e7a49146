// What cannot be, though every field can be read: rows against each other, and against the nodes that they ran on.
//
// Each check ends with the first bad row as an error (Malformed::refuse), or takes bad rows out and appends them to
// `bad` (Malformed::skip). In memory are the rows of one job, or the runs that are open at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/error.hpp"
#include "sacct/sacct_rows.hpp"
#include "sacct/site_nodes.hpp"

namespace shapley::sacct {

using Faults = std::map<std::int64_t, std::string>;  // by line

// What a check found: all of it, or where the first one is refused only that and how many there are.
class Findings {
 public:
  Findings(SacctRows& sacct, Malformed choice) : sacct_(sacct), choice_(choice) {}
  // Takes `faults` up, none of whose rows was found before, and leaves none.
  void take(Faults& faults);
  // To be called at the end: the first fault is the error, or all the rows are left out.
  [[nodiscard]] Expected<void> finish();

 private:
  SacctRows& sacct_;
  Malformed choice_;
  Faults kept_;
  std::size_t count_ = 0;
};

// A job runs once at a time: rows of one number whose times overlap are parts of a resized run, or they contradict each
// other, as those of two clusters do. Of two such rows both are bad, but of a run that goes on and one that begins
// later or has an end, the former. No run begins before its job was submitted.
[[nodiscard]] Expected<void> check_rows(SacctRows& sacct, Malformed choice);

// Every run is on nodes that are known, and holds no more CPUs than they have; `oversubscribed`: the runs of a node may
// hold more together, else the one that goes on is bad, or the one that began last. Where a run's part of a node is not
// certain the least that it can be counts, and what was suspended does not.
[[nodiscard]] Expected<void> check_nodes(SacctRows& sacct, const SiteNodes& nodes, bool oversubscribed,
                                         Malformed choice);

// Every run has nodes at all.
[[nodiscard]] Expected<void> check_places(SacctRows& sacct, Malformed choice);

}  // namespace shapley::sacct
