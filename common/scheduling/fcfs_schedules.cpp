#include "scheduling/fcfs_schedules.hpp"

#include <utility>

namespace shapley::scheduling {

FcfsSchedules::FcfsSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions)
    : coalitions_(std::move(coalitions)),
      slots_(coalitions_.size()),
      value_(coalitions_.size()),
      slots_of_(processors.size()) {
  for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
    for (std::size_t u = 0; u < processors.size(); ++u) {
      if ((coalitions_[slot] >> u & 1U) == 0) continue;
      slots_[slot].free += processors[u];
      slots_of_[u].push_back(static_cast<std::uint32_t>(slot));
    }
  }
}

void FcfsSchedules::release(const Job& job) {
  const std::int64_t t = job.release.value;
  run_before(t);
  queue_.push_back({Coalition{1} << job.organization, job.duration.value});
  for (const std::uint32_t slot : slots_of_[job.organization]) {
    Slot& state = slots_[slot];
    if (state.free == 0) {
      ++state.waiting;
      continue;
    }
    --state.free;
    state.cursor = queue_.size();
    value_[slot].change(t, 1);
    calendar_.add(t + job.duration.value, slot);
  }
}

void FcfsSchedules::complete(std::size_t slot, std::int64_t t) {
  Slot& state = slots_[slot];
  if (state.waiting == 0) {
    ++state.free;
    value_[slot].change(t, -1);
    return;
  }
  // The next job takes the processor over: as many run as before.
  while ((queue_[state.cursor].owner & coalitions_[slot]) == 0) ++state.cursor;
  --state.waiting;
  calendar_.add(t + queue_[state.cursor++].duration, static_cast<std::uint32_t>(slot));
}

void FcfsSchedules::run_before(std::int64_t t) {
  while (calendar_.next() < t) {
    const std::int64_t at = calendar_.next();
    calendar_.take(at, [&](std::uint32_t slot) { complete(slot, at); });
  }
}

}  // namespace shapley::scheduling
