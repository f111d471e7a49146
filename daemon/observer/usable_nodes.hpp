// The nodes of a feeder's session: which of them jobs of the books' placements may use (request/placement.hpp), and of
// which kinds they are.
//
// The books count demand for the nodes that PlacementResolved names (events/event.hpp). Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/charging.hpp"
#include "daemon/observer/observer.hpp"
#include "protocol/messages.hpp"
#include "request/placement.hpp"

namespace shapley::daemon {

using request::NodeTable;

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

  // The kinds of the session's nodes that the job may use, now or when reservations are over, each once, up or not.
  // Valid until something is noted or forgotten. REQUIRES: always the same rule between two calls of forget().
  [[nodiscard]] Kinds kinds_for(const protocol::JobUpdate& job, const Charging& charging);

  // Those that jobs cannot use now: they are down, drained or failing. A node that is gone is not among them.
  [[nodiscard]] const accounting::NodeNames& away() const { return away_; }

  [[nodiscard]] bool due(const accounting::State& books) const;
  // Events that the books lack. REQUIRES: they have all noted events. A warning is repeated only after it was absent.
  [[nodiscard]] Observation resolve(const accounting::State& books, Instant observed_at);

 private:
  NodeTable nodes_;
  accounting::NodeNames away_;
  bool complete_ = false;
  bool stale_ = false;  // `usable_` lacks something
  UsableNodes usable_;
  struct KnownKinds {
    std::vector<NodeKind> usable;
    std::vector<NodeKind> fitting;
  };
  std::map<std::string, KnownKinds, std::less<>> kinds_;  // by placement, as found before
  Instant horizon_ = k_beginning_of_time;                 // of the books that were looked at last
  std::vector<std::string> warned_;
};

}  // namespace shapley::daemon
