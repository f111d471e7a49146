// Which organizations were present, from when to when, and what really ran meanwhile.
//
// An organization is present while it offers a processor or has an open request: one that was released and has not
// ended. A stretch is a time in which the same organizations were present, within one period. What really ran in it is
// shared out among them (hindsight/gap_shares.hpp); while none is present, among all that had been present before.
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
  // A change of an organization's figures from an instant on; the members are differences.
  struct Change {
    Instant at;
    OrgId organization;
    std::int32_t requests = 0;  // open requests
    std::int64_t owned = 0;     // processors that it offers
    std::int64_t running = 0;   // processors that its jobs hold
  };
  // The sums of all changes before an instant.
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
    hindsight::Coalition ever_ = 0;  // organizations that were present at some time
  };

  // REQUIRES: organization < 32. A change before the horizon counts as if it were at the horizon.
  void change(const Change& change);
  // Replaces the boundaries. REQUIRES: those before the horizon stay as they were.
  void set_boundaries(const std::vector<Instant>& boundaries);

  // The sums before t, or before the horizon if that is later. `firm`: facts before it are not likely to come.
  [[nodiscard]] Span until(Instant t, Instant firm);
  [[nodiscard]] const GapOfPeriods& ran_before_horizon() const { return base_.ran; }

  // Memory in bytes, approximately.
  [[nodiscard]] std::size_t bytes() const { return (changes_.size() + fresh_.capacity()) * sizeof(Change); }
  // Forgets what happened before `horizon`: no later fact will change it.
  void forget_before(Instant horizon);
  // Forgets what ran in the first `count` periods: it will not be asked for again.
  void forget_periods(std::size_t count);
  // From a checkpoint: what ran until the horizon, and who had been present, replace what the changes sum to.
  void restore(GapOfPeriods ran, hindsight::Coalition ever);

 private:
  void tidy();
  void go_on(Span& span, Instant until) const;

  std::deque<Change> changes_;  // from the horizon on, ascending, one of each organization and instant
  std::vector<Change> fresh_;   // changes that are not in changes_ yet
  std::vector<Instant> boundaries_;
  Span base_;  // at the horizon
  Span firm_;  // some time after it
};

}  // namespace shapley::accounting
