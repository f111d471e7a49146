// The worth of cooperation: what organizations got in a period, compared with what they would have got alone.
//
// v(C) is what coalition C would have produced by now with its own processors and jobs, the sum of psi_sp over its
// virtual schedule [SR13 Eq. 3 and 4]; hindsight/virtual_schedules.hpp says how that is made. What really was got is
// psi. So for an organization u the gain of cooperating is psi[u] - v({u}), and for a coalition C the gain of leaving
// is v(C) - Sum(psi[u], u in C): [SR13 Sec. 4] the game is supermodular for unit jobs only, so that may be positive.
//
// Virtual schedules know processors and requests only. They ignore memory, topology, partitions and the width of jobs,
// which favours what runs alone, small coalitions most.
//
// Units: utility in micro-processor seconds squared, work in micro-processor seconds, both of the period: what was done
// before counts for nothing. Values; they own no resource.
#pragma once

#include <optional>
#include <vector>

#include "base/types.hpp"

namespace shapley::accounting {

struct Produced {
  Utility utility;
  CpuTime work;
  Produced& operator+=(const Produced& other) {
    utility += other.utility;
    work += other.work;
    return *this;
  }
  friend bool operator==(const Produced&, const Produced&) = default;
};

// What a set of organizations got, and what it would have got as a coalition of its own.
struct Comparison {
  Produced got;
  // One of two bounds: where the end of a run or wait is not known, as if it never ended.
  Produced alone;
  // The other bound: as if every run that goes on ended at the present, and all that waits was withdrawn.
  Produced alone_if_ended;
  // Whether a duration that is not known yet, or a request that may still be withdrawn, can change `alone`.
  bool is_provisional = false;

  [[nodiscard]] Utility gain() const { return got.utility - alone.utility; }  // of cooperating
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

struct CooperationWorth {
  struct Row {
    OrgId organization;
    Comparison is;
    friend bool operator==(const Row&, const Row&) = default;
  };
  struct Coalition {
    std::vector<OrgId> members;  // ascending
    Comparison is;
    friend bool operator==(const Coalition&, const Coalition&) = default;
  };

  Instant begin;  // of the period
  Instant end;    // the instant that is asked about, or the period's end
  // Rows of organizations that have offered, asked or got something, ascending; guests and commons if they got
  // something.
  std::vector<Row> rows;
  // Coalitions of two organizations each, ascending; empty when there are no others.
  std::vector<Coalition> pairs;
  // The coalition of organizations that would gain most by leaving, or lose least; of equal ones the smallest, then the
  // first. guests and commons, which own nothing or run nothing, are in no such coalition. nullopt: there is only one
  // organization.
  std::optional<Coalition> leaving;
  // Whether every coalition was examined; else those of 1, 2, k-2 and k-1 of the k players.
  bool is_of_all_coalitions = true;

  // The sum of all rows: what all got, compared with what each would have got alone.
  [[nodiscard]] Comparison together() const;
};

inline Comparison CooperationWorth::together() const {
  Comparison sum;
  for (const Row& row : rows) {
    sum.got += row.is.got;
    sum.alone += row.is.alone;
    sum.alone_if_ended += row.is.alone_if_ended;
    sum.is_provisional = sum.is_provisional || row.is.is_provisional;
  }
  return sum;
}

}  // namespace shapley::accounting
