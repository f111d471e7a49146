// The estimator `hindsight`: phi is the Shapley value of v(C), what coalition C would have produced alone, as far as is
// known [SR13 Sec. 3], and a part of the gap between what really ran and v of all; docs/concepts.md#hindsight.
//
// Two sets of virtual schedules: one that ends at the books' horizon, which is what a checkpoint holds, and one that
// goes on to the present, made again from the first when a fact turns out to be older than what it has settled. All
// work is put off until a caller asks for results.
#pragma once

#include <memory>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

[[nodiscard]] std::unique_ptr<Estimator> make_hindsight();

}  // namespace shapley::accounting
