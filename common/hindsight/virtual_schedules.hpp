// What coalitions would have done alone, as far as is known: schedules that are made again from the instant at which a
// fact that became known makes a difference.
//
// Coalition C has the capacity and the requests of its members and serves them FCFS by (release, order), greedily. A
// request of amount q is q side by side that start as capacity becomes free, in parts if need be [SR13 Sec. 7: parallel
// jobs as copies]. A part that started at s ends at s + p once the duration p of its request is known. Until then it
// holds what it took: it never ends. Capacity that falls below what runs stops new starts and preempts nothing. v(C) is
// the sum of psi_sp of the parts [SR13 Eq. 3].
//
// The schedules are a function of the set of facts: when, and in what order, they are told makes no difference.
//
// How, and why it is cheap:
// - A schedule is two lists, the parts in the order of their starts (which is the order of the queue) and the ends that
//   are past in order of time, and a heap of known ends to come. To go back to x is to walk both lists back to x.
// - When a duration becomes known whose part ended in the past of a schedule, what follows differs only from the first
//   instant on at which somebody waited there. Where nobody did, nothing is made again.
// - An end adds to v the reverse of what a start at that instant adds. So capacity that is handed on to the next part
//   changes nothing, and an instant's ends and starts count as their sum.
// - What no fact can change any more is forgotten (settle).
//
// Units: seconds; amounts and capacities in any one unit, processors or millionths of them. v is computed modulo 2^64
// or 2^128, by `Integer`. REQUIRES: twice every v, and twice the work, fit into an unsigned integer of that width:
// capacity of all * (latest - earliest instant + 1)^2 less than 2^64 or 2^128; and instants of magnitude below 2^40.
// Pure; single-threaded; the caller owns it.
//
// Memory: 60 bytes per request, until it is final everywhere; per coalition 200 bytes and, for each part that may still
// be changed, 48; up to twice that while vectors grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/int128.hpp"
#include "game/potential.hpp"

namespace shapley::hindsight {

using game::Coalition;
__extension__ using UInt128 = unsigned __int128;

// Names a request; 0, 1, 2, ... in the order in which they were added.
using Request = std::uint32_t;

// Twice a psi of a changing amount that runs: running t^2 + slope t + constant, modulo the width of Unsigned.
template <typename Unsigned>
struct Quadratic {
  Unsigned slope = 0;
  Unsigned constant = 0;
  std::int64_t running = 0;

  void change(std::int64_t at, std::int64_t by) {
    const auto t = static_cast<Unsigned>(at);
    const auto amount = static_cast<Unsigned>(by);
    running += by;
    slope += amount * (1 - 2 * t);
    constant += amount * (t * (t - 1));
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
};

// Integer: std::int64_t or Int128.
template <typename Integer>
class VirtualSchedules {
 public:
  // Coalitions are slots, in this order; they must not be empty. Nobody has any capacity yet.
  VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions);

  // The capacity of `organization` is `by` more from `at` on.
  void change_capacity(std::size_t organization, std::int64_t at, std::int64_t by);
  // A request of amount > 0 is there from `release` on. Of equal releases the smaller `order` is served first, and of
  // equal orders the one that was added first.
  Request add(std::size_t organization, std::int64_t release, std::int64_t amount, std::uint64_t order = 0);
  // Its run really began at `at`.
  void started(Request request, std::int64_t at);
  // Its run lasted `duration` >= 1 seconds. May be told again with another duration.
  void ended(Request request, std::int64_t duration);
  // What was told of its end is taken back: it is not known.
  void retract_end(Request request);
  // It was cancelled before it ever began: no schedule has it, nor ever had.
  void withdraw(Request request);

  // Every fact of an instant before `until` has been told: capacities, releases, starts, ends and withdrawals. So what
  // no other fact can reach is forgotten, requests that ended before included; telling such a fact nevertheless is
  // undefined behaviour. REQUIRES: until <= the time reached.
  void settle(std::int64_t until);

  // Makes every schedule up to, and without, the instant t; what happens at t changes no v at t. REQUIRES: t >= every t
  // before.
  void advance(std::int64_t t);

  // v(C) at t, and the work behind it. REQUIRES: t is the time reached.
  [[nodiscard]] Integer utility(std::size_t slot, std::int64_t t) const {
    return static_cast<Integer>(schedules_[slot].value.utility_at(t));
  }
  [[nodiscard]] Integer work(std::size_t slot, std::int64_t t) const {
    return static_cast<Integer>(schedules_[slot].value.work_at(t));
  }
  [[nodiscard]] std::size_t size() const { return schedules_.size(); }

  // Parts made, and parts of those that were made again: what a site pays for hindsight.
  struct Effort {
    std::uint64_t parts = 0;
    std::uint64_t undone = 0;
  };
  [[nodiscard]] const Effort& effort() const { return effort_; }

 private:
  using Unsigned = std::conditional_t<std::is_same_v<Integer, std::int64_t>, std::uint64_t, UInt128>;
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t k_unknown = -1;
  static constexpr std::uint32_t k_dropped = std::numeric_limits<std::uint32_t>::max();

  struct Known {
    std::int64_t release;
    std::int64_t amount;                  // 0: withdrawn
    std::int64_t duration = k_unknown;    // of its run
    std::int64_t really_began = k_never;  // never while it waits
    std::uint64_t order;
    Coalition owner;  // one bit
    Request name;
  };
  struct Part {
    std::uint32_t place;  // of its request in queue_
    std::int64_t start;
    std::int64_t amount;
  };
  struct End {
    std::int64_t at;
    std::int64_t start;
    std::int64_t amount;

    friend bool operator>(const End& a, const End& b) { return a.at > b.at; }
  };
  struct Change {
    std::int64_t at;
    std::int64_t by;
    Coalition owner;  // one bit
  };
  struct Schedule {
    Coalition members = 0;
    std::uint32_t head = 0;         // place in queue_: every member's request before it has started entirely
    std::int64_t begun = 0;         // amount of the head that has started
    std::int64_t free = 0;          // negative where capacity fell
    std::int64_t next = k_never;    // nothing happens before it unless a fact is told
    std::int64_t last_delayed = 0;  // no part started later than this after having waited
    std::size_t changes = 0;  // of capacity, before the time reached; of other organizations perhaps some later ones
    std::size_t full = 64;    // parts and ends that make it worthwhile to forget
    Quadratic<Unsigned> value;
    std::vector<Part> parts;  // by place, and so by start
    std::vector<End> past;    // ends before the time reached, by instant
    std::vector<End> coming;  // known ends from then on: a heap, the earliest in front
  };

  void flush() { advance(time_); }
  [[nodiscard]] static typename std::vector<Part>::iterator first_part(Schedule& schedule, std::uint32_t place);
  static void insert_coming(Schedule& schedule, const End& end);
  [[nodiscard]] std::int64_t learn(Schedule& schedule);
  [[nodiscard]] std::int64_t first_wait(const Schedule& schedule, std::int64_t from) const;
  void make_room(std::uint32_t place, Coalition owner);
  void seek_head(Schedule& schedule) const;
  void rewind(Schedule& schedule, std::int64_t to);
  void run(Schedule& schedule, std::int64_t from, std::int64_t until);
  std::int64_t start_waiting(Schedule& schedule, std::int64_t at);
  [[nodiscard]] std::uint32_t place_of(Request request) const { return place_[request - first_name_]; }
  [[nodiscard]] bool is_final(const Known& known) const;
  void forget(Schedule& schedule);
  void drop_requests();
  template <typename Correct>
  void restate(Request request, Correct&& correct);

  std::vector<Known> queue_;          // by release, order
  std::vector<std::uint32_t> place_;  // by request, from first_name_ on; k_dropped: of a final one
  Request first_name_ = 0;
  std::size_t queue_full_ = 16;      // requests that make it worthwhile to drop final ones
  std::vector<Change> changes_;      // by instant
  std::vector<Schedule> schedules_;  // by slot
  std::vector<Request> learned_;     // durations since time_
  Coalition touched_ = 0;            // whose facts have been told since time_
  std::int64_t time_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t settled_ = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> from_;  // by slot: of one correction
  Effort effort_;
};

extern template class VirtualSchedules<std::int64_t>;
extern template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
