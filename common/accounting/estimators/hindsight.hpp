// The estimator `hindsight`: phi is the Shapley value of v(C), what coalition C would have produced alone, as far as is
// known [SR13 Sec. 3], and a part of the gap between what really ran and v of all; docs/equations.md#hindsight.
//
// There are two sets of virtual schedules. The settled one ends at the books' horizon and is saved in checkpoints. The
// present one goes on to now; it is made again from the settled one when a fact is older than what it has settled. All
// work is put off until a caller asks for results.
#pragma once

#include <memory>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

[[nodiscard]] std::unique_ptr<Estimator> make_hindsight();

}  // namespace shapley::accounting
