// Who was there, from when to when, and what really ran meanwhile.
//
// An organization is there while it offers a processor or has an open request: one that was released and has not ended.
// A stretch is a time in which the same organizations were there, within one period. What really ran in it is shared
// out among them (hindsight/gap_shares.hpp); while none is there, among all
// that had been there before.
//
// Facts come in any order, with a sign. What lies before the horizon is summed up and forgotten. Memory: 32 bytes for
// each instant of an organization's facts since the horizon. Single-threaded; the estimator owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/types.hpp"
#include "hindsight/gap_shares.hpp"

namespace shapley::accounting {

struct Stretch {
  Instant begin;
  hindsight::Coalition present = 0;  // bits: OrgId; while none is there, those that had been there before
  std::size_t period = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

using GapOfPeriods = std::map<std::size_t, hindsight::GapShares>;

class Attendance {
 public:
  // How what an organization has changes at an instant, and from there on.
  struct Change {
    Instant at;
    OrgId organization;
    std::int32_t requests = 0;  // that are open
    std::int64_t owned = 0;     // processors that it offers
    std::int64_t running = 0;   // that its jobs hold
  };
  // What they come to before an instant.
  struct Span {
    std::vector<Stretch> stretches;    // that begin at the horizon or later
    GapOfPeriods ran;                  // since the beginning
    hindsight::Coalition present = 0;  // at the instant
    std::int64_t running = 0;

   private:
    friend class Attendance;
    struct Has {
      std::int64_t requests = 0;
      std::int64_t owned = 0;
    };
    std::vector<Has> has_;  // by OrgId
    [[nodiscard]] hindsight::Coalition sharing() const { return present != 0 ? present : ever_; }
    Instant at_ = k_beginning_of_time;
    std::size_t period_ = 0;
    hindsight::Coalition ever_ = 0;  // who was there at some time
  };

  // REQUIRES: organization < 32. What lies before the horizon counts as if it were at it.
  void change(const Change& change);
  // Those before the horizon are as they were.
  void set_boundaries(const std::vector<Instant>& boundaries);

  // Before t, or the horizon if that is later. Facts before `firm` are not likely to come.
  [[nodiscard]] Span until(Instant t, Instant firm);
  [[nodiscard]] const GapOfPeriods& ran_before_horizon() const { return base_.ran; }

  // What it takes in memory, about.
  [[nodiscard]] std::size_t bytes() const { return (changes_.size() + fresh_.capacity()) * sizeof(Change); }
  // No fact will change what happened before it.
  void forget_before(Instant horizon);
  // What ran in these first periods is not asked for any more.
  void forget_periods(std::size_t count);
  // What ran until the horizon, and who had been there: instead of what its changes come to.
  void restore(GapOfPeriods ran, hindsight::Coalition ever);

 private:
  void tidy();
  void go_on(Span& span, Instant until) const;

  std::deque<Change> changes_;  // from the horizon on, ascending, one of each organization and instant
  std::vector<Change> fresh_;   // that are not among them yet
  std::vector<Instant> boundaries_;
  Span base_;  // at the horizon
  Span firm_;  // some time after it
};

}  // namespace shapley::accounting
