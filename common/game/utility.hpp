// psi_sp, the strategy-proof utility [SR13 Eq. 3], in closed form.
//
// A segment (s, e, q) at time t, with p = min(e, t) - s seconds done:
//     psi = q * ( p*(t - s) - p*(p-1)/2 ),     2*psi = q * p * (2*(t - s) - p + 1)
// i.e. each of the p unit parts, begun at s+i, is worth t - (s+i). Only such utilities ignore how work is cut into jobs
// and give no reason to delay it [SR13 Thm. 4.1].
//
// For t inside the books' current period the sum over many segments is a quadratic (running) plus a line (finished) in
// t, so it is kept as coefficients: adding, removing and evaluating are O(1), exact, and independent of order.
//
// Range: |q| <= 1e12 micro-processors in sum, instants below 2^40 s: every coefficient stays under 1e37.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace shapley::game {

// The sum of psi and of work over a multiset of segments. Subtracting a segment that was added restores the sum
// exactly. Evaluate only at t >= every begin that was added, and >= every end of a finished segment that was added.
class UtilitySum {
 public:
  // A segment still running: counts in full at every t >= begin.
  void add_running(ProcessorMillionths processors, Instant begin);
  void remove_running(ProcessorMillionths processors, Instant begin);
  // A finished segment [begin, end).
  void add_finished(ProcessorMillionths processors, Instant begin, Instant end);
  void remove_finished(ProcessorMillionths processors, Instant begin, Instant end);

  [[nodiscard]] Utility utility_at(Instant t) const;
  [[nodiscard]] CpuTime work_at(Instant t) const;
  [[nodiscard]] ProcessorMillionths running() const { return running_; }

  // The coefficients, for checkpoints. 2*psi(t) = square*t^2 + slope*t + constant; square is `running`.
  struct Coefficients {
    ProcessorMillionths running;
    Int128 slope = 0;
    Int128 constant = 0;
    Int128 work_slope = 0;  // running processors
    Int128 work_constant = 0;
    friend bool operator==(const Coefficients&, const Coefficients&) = default;
  };
  [[nodiscard]] Coefficients coefficients() const;
  [[nodiscard]] static UtilitySum from(const Coefficients& coefficients);
  // The union of the two multisets.
  UtilitySum& operator+=(const UtilitySum& other);
  friend bool operator==(const UtilitySum&, const UtilitySum&) = default;

 private:
  void accumulate(Int128 sign, ProcessorMillionths processors, Instant begin);
  ProcessorMillionths running_;
  Int128 slope_ = 0;
  Int128 constant_ = 0;
  Int128 work_constant_ = 0;
};

// psi of a changing number of busy processors, accrued from event to event in 64 bits.
//
// Between two instants with d = t - last and r busy processors [FS13 Algorithm 1, corrected: docs/references.md]:
//     psi += d * done + d(d+1)/2 * r,      done += d * r
// It equals the closed form of utility.hpp. The simulator uses it where billions of events must be cheap;
// instance.hpp's validate() bounds the values. The books, which run for years, use utility.hpp's 128 bits.
struct Accrual {
  std::int64_t psi = 0;
  std::int64_t done = 0;     // processor seconds
  std::int64_t running = 0;  // busy processors
  std::int64_t last = 0;

  void advance(std::int64_t t) {
    const std::int64_t d = t - last;
    psi += d * done + d * (d + 1) / 2 * running;
    done += d * running;
    last = t;
  }
  void change(std::int64_t t, std::int64_t by) {
    advance(t);
    running += by;
  }
  [[nodiscard]] std::int64_t done_at(std::int64_t t) const { return done + (t - last) * running; }
  [[nodiscard]] std::int64_t psi_at(std::int64_t t) const {
    const std::int64_t d = t - last;
    return psi + d * done + d * (d + 1) / 2 * running;
  }
};

}  // namespace shapley::game
