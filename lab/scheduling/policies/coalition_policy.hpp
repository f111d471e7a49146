// Contributions from simulated coalitions, each valued under FCFS: the coalitions' schedules, what RAND and the
// coalition policies have in common, and the coalition policies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "game/serving_order.hpp"
#include "game/shapley_value.hpp"
#include "game/utility.hpp"
#include "scheduling/completion_calendar.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

// The schedules that coalitions would have had, each by itself, under FCFS, by which RAND and the coalition policies
// value coalitions.
//
// Coalition C has the processors and the jobs of its members and starts jobs in the order of (release, position in the
// input). That order makes one cursor into the common queue enough for a whole schedule, so that a start costs a few
// nanoseconds. Order at an instant: completions, releases, scheduling; what starts at t adds nothing to v(C) at t.
// Single-threaded; the caller owns it.
//
// Memory: 56 bytes per coalition, 16 per released job, up to 32 per running job and coalition.
class FcfsSchedules {
 public:
  // Simulates `coalitions` (distinct, not empty) over the organizations' processors.
  FcfsSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions);

  // A job becomes known at its release; everything before that instant is run first. Releases come with time in order.
  void release(const Job& job);
  // Runs every schedule up to, and without, the instant t.
  void run_before(std::int64_t t);

  [[nodiscard]] std::size_t size() const { return coalitions_.size(); }
  [[nodiscard]] Coalition coalition(std::size_t slot) const { return coalitions_[slot]; }
  // v(C) at t with the terms of the key; t >= the time reached, provided no event lies between, or the last instant
  // that was run. What runs is taken at the time reached.
  [[nodiscard]] std::int64_t value_at(std::size_t slot, std::int64_t t, const game::KeyTerms& terms) const {
    return game::looked_ahead(value_[slot].psi_at(t), value_[slot].done_at(t), value_[slot].running, terms);
  }
  // The work behind it, `ahead` later if what runs then goes on so long; likewise.
  [[nodiscard]] std::int64_t work_at(std::size_t slot, std::int64_t t, Duration ahead) const {
    return game::frozen_ahead(value_[slot].done_at(t), value_[slot].running, ahead);
  }

 private:
  // waiting > 0 only while free == 0: a job that finds a free processor starts at once.
  struct Slot {
    std::int64_t free = 0;
    std::int64_t waiting = 0;
    std::size_t cursor = 0;  // every member's job before it in queue_ has started
  };
  struct Queued {
    Coalition owner;  // one bit
    std::int64_t duration;
  };

  void complete(std::size_t slot, std::int64_t t);

  std::vector<Coalition> coalitions_;
  std::vector<Slot> slots_;
  std::vector<game::Accrual> value_;
  std::vector<std::vector<std::uint32_t>> slots_of_;  // by organization: coalitions that it is in
  std::vector<Queued> queue_;                         // every released job, in order
  CompletionCalendar calendar_;
};

// The common part of RAND and the coalition policies: phi is computed from the values of simulated coalitions, each
// under FCFS; the greatest phi - psi is served, subject to the rule's horizon and guarantee. The horizon applies to v
// and psi alike; the guarantee orders the schedule that is made, not the coalitions' schedules, which are under FCFS.
//
// What runs counts in v as in psi: what a coalition runs under FCFS in the second that begins now.
//
// phi is scaled by a constant of the policy so that it stays an integer. Ties go to the lowest organization.
class CoalitionPolicy : public Policy {
 public:
  // phi = scaled phi / scale.
  CoalitionPolicy(const Instance& instance, std::vector<Coalition> coalitions, Int128 scale,
                  const game::ServingRule& rule);

  void released(std::int64_t, const Job& job) final { schedules_.release(job); }
  std::int32_t started(std::int64_t t, std::size_t organization) final {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) final { own_[organization].change(t, -1); }
  [[nodiscard]] bool asks_run_times() const final { return terms_.weigh_running(); }
  void ran(std::int64_t, Duration duration) final { terms_.ran(duration); }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final;
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) final;

 protected:
  // Writes scale * phi of every organization from values[slot] = v of the coalition of that slot.
  virtual void share_out(std::span<const std::int64_t> values, std::vector<Int128>& scaled_phi) = 0;

 private:
  // Computes phi at t, with the terms of the key, into scaled_phi_; if the rule brakes, the work behind it, too.
  void evaluate(std::int64_t t, const game::KeyTerms& terms);

  FcfsSchedules schedules_;
  Int128 scale_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::vector<std::int64_t> values_;  // by slot
  std::vector<Int128> scaled_phi_;
  std::vector<Int128> scaled_given_;
  std::vector<game::Accrual> own_;
  std::int64_t evaluated_at_ = -1;  // with terms_
};

using game::CoalitionWeights;

[[nodiscard]] std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance,
                                                               const CoalitionWeights& weights,
                                                               const game::ServingRule& rule);

// COALITIONS(all): the Shapley value over all 2^k coalitions, each valued under FCFS.
//
// It differs from REF only in how subcoalitions schedule. RAND over every permutation is the same algorithm. 2^k
// schedules and 2^k steps a choice; memory as FcfsSchedules.
//
// REQUIRES: 1 <= organizations <= k_max_lattice_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_coalitions_all(const Instance& instance, const game::ServingRule& rule = {});

// COALITIONS(leave-one-out): 2k+1 simulated coalitions: each organization alone, all without it, and all together.
//
//     phi[u] = 1/2 ( v({u}) + v(N) - v(N\u) )
//
// the mean of the first and the last marginal contribution. Every coalition is valued under FCFS.
//
// REQUIRES: 1 <= organizations <= k_coalition_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_coalitions_loo(const Instance& instance, const game::ServingRule& rule = {});

// COALITIONS(pairs): simulated coalitions of 1, 2, k-2, k-1 and k organizations, O(k^2) of them,
// weighted as game/shapley_value.hpp says. Every coalition is valued under FCFS.
//
// REQUIRES: 1 <= organizations <= k_coalition_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_coalitions_pair(const Instance& instance,
                                                           const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
