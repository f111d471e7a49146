// How far a virtual schedule is made, and the facts that it is made of.
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

// Twice a psi of a changing amount that runs: running t^2 + slope t + constant, modulo the width of Unsigned.
template <typename Unsigned>
struct Quadratic {
  Unsigned slope = 0;
  Unsigned constant = 0;
  std::int64_t running = 0;

  void change(std::int64_t at, std::int64_t by) {
    // One multiplication of the processor's, where one of Unsigned takes several.
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
  // Amount times seconds done before `at`: what utility_at grows by in the next second if nothing runs on.
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

// What all schedules follow.
class Facts {
 public:
  RequestQueue queue;
  std::vector<CapacityChange> changes;  // by instant
  std::vector<std::int64_t> marks;      // ascending: v is wanted there
  std::int64_t settled = std::numeric_limits<std::int64_t>::min();
  std::int64_t outcomes_settled = std::numeric_limits<std::int64_t>::min();  // >= settled
  // A schedule can at least go back by so many parts without a point.
  std::int64_t logged_parts = 0;

  // No fact changes when it ended.
  [[nodiscard]] bool is_final(const Known& known) const {
    return known.duration != k_unknown && known.really_began < outcomes_settled &&
           known.really_began + known.duration < outcomes_settled;
  }
  // Facts that can still be added are of the instant `settled` or later. One changes a part that has started, and what
  // follows, so many seconds after its start at the earliest. A request whose run has not begun may be withdrawn. One
  // that has begun has a duration of what it had run for by `outcomes_settled` at least. One that is final: never.
  // By place; worked out once until requests change (forget_certain).
  static constexpr std::int64_t k_always = std::int64_t{1} << 60U;
  [[nodiscard]] const std::vector<std::int64_t>& certain() const;
  void forget_certain() { certain_.clear(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  mutable std::vector<std::int64_t> certain_;
};

// Parts made, and parts of those that were made again: what a site pays for hindsight.
struct Effort {
  std::uint64_t parts = 0;
  std::uint64_t undone = 0;
};

// How far a schedule is made.
template <typename Unsigned>
struct Position {
  std::int64_t at = std::numeric_limits<std::int64_t>::min();  // all before it is made, and nothing else
  std::uint32_t head = 0;   // place in the queue: every member's request before it has started entirely
  std::int64_t begun = 0;   // amount of the head that has started
  std::int64_t free = 0;    // negative where capacity fell
  std::size_t changes = 0;  // of capacity, before `at`; of other organizations perhaps some later ones
  std::int64_t made = 0;    // parts
  Quadratic<Unsigned> value;
  std::vector<End> coming;  // known ends from `at` on (EndsToCome)

  // A part that it has ends.
  void end_part(const End& end);
  // It may be a part of one that comes.
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
  // The first `amount` of the request at this place is a request by itself, the rest the one behind it.
  void split(std::uint32_t place, std::int64_t amount, bool is_member);
  // As it follows from the facts, however it was come by.
  void normalize();
  // No index may be out of range.
  [[nodiscard]] bool is_sound(const RequestQueue& queue) const;
};

// One to go back to.
template <typename Unsigned>
struct Point : Position<Unsigned> {
  std::int64_t first_wait = k_never;  // no part that started between it and the next one had waited since before this
};

extern template struct Position<std::uint64_t>;
extern template struct Position<UInt128>;

}  // namespace shapley::hindsight
