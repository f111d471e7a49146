// Checks of readable rows that contradict each other or the nodes on which they ran.
//
// Each check ends with the first bad row as an error (Malformed::refuse), or removes bad rows and appends them to `bad`
// (Malformed::skip). In memory are the rows of one job, or the runs that are open at one time.
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

// The findings of a check: all of them, or, if the first one is refused, that one and their number.
class Findings {
 public:
  Findings(SacctExport& sacct, Malformed choice) : sacct_(sacct), choice_(choice) {}
  // Takes over `faults`, of rows that had none so far, and leaves it empty.
  void take(Faults& faults);
  // Call it at the end: it returns the first fault as an error, or leaves all bad rows out.
  [[nodiscard]] Expected<void> finish();

 private:
  SacctExport& sacct_;
  Malformed choice_;
  Faults kept_;
  std::size_t count_ = 0;
};

// A job runs once at a time: rows of one number whose times overlap are parts of a resized run, or they contradict each
// other, like those of two clusters. Then both are bad; but if one run goes on and the other one begins later or has an
// end, only the former is bad. No run begins before its job was submitted.
[[nodiscard]] Expected<void> check_rows(SacctExport& sacct, Malformed choice);

// Every run is on known nodes, and holds no more CPUs than they have. Runs of a node may hold more together if
// `oversubscribed`; otherwise the one that goes on is bad, or the one that began last. Where a run's part of a node is
// not certain its least possible part counts, and suspended runs do not count.
[[nodiscard]] Expected<void> check_nodes(SacctExport& sacct, const SiteNodes& nodes, bool oversubscribed,
                                         Malformed choice);

// Of every run it is known what Slurm bills, by which it is to be charged.
[[nodiscard]] Expected<void> check_billing(SacctExport& sacct, Malformed choice);

// Every run has nodes.
[[nodiscard]] Expected<void> check_places(SacctExport& sacct, Malformed choice);

}  // namespace shapley::sacct
