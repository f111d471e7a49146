// The state of a virtual schedule at an instant, and the facts that it is made from.
#pragma once

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

// The state of a schedule that is made up to an instant.
template <typename Unsigned>
struct Position {
  std::int64_t at = std::numeric_limits<std::int64_t>::min();  // all before it is made, and nothing else
  std::uint32_t head = 0;   // place in the queue: every member's request before it has started entirely
  std::int64_t begun = 0;   // amount of the head that has started
  std::int64_t free = 0;    // negative where capacity fell
  std::size_t changes = 0;  // index of the next one; may be past some of other organizations
  std::int64_t made = 0;    // parts made so far
  Quadratic<Unsigned> value;
  std::vector<End> coming;  // known ends from `at` on (EndsToCome)

  // Ends a part that this position has.
  void end_part(const End& end);
  // Removes an end to come, or a part of one.
  void drop_coming(const End& end);
  void seek_head(const RequestQueue& queue, Coalition members) {
    while (head < queue.size() && ((queue[head].owner & members) == 0 || queue[head].amount == begun)) {
      ++head;
      begun = 0;
    }
  }
  void pass_changes_of_others(const std::vector<CapacityChange>& all, Coalition members) {
    while (changes < all.size() && (all[changes].owner & members) == 0) ++changes;
  }
  // A request was inserted at this place, which a schedule with the position has not started.
  void make_room(std::uint32_t place, bool is_member);
  // Splits the request at this place: its first `amount` is a request by itself, and the rest is the one behind it.
  void split(std::uint32_t place, std::int64_t amount, bool is_member);
  // Brings it to the form that follows from the facts alone, whatever way it was reached.
  void normalize();
  // False if an index is out of range.
  [[nodiscard]] bool is_sound(const RequestQueue& queue) const;
};

// A position to go back to.
template <typename Unsigned>
struct Point : Position<Unsigned> {
  std::int64_t first_wait = k_never;  // no part that started between this and the next point waited earlier than this
};

extern template struct Position<std::uint64_t>;
extern template struct Position<UInt128>;

}  // namespace shapley::hindsight
