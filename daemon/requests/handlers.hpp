// The functions that the table of requests (queries.cpp) calls, by file.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/controllers/controller_json.hpp"
#include "daemon/requests/queries.hpp"
#include "reports/requests.hpp"

namespace shapley::daemon {

// ---- orders.cpp: requests of administrators that change something, and of the other one of two controllers, which
// follows this one (docs/internals/two-controllers.md). They are answered in the serving thread.

// Corrects the books (ledger/adjustments), in one transaction. The author is the user that the kernel names. On error,
// no event is booked.
[[nodiscard]] Expected<Answer> adjust(Service& service, const ledger::AdjustRequest& asked, const Context& context);

// Records another ClusterName of the cluster.
[[nodiscard]] Expected<Answer> rename_cluster(Service& service, const ledger::RenameClusterRequest& asked,
                                              const Context& context);

// Accepts that the statements of another cluster are of another line of events (Consortium::accept_line), or says what
// that would change.
[[nodiscard]] Expected<Answer> accept_line(Service& service, const ledger::AcceptLineRequest& asked,
                                           const Context& context);

// Records that shapleyctl made a backup of the ledger, audited it, or wrote a month's papers of it, up to an event.
// Papers of a month before the last ones change nothing. Errc::conflict unless the daemon's ledger contains that event
// with that hash.
[[nodiscard]] Expected<Answer> note_upkeep(Service& service, const ledger::UpkeepRequest& asked,
                                           const Context& context);

// Allows this controller to write although the ledger of the other one is lost. Errc::conflict if that is not needed,
// or this is the only controller.
[[nodiscard]] Expected<Answer> begin(Service& service, const ledger::NoMembers& asked, const Context& context);

// Events after a position of the chain. Errc::conflict for the only controller.
[[nodiscard]] Expected<Answer> follow(Service& service, const FollowQuestion& asked, const Context& context);

// Whether an administrator's order can be written here: Errc::conflict if the other one of two controllers writes.
[[nodiscard]] Expected<void> takes_orders(const Service& service);

// The answer to an order that is booked here, where the other one of two controllers does not have it yet.
[[nodiscard]] std::string said_alone(const std::string& answer);

// The user's name for the ledger: "uid 0 (root)"; without a name if this host has none.
[[nodiscard]] std::string author_of(std::uint32_t uid);

// ---- rank_requests.cpp: why a job waits, and which of two goes first (answers/ranks.hpp).
//
// The present comes from a copy of the books in memory; facts about a job and the past come from the ledger's tables
// and events, in the thread that reads them. Events are read up to the budget of the asker: beyond it an answer about
// the past is Errc::limit, and one about the present leaves the past out.

[[nodiscard]] Expected<Answer> explain(Service& service, const ledger::ExplainRequest& asked, const Context& context);
[[nodiscard]] Expected<Answer> compare(Service& service, const ledger::CompareRequest& asked, const Context& context);

// Errc::unavailable while the books are rebuilt: then there is no outlook of the ranks.
[[nodiscard]] Expected<void> check_rebuilt(Service& service);

// ---- self_report.cpp: the report of shapleyd about itself in the answer to `status` (docs/reference/protocol.md): its
// files, its work, failures, and the plugin that feeds it.

// The members `daemon` and `plugin`.
[[nodiscard]] protocol::DaemonReport daemon_report(Service& service, Instant now);
[[nodiscard]] protocol::PluginReport plugin_report(const Service& service, Instant now);

// The configuration in force, and the one that was refused since, if any.
[[nodiscard]] protocol::ConfigurationReport configuration_report(const Service& service);

}  // namespace shapley::daemon
