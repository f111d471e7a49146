// The declarations of the configuration, found by ranges of the key's index: fast in a ledger of millions of events.
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

// The configuration in force at `at`: the last one loaded by then; nullopt: none was loaded. Errors as above.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_at(const Ledger& ledger,
                                                                                        Instant at);

// The former names by all adjustments so far (accounting::former_names). Errors as above.
[[nodiscard]] Expected<accounting::FormerNames> former_names(const Ledger& ledger);

// The cluster's last name; empty: no feeder has reported one. Errors as above.
[[nodiscard]] Expected<std::string> cluster_name(const Ledger& ledger);

// configuration_at, or, if none was loaded by then, the first one, by which earlier jobs are booked, too.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_behind(const Ledger& ledger,
                                                                                            Instant at);

// The owners of nodes, and the sizes of nodes.

// One organization's part of one node during [begin, end). Its size is the most that the node had offered by `begin`,
// so a node that is down for a day still has its owners. Commons owns what the owners' parts leave of a node.
struct OwnedPart {
  std::string organization;
  std::string node;
  std::int64_t parts_per_million = 0;  // 1 to 1,000,000
  ProcessorMillionths largest;         // the whole node
  Instant begin;
  Instant end;
};

// All parts before `until`, ascending by organization, node and begin; pieces are adjacent where a node grew. A node
// counts from its first event on, at the size that it offered first; nodes from the ledger's first declarations count
// from the beginning of time. A node that no organization ever claimed, or that never offered anything, is left out.
// Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant until);

}  // namespace shapley::ledger
