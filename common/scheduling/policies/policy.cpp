#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

std::string to_string(const Rational& value) {
  Int128 a = value.numerator < 0 ? -value.numerator : value.numerator;
  Int128 b = value.denominator;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  const Int128 divisor = a == 0 ? 1 : a;
  std::string text = shapley::to_string(value.numerator / divisor);
  if (value.denominator != divisor) text += "/" + shapley::to_string(value.denominator / divisor);
  return text;
}

}  // namespace shapley::scheduling
