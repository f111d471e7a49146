// The declarations of the configuration, found by ranges of the key's index: fast in a ledger of millions of events.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Every OrganizationsDeclared, OwnershipStated, PeriodDeclared, ConfigurationLoaded, RankingDeclared, ChargeDeclared,
// ResidualMeasured and ConsortiumDeclared, in the order of recording. Errors: Errc::corrupt when one cannot be decoded
// (says which), Errc::io.
[[nodiscard]] Expected<std::vector<accounting::Event>> declarations(const Ledger& ledger);

// What was decided, and the rules by which: every ConfigurationLoaded, ConsortiumDeclared, ResidualMeasured,
// AdjustmentMade, LedgerReplaced, ClusterNamed and HistoryImported, in the order of recording. Errors as above.
[[nodiscard]] Expected<std::vector<accounting::Event>> decisions(const Ledger& ledger);
// The statements of other clusters that were recorded in [since, until), and the last one of each before that,
// ascending by `at`. Errors as above.
[[nodiscard]] Expected<std::vector<accounting::StandingReceived>> statements_received(const Ledger& ledger,
                                                                                      Instant since, Instant until);

// The configuration in force at `at`: the last one loaded by then; nullopt: none was loaded. Errors as above.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_at(const Ledger& ledger,
                                                                                        Instant at);

// The former names by all adjustments so far (accounting::former_names). Errors as above.
[[nodiscard]] Expected<accounting::FormerNames> former_names(const Ledger& ledger);

// The cluster's last name; empty: no feeder has reported one. Errors as above.
[[nodiscard]] Expected<std::string> cluster_name(const Ledger& ledger);

// What users were called last, as far as this file says, by number. Errors as above.
[[nodiscard]] Expected<accounting::UserNames> user_names(const Ledger& ledger);
// The numbers of the user who is asked for by this name: those that have it in the books, ascending, or else the one
// that it has on the asker's host. Errc::invalid_argument: neither knows it.
[[nodiscard]] Expected<std::vector<std::uint32_t>> numbers_of_user(const accounting::UserNames& names,
                                                                   const std::string& name,
                                                                   std::optional<std::uint32_t> on_host);

// The organizations that the configuration named last. Errors as above.
[[nodiscard]] Expected<std::set<std::string>> configured_organizations(const Ledger& ledger);

// The number of the adjustment's event, whose facts follow it; nullopt: it is in an archive. Errors as above.
[[nodiscard]] Expected<std::optional<std::int64_t>> adjustment_event(const Ledger& ledger,
                                                                     const accounting::AdjustmentMade& made);

// configuration_at, or, if none was loaded by then, the first one, by which earlier jobs are booked, too.
[[nodiscard]] Expected<std::optional<accounting::ConfigurationLoaded>> configuration_behind(const Ledger& ledger,
                                                                                            Instant at);

}  // namespace shapley::ledger
