// REF, the exact fair schedule for psi_sp [SR13 Fig. 3]: serve the organization with the greatest phi - psi, where phi
// is the Shapley value over the schedules that every subcoalition would have had by this same rule. So horizon and
// guarantee hold in every subcoalition, too: v and psi of each are looked at a horizon ahead, and its members who are
// below their guarantee are served first.
//
// How, and at what cost: fair_schedules.hpp. k <= 16 and memory within k_max_ref_memory; beyond, use RAND or
// ShapleyRate.
#pragma once

#include <memory>

#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

inline constexpr std::uint64_t k_max_ref_memory = std::uint64_t{4} << 30U;

// Bytes that make_ref's policy takes at most, for 1 <= organizations <= k_max_lattice_organizations.
[[nodiscard]] std::uint64_t ref_memory_bound(const Instance& instance);

// REQUIRES: 1 <= organizations <= k_max_lattice_organizations. The caller checks ref_memory_bound.
[[nodiscard]] std::unique_ptr<Policy> make_ref(const Instance& instance, const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
