// shapley_rate: an organization gave what its processors were worth to all, the Shapley value of the instantaneous game
// (game/shapley_value.hpp), summed up over time. It depends on the history of demand: rate_history.hpp keeps it.
#pragma once

#include <memory>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

[[nodiscard]] std::unique_ptr<Estimator> make_shapley_rate();

}  // namespace shapley::accounting
