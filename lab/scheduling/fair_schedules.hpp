// The fair schedules of all coalitions at once, on which REF is based [SR13 Sec. 5, Fig. 3].
//
// Coalition C has the processors and the jobs of its members. Where it has a real choice (fewer free processors than
// waiting jobs, and two members wait) it serves argmax phi - psi. v(C) enters every phi[u] of C equally, so that is
// (game/shapley_value.hpp)
//     argmin over u of  F[u] = P(C\u) + psi[u],     P(C\u) = sum over S in C\u of (|S|-1)! (|C|-1-|S|)! / (|C|-1)! v(S)
// ties to the lowest organization. Order at an instant: completions, releases, scheduling. With a horizon H every v and
// psi is taken at t + H, frozen at t [serving_order.hpp]: F + H times its slope, the same sum over work done. With a
// guarantee the choice is among the waiting members that are below theirs in C, if there are any.
//
// If what runs counts, it counts in every v and psi: the key is F plus c times the same sum over what runs. So
// decisions of one instant depend on each other: a coalition decides after its subcoalitions, again after each of its
// starts. The last of the five optimizations below does not apply then, so choices cost several times as much. A rule
// that brakes [braking.hpp] is not linear in phi - psi, so what F lacks is needed: the sum of phi - psi over C is 0,
// and so |C| (phi - psi)[u] is the sum of all F less |C| F[u].
//
// Five optimizations, none of which changes a decision:
// - v and psi are kept as quadratics in t [utility.hpp], so that a start or an end is three additions.
// - A job that starts in all coalitions of its owner at once adds the same to v(S) of every S that holds u and to u's
//   psi. Such an additive part of the game adds the same to every F of a coalition, so it is kept once, not 2^(k-1)
//   times. A start at once in most coalitions is kept so, too, and subtracted where it did not happen.
// - A completion while a job waits hands the processor on: v does not change, as many run as before.
// - A choice in C looks only at subsets of C, and only when there is a choice: (3/2)^k coalitions on average, not k
//   2^k.
// - A choice is remembered as F and its slope. Until t = t0 + d, v(S) departs from its line by no less than 0 and no
//   more than d(d+1)/2 + d H times the processors of S, since that is what they can do at most. While these bounds keep
//   u's F below that of every other member, u is the argmin; otherwise F is computed again, in exact integers.
//
// Memory: 40 bytes per coalition and member, 64 per coalition, 16 per running job and coalition (memory_bound).
// Single-threaded; the caller owns it. Instances in several threads do not touch each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/contract.hpp"
#include "game/shapley_value.hpp"
#include "scheduling/completion_calendar.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

using game::Coalition;
using game::CoalitionSet;

// The number of free processors of every coalition, and the set of coalitions that have one.
//
// Most jobs start in all coalitions of their owner at once and end in all of them at once. Both are done in blocks of
// four counters, and the coalitions that differ are corrected afterwards.
class FreeProcessors {
 public:
  // pool: by coalition, 2^k entries; all are free.
  FreeProcessors(std::span<const std::uint32_t> pool, std::size_t organizations)
      : some_(organizations), count_(std::max(pool.size(), k_lanes)), holds_(organizations) {
    for (Coalition c = 0; c < pool.size(); ++c) {
      count_[c] = pool[c];
      if (pool[c] > 0) some_.insert(c);
    }
    // Coalitions that do not exist, in the only block of k < 2, change with the others and are never read.
    for (std::size_t u = 0; u < organizations; ++u)
      for (std::size_t i = 0; i < CoalitionSet::k_word_bits; ++i)
        holds_[u][i] = u >= k_in_word ? 1 : static_cast<std::uint32_t>(i >> u & 1U);
  }

  [[nodiscard]] std::uint32_t operator[](Coalition c) const { return count_[c]; }
  // The coalitions with a free processor.
  [[nodiscard]] const CoalitionSet& some() const { return some_; }

  void take(Coalition c) {
    if (--count_[c] == 0) some_.erase(c);
  }
  void give(Coalition c) {
    if (count_[c]++ == 0) some_.insert(c);
  }

  // One processor in each of `from`, coalitions of u with a free one: most of `holders`, all coalitions of u.
  void take_from_most(std::size_t u, const CoalitionSet& holders, const CoalitionSet& from) {
    for (std::size_t w = 0; w < holders.words(); ++w) {
      if (holders.word(w) == 0) continue;
      std::uint32_t* word = &count_[w * CoalitionSet::k_word_bits];
      Lanes some_zero{};
      for (std::size_t i = 0; i < word_size(); i += k_lanes) {
        const Lanes taken = load(&holds_[u][i]);
        const Lanes left = load(word + i) - taken;
        store(word + i, left);
        some_zero |= zero_lanes(left) & taken;
      }
      if ((some_zero[0] | some_zero[1] | some_zero[2] | some_zero[3]) != 0)
        some_.set_word(w, some_.word(w) & ~(zeros(word) & from.word(w)));
      CoalitionSet::visit_word(w, holders.word(w) & ~from.word(w), [&](Coalition c) { ++count_[c]; });
    }
  }
  // The reverse of take_from_most.
  void give_to_most(std::size_t u, const CoalitionSet& holders, const CoalitionSet& to) {
    for (std::size_t w = 0; w < holders.words(); ++w) {
      if (holders.word(w) == 0) continue;
      std::uint32_t* word = &count_[w * CoalitionSet::k_word_bits];
      for (std::size_t i = 0; i < word_size(); i += k_lanes) store(word + i, load(word + i) + load(&holds_[u][i]));
      some_.set_word(w, some_.word(w) | to.word(w));
      CoalitionSet::visit_word(w, holders.word(w) & ~to.word(w), [&](Coalition c) { --count_[c]; });
    }
  }

 private:
  static constexpr std::size_t k_lanes = 4;
  static constexpr std::size_t k_in_word = 6;  // organizations that distinguish the coalitions of one word
  // Vector types of GCC and Clang, on every architecture: compilers do not vectorize these loops by themselves.
  using Lanes = std::uint32_t __attribute__((vector_size(k_lanes * sizeof(std::uint32_t))));

  static Lanes load(const std::uint32_t* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
  }
  static void store(std::uint32_t* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }
  // All ones where a lane is 0.
  static Lanes zero_lanes(Lanes lanes) { return reinterpret_cast<Lanes>(lanes == Lanes{}); }

  // The number of counters for one word of bits.
  [[nodiscard]] std::size_t word_size() const { return std::min(count_.size(), CoalitionSet::k_word_bits); }

  [[nodiscard]] std::uint64_t zeros(const std::uint32_t* word) const {
    constexpr Lanes k_bits{1, 2, 4, 8};
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < word_size(); i += k_lanes) {
      const Lanes zero = zero_lanes(load(word + i)) & k_bits;
      bits |= static_cast<std::uint64_t>(zero[0] | zero[1] | zero[2] | zero[3]) << i;
    }
    return bits;
  }

  CoalitionSet some_;
  std::vector<std::uint32_t> count_;  // by coalition
  // By organization: 1 where the coalitions of a word hold it.
  std::vector<std::array<std::uint32_t, CoalitionSet::k_word_bits>> holds_;
};

class FairSchedules {
 public:
  // Coalitions are slots 1 .. 2^k - 1, by bit mask. REQUIRES: 1 <= k <= k_max_lattice_organizations.
  FairSchedules(std::span<const std::uint32_t> processors, const game::ServingRule& rule);

  // The bytes that simulating an instance takes at most.
  [[nodiscard]] static std::uint64_t memory_bound(const Instance& instance);

  // A job becomes known at its release; everything before that instant is run first. Releases come with time in order.
  void release(const Job& job);
  // Runs every schedule up to, and without, the instant t. What happens at t changes no psi at t.
  void run_before(std::int64_t t);

  // From t on, after the completions of that instant, members own this many processors. What runs goes on in every
  // coalition, also where more runs than its members own: as much of what ends there is not free again.
  void endow(std::int64_t t, std::span<const std::uint32_t> processors);

  // Which of the `waiting` members (two or more, all of them below their guarantee or none) coalition c serves at t,
  // the time reached.
  [[nodiscard]] std::size_t choose(Coalition c, Coalition waiting, std::int64_t t);

  // Sets the terms of choices from the time reached on. REQUIRES: the rule counts what runs.
  void set_terms(const game::KeyTerms& terms) {
    SHAPLEY_REQUIRE(weigh_running_);
    terms_ = terms;
  }
  // Jobs of u that coalition c has started. REQUIRES: run before an instant at which nothing is released yet.
  [[nodiscard]] std::size_t started(Coalition c, std::size_t u) const {
    return (slots_[c].waiting_members >> u & 1U) != 0 ? members_[u * slots_.size() + c].head : queue_[u].size();
  }

  // v(C) at t, the time reached or the last instant that was run.
  [[nodiscard]] std::int64_t value_at(Coalition c, std::int64_t t) const;
  [[nodiscard]] std::size_t organizations() const { return organizations_; }

 private:
  // Twice a psi, or what it differs from the common part: running t^2 + slope t + constant. Modulo 2^64, where slope
  // and constant may have wrapped around but the result has not (instance.hpp's validate).
  struct Psi {
    std::uint64_t slope = 0;
    std::uint64_t constant = 0;
    std::int32_t running = 0;

    [[nodiscard]] std::int64_t doubled_at(std::int64_t t) const {
      const auto x = static_cast<std::uint64_t>(t);
      return static_cast<std::int64_t>((running_now() * x + slope) * x + constant);
    }
    // Twice the processor seconds done: what doubled_at grows by per second if nothing runs on.
    [[nodiscard]] std::int64_t doubled_done_at(std::int64_t t) const {
      return static_cast<std::int64_t>(2 * running_now() * static_cast<std::uint64_t>(t) + slope - running_now());
    }
    void start(std::int64_t at) {
      const auto t = static_cast<std::uint64_t>(at);
      ++running;
      slope += 1 - 2 * t;
      constant += t * (t - 1);
    }
    void complete(std::int64_t at) {
      const auto t = static_cast<std::uint64_t>(at);
      --running;
      slope -= 1 - 2 * t;
      constant -= t * (t - 1);
    }

   private:
    [[nodiscard]] std::uint64_t running_now() const { return static_cast<std::uint64_t>(std::int64_t{running}); }
  };
  struct Member : Psi {
    std::uint32_t head = 0;  // position in the queue of the next job to start; valid only while one waits
  };
  struct Slot : Psi {
    Coalition waiting_members = 0;
  };
  struct Released {
    std::uint32_t organization;
    std::uint32_t position;  // in its queue
  };
  // A running job that counts in common_ of its owner, although it started late in the coalitions of `late`.
  struct CommonJob {
    std::uint32_t organization = 0;
    std::vector<Coalition> late;
  };
  // 2 (F[u] - F of the lowest member), a horizon ahead, and twice its growth per second, at the last exact choice.
  struct Line {
    double value;
    double slope;
  };

  [[nodiscard]] Member& member(Coalition c, std::size_t u) { return members_[u * slots_.size() + c]; }
  void start(Coalition c, std::size_t u, std::int64_t t) {
    slots_[c].start(t);
    member(c, u).start(t);
  }
  void complete(Coalition c, std::size_t u, std::int64_t t) {
    slots_[c].complete(t);
    member(c, u).complete(t);
  }
  void complete_all(std::int64_t t);
  void complete_one(Coalition c, std::size_t u, std::int64_t t);
  void complete_common(std::uint32_t index, std::int64_t t);
  void admit_released(std::int64_t t);
  void admit(const Released& job, std::int64_t t);
  void start_in_common(std::size_t u, std::int64_t t, std::int64_t end);
  void start_apart(std::size_t u, std::int64_t t, std::int64_t end);
  void wait_for(const Released& job);
  void touch_scarce();
  void change_owners();
  // A processor of c became free, or is gone with its owner.
  [[nodiscard]] bool is_gone(Coalition c);
  void schedule_touched(std::int64_t t);
  void schedule(Coalition c, std::int64_t t);
  [[nodiscard]] bool all_start(Coalition c) const;
  [[nodiscard]] std::size_t served_next(Coalition c, std::int64_t t);
  // Whether decisions of an instant may depend on everything that happens at it.
  [[nodiscard]] bool see_instant() const { return guaranteed_.any() || weigh_running_; }
  [[nodiscard]] bool decide_together() const { return see_instant() || !released_.empty() || !endowed_.empty(); }
  void run_head(Coalition c, std::size_t u, std::int64_t t);
  [[nodiscard]] std::size_t choose_exactly(Coalition c, Coalition waiting, std::int64_t t);
  [[nodiscard]] std::size_t choose_with_running(Coalition c, Coalition waiting, std::int64_t t);
  void sum_potentials(Coalition c, std::int64_t t);
  template <typename Sum, typename Worth>
  void sum_subsets(Coalition c, std::vector<Sum>& by_low, const Worth& worth);

  std::size_t organizations_;
  game::KeyTerms terms_;
  bool weigh_running_;
  game::ServingRule rule_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::uint64_t processors_;                      // of all, at most so far
  std::vector<std::uint32_t> pool_;               // by coalition: processors of all members, at most so far
  std::vector<std::uint32_t> owned_;              // by coalition: those of now; empty as long as owners did not change
  std::vector<std::uint32_t> gone_;               // by coalition: what runs beyond owned_; likewise
  std::vector<std::uint32_t> endowed_;            // by coalition: owned_ from time_ on; empty: as it is
  std::vector<std::uint8_t> size_;                // by coalition
  std::vector<Slot> slots_;                       // by coalition: v without the common parts
  std::vector<Member> members_;                   // by organization, coalition: neighbours start the same job
  std::vector<Psi> common_;                       // by organization: what counts in every coalition that holds it
  std::vector<Line> lines_;                       // by coalition, organization
  std::vector<std::int64_t> chosen_at_;           // by coalition: the instant of lines_, or k_not_yet
  std::vector<std::vector<std::int64_t>> queue_;  // by organization: durations in FIFO order
  FreeProcessors free_;
  std::vector<CoalitionSet> holders_;     // by organization
  std::vector<CoalitionSet> waiting_in_;  // by organization: coalitions in which it waits
  CoalitionSet waiting_;                  // those in which any organization waits
  CoalitionSet touched_;                  // to schedule at this instant; until then nothing starts there
  CoalitionSet at_once_;                  // the coalitions that start a release at once
  CompletionCalendar calendar_;           // of single starts, and of indices of common_jobs_
  std::vector<CommonJob> common_jobs_;
  std::vector<std::uint32_t> unused_common_jobs_;
  std::uint64_t common_running_ = 0;
  std::vector<Released> released_;       // at time_
  std::vector<std::uint32_t> starting_;  // of one release: entries of the calendar
  std::int64_t time_ = 0;                // releases up to here are known

  // (|C|-1)! 2 P(C\u), and the same of the work done instead of v.
  struct Potential {
    Int128 value;
    Int128 slope;
  };
  // The sums of 2 v and of twice the work done over some coalitions of one size. 64 bits wherever these suffice.
  template <typename Integer>
  struct SizeSum {
    Integer value = 0;
    Integer slope = 0;
  };
  using NarrowSum = SizeSum<std::int64_t>;
  using WideSum = SizeSum<Int128>;
  // Data of one exact choice in C, whose lower half of members makes the columns, the upper half the rows of a table:
  std::vector<Potential> potential_;  // by organization
  std::vector<NarrowSum> narrow_;     // by number of upper members, column
  std::vector<WideSum> wide_;
  std::vector<Coalition> low_masks_;                 // of the columns, by size
  std::vector<std::vector<std::int64_t>> weights_;   // by |C|, |S|: (|S|-1)! (|C|-1-|S|)!
  std::vector<std::vector<std::uint32_t>> by_size_;  // by number of lower members: their subsets, in order of size
  std::vector<Coalition> unordered_masks_;
};

}  // namespace shapley::scheduling
