#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <tuple>

namespace shapley::hindsight {

namespace {

// When the request at `place` started, or k_never.
constexpr auto first_start = [](const auto& schedule, std::uint32_t place) {
  const auto part = std::lower_bound(schedule.parts.begin(), schedule.parts.end(), place,
                                     [](const Part& of, std::uint32_t at) { return of.place < at; });
  return part == schedule.parts.end() || part->place != place ? k_never : part->start;
};

}  // namespace

template <typename Integer>
VirtualSchedules<Integer>::VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions)
    : schedules_(coalitions.size()), from_(coalitions.size()) {
  const Coalition grand = game::grand_coalition(organizations);
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    schedules_[slot].members = coalitions[slot] & grand;
    schedules_[slot].last_delayed = time_;
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::change_capacity(std::size_t organization, std::int64_t at, std::int64_t by) {
  const Coalition owner = Coalition{1} << organization;
  const auto later = [](std::int64_t t, const CapacityChange& change) { return t < change.at; };
  const bool late = at < time_;
  if (late) flush();
  const auto position = std::upper_bound(changes_.begin(), changes_.end(), at, later);
  const auto index = static_cast<std::size_t>(position - changes_.begin());
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & owner) == 0) {
      if (schedule.changes > index) ++schedule.changes;
      continue;
    }
    if (late) rewind(schedule, at);
    schedule.changes = std::min(schedule.changes, index);  // what lies between concerns other organizations
  }
  changes_.insert(position, {at, by, owner});
  touched_ |= owner;
  if (!late) return;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & owner) != 0) run(schedule, at, time_);
  }
}

template <typename Integer>
Request VirtualSchedules<Integer>::add(std::size_t organization, std::int64_t release, std::int64_t amount,
                                       Order order) {
  Known request;
  request.release = release;
  request.amount = amount;
  request.order = order;
  request.owner = Coalition{1} << organization;
  const bool late = release < time_;
  if (late) {
    flush();
    for (OneSchedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) rewind(schedule, release);
    }
  }
  const std::uint32_t place = queue_.insert(request);
  if (place + 1 != queue_.size()) make_room(place, request.owner);
  touched_ |= request.owner;
  if (late) {
    for (OneSchedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) run(schedule, release, time_);
    }
  }
  return queue_[place].name;
}

// Every request from `place` on moved one further. None of them has started where `owner` is a member.
template <typename Integer>
void VirtualSchedules<Integer>::make_room(std::uint32_t place, Coalition owner) {
  for (OneSchedule& schedule : schedules_) {
    for (auto part = schedule.parts.rbegin(); part != schedule.parts.rend() && part->place >= place; ++part)
      ++part->place;
    if ((schedule.members & owner) != 0) {
      schedule.head = std::min(schedule.head, place);
    } else if (schedule.head >= place) {
      ++schedule.head;
    }
  }
}

template <typename Integer>
Request VirtualSchedules<Integer>::split(Request pending, std::int64_t amount, Order order) {
  const std::uint32_t place = queue_.place_of(pending);
  queue_.move_withdrawn_before(place, order);
  if (queue_[place].amount == amount) {
    queue_[place].order = order;
    return pending;
  }
  Known first = queue_[place];
  first.amount = amount;
  first.order = order;
  queue_[place].amount -= amount;
  queue_.insert_at(place, first);
  for (OneSchedule& schedule : schedules_) {
    for (auto part = schedule.parts.rbegin(); part != schedule.parts.rend() && part->place >= place; ++part)
      ++part->place;
    if ((schedule.members & first.owner) != 0) {
      give_to_first(schedule, place, amount);
    } else if (schedule.head >= place) {
      ++schedule.head;
    }
  }
  return queue_[place].name;
}

// The first `amount` of what the request behind `place` has started belongs to the one there.
template <typename Integer>
void VirtualSchedules<Integer>::give_to_first(OneSchedule& schedule, std::uint32_t place, std::int64_t amount) {
  if (schedule.head > place) {
    ++schedule.head;
  } else if (schedule.head == place && schedule.begun >= amount) {
    ++schedule.head;
    schedule.begun -= amount;
  }
  auto part = first_part(schedule, place + 1);
  for (; part != schedule.parts.end() && part->place == place + 1 && amount > 0; ++part) {
    part->place = place;
    if (part->amount > amount) {
      Part rest = *part;
      rest.place = place + 1;
      rest.amount -= amount;
      part->amount = amount;
      schedule.parts.insert(part + 1, rest);
      return;
    }
    amount -= part->amount;
  }
}

// Started entirely, a request that is greater has its last part made again: what is new would have started there or
// later. One that is less, the first part that is too much.
template <typename Integer>
void VirtualSchedules<Integer>::amend(Request pending, std::int64_t amount) {
  const std::int64_t before = queue_[queue_.place_of(pending)].amount;
  if (amount == before) return;
  const auto from_when = [&](OneSchedule& schedule, std::uint32_t place) {
    auto part = first_part(schedule, place);
    std::int64_t begun = 0;
    std::int64_t last = k_never;
    for (; part != schedule.parts.end() && part->place == place; ++part) {
      begun += part->amount;
      last = part->start;
      if (begun > amount) return last;
    }
    return amount > before && begun == before ? last : k_never;
  };
  restate(pending, from_when, [amount](Known& known) { known.amount = amount; });
}

template <typename Integer>
void VirtualSchedules<Integer>::started(Request request, std::int64_t at) {
  queue_[queue_.place_of(request)].really_began = at;
}

template <typename Integer>
void VirtualSchedules<Integer>::ended(Request request, std::int64_t duration) {
  Known& known = queue_[queue_.place_of(request)];
  if (known.duration == duration) return;
  if (known.duration != k_unknown) return change_end(request, duration);
  known.duration = duration;
  // No schedule has begun it before its release; the one that does will know when it ends.
  if (known.release >= time_) return;
  learned_.push_back(request);
  touched_ |= known.owner;
}

template <typename Integer>
void VirtualSchedules<Integer>::retract_end(Request request) {
  change_end(request, k_unknown);
}

// Its parts end after `duration`, not after the one that was known: the schedules are made again from the earlier of
// the two ends on.
template <typename Integer>
void VirtualSchedules<Integer>::change_end(Request request, std::int64_t duration) {
  flush();
  Known& known = queue_[queue_.place_of(request)];
  const std::uint32_t place = queue_.place_of(request);
  const std::int64_t before = known.duration;
  if (duration == before) return;
  const std::int64_t sooner = duration == k_unknown ? before : std::min(before, duration);
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    OneSchedule& schedule = schedules_[slot];
    from_[slot] = (schedule.members & known.owner) == 0 ? k_never : first_start(schedule, place);
    if (from_[slot] == k_never) continue;
    from_[slot] = std::min(from_[slot] + sooner, time_);
    rewind(schedule, from_[slot]);
    std::vector<End>& coming = schedule.coming;
    for (auto part = first_part(schedule, place); part != schedule.parts.end() && part->place == place; ++part) {
      const auto end = std::find(coming.begin(), coming.end(), End{part->start + before, part->start, part->amount});
      if (duration == k_unknown) {
        coming.erase(end);
      } else {
        end->at = part->start + duration;
      }
    }
    EndsToCome::make(coming);
  }
  known.duration = duration;
  touched_ |= known.owner;
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    if (from_[slot] != k_never) run(schedules_[slot], from_[slot], time_);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::withdraw(Request request) {
  restate(request, first_start, [](Known& known) { known.amount = 0; });
}

// Every schedule is made again from when it depends on what is corrected, or k_never if it does not.
template <typename Integer>
template <typename FromWhen, typename Correct>
void VirtualSchedules<Integer>::restate(Request request, FromWhen&& from_when, Correct&& correct) {
  flush();
  const std::uint32_t place = queue_.place_of(request);
  const Coalition owner = queue_[place].owner;
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    OneSchedule& schedule = schedules_[slot];
    from_[slot] = (schedule.members & owner) == 0 ? k_never : from_when(schedule, place);
    if (from_[slot] != k_never) rewind(schedule, from_[slot]);
  }
  correct(queue_[place]);
  touched_ |= owner;
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    if (from_[slot] != k_never) run(schedules_[slot], from_[slot], time_);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::advance(std::int64_t t) {
  certain_.clear();
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    OneSchedule& schedule = schedules_[slot];
    if (slot + 1 < schedules_.size()) EndsToCome::fetch(schedules_[slot + 1].coming);
    if ((schedule.members & touched_) == 0 && schedule.next >= t) {
      note_marks(schedule, t);
      continue;
    }
    const std::int64_t from = std::min(learn(schedule), time_);
    if (from < time_) rewind(schedule, from);
    run(schedule, from, t);
    if (schedule.parts.size() + schedule.past.size() <= schedule.full) continue;
    if (certain_.empty()) note_certain();
    forget(schedule);
  }
  time_ = t;
  learned_.clear();
  touched_ = 0;
  if (queue_.size() > queue_full_) drop_requests();
}

template <typename Integer>
auto VirtualSchedules<Integer>::first_part(OneSchedule& schedule, std::uint32_t place) ->
    typename std::vector<Part>::iterator {
  return std::lower_bound(schedule.parts.begin(), schedule.parts.end(), place,
                          [](const Part& part, std::uint32_t at) { return part.place < at; });
}

// Notes the ends that became known; returns from when on what was made may be wrong, or k_never.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::learn(OneSchedule& schedule) {
  const auto later = [](std::int64_t at, const End& other) { return at < other.at; };
  std::int64_t wrong = k_never;
  for (const Request request : learned_) {
    const std::uint32_t place = queue_.place_of(request);
    const Known& known = queue_[place];
    if ((known.owner & schedule.members) == 0 || place > schedule.head) continue;
    for (auto part = first_part(schedule, place); part != schedule.parts.end() && part->place == place; ++part) {
      const End end{part->start + known.duration, part->start, part->amount};
      if (end.at >= time_) {
        EndsToCome::push(schedule.coming, end);
        continue;
      }
      schedule.past.insert(std::upper_bound(schedule.past.begin(), schedule.past.end(), end.at, later), end);
      schedule.free += end.amount;
      schedule.value.change(end.at, -end.amount);
      for (std::size_t mark = schedule.marked.size(); mark-- > 0 && marks_[mark] > end.at;)
        schedule.marked[mark].change(end.at, -end.amount);
      wrong = std::min(wrong, first_wait(schedule, end.at));
    }
  }
  return wrong;
}

// The first instant from `from` on at which a request that was made waits, or k_never.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::first_wait(const OneSchedule& schedule, std::int64_t from) const {
  if (schedule.last_delayed > from) {
    const auto later = [](std::int64_t at, const Part& part) { return at < part.start; };
    for (auto part = std::upper_bound(schedule.parts.begin(), schedule.parts.end(), from, later);
         part != schedule.parts.end(); ++part) {
      const std::int64_t release = queue_[part->place].release;
      if (part->start > release) return std::max(from, release);
    }
  }
  if (schedule.head == queue_.size()) return k_never;
  const Known& head = queue_[schedule.head];
  return (head.owner & schedule.members) != 0 && head.release < time_ ? std::max(from, head.release) : k_never;
}

// Takes back everything from `to` on.
template <typename Integer>
void VirtualSchedules<Integer>::rewind(OneSchedule& schedule, std::int64_t to) {
  std::vector<End>& past = schedule.past;
  std::vector<End>& coming = schedule.coming;
  for (; !past.empty() && past.back().at >= to; past.pop_back()) {
    const End& end = past.back();
    schedule.value.change(end.at, end.amount);
    schedule.free -= end.amount;
    if (end.start < to) EndsToCome::push(coming, end);
  }
  bool end_comes = false;  // of a part that is taken back
  std::vector<Part>& parts = schedule.parts;
  for (; !parts.empty() && parts.back().start >= to; parts.pop_back()) {
    const Part& part = parts.back();
    schedule.value.change(part.start, -part.amount);
    schedule.free += part.amount;
    if (part.place != schedule.head) {
      schedule.head = part.place;
      schedule.begun = queue_[part.place].amount;
    }
    schedule.begun -= part.amount;
    end_comes = end_comes || queue_[part.place].duration != k_unknown;
    ++effort_.undone;
  }
  if (end_comes) {
    std::erase_if(coming, [to](const End& end) { return end.start >= to; });
    EndsToCome::make(coming);
  }
  for (; schedule.changes > 0 && changes_[schedule.changes - 1].at >= to; --schedule.changes) {
    const CapacityChange& change = changes_[schedule.changes - 1];
    if ((change.owner & schedule.members) != 0) schedule.free -= change.by;
  }
  schedule.last_delayed = std::min(schedule.last_delayed, to);
  while (!schedule.marked.empty() && marks_[schedule.marked.size() - 1] > to) schedule.marked.pop_back();
}

template <typename Integer>
void VirtualSchedules<Integer>::note_marks(OneSchedule& schedule, std::int64_t until) const {
  while (lacks_mark(schedule, until)) schedule.marked.push_back(schedule.value);
}

template <typename Integer>
void VirtualSchedules<Integer>::seek_head(OneSchedule& schedule) const {
  while (schedule.head < queue_.size() &&
         ((queue_[schedule.head].owner & schedule.members) == 0 || queue_[schedule.head].amount == schedule.begun)) {
    ++schedule.head;
    schedule.begun = 0;
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::pass_changes_of_others(OneSchedule& schedule) const {
  while (schedule.changes < changes_.size() && (changes_[schedule.changes].owner & schedule.members) == 0)
    ++schedule.changes;
}

// Makes what happens in [from, until); everything before is made, nothing later.
template <typename Integer>
void VirtualSchedules<Integer>::run(OneSchedule& schedule, std::int64_t from, std::int64_t until) {
  std::vector<End>& coming = schedule.coming;
  for (std::int64_t now = from;;) {
    seek_head(schedule);
    pass_changes_of_others(schedule);
    std::int64_t next = coming.empty() ? k_never : EndsToCome::earliest(coming).at;
    if (schedule.changes < changes_.size()) next = std::min(next, changes_[schedule.changes].at);
    if (schedule.free > 0 && schedule.head < queue_.size())
      next = std::min(next, std::max(queue_[schedule.head].release, now));
    schedule.next = next;
    note_marks(schedule, std::min(next, until));
    if (next >= until) return;
    now = next;
    std::int64_t more = 0;  // runs from now on than before
    while (!coming.empty() && EndsToCome::earliest(coming).at == now) {
      more -= EndsToCome::earliest(coming).amount;
      schedule.past.push_back(EndsToCome::earliest(coming));
      EndsToCome::pop(coming);
    }
    schedule.free -= more;
    for (; schedule.changes < changes_.size() && changes_[schedule.changes].at == now; ++schedule.changes) {
      const CapacityChange& change = changes_[schedule.changes];
      if ((change.owner & schedule.members) != 0) schedule.free += change.by;
    }
    more += start_waiting(schedule, now);
    if (more != 0) schedule.value.change(now, more);
  }
}

// Starts what can start; returns how much that is.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::start_waiting(OneSchedule& schedule, std::int64_t at) {
  const std::int64_t free = schedule.free;
  for (seek_head(schedule); schedule.free > 0 && schedule.head < queue_.size(); seek_head(schedule)) {
    const Known& head = queue_[schedule.head];
    if (head.release > at) break;
    if (head.release < at) schedule.last_delayed = at;
    const std::int64_t amount = std::min(schedule.free, head.amount - schedule.begun);
    schedule.parts.push_back({schedule.head, at, amount});
    if (head.duration != k_unknown) EndsToCome::push(schedule.coming, {at + head.duration, at, amount});
    schedule.begun += amount;
    schedule.free -= amount;
    ++effort_.parts;
  }
  return free - schedule.free;
}

template <typename Integer>
void VirtualSchedules<Integer>::settle(std::int64_t until) {
  settled_ = std::max(settled_, until);
}

}  // namespace shapley::hindsight

#include "hindsight/virtual_schedules_memory.hpp"

namespace shapley::hindsight {

template class VirtualSchedules<std::int64_t>;
template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
