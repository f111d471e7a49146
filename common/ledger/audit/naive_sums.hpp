// psi, phi and work of many runs as few numbers, by the auditor's own arithmetic (nothing of common/game).
//
// A unit part executed in second i is worth t - i at t (SR13 Eq. 3), so the unit parts of q processors during [a, b)
// are worth
//     sum over i in [a, b) of q * (t - i)  =  t * q * (b - a)  -  q * (a + (a + 1) + ... + (b - 1))
// at every t >= b: two sums that do not depend on t, and that simply add up over runs.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace shapley::ledger {

struct NaiveSum {
  Int128 seconds = 0;  // sum of q * (b - a): the work, in micro-processor seconds
  Int128 moments = 0;  // sum of q * (a + ... + (b - 1))

  // Processors (negative: to take them back) during [a, b). REQUIRES: a <= b.
  void add(Int128 processors, Instant a, Instant b) {
    const Int128 terms = b.value - a.value;
    seconds += processors * terms;
    // An arithmetic series: as many terms, times the mean of the first and the last; always a whole number.
    moments += processors * (terms * (static_cast<Int128>(a.value) + b.value - 1) / 2);
  }
  NaiveSum& operator+=(const NaiveSum& other) {
    seconds += other.seconds;
    moments += other.moments;
    return *this;
  }
  [[nodiscard]] Utility utility_at(Instant t) const { return {seconds * t.value - moments}; }
  [[nodiscard]] CpuTime work() const { return {seconds}; }
};

// Of one organization: what its jobs used, and what its processors gave by direct_contr.
struct NaiveAccount {
  NaiveSum used;
  NaiveSum given;
};

// By NaiveBooks' numbers of owners.
using NaiveAccounts = std::vector<NaiveAccount>;

}  // namespace shapley::ledger
