// The nodes of the feeder's session, and which of them the jobs in the books may use (observer/placement.hpp).
//
// Tells when the books may lack a statement about that, which is seldom: when the nodes changed, when a wait or run
// with a placement that was not looked at yet is booked, when some were retracted or forgotten, and while there are too
// many placements whenever a wait or run begins or ends. Single-threaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/observer.hpp"
#include "daemon/observer/placement.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Placements {
 public:
  // Nothing is due until all nodes are there: a node that was not told of yet is none that a job may not use.
  void forget_nodes();
  void complete_nodes();

  void note(const protocol::NodeRecord& node);
  void note_gone(std::string_view node);
  void note(const accounting::Event& event);  // that the books are getting

  [[nodiscard]] bool due(const accounting::State& books) const;
  // What the books lack. REQUIRES: they hold all events that were noted. A warning is repeated only after it was gone.
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
