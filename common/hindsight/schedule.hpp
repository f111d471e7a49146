// The virtual schedule of one coalition: the instant up to which it is made, how it goes on, and how it goes back.
//
// - It consists of two lists, the parts in the order of their starts and the past ends in order of time, and a heap of
//   known ends to come. To go back to x, both lists are walked back to x. While all requests have one form, the parts
//   are in the order of the queue, too.
// - Of each form only the first request that waits is looked at: where it does not fit, no other does.
// - These lists are complete for the recent time only. For earlier times there are points: the whole state of the
//   schedule at an instant. To go back farther, the schedule goes on from the last point before x. The older points
//   are, the fewer are kept, so that going on from one takes at most twice as long as going on from x.
// - When a duration becomes known whose part ended in the past, what follows differs only from the first later instant
//   on at which some request that could use its kind waited, or had to take another kind. If none did, nothing is made
//   again.
// - An end adds to v the reverse of what a start at that instant adds. So capacity that is handed on to the next part
//   changes nothing, and an instant's ends and starts count as their sum.
//
// Part of VirtualSchedules, which owns the schedules of all coalitions and the facts that they follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hindsight/parts.hpp"
#include "hindsight/position.hpp"
#include "hindsight/request_queue.hpp"

namespace shapley::hindsight {

template <typename Unsigned>
class Schedule : public Position<Unsigned> {
 public:
  Coalition members = 0;
  bool is_whole = false;          // it has its whole lists and no points, because what was done at cuts is wanted
  std::int64_t next = k_never;    // nothing happens before this instant unless a fact is added
  std::int64_t last_delayed = 0;  // no part that had waited or took another kind than its first started later than this
  std::int64_t reached = std::numeric_limits<std::int64_t>::min();  // nothing before it is made again
  std::vector<Quadratic<Unsigned>> marked;                          // value at the marks before `at`, or at it
  // From `logged` on the lists have all parts and past ends; before, the parts of requests that are not final, and no
  // ends. If `logged` is later than `reached` there are points, none later than `logged`, the first not later than
  // `reached`.
  std::int64_t logged = std::numeric_limits<std::int64_t>::min();
  std::vector<Part> parts;                                          // by start
  std::vector<End> past;                                            // by instant
  std::vector<Point<Unsigned>> points;                              // by instant
  std::vector<std::int64_t> widest = std::vector<std::int64_t>(1);  // by kind: the pool was never larger

  // Makes what happens before `until`. False: effort.parts reached `most` before that.
  bool run(const Facts& facts, std::int64_t until, std::uint64_t most, Effort& effort);
  // Takes back everything from `to` on; where it has to go on from a point, what came after that, too.
  void rewind(const Facts& facts, std::int64_t to, Effort& effort);
  void note_marks(const Facts& facts, std::int64_t until);

  // Notes the ends that became known; returns the instant from which the schedule may be wrong, or k_never.
  [[nodiscard]] std::int64_t learn(const Facts& facts, std::span<const Request> ended);
  // In every position, started parts of this place end `after` seconds later instead of `before`; k_unknown: never.
  void change_end(const RequestQueue& queue, std::uint32_t place, std::int64_t before, std::int64_t after);
  // Both: the request at `place` was inserted.
  void make_room(const RequestQueue& queue, std::uint32_t place);
  void split(const RequestQueue& queue, std::uint32_t place, std::int64_t amount);
  // When the request at `place` started, or k_never.
  [[nodiscard]] std::int64_t first_start(const RequestQueue& queue, std::uint32_t place) const;
  // Calls visit(part) for the parts of the request at `place`, in order, until that returns false.
  template <typename Visit>
  void for_parts_of(const RequestQueue& queue, std::uint32_t place, Visit&& visit) const {
    const Known& known = queue[place];
    const bool is_fcfs = queue.is_fcfs();
    std::int64_t left = known.amount;
    for (std::size_t i = first_candidate(queue, place); i < parts.size() && left > 0; ++i) {
      if (parts[i].place() == place) {
        left -= parts[i].amount();
        if (!visit(parts[i])) return;
      } else if (is_fcfs) {
        return;
      }
    }
  }

  // Whether there are so many parts and ends that it is worthwhile to forget some.
  [[nodiscard]] bool is_full() const { return parts.size() + past.size() > full_; }
  // The first instant that facts which may still be added can change.
  [[nodiscard]] std::int64_t reached_by(const Facts& facts) const;
  // Forgets what no such fact can change.
  void forget(const Facts& facts, std::int64_t reached_by_facts);
  // The earliest position that it can go back to: the first point, or, if the lists reach far enough, its present
  // state.
  [[nodiscard]] Position<Unsigned>& first_position();

  // For an image: the first position becomes the only point; only parts of requests that are not final are kept.
  void reduce_to_image(const Facts& facts, std::int64_t time);
  // REQUIRES: there is exactly one point.
  [[nodiscard]] bool is_sound(const Facts& facts, std::int64_t time) const;
  // Completes the schedule of which an image has only the point and some parts.
  void begin_again(const Facts& facts, std::int64_t time);

  [[nodiscard]] std::size_t bytes() const;

  // Calls change(position) for its present state and for every point.
  template <typename Change>
  void for_each_position(Change&& change) {
    change(static_cast<Position<Unsigned>&>(*this));
    for (auto& point : points) change(static_cast<Position<Unsigned>&>(point));
  }

 private:
  using OnePosition = Position<Unsigned>;

  // No part of the request at `place` is before this index.
  [[nodiscard]] std::size_t first_candidate(const RequestQueue& queue, std::uint32_t place) const;
  void shift_places(const RequestQueue& queue, std::uint32_t place);
  void give_to_first(const RequestQueue& queue, std::uint32_t place, std::int64_t amount);
  [[nodiscard]] std::int64_t first_wait(const Facts& facts, std::int64_t from, Kind kind) const;
  [[nodiscard]] std::int64_t first_that_waits(const Facts& facts, Kind kind) const;
  template <typename Counts>
  [[nodiscard]] std::int64_t first_release(const RequestQueue& queue, std::int64_t from, std::int64_t until,
                                           Counts&& counts) const;
  // Its present state without the lists.
  [[nodiscard]] const OnePosition& position() const { return *this; }
  void walk_back(OnePosition& position, const Facts& facts, std::int64_t to) const;
  std::int64_t end_parts();
  void change_pools(const Facts& facts);
  std::int64_t start_waiting(const Facts& facts, Effort& effort);
  template <typename NoteEnd>
  std::int64_t start(const Facts& facts, const Waiting& of, Effort& effort, NoteEnd&& note_end);
  void note_point(const Facts& facts);
  void note_widest(const Facts& facts);
  void thin_points();
  void forget_lists_before(const Facts& facts, std::int64_t instant);
  [[nodiscard]] OnePosition position_at(const Facts& facts, std::int64_t instant) const;
  [[nodiscard]] bool lacks_mark(const Facts& facts, std::int64_t until) const {
    return marked.size() < facts.marks.size() && facts.marks[marked.size()] <= until;
  }

  std::size_t full_ = 64;
  std::int64_t next_point_ = 0;                                      // parts that must be made before the next point
  std::int64_t settled_ = std::numeric_limits<std::int64_t>::min();  // what was settled when it forgot last
};

extern template class Schedule<std::uint64_t>;
extern template class Schedule<UInt128>;

}  // namespace shapley::hindsight
