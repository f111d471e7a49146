// Hindsight: the Shapley value of what coalitions would have done alone, strictly online. Every coalition has a virtual
// schedule under FCFS, made of what is known: a job whose duration is not known yet never ends there, and when it
// becomes known the schedules are made again from where it matters (virtual_schedules.hpp). The gap between what the
// real schedule did and the virtual one of all is shared by those who were there meanwhile (gap_shares.hpp): who has
// processors always, the others while they have open jobs. Serves the greatest phi - psi, as the rule says of horizon
// and guarantee.
//
// All coalitions (up to k_hindsight_organizations), or those of COALITIONS(pairs), O(k^2) of them
// (coalitions_pair.hpp).
#pragma once

#include <memory>
#include <vector>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

inline constexpr std::size_t k_hindsight_organizations = 12;

class HindsightPolicy : public Policy {
 public:
  // At t, the time reached, by organization: the smallest of those who wait is served first (lattice_keys.hpp).
  [[nodiscard]] virtual const std::vector<Int128>& keys(std::int64_t t) = 0;
};

// REQUIRES: 1 <= organizations <= k_hindsight_organizations; no rigid jobs.
[[nodiscard]] std::unique_ptr<HindsightPolicy> make_hindsight(const Instance& instance,
                                                              const game::ServingRule& rule = {});
// REQUIRES: no rigid jobs.
[[nodiscard]] std::unique_ptr<HindsightPolicy> make_hindsight_pair(const Instance& instance,
                                                                   const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
