// What coalitions would have done alone, as far as is known: schedules that are made again from the instant on at which
// a new fact makes a difference.
//
// Coalition C has the capacity and the requests of its members. Its capacity is a pool for each kind of nodes. At every
// instant at which something is released or becomes free it goes once through the requests that wait, in the order of
// the queue, and starts of each what fits (first-fit without a reservation). What fits is said by the request's form:
//
// - width > 0, jobs that start whole: so much of the amount, or a multiple of it, in one of the form's kinds, the first
//   one that has room. Of a pool only whole processors count then. A request that is wider than all of C's pools that
//   it may use never starts in C, and changes nothing there. A request may be charged another amount than its width
//   (charge): it starts as a whole where its width fits, and a pool may have less than nothing free then.
// - width = 0: any part of it. If all requests are of that form and of one kind it is FCFS, and no processor is free
//   while a request waits: the definition of before whole jobs, in which a request of amount q is q units side by side
//   that start as capacity becomes free [SR13 Sec. 7: parallel jobs as copies].
//
// A part that started at s ends at s + p once the duration p of its request is known; until then it does not end.
// Capacity that falls below what runs stops new starts and preempts nothing. v(C) is the sum of psi_sp of the parts
// [SR13 Eq. 3].
//
// The schedules are a function of the set of facts: when, and in what order, they are added makes no difference.
//
// How a schedule goes back and on: hindsight/schedule.hpp. A new fact only takes schedules back; they are made when
// results are wanted, so many facts cost one repetition. What no fact can change any more is forgotten (settle).
//
// Units: seconds; amounts and capacities in any one unit, processors or millionths of them. v is computed modulo 2^64
// or 2^128, by `Integer`. REQUIRES: twice every v, and twice the work, fit into an unsigned integer of that width:
// capacity of all * (latest - earliest instant + 1)^2 less than 2^64 or 2^128; and instants from 0 to below 2^40, the
// ends of runs below 2^41.
// Pure; single-threaded; the caller owns it.
//
// Memory (bytes()): 92 bytes per request, until it is final everywhere and has started in every coalition of its
// organization (one that is too wide for one of them stays); per coalition 380 bytes, for each part whose request is
// not final 16, a few hundred entries of the lists, and a few dozen points of 150 bytes with 24 for each kind, 16 for
// each form that waits, and 16 for each part that runs and whose end is known; up to twice that while vectors grow. The
// last coalition has its whole lists, 32 for each part that may still be changed. Per cut 8 bytes, and 32 more once it
// is final.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/contract.hpp"
#include "base/types.hpp"
#include "game/shapley_value.hpp"
#include "hindsight/gap_shares.hpp"
#include "hindsight/request_queue.hpp"
#include "hindsight/schedule.hpp"

namespace shapley::hindsight {

// Integer: std::int64_t or Int128.
template <typename Integer>
class VirtualSchedules {
 public:
  // A schedule can go back by at least so many parts without a point.
  static constexpr std::int64_t k_logged_parts = 128;

  struct Options {
    std::int64_t processor = 1;  // the amount that is one processor
    std::int64_t logged_parts = k_logged_parts;
  };

  // `coalitions` become the slots, in this order; none is empty. No organization has any capacity at first.
  VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions, Options options);
  VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions)
      : VirtualSchedules(organizations, coalitions, Options{}) {}

  // Adds `by` to the capacity of `organization` from `at` on. Here and in forms, kinds are numbers below k_most_kinds
  // that the caller gives.
  void change_capacity(std::size_t organization, std::int64_t at, std::int64_t by, Kind kind = 0);
  // From now on `added`, a kind that no fact has named, is tried right behind `kind` by every request so far that may
  // use that. With changes of capacity from one to the other, a kind whose nodes are not alike any more becomes two;
  // what runs then stays in `kind`.
  void split_kind(Kind kind, Kind added);
  // Adds a request of amount > 0 that exists from `release` on. Of equal releases and ranks it is served by `order` and
  // form (hindsight/request_queue.hpp), and behind those that are equal in this. REQUIRES: the amount is a multiple of
  // the form's width, here and below; the form has a kind.
  Request add(std::size_t organization, std::int64_t release, std::int64_t amount, Order order = {},
              const Form& form = {});
  // By organization: the rank among equal releases, which comes before orders; all ranks are equal at first. REQUIRES:
  // organizations that have requests keep their order.
  void set_ranks(std::vector<std::uint32_t> by_organization) { facts_.queue.set_ranks(std::move(by_organization)); }
  // From now on the first `amount` of a waiting request is a request of its own, of the same release and of `order`,
  // which goes before the rest. No schedule changes. Returns the name of the first part: a new one, or, if nothing is
  // left, the request's own. REQUIRES: 0 < amount <= that of the request, whose duration is not known.
  Request split(Request pending, std::int64_t amount, Order order);
  // Sets the amount (> 0) of a waiting request, from its release on; the form stays. (A job that asks for another width
  // is withdrawn and added again: what was free since its release is not known any more.) REQUIRES: it was not
  // withdrawn.
  void amend(Request pending, std::int64_t amount);
  // The request, which is of one width, is charged `amount`. It goes on to start where its width fits.
  void charge(Request request, std::int64_t amount);
  // The request's run really began at `at`.
  void started(Request request, std::int64_t at);
  // The request's run lasted `duration` >= 1 seconds. May be called again with another duration.
  void ended(Request request, std::int64_t duration);
  // Takes the request's end back: its duration is not known.
  void retract_end(Request request);
  // The request was cancelled before its run began: it is removed from every schedule.
  void withdraw(Request request);

  // From now on v and the work at `at` are kept, too, whatever becomes known later. REQUIRES: at >= the time reached,
  // and later than all marks.
  void mark(std::int64_t at) {
    SHAPLEY_REQUIRE(at >= time_ && (facts_.marks.empty() || at > facts_.marks.back()));
    facts_.marks.push_back(at);
  }
  // Marks before `at` are not wanted any more.
  void forget_marks_before(std::int64_t at);
  [[nodiscard]] const std::vector<std::int64_t>& marks() const { return facts_.marks; }

  // What the last coalition had done is kept at these instants, too, whatever becomes known later: at the first `kept`
  // cuts so far, and at `later`, ascending. REQUIRES: final_cuts() <= kept; none of `later` is before what is settled.
  void set_cuts(std::size_t kept, std::span<const std::int64_t> later);
  [[nodiscard]] const std::vector<std::int64_t>& cuts() const { return cuts_; }
  // The number of cuts, from the first on, at which nothing will change any more, as of the last time that schedules
  // forgot.
  [[nodiscard]] std::size_t final_cuts() const { return at_final_cuts_.size(); }
  // What the last coalition had done before each cut that is reached.
  [[nodiscard]] std::vector<Done<Int128>> done_at_cuts() const;
  // The first `count` cuts are not wanted any more. REQUIRES: count <= final_cuts().
  void forget_cuts(std::size_t count);

  // Adds organizations, which have no facts yet, or replaces the coalitions. REQUIRES: each new coalition, restricted
  // to the organizations so far, is one of the coalitions so far, or empty.
  void set_coalitions(std::size_t organizations, std::span<const Coalition> coalitions);

  // A copy with all facts and only these schedules, in this order: for what-if questions about few of them.
  [[nodiscard]] VirtualSchedules only(std::span<const std::size_t> slots) const;

  // Every fact of an instant before `until` has been added: capacities, releases, starts, ends and withdrawals. What no
  // other fact can change is forgotten, ended requests included; to add such a fact nevertheless is undefined
  // behaviour. For existing requests, every start and end before `outcomes_until`, which may be later, has been added.
  // REQUIRES: until <= the time reached.
  void settle(std::int64_t until, std::int64_t outcomes_until);
  void settle(std::int64_t until) { settle(until, until); }

  // Forgets at once all that settle() allows; otherwise that is done from time to time.
  void forget_settled();
  // The instant before which no v changes any more; not later than what is settled. As of the last forget_settled().
  [[nodiscard]] std::int64_t reached() const;

  // Makes every schedule up to, and without, the instant t; what happens at t changes no v at t. False: about `effort`
  // parts were made, and more are left; values at t cannot be read yet. REQUIRES: t >= every t before.
  bool advance(std::int64_t t, std::uint64_t effort = std::numeric_limits<std::uint64_t>::max());

  // v(C) at t, and the work behind it. REQUIRES: t is the time reached, or the second before it (what begins then has
  // no value at t yet), and no fact was added since.
  [[nodiscard]] Integer utility(std::size_t slot, std::int64_t t) const {
    SHAPLEY_REQUIRE(time_ - 1 <= t && t <= time_);
    return static_cast<Integer>(schedules_[slot].value.utility_at(t));
  }
  [[nodiscard]] Integer work(std::size_t slot, std::int64_t t) const {
    SHAPLEY_REQUIRE(time_ - 1 <= t && t <= time_);
    return static_cast<Integer>(schedules_[slot].value.work_at(t));
  }
  // The same at a mark, which is not later than the time reached.
  [[nodiscard]] Integer utility_at_mark(std::size_t slot, std::size_t mark) const {
    return static_cast<Integer>(schedules_[slot].marked[mark].utility_at(facts_.marks[mark]));
  }
  [[nodiscard]] Integer work_at_mark(std::size_t slot, std::size_t mark) const {
    return static_cast<Integer>(schedules_[slot].marked[mark].work_at(facts_.marks[mark]));
  }
  // Whether v at `at` may still change because a duration becomes known or a request is withdrawn. A part whose run
  // goes on ends at the earliest after as many seconds as that run has lasted by now. REQUIRES: at <= the time reached.
  [[nodiscard]] bool is_provisional(std::size_t slot, std::int64_t at) const;
  // The amount that runs at the time reached.
  [[nodiscard]] std::int64_t running(std::size_t slot) const { return schedules_[slot].value.running; }
  [[nodiscard]] std::size_t size() const { return schedules_.size(); }
  [[nodiscard]] Coalition members(std::size_t slot) const { return schedules_[slot].members; }
  [[nodiscard]] std::int64_t time() const { return time_; }
  [[nodiscard]] std::int64_t settled() const { return facts_.settled; }
  [[nodiscard]] std::int64_t outcomes_settled() const { return facts_.outcomes_settled; }

  [[nodiscard]] const Effort& effort() const { return effort_; }

  // Memory in bytes, without the allocator's overhead.
  [[nodiscard]] std::size_t bytes() const;

 private:
  using Unsigned = std::conditional_t<std::is_same_v<Integer, std::int64_t>, std::uint64_t, UInt128>;
  using OneSchedule = Schedule<Unsigned>;
  using OnePosition = Position<Unsigned>;

 public:
  // The whole content, for checkpoints; a function of the facts and of what is settled. Requests have the names 0, 1,
  // 2, ... in it, in the order of the queue.
  struct Image {
    std::int64_t time = 0;
    std::int64_t settled = 0;
    std::vector<std::int64_t> marks;
    std::vector<std::int64_t> cuts;
    std::vector<Done<Int128>> at_final_cuts;
    std::vector<Form> forms;  // empty: one, of one kind and without a width
    std::vector<Known> requests;
    std::vector<CapacityChange> changes;
    // Each has one point, at `reached`, and the parts of requests that are not final.
    std::vector<OneSchedule> schedules;
  };
  // For each request its name now and its name in the image.
  struct Renamed {
    Image image;
    std::vector<std::pair<Request, Request>> names;  // ascending
  };
  [[nodiscard]] Renamed image() const;
  // Goes on from an image, with the present coalitions. False, and the object is unusable, if the image is invalid.
  [[nodiscard]] bool restore(Image image);

 private:
  [[nodiscard]] bool restore_facts(Image& image);
  // Takes schedules back to where newly known durations make a difference.
  void learn();
  void change_end(Request request, std::int64_t duration);
  void make_kinds(std::span<const Kind> kinds);
  template <typename FromWhen>
  Known& take_back(Request request, FromWhen&& from_when);
  void forget(OneSchedule& schedule);
  void add_done_at_cuts(std::vector<Done<Int128>>& done, std::int64_t until) const;
  void drop_requests();
  void drop_unneeded();
  [[nodiscard]] std::vector<bool> needed();
  void drop_changes();

  Facts facts_;
  std::size_t queue_full_ = 16;         // requests that make it worthwhile to drop final ones
  std::vector<OneSchedule> schedules_;  // by slot
  std::vector<std::int64_t> cuts_;      // ascending
  std::vector<Done<Int128>> at_final_cuts_;
  std::vector<Request> learned_;  // requests whose durations became known since time_
  Coalition touched_ = 0;         // organizations with facts since time_
  std::int64_t time_ = std::numeric_limits<std::int64_t>::min();
  Effort effort_;
};

extern template class VirtualSchedules<std::int64_t>;
extern template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
