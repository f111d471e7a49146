// The order in which the rule, applied again after every start, would serve the tasks that wait. Pure functions.
//
// Starting a task lowers its organization's lead by what the task is charged, and what the organization lacks to its
// guarantee by the processors that it blocks (game/serving_order.hpp). So each task's place needs only its own
// organization's figures. With cum(j) what tasks of the same organization are charged (blocks(j): what they block) that
// would start before j,
//
//     below(j) = blocks(j) < lacking          (used + blocks(j) < guarantee * owned)
//     order:     below before not below; within each by K(cum(j) - lead), greatest first; ties by rank
//
// K falls in what is started. By a rule that does not brake it is less by one for each processor, and the order is by
// lead - cum(j); by one that brakes (game/braking.hpp) each organization's K falls in its own way.
//
// A task that is wider than what is free counts where it begins, as in start-time fair queueing.
//
// What counts before a task (cum) is what could start before it. Tasks of which the nodes that they may use have enough
// free now are counted before all; the others wait for an end, and count only before those of their own organization
// that could take the same nodes. So a queue for nodes that are full holds up nothing where nodes are free. A task
// that is wider than what is free now waits for an end, too; what is free is then free for no others of its
// organization that ask for the same nodes. What is free in pieces that are too small for a task is not free for it
// (`room`).
//
// While tasks wait for ends, runs end, and whose runs is not known. Each end raises its organization's lead, and what
// it lacks to its guarantee. What one run may free, the widest one, is served by what is known now. Behind that the
// order supposes that as many processors have come free as the line has come to, of those runs of which that is to be
// expected by their age (expected_ends): where everything ends in one instant, before another scan, the rule holds for
// all.
// Behind the first few places nodes that are away are supposed to be back, and to count in their owners' guarantees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "game/braking.hpp"
#include "plugin/client/places/ends.hpp"
#include "plugin/client/requests/requests.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

// One organization: its rank figures from the daemon, and what its runs hold. In millionths of a processor.
struct Contender {
  std::uint32_t rank = 0;  // 0 is served first
  // What it may start more than the one that owes most; by a rule that brakes, as `key` says that, what has ended since
  // less what has started.
  std::int64_t lead = 0;
  std::int64_t lacking = 0;    // processors that it lacks to its guarantee
  std::int64_t returning = 0;  // by how much `lacking` rises when all its nodes are back
  // Of its own, what no run blocks; and what of that is free now: a run that has ended keeps its nodes until its epilog
  // is over. Each of these processors that is taken, by a run of any organization, is given again and counts for its
  // lead.
  std::int64_t idle = 0;
  std::int64_t free = 0;
  Measure running{};
  RunsByAge runs{};  // the same as running.blocked
  game::FallingKey key{};

  [[nodiscard]] Int128 key_at(std::int64_t cum) const { return game::key_after(key, cum - lead); }
};

// How far the line goes on behind its reach, for jobs that have places already: with a sharp end many would get and
// lose one with each start.
[[nodiscard]] constexpr std::int64_t kept_reach(std::int64_t reach) {
  return reach + reach / 4;
}

// The sets of nodes that tasks may use, by NodeSetId of one scan.
class NodeSetTable {
 public:
  struct Set {
    std::int64_t free = 0;  // millionths of a processor that are free now
    std::int64_t all = 0;   // of its nodes that are usable; 0: it is not known what they will have
  };
  // Set 0 has every node.
  NodeSetTable() : NodeSetTable(std::vector<Set>(1)) {}
  // Of sets all of which are the same nodes.
  explicit NodeSetTable(std::vector<Set> sets);
  // overlap(a, b), contains(outer, inner): of two ids.
  template <typename Overlap, typename Contains>
  NodeSetTable(std::vector<Set> sets, Overlap&& overlap, Contains&& contains) : NodeSetTable(std::move(sets)) {
    for (NodeSetId a = 0; a < size(); ++a) {
      for (NodeSetId b = 0; b < size(); ++b) {
        overlap_[a * size() + b] = overlap(a, b);
        contains_[a * size() + b] = contains(a, b);
      }
    }
  }
  [[nodiscard]] static NodeSetTable of(const Requests& requests);

  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  [[nodiscard]] const Set& operator[](NodeSetId id) const { return sets_[id]; }
  [[nodiscard]] bool overlap(NodeSetId a, NodeSetId b) const { return overlap_[a * size() + b]; }
  [[nodiscard]] bool contains(NodeSetId outer, NodeSetId inner) const { return contains_[outer * size() + inner]; }

 private:
  std::vector<Set> sets_;
  std::vector<bool> overlap_, contains_;
};

// The request of one job, or of one record of an array's waiting tasks.
struct Asking {
  std::uint32_t job = 0;    // the caller's index
  Measure task{};           // of one task; blocked > 0
  std::uint32_t tasks = 1;  // > 0
  NodeSetId nodes = 0;
  std::int64_t room = Requests::k_any_room;  // of what is free of its nodes, as much as such tasks could take
  // With one it has a place for later, and counts only before others that have it, too: it must not delay what could
  // start now.
  enum shapley_hindrance hindrance = SHAPLEY_HINDRANCE_NONE;
  // The tasks of one array of which only so many more may run, in this record and others; 0: no such array.
  std::uint32_t array = 0;
  std::uint32_t array_room = 0;
  // For how many tasks of equal requests for licenses there are enough now; 0: it asks for none.
  std::uint64_t licenses = 0;
  std::uint32_t license_room = 0;
};

inline constexpr std::size_t k_hindrances = SHAPLEY_HINDRANCE_LIMITS + 1;

// The queue of one organization in Slurm's own order, as far as it can matter.
class OwnQueue {
 public:
  // `reach`: of the line, in millionths of a processor. `sets` outlives the queue.
  OwnQueue(const NodeSetTable& sets, std::int64_t reach);

  // False: what is asked for the same nodes before is as much as they can have, or its array's limit is reached;
  // nothing was added.
  bool add(const Asking& asking);
  // Whether more cannot come into line: enough waits for ends, and nothing that is free is left, or k_most_beyond jobs
  // were passed that could not take it.
  [[nodiscard]] bool is_full() const;

  // Tasks of one job, in order, and what counts before the first of them.
  struct Piece {
    std::uint32_t job = 0;
    Measure task;
    std::uint32_t tasks = 0;
    Measure before;
  };
  // Within one stream what counts before a piece increases.
  using Stream = std::vector<Piece>;
  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }

 private:
  // Tasks that wait for an end.
  struct Later {
    NodeSetId nodes = 0;
    enum shapley_hindrance hindrance = SHAPLEY_HINDRANCE_NONE;
    Measure asked{};
    // Of what is free of these nodes, as much as the tasks among them would take that are wider: no others get it that
    // ask for the same nodes.
    std::int64_t begun = 0;
    std::size_t stream = 0;
  };
  // Tasks for which enough is free, with a hindrance and all lesser ones.
  struct Now {
    Measure asked{};
    std::vector<std::int64_t> taken;  // of it, what may be on each set's nodes
  };
  // A part of a limit that jobs have in common.
  using Taken = std::map<std::uint64_t, std::uint32_t>;

  bool add_tasks(const Asking& asking);
  [[nodiscard]] std::int64_t free_now(const Asking& asking) const;
  void add_now(const Asking& asking, std::uint32_t tasks, std::int64_t free);
  bool add_later(const Asking& asking, std::uint32_t tasks);
  [[nodiscard]] Later& later_of(const Asking& asking);
  [[nodiscard]] bool is_asked() const { return asked_ >= 2 * reach_; }

  const NodeSetTable* sets_;
  std::int64_t reach_;
  std::int64_t asked_ = 0;
  std::size_t beyond_ = 0;  // jobs looked at since is_asked()
  Taken of_arrays_, of_licenses_;
  // What is taken of rooms. Equal ones of the same nodes are for equal pieces.
  std::map<std::pair<NodeSetId, std::int64_t>, std::int64_t> of_rooms_;
  std::array<Now, k_hindrances> now_;  // by hindrance
  std::vector<Later> later_;           // those that this organization asks for
  std::vector<Stream> streams_;        // the first ones: as `now_`
};

// Consecutive tasks of one job in line.
struct LinePlace {
  std::uint32_t job = 0;
  std::uint32_t organization = 0;
  std::uint32_t tasks = 1;
  std::uint32_t beyond = 0;  // so many of them, the last ones, are behind the line's reach
};

// What is free of all nodes: now, and when runs that have ended have left them; and what the widest run blocks.
struct Room {
  std::int64_t now = 0;
  std::int64_t free = 0;
  std::int64_t widest_run = 0;
};

// `queues`: by organization. The line reaches as far as what its tasks block is less than `reach`, and to tasks that
// could start now, up to what is free; what is up to kept_reach(reach) follows. At most `longest` places. Time: n log n
// of the tasks in line and of the streams.
[[nodiscard]] std::vector<LinePlace> serving_line(std::span<const Contender> contenders,
                                                  std::span<const OwnQueue> queues, const Room& room,
                                                  std::int64_t reach, std::size_t longest);

}  // namespace shapley::client
