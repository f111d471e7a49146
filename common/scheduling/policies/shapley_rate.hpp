// ShapleyRate (ours): contribution accrues at the Shapley value of the instantaneous game
//     v_t(C) = min( sum over u in C of d[u](t),  sum over u in C of m[u] ),   d[u] = running + waiting processors of u
// and the greatest phi - psi is served, as the rule says of horizon and guarantee. It needs no durations and no
// simulated coalitions (docs/concepts.md).
//
//   exact         rates in k!-ths of a processor, O(2^k) when a demand changed
//   sampled       mean of one random permutation and its reverse per interval: unbiased, O(k)
//   leave_one_out r[u] = 1/2 ( min(d,m) + min(D,M) - min(D-d, M-m) )
#pragma once

#include <cstdint>
#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

enum class RateMethod { exact, sampled, leave_one_out };

struct ShapleyRateOptions {
  RateMethod method = RateMethod::exact;
  std::uint64_t seed = 1;
  game::ServingRule rule{};
};

// REQUIRES for exact: organizations <= k_max_lattice_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_shapley_rate(const Instance& instance, ShapleyRateOptions options);

}  // namespace shapley::scheduling
