// Schedules of a grid, and the two data structures that answer questions about them in O(log n): the processors that a
// cluster has in use over time, and the first of a list that is small enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "base/types.hpp"
#include "planning/grid.hpp"

namespace shapley::planning {

// How many processors of one cluster are in use at every instant: a step function with the queries that the algorithms
// need. Every operation takes O(log n) expected steps per piece that it must pass, n being the number of steps.
//
// A treap over the instants at which the number changes; each subtree knows its least and greatest use, and additions
// to whole subtrees are kept at their roots until they are needed below. Before the first change and after the last
// nothing is in use.
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
  // The end of the last stretch before `t` with fewer than `count` idle processors; 0 without such a stretch. `t`
  // itself when the stretch reaches it. REQUIRES: t > 0.
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

// A list whose entries are removed one by one, with the query of list scheduling in O(log n): the first entry at or
// after a place whose value is at most x.
class MinTree {
 public:
  explicit MinTree(const std::vector<Int128>& values);

  // The first place >= from that still holds a value <= limit.
  [[nodiscard]] std::optional<std::size_t> first_at_most(std::size_t from, Int128 limit) const;
  void take(std::size_t place);
  [[nodiscard]] std::size_t remaining() const { return remaining_; }
  [[nodiscard]] bool empty() const { return remaining_ == 0; }

 private:
  std::size_t leaves_ = 1;      // a power of two
  std::vector<Int128> minima_;  // heap layout, the root at 1
  std::size_t remaining_ = 0;
};

// A schedule of a grid: every job's cluster and start; makespans and flows of the organizations; checks.
struct Placement {
  std::uint32_t cluster = 0;
  Ticks start = 0;  // >= 0
  friend bool operator==(const Placement&, const Placement&) = default;
};

// One placement per job of the grid, in input order.
using Schedule = std::vector<Placement>;

[[nodiscard]] inline Ticks end_of(const Grid& grid, const Schedule& schedule, std::uint32_t job) {
  return schedule[job].start + grid.length_of(grid.jobs[job]);
}
[[nodiscard]] Ticks makespan(const Grid& grid, const Schedule& schedule);
// C_max(O_k): when the last job *owned* by organization k ends; 0 without jobs.
[[nodiscard]] std::vector<Ticks> organization_makespans(const Grid& grid, const Schedule& schedule);
// C_max(M_k): when the last job *running on* cluster k ends; 0 without jobs.
[[nodiscard]] std::vector<Ticks> cluster_makespans(const Grid& grid, const Schedule& schedule);

// Errc::corrupt says what is wrong: a job missing, before instant 0 or on no cluster, or the first instant at which a
// cluster runs more than it has.
[[nodiscard]] Expected<void> check_schedule(const Grid& grid, const Schedule& schedule);

// Errc::corrupt names the first organization whose makespan in `plan` exceeds the one in `local` [MO11 Eq. 1].
[[nodiscard]] Expected<void> check_no_organization_loses(const Grid& grid, const Schedule& local, const Schedule& plan);

// The jobs sorted by (start, input order).
[[nodiscard]] std::vector<std::uint32_t> by_start(const Schedule& schedule, std::vector<std::uint32_t> jobs);

// One profile per cluster, holding the jobs for which keep[job] is true.
[[nodiscard]] std::vector<Profile> profiles_of(const Grid& grid, const Schedule& schedule,
                                               const std::vector<bool>& keep);

}  // namespace shapley::planning
