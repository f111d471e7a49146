// What the key looks at beside phi - psi (serving_order.hpp) in one schedule, whose run times the policy hears as its
// runs end.
//
// m, the mean residual run time, is measured by all runs that ended in the schedule that is made, REF's subcoalitions
// included, processors weighing: of runs of q processors and d seconds
//     m = sum(q d^2) / (2 sum(q d)),  rounded down, at least 1;  k_assumed_residual as long as none ended
// anew at every instant at which runs end, before the choices of that instant. shapleyd measures the same after 20 runs
// first and then once a day at most, when m moves by more than a fifth: its books are years long, windows are hours.
//
// 64 bits hold the sums: instance.hpp's validate() bounds processors * time^2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "game/serving_order.hpp"

namespace shapley::scheduling {

class ServingTerms {
 public:
  explicit ServingTerms(const game::ServingRule& rule)
      : rule_(rule), terms_(key_terms(rule, game::k_assumed_residual)) {}

  // Whether what runs counts at all; else run times are of no interest.
  [[nodiscard]] bool weigh_running() const { return rule_.running != game::RunningWeight{} && rule_.horizon.value > 0; }
  // A run of one processor ended.
  void ran(Duration duration) {
    work_ += duration.value;
    squares_ += duration.value * duration.value;
    stale_ = true;
  }
  // By the runs that ended so far.
  [[nodiscard]] const game::KeyTerms& now() {
    if (stale_) terms_ = key_terms(rule_, {std::max<std::int64_t>(squares_ / (2 * work_), 1)});
    stale_ = false;
    return terms_;
  }
  // What runs now left out.
  [[nodiscard]] game::KeyTerms without_running() const { return {rule_.horizon, 0}; }

 private:
  game::ServingRule rule_;
  game::KeyTerms terms_;
  std::int64_t work_ = 0;
  std::int64_t squares_ = 0;
  bool stale_ = false;
};

}  // namespace shapley::scheduling
