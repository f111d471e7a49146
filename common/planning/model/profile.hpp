// How many processors of one cluster are in use at every instant: a step function with the queries that the algorithms
// need. Every operation takes O(log n) expected steps per piece that it must pass, n being the number of steps.
//
// A treap over the instants at which the number changes; each subtree knows its least and greatest use, and additions
// to whole subtrees are kept at their roots until they are needed below. Before the first change and after the last
// nothing is in use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "planning/model/grid.hpp"

namespace shapley::planning {

class Profile {
 public:
  explicit Profile(std::int64_t processors);

  [[nodiscard]] std::int64_t processors() const { return processors_; }

  // `count` more processors are in use in [from, to); fewer when negative. REQUIRES: 0 <= from < to, and that the use
  // stays within 0 .. processors.
  void add(Ticks from, Ticks to, std::int64_t count);

  // Processors idle just before `t`. REQUIRES: t > 0.
  [[nodiscard]] std::int64_t idle_before(Ticks t) const;
  // Processors that are idle at every instant from `t` on.
  [[nodiscard]] std::int64_t idle_from(Ticks t) const;
  // C>=j of [MO11 Sec. 4.3]: the earliest instant from which on `count` processors are always idle.
  [[nodiscard]] Ticks always_idle_since(std::int64_t count) const;
  // The end of the last stretch before `t` with fewer than `count` idle processors; 0 when there is none. `t` itself
  // when the stretch reaches it. REQUIRES: t > 0.
  [[nodiscard]] Ticks busy_until(Ticks t, std::int64_t count) const;
  // The earliest start of a hole of `count` processors during `length`, if it is at most `latest`. `from` is an instant
  // before which none is known to begin.
  [[nodiscard]] std::optional<Ticks> earliest_hole(std::int64_t count, Ticks length, Ticks latest,
                                                   Ticks from = 0) const;

 private:
  using Index = std::int32_t;
  static constexpr Index k_none = -1;
  struct Node {
    Ticks begin = 0;            // this piece reaches to the next node's begin
    std::int64_t used = 0;      // without what is kept at the ancestors
    std::int64_t least = 0;     // over the subtree, likewise
    std::int64_t greatest = 0;  // over the subtree, likewise
    std::int64_t waiting = 0;   // to be added to both children's subtrees
    std::uint64_t weight = 0;   // heap order
    Index left = k_none;
    Index right = k_none;
  };

  Node& at(Index index) { return nodes_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Node& at(Index index) const { return nodes_[static_cast<std::size_t>(index)]; }
  void apply(Index index, std::int64_t count);
  void push(Index index);
  void pull(Index index);
  void split(Index index, Ticks key, Index& below, Index& rest);  // begins < key, begins >= key
  [[nodiscard]] Index merge(Index below, Index rest);
  void cut(Ticks t);  // makes a piece begin at t

  // The begin of the piece that holds t.
  [[nodiscard]] Ticks piece_of(Ticks t) const;
  // The begin of the first piece after the one that begins at `begin`; none after the last.
  [[nodiscard]] std::optional<Ticks> next_piece(Ticks begin) const;
  // The first piece at `from` or later whose use is at most (more than) `limit`.
  [[nodiscard]] std::optional<Ticks> first_within(Index index, Ticks from, std::int64_t limit) const;
  [[nodiscard]] std::optional<Ticks> first_above(Index index, Ticks from, std::int64_t limit) const;
  // The last piece that begins before `to` and whose use is more than `limit`.
  [[nodiscard]] std::optional<Ticks> last_above(Index index, const Ticks* to, std::int64_t limit) const;
  [[nodiscard]] std::int64_t greatest_from(Ticks begin) const;

  std::int64_t processors_;
  std::vector<Node> nodes_;
  Index root_ = k_none;
  Rng weights_{0x70726f66696c65};
};

}  // namespace shapley::planning
