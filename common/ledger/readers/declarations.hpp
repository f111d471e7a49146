// What the configuration declared, found by ranges of the key's index: quick in a ledger of millions of events.
#pragma once

#include <optional>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/former_names.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Every OrganizationsDeclared, OwnershipStated, PeriodDeclared, ConfigurationLoaded, RankingDeclared and
// ChargeDeclared, in the order of recording. Errors: Errc::corrupt when one cannot be decoded (says which), Errc::io.
[[nodiscard]] Expected<std::vector<accounting::Event>> declarations(const Ledger& ledger);

// The configuration in force at `at`: the last one loaded by then. nullopt: none was. Errors as above.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_at(const Ledger& ledger,
                                                                                        Instant at);

// By the adjustments that were made up to now (accounting::former_names). Errors as above.
[[nodiscard]] Expected<accounting::FormerNames> former_names(const Ledger& ledger);

// configuration_at, or, where none was loaded by then, the first one: jobs of before it are booked by it, too.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_behind(const Ledger& ledger,
                                                                                            Instant at);

}  // namespace shapley::ledger
