// equal_split, a toy: every organization gave the same part of all that ran.
#pragma once

#include <memory>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

[[nodiscard]] std::unique_ptr<Estimator> make_equal_split();

}  // namespace shapley::accounting
