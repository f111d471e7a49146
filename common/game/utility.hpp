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

#include "base/types.hpp"

namespace shapley::game {

// psi of one segment at t; 0 when t <= begin. `end` is exclusive; k_end_of_time while it runs. REQUIRES: begin <= end.
struct SegmentUtilityInput {
  Instant begin;
  Instant end;
  MicroProcessors processors;
};
[[nodiscard]] Utility segment_utility(const SegmentUtilityInput& segment, Instant t);
// Work done until t: q * p.
[[nodiscard]] CpuTime segment_work(const SegmentUtilityInput& segment, Instant t);

// The sum of psi and of work over a multiset of segments. Subtracting a segment that was added restores the sum
// exactly. Evaluate only at t >= every begin that was added, and >= every end of a finished segment that was added.
class UtilitySum {
 public:
  // A segment still running: counts in full at every t >= begin.
  void add_running(MicroProcessors processors, Instant begin);
  void remove_running(MicroProcessors processors, Instant begin);
  // A finished segment [begin, end).
  void add_finished(MicroProcessors processors, Instant begin, Instant end);
  void remove_finished(MicroProcessors processors, Instant begin, Instant end);

  [[nodiscard]] Utility utility_at(Instant t) const;
  [[nodiscard]] CpuTime work_at(Instant t) const;
  [[nodiscard]] MicroProcessors running() const { return running_; }

  // The coefficients, for checkpoints. 2*psi(t) = square*t^2 + slope*t + constant; square is `running`.
  struct Coefficients {
    MicroProcessors running;
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
  void accumulate(Int128 sign, MicroProcessors processors, Instant begin);
  MicroProcessors running_;
  Int128 slope_ = 0;
  Int128 constant_ = 0;
  Int128 work_constant_ = 0;
};

}  // namespace shapley::game
