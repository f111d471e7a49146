// What was decided on one cluster of a consortium, and how long it could count what the others state
// (docs/reference/shapleyctl/statement.md). answers/board.hpp makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

struct Decision {
  Dated at = {};             // when it was recorded
  std::string cluster = {};  // in whose ledger
  std::string kind = {};     // "configuration", "weights", "settle", "rename", ..., "ledger", "cluster", "import"
  std::string what = {};
  std::optional<std::string> author = {};  // nullopt: the ledger does not record who it was
  std::string reason = {};
};
SHAPLEY_DESCRIBE(Decision, at, cluster, kind, what, author, reason);

// How long in the time the statements of one cluster did not count on another one, by the other one's ledger.
struct ClusterHeard {
  std::string cluster = {};     // on which they count
  std::string statements = {};  // of which cluster
  Dated until = {};             // the end of the time, or of what that ledger has of it
  // It was in the consortium so long. Of that, the last statement was too old to be carried on, so often; a changed
  // ledger of the cluster was not accepted yet, so that its statements were refused (the last one may have become too
  // old, too); and no statement had ever come.
  Duration in_consortium = {};
  Duration stale = {};
  std::int64_t stale_times = 0;
  Duration refused = {};
  Duration without = {};
  Dated last_stated = {};  // the time of the last one
};
SHAPLEY_DESCRIBE(ClusterHeard, cluster, statements, until, (named, in_consortium, "in_consortium_s"),
                 (named, stale, "stale_s"), stale_times, (named, refused, "refused_s"), (named, without, "without_s"),
                 last_stated);

struct ClusterBoard {
  std::string cluster = {};
  std::vector<Decision> decisions = {};  // in the order of time
  std::vector<ClusterHeard> heard = {};  // ascending by name
};
SHAPLEY_DESCRIBE(ClusterBoard, cluster, decisions, heard);

}  // namespace shapley::ledger
