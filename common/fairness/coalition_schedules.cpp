#include "fairness/coalition_schedules.hpp"

#include <utility>

namespace shapley::fairness {

namespace {
constexpr Coalition bit(std::size_t organization) {
  return Coalition{1} << organization;
}
}  // namespace

CoalitionSchedules::CoalitionSchedules(std::span<const std::uint32_t> processors, std::vector<Coalition> coalitions)
    : organizations_(processors.size()),
      coalitions_(std::move(coalitions)),
      slots_(coalitions_.size()),
      value_(coalitions_.size()),
      psi_(coalitions_.size() * organizations_),
      head_(coalitions_.size() * organizations_, 0),
      queue_(organizations_),
      is_touched_(coalitions_.size(), false) {
  for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
    for (std::size_t u = 0; u < organizations_; ++u) {
      if ((coalitions_[slot] & bit(u)) != 0) slots_[slot].free += static_cast<std::int32_t>(processors[u]);
    }
  }
}

void CoalitionSchedules::touch(std::size_t slot) {
  if (is_touched_[slot]) return;
  is_touched_[slot] = true;
  touched_.push_back(slot);
}

void CoalitionSchedules::release(const Job& job, const Choose& choose) {
  run_before(job.release.value, choose);
  queue_[job.organization].push_back(job.duration.value);
  for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
    if ((coalitions_[slot] & bit(job.organization)) == 0) continue;
    ++slots_[slot].waiting;
    if (slots_[slot].free > 0) touch(slot);
  }
}

void CoalitionSchedules::complete(std::int64_t t) {
  calendar_.take(t, [&](std::uint32_t slot, std::uint32_t organization) {
    value_[slot].change(t, -1);
    psi_[slot * organizations_ + organization].change(t, -1);
    ++slots_[slot].free;
    if (slots_[slot].waiting > 0) touch(slot);
  });
}

// Schedules of one instant do not see each other's decisions: a job started at t adds nothing to any psi at t.
void CoalitionSchedules::schedule_touched(std::int64_t t, const Choose& choose) {
  for (const std::size_t slot : touched_) {
    is_touched_[slot] = false;
    schedule(slot, t, choose);
  }
  touched_.clear();
}

void CoalitionSchedules::run_before(std::int64_t t, const Choose& choose) {
  if (t <= time_) return;
  // What was released at time_ is scheduled there, after the completions of that instant.
  if (calendar_.next() == time_) complete(time_);
  schedule_touched(time_, choose);
  while (calendar_.next() < t) {
    const std::int64_t at = calendar_.next();
    complete(at);
    schedule_touched(at, choose);
  }
  time_ = t;
}

Coalition CoalitionSchedules::waiting_members(std::size_t slot) const {
  Coalition waiting = 0;
  for (Coalition rest = coalitions_[slot]; rest != 0; rest &= rest - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(rest));
    if (waiting_of(slot, u) > 0) waiting |= bit(u);
  }
  return waiting;
}

void CoalitionSchedules::start(std::size_t slot, std::size_t organization, std::int64_t t) {
  const std::size_t index = slot * organizations_ + organization;
  const std::int64_t duration = queue_[organization][head_[index]++];
  calendar_.add(t + duration, static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(organization));
  value_[slot].change(t, 1);
  psi_[index].change(t, 1);
  --slots_[slot].free;
  --slots_[slot].waiting;
}

void CoalitionSchedules::schedule(std::size_t slot, std::int64_t t, const Choose& choose) {
  Slot& state = slots_[slot];
  while (state.free > 0 && state.waiting > 0) {
    const Coalition waiting = waiting_members(slot);
    const bool forced = state.free >= state.waiting || (waiting & (waiting - 1)) == 0;
    const auto u = forced ? static_cast<std::size_t>(std::countr_zero(waiting)) : choose(slot, waiting, t);
    while (state.free > 0 && waiting_of(slot, u) > 0) start(slot, u, t);
  }
}

}  // namespace shapley::fairness
