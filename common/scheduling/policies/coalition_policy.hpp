// What RAND and the coalition policies have in common: phi is made of the values of simulated coalitions, each under
// FCFS; serve the greatest phi - psi, as the rule says of horizon and guarantee. The horizon looks at v and psi alike;
// the guarantee orders who is served in the schedule that is made, not in the coalitions', which are under FCFS.
//
// What runs counts, too, in v as in psi: what a coalition runs under FCFS in the second that begins now.
//
// phi is scaled by a constant of the policy so that it stays an integer. Ties go to the lowest organization.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "game/accrual.hpp"
#include "game/coalition_weights.hpp"
#include "scheduling/fcfs_schedules.hpp"
#include "scheduling/guaranteed.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

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
  // phi at t, looked at ahead, into scaled_phi_.
  void evaluate(std::int64_t t, const game::KeyTerms& terms);

  FcfsSchedules schedules_;
  Int128 scale_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  std::vector<std::int64_t> values_;  // by slot
  std::vector<Int128> scaled_phi_;
  std::vector<game::Accrual> own_;
  std::int64_t evaluated_at_ = -1;  // with terms_
};

using game::CoalitionWeights;

[[nodiscard]] std::unique_ptr<Policy> make_weighted_coalitions(const Instance& instance,
                                                               const CoalitionWeights& weights,
                                                               const game::ServingRule& rule);

}  // namespace shapley::scheduling
