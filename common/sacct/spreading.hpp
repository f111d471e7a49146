// What runs held of each of their nodes. sacct lists a run's nodes and its sums over them.
//
// Each resource of a run is divided over its nodes so that no node holds more than it has beside what other runs hold
// there: CPUs and generic resources evenly, memory in proportion to the CPUs, and what a node has no room for on the
// others. Where a later run leaves no room, the parts of runs that have not ended are moved among their nodes, as far
// as there was room since they began. So every run has all that it held, and those beside it, too.
//
// The parts of runs that have ended stay as they are, so a division may not be found where there is one. Then, and
// where there is none (nodes that jobs share, a row that is wrong), a run's parts are bounded by what the nodes have. A
// node of which nothing is known takes any part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "sacct/runs.hpp"
#include "sacct/site_nodes.hpp"

namespace shapley::sacct {

// What is free of one resource of one node: now, and at least since an instant.
class Room {
 public:
  explicit Room(std::int64_t size) : least_{{k_beginning_of_time, size}} {}

  // What was free all the time since then; less than 0: the node was overfull.
  [[nodiscard]] std::int64_t since(Instant t) const;
  // So much more is free from t on.
  void add(Instant t, std::int64_t amount);

 private:
  struct Least {
    Instant since;
    std::int64_t amount;
  };
  std::vector<Least> least_;  // ascending by both; of what lies back further, a lower bound
};

// One resource on all nodes.
class Pool {
 public:
  // What one run holds of it.
  struct Held {
    Instant begin;
    std::vector<std::uint32_t> nodes;
    std::vector<std::int64_t> amounts;  // of each
  };

  // `sizes`: of the nodes by number; nullopt: not known. `least`: what a run has of each of its nodes, if it has as
  // much.
  Pool(std::vector<std::optional<std::int64_t>> sizes, std::int64_t least);

  // Divides `whole` over held.nodes. Returns whether there was room for it. REQUIRES: `held` stays where it is.
  bool divide(Held& held, std::int64_t whole, Instant now);
  // Takes what is known.
  void take(const Held& held, Instant now) { change(held, now, -1); }
  // Divides it again in proportion to `weights`, as far as there was room since it began.
  void divide_again(Held& held, std::span<const std::int64_t> weights);
  void release(Held& held, Instant now);

 private:
  struct Node {
    std::optional<std::int64_t> size;
    Room room;
    std::vector<Held*> spread;  // that may be moved to other nodes, by begin
  };
  struct Search {
    std::set<std::uint32_t> visited;  // nodes
    std::set<std::uint32_t> closed;   // to which nothing is moved
    std::size_t steps = 0;
  };

  [[nodiscard]] std::int64_t room(std::uint32_t node, Instant since) const;
  void change(const Held& held, Instant since, std::int64_t sign);
  void make_room(std::uint32_t node, Instant since, std::int64_t wanted, Search& search);
  [[nodiscard]] std::vector<std::int64_t> rooms_for(const Held& held, std::int64_t whole, std::int64_t least,
                                                    Instant now);

  std::vector<Node> nodes_;
  std::int64_t least_;
};

// `whole` in proportion to the weights, none of the parts greater than its room; by largest remainder, ties to the
// first. REQUIRES: the rooms are >= 0, and together no less than `whole`.
[[nodiscard]] std::vector<std::int64_t> parts_within(std::int64_t whole, std::span<const std::int64_t> rooms,
                                                     std::span<const std::int64_t> weights);

class Spreading {
 public:
  // The rows give the directory of the lists that are sorted. REQUIRES: `nodes` has every node of the runs that are
  // added, and stays as it is.
  Spreading(const SortedRows& rows, const SiteNodes& nodes);

  // A run whose rows have parts already keeps them.
  [[nodiscard]] Expected<void> add(const Run& run) { return in_time_.add(run); }
  // Visits the runs that were added without parts, with them, as they end. Call it once.
  [[nodiscard]] Expected<void> for_each(const std::function<Expected<void>(const Run&)>& visit);

  // Lines of runs for whose CPUs no room was found.
  [[nodiscard]] const std::vector<std::int64_t>& without_room() const { return without_room_; }

 private:
  struct Part {
    std::vector<Pool::Held> held;  // CPUs, memory, and generic resources in the order of the row
    bool is_known = false;         // before: it is not moved, and its run not visited
  };

  [[nodiscard]] Pool& pool_of(const SacctRow& row, std::size_t resource);
  void begin(const Run& run, std::size_t index);
  void end(Run& run, std::size_t index, Instant now);

  const SiteNodes& nodes_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // of nodes, in the order of nodes_
  RunsInTime in_time_;
  std::map<std::string, Pool, std::less<>> pools_;                               // by resource
  std::map<std::pair<std::uint64_t, std::size_t>, std::unique_ptr<Part>> open_;  // by run and row
  std::vector<std::int64_t> without_room_;
};

}  // namespace shapley::sacct
