// What coalitions would have done alone, as far as is known: schedules that are made again from the instant at which a
// fact that became known makes a difference.
//
// Coalition C has the capacity and the requests of its members and serves them FCFS by (release, order), greedily. A
// request of amount q is q side by side that start as capacity becomes free, in parts if need be [SR13 Sec. 7: parallel
// jobs as copies]. A part that started at s ends at s + p once the duration p of its request is known. Until then it
// holds what it took: it never ends. Capacity that falls below what runs stops new starts and preempts nothing. v(C) is
// the sum of psi_sp of the parts [SR13 Eq. 3].
//
// The schedules are a function of the set of facts: when, and in what order, they are added makes no difference.
//
// How a schedule goes back and on: hindsight/schedule.hpp. A fact only takes schedules back. They are made when they
// are wanted, so many facts cost one repetition. What no fact can change any more is forgotten (settle).
//
// Units: seconds; amounts and capacities in any one unit, processors or millionths of them. v is computed modulo 2^64
// or 2^128, by `Integer`. REQUIRES: twice every v, and twice the work, fit into an unsigned integer of that width:
// capacity of all * (latest - earliest instant + 1)^2 less than 2^64 or 2^128; and instants from 0 to below 2^40, the
// ends of runs below 2^41.
// Pure; single-threaded; the caller owns it.
//
// Memory (bytes()): 84 bytes per request, until it is final everywhere; per coalition 260 bytes, for each part whose
// request is not final 16, a few hundred entries of the lists, and a few dozen points with an end for each part that
// runs and whose end is known, 16 bytes each; up to twice that while vectors grow. The last coalition has its whole
// lists, 32 for each part that may still be changed. Per cut 8 bytes, and 32 more once it is final.
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
  // Parts of each schedule that it can at least go back by without a point.
  static constexpr std::int64_t k_logged_parts = 128;

  // Coalitions are slots, in this order; they must not be empty. No organization has any capacity yet.
  VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions,
                   std::int64_t logged_parts = k_logged_parts);

  // The capacity of `organization` is `by` more from `at` on.
  void change_capacity(std::size_t organization, std::int64_t at, std::int64_t by);
  // A request of amount > 0 is there from `release` on. Of equal releases the smaller `order` is served first, and of
  // equal orders the one that was added first.
  Request add(std::size_t organization, std::int64_t release, std::int64_t amount, Order order = {});
  // By organization: who is served first of equal releases, before orders are looked at. All alike at the beginning.
  // REQUIRES: the order of those that have requests stays.
  void set_ranks(std::vector<std::uint32_t> by_organization) { facts_.queue.set_ranks(std::move(by_organization)); }
  // The first `amount` of a request that waits is a request of its own from now on, of the same release and of `order`,
  // which goes before the rest. No schedule changes. The name of all of it: a new one, or, if nothing is left, its own.
  // REQUIRES: 0 < amount <= that of the request, whose duration is not known.
  Request split(Request pending, std::int64_t amount, Order order);
  // A request that waits is of this amount > 0, and ever was. REQUIRES: it was not withdrawn.
  void amend(Request pending, std::int64_t amount);
  // Its run really began at `at`.
  void started(Request request, std::int64_t at);
  // Its run lasted `duration` >= 1 seconds. May be called again with another duration.
  void ended(Request request, std::int64_t duration);
  // Takes its end back: it is not known.
  void retract_end(Request request);
  // It was cancelled before it ever began: no schedule has it, nor ever had.
  void withdraw(Request request);

  // From now on v and the work are wanted at `at`, too, whatever becomes known later. REQUIRES: at >= the time reached,
  // later than the marks there are.
  void mark(std::int64_t at) {
    SHAPLEY_REQUIRE(at >= time_ && (facts_.marks.empty() || at > facts_.marks.back()));
    facts_.marks.push_back(at);
  }
  // The earliest of the marks are not wanted any more.
  void forget_marks_before(std::int64_t at);
  [[nodiscard]] const std::vector<std::int64_t>& marks() const { return facts_.marks; }

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

  // Every fact of an instant before `until` has been added: capacities, releases, starts, ends and withdrawals. So what
  // no other fact can reach is forgotten, requests that ended before included; adding such a fact nevertheless is
  // undefined behaviour. Of the requests that there are, every start and end of before `outcomes_until` has been added,
  // which may be later. REQUIRES: until <= the time reached.
  void settle(std::int64_t until, std::int64_t outcomes_until);
  void settle(std::int64_t until) { settle(until, until); }

  // Forgets, at once, all that settle() allows to. Otherwise that is done from time to time.
  void forget_settled();
  // Before it no v changes any more: not later than what is settled. As of the last forget_settled().
  [[nodiscard]] std::int64_t reached() const;

  // Makes every schedule up to, and without, the instant t; what happens at t changes no v at t. False: about `effort`
  // parts were made, and there are more. Then the values at t cannot be read yet. REQUIRES: t >= every t before.
  bool advance(std::int64_t t, std::uint64_t effort = std::numeric_limits<std::uint64_t>::max());

  // v(C) at t, and the work behind it. REQUIRES: t is the time reached, or the second before it (what begins then is
  // nothing yet at t), and no fact was added since.
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
  // goes on ends as long after its start as that run has lasted by now, at the earliest. REQUIRES: at <= the time
  // reached.
  [[nodiscard]] bool is_provisional(std::size_t slot, std::int64_t at) const;
  // What runs there.
  [[nodiscard]] std::int64_t running(std::size_t slot) const { return schedules_[slot].value.running; }
  [[nodiscard]] std::size_t size() const { return schedules_.size(); }
  [[nodiscard]] Coalition members(std::size_t slot) const { return schedules_[slot].members; }
  [[nodiscard]] std::int64_t time() const { return time_; }
  [[nodiscard]] std::int64_t settled() const { return facts_.settled; }
  [[nodiscard]] std::int64_t outcomes_settled() const { return facts_.outcomes_settled; }

  [[nodiscard]] const Effort& effort() const { return effort_; }

  // What all of it takes in memory, without what the allocator adds.
  [[nodiscard]] std::size_t bytes() const;

 private:
  using Unsigned = std::conditional_t<std::is_same_v<Integer, std::int64_t>, std::uint64_t, UInt128>;
  using OneSchedule = Schedule<Unsigned>;
  using OnePosition = Position<Unsigned>;

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
    // Each has one point, where `reached` is, and the parts of requests that are not final.
    std::vector<OneSchedule> schedules;
  };
  // Where each request is in an image's `requests`: a name of now, and one of then.
  struct Renamed {
    Image image;
    std::vector<std::pair<Request, Request>> names;  // ascending
  };
  [[nodiscard]] Renamed image() const;
  // Goes on from an image, with the coalitions there are. False, and the object is unusable, if the image is invalid.
  [[nodiscard]] bool restore(Image image);

 private:
  // Takes schedules back to where durations that became known make a difference.
  void learn();
  void change_end(Request request, std::int64_t duration);
  template <typename FromWhen>
  Known& take_back(Request request, FromWhen&& from_when);
  void forget(OneSchedule& schedule);
  void add_done_at_cuts(std::vector<Done<Int128>>& done, std::int64_t until) const;
  void drop_requests();
  void drop_unneeded();
  void drop_changes();

  Facts facts_;
  std::size_t queue_full_ = 16;         // requests that make it worthwhile to drop final ones
  std::vector<OneSchedule> schedules_;  // by slot
  std::vector<std::int64_t> cuts_;      // ascending
  std::vector<Done<Int128>> at_final_cuts_;
  std::vector<Request> learned_;  // durations since time_
  Coalition touched_ = 0;         // whose facts came since time_
  std::int64_t time_ = std::numeric_limits<std::int64_t>::min();
  Effort effort_;
};

extern template class VirtualSchedules<std::int64_t>;
extern template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
