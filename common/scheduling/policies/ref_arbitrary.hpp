// REF for an arbitrary utility [SR13 Fig. 1]: every coalition has a schedule of its own, and a free processor goes to
// the organization that brings the utilities nearest to the contributions.
//
// Starting u's first job in C changes u's utility, and v(C), by d = psi(new) - psi(old), and so every member's phi by
// d/|C|. u minimizes the Manhattan distance  sum over w in C of | phi[w] + d/|C| - psi[w] - (w == u ? d : 0) |.
//
// Where the figure leaves room: its last sum is taken over w != u, as its text says; phi keeps its d/|C| when the next
// job of the instant is placed; and ties, which are the rule where d = 0, go to the greatest phi - psi (Figure 3's
// rule), then to the lowest organization. So with psi_sp, whose d is always 0, the schedule is that of Figure 3
// (ref.hpp, which is faster).
//
// Smaller coalitions decide first, since their v at t may depend on what they start at t. Exact integers, phi in
// |C|!-ths. 2^k schedules, and a sweep over all of them wherever one has a choice: for studies of utilities, k <= 10.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"
#include "scheduling/utility_functions.hpp"

namespace shapley::scheduling {

inline constexpr std::size_t k_ref_arbitrary_organizations = 10;

// REQUIRES: 1 <= organizations <= k_ref_arbitrary_organizations.
[[nodiscard]] std::unique_ptr<Policy> make_ref_arbitrary(const Instance& instance, const UtilityFunction& utility);

}  // namespace shapley::scheduling
