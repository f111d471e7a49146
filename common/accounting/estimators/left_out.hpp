// What stands in the place of an estimator that is not kept: it hears nothing, costs nothing, and says of everybody
// that he gave what he got.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

// All that it writes into a checkpoint.
inline constexpr std::string_view k_left_out = "left_out";

[[nodiscard]] std::unique_ptr<Estimator> make_left_out();

// What everybody got is what he gave.
void credit_as_got(const Estimator::Question& question, std::span<Credit> credits);

}  // namespace shapley::accounting
