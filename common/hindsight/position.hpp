// The state of a virtual schedule at an instant, and the facts that it is made from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.hpp"
#include "game/shapley_value.hpp"
#include "hindsight/parts.hpp"
#include "hindsight/request_queue.hpp"

namespace shapley::hindsight {

__extension__ using UInt128 = unsigned __int128;

// Twice the psi of a running amount that changes: running t^2 + slope t + constant, modulo the width of Unsigned.
template <typename Unsigned>
struct Quadratic {
  Unsigned slope = 0;
  Unsigned constant = 0;
  std::int64_t running = 0;

  void change(std::int64_t at, std::int64_t by) {
    // One multiplication instruction, where a product of Unsigned takes several.
    Unsigned product = static_cast<Unsigned>(by) * static_cast<Unsigned>(at);
    if constexpr (sizeof(Unsigned) > sizeof(at)) product = static_cast<Unsigned>(static_cast<Int128>(by) * at);
    running += by;
    slope += static_cast<Unsigned>(by) - 2 * product;
    constant += product * static_cast<Unsigned>(at - 1);
  }
  [[nodiscard]] Unsigned utility_at(std::int64_t at) const {
    const auto t = static_cast<Unsigned>(at);
    return ((static_cast<Unsigned>(running) * t + slope) * t + constant) / 2;
  }
  // Amount times seconds done before `at`: what utility_at grows by in the next second if nothing runs.
  [[nodiscard]] Unsigned work_at(std::int64_t at) const {
    const auto amount = static_cast<Unsigned>(running);
    return (2 * amount * static_cast<Unsigned>(at) + slope - amount) / 2;
  }
  friend bool operator==(const Quadratic&, const Quadratic&) = default;
};

struct CapacityChange {
  std::int64_t at = 0;
  std::int64_t by = 0;
  Coalition owner = 0;  // one bit
  Kind kind = 0;
  friend bool operator==(const CapacityChange&, const CapacityChange&) = default;
};

// The facts that all schedules follow.
class Facts {
 public:
  RequestQueue queue;
  std::vector<CapacityChange> changes;  // by instant
  std::vector<std::int64_t> marks;      // ascending: instants at which v is wanted
  std::int64_t settled = std::numeric_limits<std::int64_t>::min();
  std::int64_t outcomes_settled = std::numeric_limits<std::int64_t>::min();  // >= settled
  std::size_t kinds = 1;
  std::int64_t processor = 1;  // amount that is one processor
  // A schedule can go back by at least so many parts without a point.
  std::int64_t logged_parts = 0;

  // Whether no later fact can change its end.
  [[nodiscard]] bool is_final(const Known& known) const {
    return known.duration != k_unknown && known.really_began < outcomes_settled &&
           known.really_began + known.duration < outcomes_settled;
  }
  // By place: facts that can still be added are of the instant `settled` or later, and change a started part of the
  // request, and what follows, at the earliest so many seconds after the part's start: 0 if its run has not begun (it
  // may be withdrawn); what the run has lasted by `outcomes_settled` if it has begun; k_always if it is final. Computed
  // once until requests change (forget_certain).
  static constexpr std::int64_t k_always = std::int64_t{1} << 60U;
  [[nodiscard]] const std::vector<std::int64_t>& certain() const;
  void forget_certain() { certain_.clear(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  mutable std::vector<std::int64_t> certain_;
};

// Counts parts that were made, and parts of these that were made again: the cost of hindsight.
struct Effort {
  std::uint64_t parts = 0;
  std::uint64_t undone = 0;
};

// What a coalition has in one kind.
struct Pool {
  std::int64_t free = 0;    // negative where capacity fell
  std::int64_t size = 0;    // what its members offer
  std::int64_t broken = 0;  // of that what is no whole processor: nothing that starts together fits there

  // What a request of this form could take.
  [[nodiscard]] std::int64_t room_for(const Form& form) const { return form.width == 0 ? free : free - broken; }
  void change_size(std::int64_t by, std::int64_t processor) {
    free += by;
    size += by;
    broken = processor == 1 ? 0 : (size % processor + processor) % processor;
  }
  friend bool operator==(const Pool&, const Pool&) = default;
};

// The first request of a form that waits; `begun` of it has started.
struct Waiting {
  FormId form = 0;
  std::uint32_t place = 0;
  std::int64_t begun = 0;
  friend bool operator==(const Waiting&, const Waiting&) = default;
};

// The state of a schedule that is made up to an instant.
//
// Of the members' requests those from `head` on have not started. In front of it those have not started entirely that
// are of a form that waits, from the first one that waits on. While nothing is free, `head` may stay behind what is
// released.
template <typename Unsigned>
struct Position {
  std::int64_t at = std::numeric_limits<std::int64_t>::min();  // all before it is made, and nothing else
  std::uint32_t head = 0;                                      // a place in the queue, or its end
  std::size_t changes = 0;  // index of the next one; may be past some of other organizations
  std::int64_t made = 0;    // parts made so far
  Quadratic<Unsigned> value;
  std::vector<Pool> pools = std::vector<Pool>(1);  // by kind
  std::vector<Waiting> waiting;                    // one for each form that waits, in any order
  std::vector<End> coming;                         // known ends from `at` on (EndsToCome)

  // Ends a part that this position has.
  void end_part(const End& end);
  // Removes an end to come, or a part of one.
  void drop_coming(const End& end);
  void pass_changes_of_others(const std::vector<CapacityChange>& all, Coalition members) {
    while (changes < all.size() && (all[changes].owner & members) == 0) ++changes;
  }

  void seek_head(const RequestQueue& queue, Coalition members) {
    while (head < queue.size() && ((queue[head].owner & members) == 0 || queue[head].amount == 0)) ++head;
  }
  // Passes requests that need not wait any more.
  void seek_waiting(const RequestQueue& queue, Coalition members);
  // Lets all requests wait that were released before `at`.
  void gather(const RequestQueue& queue, Coalition members);
  [[nodiscard]] bool does_wait(FormId form) const {
    return std::ranges::any_of(waiting, [form](const Waiting& of) { return of.form == form; });
  }
  // Whether something of the member's request at this place has started.
  [[nodiscard]] bool has_begun(const RequestQueue& queue, std::uint32_t place) const;
  [[nodiscard]] bool has_free() const {
    return std::ranges::any_of(pools, [](const Pool& pool) { return pool.free > 0; });
  }
  [[nodiscard]] bool fits(const Form& form) const {
    const std::int64_t least = std::max<std::int64_t>(form.width, 1);
    return std::ranges::any_of(form.kinds, [&](Kind kind) { return pools[kind].room_for(form) >= least; });
  }
  // The index of the first request that waits and fits; that of the end of `waiting` if no request fits.
  [[nodiscard]] std::size_t first_fitting(const RequestQueue& queue) const;
  // The request that waits there has started by `amount` more.
  void begin_waiting(std::size_t index, std::int64_t amount, const RequestQueue& queue, Coalition members);
  // Takes a part of the request at this place back. REQUIRES: nothing that is behind it in its form has started.
  void take_back(const RequestQueue& queue, const Part& part);
  // Of what is taken back, lets only that wait which was released before `to`.
  void take_back_releases(const RequestQueue& queue, std::int64_t to);

  // A request was inserted at this place, which a schedule with the position has not started.
  void make_room(std::uint32_t place, bool is_member);
  // Splits the request at this place: its first `amount` is a request by itself, and the rest is the one behind it.
  void split(std::uint32_t place, std::int64_t amount, bool is_member);
  // Requests were dropped.
  void move(const RequestQueue::Moved& moved);
  // Brings it to the form that follows from the facts alone, whatever way it was reached.
  void normalize(const RequestQueue& queue, Coalition members);
  // False if an index is out of range.
  [[nodiscard]] bool is_sound(const Facts& facts, Coalition members) const;

 private:
  // Passes requests that need not wait; returns whether one of the form waits.
  [[nodiscard]] bool seek(Waiting& of, const RequestQueue& queue, Coalition members) const;
};

// A position to go back to.
template <typename Unsigned>
struct Point : Position<Unsigned> {
  std::int64_t first_wait = k_never;  // no part that started between this and the next point waited earlier than this
};

extern template struct Position<std::uint64_t>;
extern template struct Position<UInt128>;

}  // namespace shapley::hindsight
