// psi of a changing number of busy processors, accrued from event to event in 64 bits.
//
// Between two instants with d = t - last and r busy processors [FS13 Algorithm 1, corrected: docs/concepts.md]:
//     psi += d * done + d(d+1)/2 * r,      done += d * r
// It equals the closed form of utility.hpp. The simulator uses it where billions of events must be cheap;
// instance.hpp's validate() bounds the values. The books, which run for years, use utility.hpp's 128 bits.
#pragma once

#include <cstdint>

namespace shapley::game {

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
