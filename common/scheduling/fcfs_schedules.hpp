// The schedules that coalitions would have had, each by itself, under FCFS: what RAND and the coalition policies value
// coalitions by.
//
// Coalition C has the processors and the jobs of its members and starts jobs in the order of (release, position in the
// input). That order makes one cursor into the common queue enough for a whole schedule, so that a start costs a few
// nanoseconds. Order at an instant: completions, releases, scheduling; what starts at t adds nothing to v(C) at t.
// Single-threaded; the caller owns it.
//
// Memory: 56 bytes per coalition, 16 per released job, up to 32 per running job and coalition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "game/accrual.hpp"
#include "game/potential.hpp"
#include "game/serving_order.hpp"
#include "scheduling/completion_calendar.hpp"
#include "scheduling/instance.hpp"

namespace shapley::scheduling {

using game::Coalition;

class FcfsSchedules {
 public:
  // Simulates `coalitions` (distinct, not empty) over the organizations' processors.
  FcfsSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions);

  // A job becomes known at its release; everything before that instant is run first. Releases come with time in order.
  void release(const Job& job);
  // Runs every schedule up to, and without, the instant t.
  void run_before(std::int64_t t);

  [[nodiscard]] std::size_t size() const { return coalitions_.size(); }
  [[nodiscard]] Coalition coalition(std::size_t slot) const { return coalitions_[slot]; }
  // v(C) at t, looked at ahead; t >= the time reached, provided no event lies between, or the last instant that was
  // run. What runs: of the time reached.
  [[nodiscard]] std::int64_t value_at(std::size_t slot, std::int64_t t, const game::KeyTerms& terms) const {
    return game::looked_ahead(value_[slot].psi_at(t), value_[slot].done_at(t), value_[slot].running, terms);
  }

 private:
  // waiting > 0 only while free == 0: a job that finds a free processor starts at once.
  struct Slot {
    std::int64_t free = 0;
    std::int64_t waiting = 0;
    std::size_t cursor = 0;  // every member's job before it in queue_ has started
  };
  struct Queued {
    Coalition owner;  // one bit
    std::int64_t duration;
  };

  void complete(std::size_t slot, std::int64_t t);

  std::vector<Coalition> coalitions_;
  std::vector<Slot> slots_;
  std::vector<game::Accrual> value_;
  std::vector<std::vector<std::uint32_t>> slots_of_;  // by organization: coalitions that it is in
  std::vector<Queued> queue_;                         // every released job, in order
  CompletionCalendar calendar_;
};

}  // namespace shapley::scheduling
