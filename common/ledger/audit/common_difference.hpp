// What the records of a file have in common where they differ from a ledger: they were made in another time zone, or
// sacct -T cut their times at the edges of what it was asked for. It is one finding, not one for every run. Pure.
#pragma once

#include <optional>

#include "ledger/audit/facts.hpp"
#include "ledger/audit/slurm_records.hpp"

namespace shapley::ledger {

struct CommonDifference {
  std::string what;      // the finding
  SlurmRecords records;  // without it
};

// nullopt: there is none. A time zone's is a number of quarters of an hour that start and end of a run have in common,
// one or two of them (summer time), and that explains more runs than agree as they stand.
[[nodiscard]] std::optional<CommonDifference> common_difference(const Facts& facts, const SlurmRecords& records);

}  // namespace shapley::ledger
