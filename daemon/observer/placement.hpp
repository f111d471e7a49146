// Placements: which nodes a job may use, as it asked for them, and which nodes that comes to.
//
// A placement is a text that many jobs share: words in this order, with one blank between them, of what the job asks
// for; values hold no blanks.
//
//   partition=P[,Q...] nodes=LIST exclude=LIST features=CONSTRAINT reservation=R[,S...]
//
// The books count demand for the nodes that PlacementResolved names (events/event.hpp). Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/observer.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// Names separated by commas, ascending, each once: the order in which a job names them changes nothing.
[[nodiscard]] std::string sorted_names(std::string names);

// What a job asks for, or asked for before it started; empty: any node will do. A list or constraint that may have been
// cut on its way (protocol::k_max_placement_text) is `*`, which no node meets.
[[nodiscard]] std::string placement_of(const protocol::JobRecord& record);

using NodeTable = std::map<std::string, protocol::NodeRecord, std::less<>>;

// The nodes that jobs of this placement may use, ascending. A node qualifies if it
// - is in one of the partitions (unless the feeder is an older one that tells the partitions of no node at all),
// - is among `nodes`: a job that names some counts for these alone, even if it asks for more nodes than it names,
// - is not among `exclude`,
// - is admitted by `features` (constraint.hpp),
// - is in one of the job's reservations; for a job without: in no reservation.
// Whether a node is up does not matter: one that is down offers nothing anyway. What cannot be read admits no node, so
// that demand is not counted where it may be none.
[[nodiscard]] std::vector<std::string> usable_nodes(std::string_view placement, const NodeTable& nodes);

// So many placements have nodes at a time: by each one more, Shapley values take longer.
inline constexpr std::size_t k_max_placements = 256;

// The usable nodes of placements in Slurm's notation, as found before. Of one table of nodes: clear it when that
// changes.
using UsableNodes = std::map<std::string, std::string, std::less<>>;

// What the books lack of the placements that remembered waits and runs are of, as events. `known` holds these
// placements afterwards, but for those that were retired.
//
// The first statement of a placement holds since its first wait or run began, so that its demand counts from there on;
// it is made even if the placement has no nodes: a later one, with nodes, then holds from its own observation on. A
// placement that nothing remembered is of any more is retired: it has no nodes from then on, and what is stated when
// somebody asks for it again holds as a first statement does.
//
// Where there would be more than k_max_placements with nodes, those are retired that nobody asks for now: no open wait
// or run is of them. If still more are asked for, organizations choose in turn, each the one of which it asks for most:
// at least k_max_placements / n of each of n organizations have nodes, whatever the others ask for. That the rest have
// none is a warning.
[[nodiscard]] Observation resolve_placements(const accounting::State& books, const NodeTable& nodes, UsableNodes& known,
                                             Instant observed_at);

}  // namespace shapley::daemon
