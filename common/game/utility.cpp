#include "game/utility.hpp"

namespace shapley::game {

// A running segment is worth 2*psi = q*(t-s)*(t-s+1) = q*t^2 + q*(1-2s)*t + q*s*(s-1). A finished one [s, e) is the
// difference of two running ones, begun at s and at e, since both are sums of the same unit parts from e on.
void UtilitySum::accumulate(Int128 sign, ProcessorMillionths processors, Instant begin) {
  const Int128 q = sign * processors.value;
  const Int128 s = begin.value;
  running_.value += static_cast<std::int64_t>(q);
  slope_ += q * (1 - 2 * s);
  constant_ += q * s * (s - 1);
  work_constant_ -= q * s;
}

void UtilitySum::add_running(ProcessorMillionths processors, Instant begin) {
  accumulate(1, processors, begin);
}

void UtilitySum::remove_running(ProcessorMillionths processors, Instant begin) {
  accumulate(-1, processors, begin);
}

void UtilitySum::add_finished(ProcessorMillionths processors, Instant begin, Instant end) {
  accumulate(1, processors, begin);
  accumulate(-1, processors, end);
}

void UtilitySum::remove_finished(ProcessorMillionths processors, Instant begin, Instant end) {
  accumulate(-1, processors, begin);
  accumulate(1, processors, end);
}

UtilitySum& UtilitySum::operator+=(const UtilitySum& other) {
  running_ += other.running_;
  slope_ += other.slope_;
  constant_ += other.constant_;
  work_constant_ += other.work_constant_;
  return *this;
}

Utility UtilitySum::utility_at(Instant t) const {
  const Int128 x = t.value;
  return {(running_.value * x * x + slope_ * x + constant_) / 2};
}

CpuTime UtilitySum::work_at(Instant t) const {
  return {Int128{running_.value} * t.value + work_constant_};
}

UtilitySum::Coefficients UtilitySum::coefficients() const {
  return {running_, slope_, constant_, running_.value, work_constant_};
}

UtilitySum UtilitySum::from(const Coefficients& coefficients) {
  UtilitySum sum;
  sum.running_ = coefficients.running;
  sum.slope_ = coefficients.slope;
  sum.constant_ = coefficients.constant;
  sum.work_constant_ = coefficients.work_constant;
  return sum;
}

}  // namespace shapley::game
