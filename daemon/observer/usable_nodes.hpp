// Placements: the nodes that a job may use, as it requested them, and the nodes that result.
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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/observer.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// Names separated by commas, ascending, each once: the order in which a job names them changes nothing.
[[nodiscard]] std::string sorted_names(std::string names);

// The placement that a job requests, or requested before it started; empty: any node will do. A list or constraint that
// may have been cut in transfer (protocol::k_max_placement_text) becomes `*`, which no node meets.
[[nodiscard]] std::string placement_of(const protocol::JobUpdate& record);

using NodeTable = std::map<std::string, protocol::NodeRecord, std::less<>>;

// The nodes that jobs of this placement may use, ascending. A node qualifies if it
// - is in one of the partitions (unless the feeder is an older one that sends the partitions of no node at all),
// - is among `nodes`: a job that names some counts for these alone, even if it asks for more nodes than it names,
// - is not among `exclude`,
// - is admitted by `features` (admits()),
// - is in one of the job's reservations; for a job without: in no reservation.
// Whether a node is up does not matter: one that is down offers nothing anyway. Text that cannot be read admits no
// node, so that demand is not counted where there may be none.
[[nodiscard]] std::vector<std::string> usable_nodes(std::string_view placement, const NodeTable& nodes);

// The most placements that have nodes at a time: each one makes Shapley values take longer.
inline constexpr std::size_t k_max_placements = 256;

// The usable nodes of placements in Slurm's notation, as found before. For one table of nodes: clear it when that
// changes.
using UsableNodes = std::map<std::string, std::string, std::less<>>;

// Events that the books lack about the placements of remembered waits and runs. Afterwards `known` has these
// placements, except those that were retired.
//
// The first statement of a placement holds since its first wait or run began, so that its demand counts from there on;
// it is made even if the placement has no nodes: a later statement, with nodes, then holds from its own observation on.
// A placement without any remembered wait or run is retired: it has no nodes from then on, and the statement made when
// it is requested again holds like a first statement.
//
// If more than k_max_placements would have nodes, placements without an open wait or run are retired. If still more are
// requested, organizations choose in turn, each the one for which it requests most: at least k_max_placements / n of
// each of n organizations have nodes, whatever the others request. A warning reports that the rest have none.
[[nodiscard]] Observation resolve_placements(const accounting::State& books, const NodeTable& nodes, UsableNodes& known,
                                             Instant observed_at);

// Whether a node with these features (ascending) may be one of a job's with this --constraint: features joined by `&`
// (or `,`) and `|`, which Slurm evaluates from the left to the right, neither before the other, and groups of them in
// parentheses. Where nodes of several kinds serve one job, each kind will do: of alternatives in brackets
// ("[rack1|rack2]") and of counted features ("gpu*2&big*1") a node needs any one. nullopt: the text is no constraint.
[[nodiscard]] std::optional<bool> admits(std::string_view constraint, std::span<const std::string> features);

// The nodes of the feeder's session, and which of them the jobs in the books may use.
//
// Reports when the books may lack a statement about that, which is seldom: when the nodes changed, when a wait or run
// with a placement that was not examined yet is booked, when some were retracted or forgotten, and while there are too
// many placements whenever a wait or run begins or ends. Single-threaded.
class SessionNodes {
 public:
  // Nothing is due until all nodes are known: a node that was not reported yet must not count as unusable.
  void forget();
  void complete();

  void note(const protocol::NodeRecord& node);
  void note_gone(std::string_view node);
  void note(const accounting::Event& event);  // an event that the books are about to get

  [[nodiscard]] bool due(const accounting::State& books) const;
  // Events that the books lack. REQUIRES: they have all noted events. A warning is repeated only after it was absent.
  [[nodiscard]] Observation resolve(const accounting::State& books, Instant observed_at);

 private:
  NodeTable nodes_;
  bool complete_ = false;
  bool stale_ = false;  // `usable_` lacks something
  UsableNodes usable_;
  Instant horizon_ = k_beginning_of_time;  // of the books that were looked at last
  std::vector<std::string> warned_;
};

}  // namespace shapley::daemon
