// Which adjustments are in force, and whose row every organization's figures are part of by them.
#pragma once

#include <set>
#include <vector>

#include "accounting/state/former_names.hpp"
#include "accounting/state/kept_facts.hpp"
#include "accounting/state/organizations.hpp"

namespace shapley::accounting {

using Adjustments = std::set<AdjustmentMade, ByIdentity>;  // ascending by number

// Whether no adjustment that is itself in force reverses this one.
[[nodiscard]] bool is_in_force(const Adjustments& all, std::uint32_t number);

// By OrgId. An organization that was renamed or merged is a part of the one that this led to in the end. REQUIRES: the
// names of all renamings and mergers have joined.
[[nodiscard]] std::vector<OrgId> rows_by(const Adjustments& all, const Organizations& organizations);

// The last name of each, whatever it was called in between.
[[nodiscard]] FormerNames former_names(const std::vector<AdjustmentMade>& all);

}  // namespace shapley::accounting
