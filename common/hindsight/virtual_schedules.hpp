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
// Memory: 76 bytes per request, until it is final everywhere; per coalition 200 bytes and, for each part that may still
// be changed, 48; up to twice that while vectors grow. Per cut 8 bytes, and 32 more once it is final.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "game/potential.hpp"
#include "hindsight/ends.hpp"
#include "hindsight/gap_shares.hpp"
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
  friend bool operator==(const Quadratic&, const Quadratic&) = default;
};

// A part of a request that started.
struct Part {
  std::uint32_t place = 0;  // of its request in the queue
  std::int64_t start = 0;
  std::int64_t amount = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

struct CapacityChange {
  std::int64_t at = 0;
  std::int64_t by = 0;
  Coalition owner = 0;  // one bit
  friend bool operator==(const CapacityChange&, const CapacityChange&) = default;
};

template <typename Unsigned>
struct Schedule {
  Coalition members = 0;
  std::uint32_t head = 0;         // place in the queue: every member's request before it has started entirely
  std::int64_t begun = 0;         // amount of the head that has started
  std::int64_t free = 0;          // negative where capacity fell
  std::int64_t next = k_never;    // nothing happens before it unless a fact is told
  std::int64_t last_delayed = 0;  // no part started later than this after having waited
  std::size_t changes = 0;  // of capacity, before the time reached; of other organizations perhaps some later ones
  std::size_t full = 64;    // parts and ends that make it worthwhile to forget
  std::int64_t reached = std::numeric_limits<std::int64_t>::min();  // before it nothing is made again
  Quadratic<Unsigned> value;
  std::vector<Quadratic<Unsigned>> marked;  // value at the marks before the time reached, or at it
  std::vector<Part> parts;                  // by place, and so by start
  std::vector<End> past;                    // ends before the time reached, by instant
  std::vector<End> coming;                  // known ends from then on (EndsToCome)
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
  Request add(std::size_t organization, std::int64_t release, std::int64_t amount, Order order = {});
  // By organization: who is served first of equal releases, before orders are looked at. All alike at the beginning.
  // REQUIRES: the order of those that have requests stays.
  void set_ranks(std::vector<std::uint32_t> by_organization) { queue_.set_ranks(std::move(by_organization)); }
  // The first `amount` of a request that waits is a request of its own from now on, of the same release and of `order`,
  // which goes before the rest. No schedule changes. The name of all of it: a new one, or, if nothing is left, its own.
  // REQUIRES: 0 < amount <= that of the request, whose duration is not known.
  Request split(Request pending, std::int64_t amount, Order order);
  // A request that waits is of this amount > 0, and ever was. REQUIRES: it was not withdrawn.
  void amend(Request pending, std::int64_t amount);
  // Its run really began at `at`.
  void started(Request request, std::int64_t at);
  // Its run lasted `duration` >= 1 seconds. May be told again with another duration.
  void ended(Request request, std::int64_t duration);
  // What was told of its end is taken back: it is not known.
  void retract_end(Request request);
  // It was cancelled before it ever began: no schedule has it, nor ever had.
  void withdraw(Request request);

  // From now on v and the work are wanted at `at`, too, whatever becomes known later. REQUIRES: at >= the time reached,
  // later than the marks there are.
  void mark(std::int64_t at) { marks_.push_back(at); }
  // The earliest of the marks are not wanted any more.
  void forget_marks_before(std::int64_t at);
  [[nodiscard]] const std::vector<std::int64_t>& marks() const { return marks_; }

  // What the last coalition had done is wanted at these instants, too, whatever becomes known later: the first `kept`
  // of those so far, and `later`, ascending. REQUIRES: final_cuts() <= kept; none of `later` is before what is settled.
  void set_cuts(std::size_t kept, std::span<const std::int64_t> later);
  [[nodiscard]] const std::vector<std::int64_t>& cuts() const { return cuts_; }
  // At so many of the first ones nothing will change any more. As of the last time that schedules were forgotten.
  [[nodiscard]] std::size_t final_cuts() const { return at_final_cuts_.size(); }
  // What it had done before each cut that is reached.
  [[nodiscard]] std::vector<Done<Int128>> done_at_cuts() const;
  // The first ones are not wanted any more. REQUIRES: count <= final_cuts().
  void forget_cuts(std::size_t count);

  // There are more organizations, who have no facts yet, or other coalitions are wanted. REQUIRES: what a new coalition
  // has of the organizations so far is one of the coalitions so far, or empty.
  void set_coalitions(std::size_t organizations, std::span<const Coalition> coalitions);

  // The same facts, and of the schedules these ones only, in this order: for what-ifs about few of them.
  [[nodiscard]] VirtualSchedules only(std::span<const std::size_t> slots) const;

  // Every fact of an instant before `until` has been told: capacities, releases, starts, ends and withdrawals. So what
  // no other fact can reach is forgotten, requests that ended before included; telling such a fact nevertheless is
  // undefined behaviour. REQUIRES: until <= the time reached.
  void settle(std::int64_t until);

  // Forgets, at once, all that settle() allows to. Otherwise that is done from time to time.
  void forget_settled();
  // Before it no v changes any more: not later than what is settled. As of the last forget_settled().
  [[nodiscard]] std::int64_t reached() const;

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
  // The same at a mark, which is not later than the time reached.
  [[nodiscard]] Integer utility_at_mark(std::size_t slot, std::size_t mark) const {
    return static_cast<Integer>(schedules_[slot].marked[mark].utility_at(marks_[mark]));
  }
  [[nodiscard]] Integer work_at_mark(std::size_t slot, std::size_t mark) const {
    return static_cast<Integer>(schedules_[slot].marked[mark].work_at(marks_[mark]));
  }
  // Whether v at `at` may still change because a duration becomes known or a request is withdrawn. A part whose run
  // goes on ends as long after its start as that run has lasted by now, at the earliest. REQUIRES: at <= the time
  // reached.
  [[nodiscard]] bool is_provisional(std::size_t slot, std::int64_t at) const;
  // What runs there.
  [[nodiscard]] std::int64_t running(std::size_t slot) const { return schedules_[slot].value.running; }
  [[nodiscard]] std::size_t size() const { return schedules_.size(); }
  [[nodiscard]] Coalition members(std::size_t slot) const { return schedules_[slot].members; }
  [[nodiscard]] std::int64_t time() const { return time_; }
  [[nodiscard]] std::int64_t settled() const { return settled_; }

  // Parts made, and parts of those that were made again: what a site pays for hindsight.
  struct Effort {
    std::uint64_t parts = 0;
    std::uint64_t undone = 0;
  };
  [[nodiscard]] const Effort& effort() const { return effort_; }

 private:
  using Unsigned = std::conditional_t<std::is_same_v<Integer, std::int64_t>, std::uint64_t, UInt128>;
  using OneSchedule = Schedule<Unsigned>;

 public:
  // All there is, for checkpoints; a function of the facts and of what is settled. Requests have the names 0, 1, 2, ...
  // there, in the order of the queue.
  struct Image {
    std::int64_t time = 0;
    std::int64_t settled = 0;
    std::vector<std::int64_t> marks;
    std::vector<std::int64_t> cuts;
    std::vector<Done<Int128>> at_final_cuts;
    std::vector<Known> requests;
    std::vector<CapacityChange> changes;
    std::vector<OneSchedule> schedules;  // `next`, `changes` and `full` are not part of it
  };
  // Where each request is in an image's `requests`: a name of now, and one of then.
  struct Renamed {
    Image image;
    std::vector<std::pair<Request, Request>> names;  // ascending
  };
  [[nodiscard]] Renamed image() const;
  // Goes on from an image, with the coalitions there are. False, and nothing can be done with it any more, if the image
  // is none.
  [[nodiscard]] bool restore(Image image);

 private:
  void flush() { advance(time_); }
  [[nodiscard]] static typename std::vector<Part>::iterator first_part(OneSchedule& schedule, std::uint32_t place);
  void change_end(Request request, std::int64_t duration);
  [[nodiscard]] std::int64_t learn(OneSchedule& schedule);
  [[nodiscard]] std::int64_t first_wait(const OneSchedule& schedule, std::int64_t from) const;
  void make_room(std::uint32_t place, Coalition owner);
  static void give_to_first(OneSchedule& schedule, std::uint32_t place, std::int64_t amount);
  void seek_head(OneSchedule& schedule) const;
  void pass_changes_of_others(OneSchedule& schedule) const;
  void rewind(OneSchedule& schedule, std::int64_t to);
  void run(OneSchedule& schedule, std::int64_t from, std::int64_t until);
  void note_marks(OneSchedule& schedule, std::int64_t until) const;
  [[nodiscard]] bool lacks_mark(const OneSchedule& schedule, std::int64_t until) const {
    return schedule.marked.size() < marks_.size() && marks_[schedule.marked.size()] <= until;
  }
  std::int64_t start_waiting(OneSchedule& schedule, std::int64_t at);
  [[nodiscard]] bool is_final(const Known& known) const;
  void note_certain();
  void forget(OneSchedule& schedule);
  void add_done_at_cuts(std::vector<Done<Int128>>& done, std::int64_t until) const;
  void drop_requests();
  void drop_changes();
  [[nodiscard]] bool is_sound(const OneSchedule& schedule) const;
  template <typename FromWhen, typename Correct>
  void restate(Request request, FromWhen&& from_when, Correct&& correct);

  RequestQueue queue_;
  std::size_t queue_full_ = 16;          // requests that make it worthwhile to drop final ones
  std::vector<CapacityChange> changes_;  // by instant
  std::vector<OneSchedule> schedules_;   // by slot
  std::vector<std::int64_t> marks_;      // ascending
  std::vector<std::int64_t> cuts_;       // ascending
  std::vector<Done<Int128>> at_final_cuts_;
  std::vector<Request> learned_;  // durations since time_
  Coalition touched_ = 0;         // whose facts came since time_
  std::int64_t time_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t settled_ = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> from_;  // by slot: of one correction
  // By place, while schedules forget: so many seconds of its parts are certain. More than there are from any instant.
  static constexpr std::int64_t k_always = std::int64_t{1} << 60U;
  std::vector<std::int64_t> certain_;
  Effort effort_;
};

extern template class VirtualSchedules<std::int64_t>;
extern template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
