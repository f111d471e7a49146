// The schedules that subcoalitions would have had, each by itself, all advanced together in time.
//
// What REF, RAND and the coalition policies need [SR13 Sec. 5.1]: coalition C has the processors and the jobs of its
// members and a greedy schedule of its own. The rule that picks an organization inside a coalition is the caller's.
// Order at an instant: completions, releases, scheduling. Single-threaded; the caller owns it.
//
// Memory: per coalition and organization one Accrual (32 bytes) and a queue position; 2^16 coalitions of 16
// organizations take 40 MiB and one node of 12 bytes per running job. k_max_lattice_organizations is the bound.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fairness/accrual.hpp"
#include "fairness/completion_calendar.hpp"
#include "fairness/instance.hpp"
#include "fairness/potential.hpp"

namespace shapley::fairness {

class CoalitionSchedules {
 public:
  // Called where a coalition has a real choice: fewer free processors than waiting jobs, and two organizations wait.
  // Returns the organization of the coalition's `waiting` set that is served until its queue is empty or no processor
  // is free.
  using Choose = std::function<std::size_t(std::size_t slot, Coalition waiting, std::int64_t t)>;

  // Simulates `coalitions` (distinct, not empty) over the organizations' processors.
  CoalitionSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions);

  // A job becomes known at its release; everything before that instant is run first. Releases come with time in order.
  void release(const Job& job, const Choose& choose);

  // Runs every schedule up to, and without, the instant t. What happens at t changes no psi at t.
  void run_before(std::int64_t t, const Choose& choose);

  [[nodiscard]] std::size_t size() const { return coalitions_.size(); }
  [[nodiscard]] Coalition coalition(std::size_t slot) const { return coalitions_[slot]; }
  // v(C) and psi of a member at t >= the time reached, provided no event lies between.
  [[nodiscard]] std::int64_t value_at(std::size_t slot, std::int64_t t) const { return value_[slot].psi_at(t); }
  [[nodiscard]] std::int64_t psi_at(std::size_t slot, std::size_t organization, std::int64_t t) const {
    return psi_[slot * organizations_ + organization].psi_at(t);
  }

  // Jobs of the organization that the coalition has started so far.
  [[nodiscard]] std::uint32_t started(std::size_t slot, std::size_t organization) const {
    return head_[slot * organizations_ + organization];
  }

 private:
  struct Slot {
    std::int32_t free = 0;
    std::int32_t waiting = 0;
  };

  void complete(std::int64_t t);
  void schedule_touched(std::int64_t t, const Choose& choose);
  void schedule(std::size_t slot, std::int64_t t, const Choose& choose);
  void start(std::size_t slot, std::size_t organization, std::int64_t t);
  [[nodiscard]] Coalition waiting_members(std::size_t slot) const;
  [[nodiscard]] std::size_t waiting_of(std::size_t slot, std::size_t organization) const {
    return queue_[organization].size() - head_[slot * organizations_ + organization];
  }
  void touch(std::size_t slot);

  std::size_t organizations_;
  std::vector<Coalition> coalitions_;
  std::vector<Slot> slots_;
  std::vector<Accrual> value_;                    // by slot
  std::vector<Accrual> psi_;                      // by slot, organization
  std::vector<std::uint32_t> head_;               // by slot, organization: jobs started
  std::vector<std::vector<std::int64_t>> queue_;  // by organization: durations in FIFO order
  CompletionCalendar calendar_;
  std::vector<std::size_t> touched_;  // slots to schedule at this instant
  std::vector<bool> is_touched_;
  std::int64_t time_ = 0;  // releases up to here are known
};

}  // namespace shapley::fairness
