#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace shapley::hindsight {

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
  const auto later = [](std::int64_t t, const Change& change) { return t < change.at; };
  const bool late = at < time_;
  if (late) flush();
  const auto position = std::upper_bound(changes_.begin(), changes_.end(), at, later);
  const auto index = static_cast<std::size_t>(position - changes_.begin());
  for (Schedule& schedule : schedules_) {
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
  for (Schedule& schedule : schedules_) {
    if ((schedule.members & owner) != 0) run(schedule, at, time_);
  }
}

template <typename Integer>
Request VirtualSchedules<Integer>::add(std::size_t organization, std::int64_t release, std::int64_t amount,
                                       std::uint64_t order) {
  const auto name = static_cast<Request>(first_name_ + place_.size());
  const Known request{
      .release = release, .amount = amount, .order = order, .owner = Coalition{1} << organization, .name = name};
  const bool late = release < time_;
  if (late) {
    flush();
    for (Schedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) rewind(schedule, release);
    }
  }
  const auto later = [](const Known& a, const Known& b) {
    return std::tie(a.release, a.order) < std::tie(b.release, b.order);
  };
  const auto position = std::upper_bound(queue_.begin(), queue_.end(), request, later);
  const auto place = static_cast<std::uint32_t>(position - queue_.begin());
  place_.push_back(place);
  if (position != queue_.end()) make_room(place, request.owner);
  queue_.insert(position, request);
  touched_ |= request.owner;
  if (late) {
    for (Schedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) run(schedule, release, time_);
    }
  }
  return name;
}

// Every request from `place` on moves one further. None of them has started where `owner` is a member.
template <typename Integer>
void VirtualSchedules<Integer>::make_room(std::uint32_t place, Coalition owner) {
  for (std::size_t i = place; i < queue_.size(); ++i) ++place_[queue_[i].name - first_name_];
  for (Schedule& schedule : schedules_) {
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
void VirtualSchedules<Integer>::started(Request request, std::int64_t at) {
  queue_[place_of(request)].really_began = at;
}

template <typename Integer>
void VirtualSchedules<Integer>::ended(Request request, std::int64_t duration) {
  Known& known = queue_[place_of(request)];
  if (known.duration == duration) return;
  if (known.duration != k_unknown) {
    restate(request, [duration](Known& corrected) { corrected.duration = duration; });
    return;
  }
  known.duration = duration;
  learned_.push_back(request);
  touched_ |= known.owner;
}

template <typename Integer>
void VirtualSchedules<Integer>::retract_end(Request request) {
  restate(request, [](Known& known) { known.duration = k_unknown; });
}

template <typename Integer>
void VirtualSchedules<Integer>::withdraw(Request request) {
  restate(request, [](Known& known) { known.amount = 0; });
}

// Every schedule that has started the request is made again from there.
template <typename Integer>
template <typename Correct>
void VirtualSchedules<Integer>::restate(Request request, Correct&& correct) {
  flush();
  const std::uint32_t place = place_of(request);
  const Coalition owner = queue_[place].owner;
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    Schedule& schedule = schedules_[slot];
    from_[slot] = k_never;
    if ((schedule.members & owner) == 0) continue;
    const auto part = first_part(schedule, place);
    if (part == schedule.parts.end() || part->place != place) continue;
    from_[slot] = part->start;
    rewind(schedule, from_[slot]);
  }
  correct(queue_[place]);
  touched_ |= owner;
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    if (from_[slot] != k_never) run(schedules_[slot], from_[slot], time_);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::advance(std::int64_t t) {
  for (Schedule& schedule : schedules_) {
    if ((schedule.members & touched_) == 0 && schedule.next >= t) continue;
    const std::int64_t from = std::min(learn(schedule), time_);
    if (from < time_) rewind(schedule, from);
    run(schedule, from, t);
    if (schedule.parts.size() + schedule.past.size() > schedule.full) forget(schedule);
  }
  time_ = t;
  learned_.clear();
  touched_ = 0;
  if (queue_.size() > queue_full_) drop_requests();
}

template <typename Integer>
auto VirtualSchedules<Integer>::first_part(Schedule& schedule, std::uint32_t place) ->
    typename std::vector<Part>::iterator {
  return std::lower_bound(schedule.parts.begin(), schedule.parts.end(), place,
                          [](const Part& part, std::uint32_t at) { return part.place < at; });
}

// Notes the ends that became known; returns from when on what was made may be wrong, or k_never.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::learn(Schedule& schedule) {
  const auto later = [](std::int64_t at, const End& other) { return at < other.at; };
  std::int64_t wrong = k_never;
  for (const Request request : learned_) {
    const std::uint32_t place = place_of(request);
    const Known& known = queue_[place];
    if ((known.owner & schedule.members) == 0) continue;
    for (auto part = first_part(schedule, place); part != schedule.parts.end() && part->place == place; ++part) {
      const End end{part->start + known.duration, part->start, part->amount};
      if (end.at >= time_) {
        insert_coming(schedule, end);
        continue;
      }
      schedule.past.insert(std::upper_bound(schedule.past.begin(), schedule.past.end(), end.at, later), end);
      schedule.free += end.amount;
      schedule.value.change(end.at, -end.amount);
      wrong = std::min(wrong, first_wait(schedule, end.at));
    }
  }
  return wrong;
}

template <typename Integer>
void VirtualSchedules<Integer>::insert_coming(Schedule& schedule, const End& end) {
  schedule.coming.push_back(end);
  std::push_heap(schedule.coming.begin(), schedule.coming.end(), std::greater<>());
}

// The first instant from `from` on at which a request that was made waits, or k_never.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::first_wait(const Schedule& schedule, std::int64_t from) const {
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
void VirtualSchedules<Integer>::rewind(Schedule& schedule, std::int64_t to) {
  std::vector<End>& past = schedule.past;
  std::vector<End>& coming = schedule.coming;
  for (; !past.empty() && past.back().at >= to; past.pop_back()) {
    const End& end = past.back();
    schedule.value.change(end.at, end.amount);
    schedule.free -= end.amount;
    if (end.start < to) coming.push_back(end);
  }
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
    ++effort_.undone;
  }
  std::erase_if(coming, [to](const End& end) { return end.start >= to; });
  std::make_heap(coming.begin(), coming.end(), std::greater<>());
  for (; schedule.changes > 0 && changes_[schedule.changes - 1].at >= to; --schedule.changes) {
    const Change& change = changes_[schedule.changes - 1];
    if ((change.owner & schedule.members) != 0) schedule.free -= change.by;
  }
  schedule.last_delayed = std::min(schedule.last_delayed, to);
}

template <typename Integer>
void VirtualSchedules<Integer>::seek_head(Schedule& schedule) const {
  while (schedule.head < queue_.size() &&
         ((queue_[schedule.head].owner & schedule.members) == 0 || queue_[schedule.head].amount == schedule.begun)) {
    ++schedule.head;
    schedule.begun = 0;
  }
}

// Makes what happens in [from, until); everything before is made, nothing later.
template <typename Integer>
void VirtualSchedules<Integer>::run(Schedule& schedule, std::int64_t from, std::int64_t until) {
  std::vector<End>& coming = schedule.coming;
  for (std::int64_t now = from;;) {
    seek_head(schedule);
    while (schedule.changes < changes_.size() && (changes_[schedule.changes].owner & schedule.members) == 0)
      ++schedule.changes;
    std::int64_t next = coming.empty() ? k_never : coming.front().at;
    if (schedule.changes < changes_.size()) next = std::min(next, changes_[schedule.changes].at);
    if (schedule.free > 0 && schedule.head < queue_.size())
      next = std::min(next, std::max(queue_[schedule.head].release, now));
    schedule.next = next;
    if (next >= until) return;
    now = next;
    std::int64_t more = 0;  // runs from now on than before
    while (!coming.empty() && coming.front().at == now) {
      std::pop_heap(coming.begin(), coming.end(), std::greater<>());
      more -= coming.back().amount;
      schedule.past.push_back(coming.back());
      coming.pop_back();
    }
    schedule.free -= more;
    for (; schedule.changes < changes_.size() && changes_[schedule.changes].at == now; ++schedule.changes) {
      const Change& change = changes_[schedule.changes];
      if ((change.owner & schedule.members) != 0) schedule.free += change.by;
    }
    more += start_waiting(schedule, now);
    if (more != 0) schedule.value.change(now, more);
  }
}

// Starts what can start; returns how much that is.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::start_waiting(Schedule& schedule, std::int64_t at) {
  const std::int64_t free = schedule.free;
  for (seek_head(schedule); schedule.free > 0 && schedule.head < queue_.size(); seek_head(schedule)) {
    const Known& head = queue_[schedule.head];
    if (head.release > at) break;
    if (head.release < at) schedule.last_delayed = at;
    const std::int64_t amount = std::min(schedule.free, head.amount - schedule.begun);
    schedule.parts.push_back({schedule.head, at, amount});
    if (head.duration != k_unknown) insert_coming(schedule, {at + head.duration, at, amount});
    schedule.begun += amount;
    schedule.free -= amount;
    ++effort_.parts;
  }
  return free - schedule.free;
}

template <typename Integer>
bool VirtualSchedules<Integer>::is_final(const Known& known) const {
  return known.duration != k_unknown && known.really_began < settled_ && known.really_began + known.duration < settled_;
}

// What can still be told concerns the instant settled_ or later. It changes a part that has started, and what follows,
// from when on? A request whose run has not begun may be withdrawn: from the part's start. One that runs has a duration
// of what it has run for at least. One whose run ended before settled_ is final.
template <typename Integer>
void VirtualSchedules<Integer>::forget(Schedule& schedule) {
  std::int64_t reached = settled_;
  for (const Part& part : schedule.parts) {
    const Known& known = queue_[part.place];
    if (is_final(known)) continue;
    const bool runs = known.duration == k_unknown && known.really_began < settled_;
    reached = std::min(reached, part.start + (runs ? settled_ - known.really_began : 0));
  }
  std::erase_if(schedule.parts, [&](const Part& part) { return part.start < reached && is_final(queue_[part.place]); });
  const auto earlier = [](const End& end, std::int64_t at) { return end.at < at; };
  schedule.past.erase(schedule.past.begin(),
                      std::lower_bound(schedule.past.begin(), schedule.past.end(), reached, earlier));
  schedule.full = 2 * (schedule.parts.size() + schedule.past.size()) + 64;
}

// The first requests of the queue, if they are final and every schedule is past them and has forgotten their parts.
template <typename Integer>
void VirtualSchedules<Integer>::drop_requests() {
  std::uint32_t gone = 0;
  while (gone < queue_.size() && (queue_[gone].amount == 0 || is_final(queue_[gone]))) ++gone;
  for (Schedule& schedule : schedules_) {
    seek_head(schedule);
    forget(schedule);
    gone = std::min(gone, schedule.parts.empty() ? schedule.head : schedule.parts.front().place);
    gone = std::min(gone, schedule.head);
  }
  for (Schedule& schedule : schedules_) {
    schedule.head -= gone;
    for (Part& part : schedule.parts) part.place -= gone;
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(gone));
  for (std::uint32_t& place : place_) place = place == k_dropped || place < gone ? k_dropped : place - gone;
  const auto known = std::find_if(place_.begin(), place_.end(), [](std::uint32_t place) { return place != k_dropped; });
  first_name_ += static_cast<Request>(known - place_.begin());
  place_.erase(place_.begin(), known);
  queue_full_ = 2 * queue_.size() + 16;
}

template <typename Integer>
void VirtualSchedules<Integer>::settle(std::int64_t until) {
  settled_ = std::max(settled_, until);
}

template class VirtualSchedules<std::int64_t>;
template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
