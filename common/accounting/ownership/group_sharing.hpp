// What groups of runs hold of a node together: sharing.hpp, added up.
//
// Runs that claim the same and belong to one group are a class. Some of a class hold a unit of the largest remainder
// more than the others, at most; how many follows from the order of the claims. So an instant costs as
// much as there are classes, however many runs there are: n claims of c classes take n (c + log n) steps. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "accounting/ownership/sharing.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// `count` claims of one class, that of the claim with this index, hold `processors` (> 0) each during [begin, end).
using VisitClass =
    std::function<void(std::size_t claim, std::int64_t count, Instant begin, Instant end, MicroProcessors processors)>;

// Calls visit for all that is held at instants >= from, as for_each_held does for each claim. `groups`: of each claim.
void for_each_class_held(std::span<const Claim> claims, std::span<const std::size_t> groups,
                         std::span<const Worth> worths, Instant from, const VisitClass& visit);

}  // namespace shapley::accounting
