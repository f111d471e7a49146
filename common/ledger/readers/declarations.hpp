// What the configuration declared, found by ranges of the key's index: quick in a ledger of millions of events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/organizations.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Every OrganizationsDeclared, OwnershipStated, PeriodDeclared, ConfigurationLoaded, RankingDeclared, ChargeDeclared,
// ResidualMeasured and ConsortiumDeclared, in the order of recording. Errors: Errc::corrupt when one cannot be decoded
// (says which), Errc::io.
[[nodiscard]] Expected<std::vector<accounting::Event>> declarations(const Ledger& ledger);

// The configuration in force at `at`: the last one loaded by then. nullopt: none was. Errors as above.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_at(const Ledger& ledger,
                                                                                        Instant at);

// By the adjustments that were made up to now (accounting::former_names). Errors as above.
[[nodiscard]] Expected<accounting::FormerNames> former_names(const Ledger& ledger);

// What the cluster was named last; empty: no feeder has named it. Errors as above.
[[nodiscard]] Expected<std::string> cluster_name(const Ledger& ledger);

// configuration_at, or, where none was loaded by then, the first one: jobs of before it are booked by it, too.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_behind(const Ledger& ledger,
                                                                                            Instant at);

// Whose the nodes were, and how large.

// One organization's part of one node during [begin, end). Its size is the most that the node had offered by `begin`: a
// node that is down for a day has its owners nevertheless. What the owners' parts leave of a node belongs to
// commons.
struct OwnedPart {
  std::string organization;
  std::string node;
  std::int64_t parts_per_million = 0;  // 1 to 1,000,000
  ProcessorMillionths largest;         // the whole node
  Instant begin;
  Instant end;
};

// Everything before `until`, ascending by organization, node and begin; pieces touch where a node grew. A node counts
// from when the ledger first heard of it, at the size that it offered first; those that it heard of when it began count
// from the beginning of time. A node that no organization ever claimed is left out, and so is one that never offered
// anything. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant until);

}  // namespace shapley::ledger
