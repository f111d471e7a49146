// REF, the exact fair schedule for psi_sp [SR13 Fig. 3]: serve the organization with the greatest phi - psi, where phi
// is the Shapley value over the schedules that every subcoalition would have had by this same rule.
//
// v(C) enters every phi[u] of C equally, so inside C the choice is argmin over u of P(C\u) + psi[u] (potential.hpp).
// Potentials are evaluated only at real choices, at most once an instant: k 2^k then, O(2^k) schedules throughout.
// Memory as in coalition_schedules.hpp; k <= 16, above it use RAND or ShapleyRate.
#pragma once

#include <memory>

#include "fairness/policies/policy.hpp"

namespace shapley::fairness {

// REQUIRES: 1 <= organizations <= k_max_lattice_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_ref(const Instance& instance);

}  // namespace shapley::fairness
