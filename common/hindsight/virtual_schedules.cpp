#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

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
VirtualSchedules<Integer>::VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions,
                                            std::int64_t logged_parts)
    : schedules_(coalitions.size()), logged_parts_(logged_parts) {
  const Coalition grand = game::grand_coalition(organizations);
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    schedules_[slot].members = coalitions[slot] & grand;
    schedules_[slot].last_delayed = time_;
  }
}

// Where a schedule is made up to, and the points that it may go back to.
constexpr auto for_each_position = [](auto& schedule, auto&& change) {
  change(schedule);
  for (auto& point : schedule.points) change(point);
};

template <typename Integer>
void VirtualSchedules<Integer>::change_capacity(std::size_t organization, std::int64_t at, std::int64_t by) {
  const Coalition owner = Coalition{1} << organization;
  const auto later = [](std::int64_t t, const CapacityChange& change) { return t < change.at; };
  learn();
  const auto position = std::upper_bound(changes_.begin(), changes_.end(), at, later);
  const auto index = static_cast<std::size_t>(position - changes_.begin());
  for (OneSchedule& schedule : schedules_) {
    const bool is_member = (schedule.members & owner) != 0;
    if (is_member) rewind(schedule, at);
    for_each_position(schedule, [&](OnePosition& before) {
      // What lies between concerns other organizations.
      if (is_member) before.changes = std::min(before.changes, index);
      if (!is_member && before.changes > index) ++before.changes;
    });
  }
  changes_.insert(position, {at, by, owner});
  touched_ |= owner;
}

template <typename Integer>
Request VirtualSchedules<Integer>::add(std::size_t organization, std::int64_t release, std::int64_t amount,
                                       Order order) {
  Known request;
  request.release = release;
  request.amount = amount;
  request.order = order;
  request.owner = Coalition{1} << organization;
  if (release < time_) {
    learn();
    for (OneSchedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) rewind(schedule, release);
    }
  }
  const std::uint32_t place = queue_.insert(request);
  if (place + 1 != queue_.size()) make_room(place, request.owner);
  touched_ |= request.owner;
  return queue_[place].name;
}

// Every request from `place` on moved one further. None of them has started where `owner` is a member.
template <typename Integer>
void VirtualSchedules<Integer>::make_room(std::uint32_t place, Coalition owner) {
  for (OneSchedule& schedule : schedules_) {
    for (auto part = schedule.parts.rbegin(); part != schedule.parts.rend() && part->place >= place; ++part)
      ++part->place;
    for_each_position(schedule, [&](OnePosition& position) {
      if ((schedule.members & owner) != 0) {
        position.head = std::min(position.head, place);
      } else if (position.head >= place) {
        ++position.head;
      }
    });
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
    const bool is_member = (schedule.members & first.owner) != 0;
    for_each_position(schedule, [&](OnePosition& position) {
      if (position.head > place || (position.head == place && !is_member)) {
        ++position.head;
      } else if (position.head == place && position.begun >= amount) {
        ++position.head;
        position.begun -= amount;
      }
    });
    if (is_member) give_to_first(schedule, place, amount);
  }
  return queue_[place].name;
}

// The first `amount` of what the request behind `place` has started belongs to the one there.
template <typename Integer>
void VirtualSchedules<Integer>::give_to_first(OneSchedule& schedule, std::uint32_t place, std::int64_t amount) {
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
  take_back(pending, from_when).amount = amount;
}

template <typename Integer>
void VirtualSchedules<Integer>::started(Request request, std::int64_t at) {
  queue_[queue_.place_of(request)].really_began = at;
}

template <typename Integer>
void VirtualSchedules<Integer>::ended(Request request, std::int64_t duration) {
  Known& known = queue_[queue_.place_of(request)];
  if (known.duration == duration) return;
  if (known.duration != k_unknown) {
    change_end(request, duration);
    return;
  }
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

template <typename Integer>
void VirtualSchedules<Integer>::withdraw(Request request) {
  take_back(request, first_start).amount = 0;
}

// Every schedule goes back to where it depends on what is to be corrected, if it does: from_when() is k_never else.
template <typename Integer>
template <typename FromWhen>
Known& VirtualSchedules<Integer>::take_back(Request request, FromWhen&& from_when) {
  learn();
  const std::uint32_t place = queue_.place_of(request);
  const Coalition owner = queue_[place].owner;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & owner) != 0) rewind(schedule, from_when(schedule, place));
  }
  touched_ |= owner;
  return queue_[place];
}

// Its end was known, and is another one, or not known any more. What happened before either end stays.
template <typename Integer>
void VirtualSchedules<Integer>::change_end(Request request, std::int64_t duration) {
  const std::int64_t before = queue_[queue_.place_of(request)].duration;
  if (before == k_unknown) return;
  const std::int64_t least = duration == k_unknown ? before : std::min(before, duration);
  const auto first_end = [least](OneSchedule& schedule, std::uint32_t place) {
    const std::int64_t start = first_start(schedule, place);
    return start == k_never ? k_never : start + least;
  };
  Known& known = take_back(request, first_end);
  known.duration = duration;
  const std::uint32_t place = queue_.place_of(request);
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & known.owner) == 0) continue;
    for (auto part = first_part(schedule, place); part != schedule.parts.end() && part->place == place; ++part) {
      for_each_position(schedule, [&](OnePosition& position) {
        if (part->start >= position.at) return;
        drop_coming(position, {part->start + before, part->start, part->amount});
        if (duration != k_unknown) insert_coming(position, {part->start + duration, part->start, part->amount});
      });
    }
  }
}

template <typename Integer>
bool VirtualSchedules<Integer>::advance(std::int64_t t, std::uint64_t effort) {
  learn();
  const std::uint64_t most =
      effort_.parts + std::min(effort, std::numeric_limits<std::uint64_t>::max() - effort_.parts);
  const std::int64_t before = std::exchange(time_, t);
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & touched_) == 0 && schedule.at == before && schedule.next >= t) {
      note_marks(schedule, t);
      schedule.at = t;
      continue;
    }
    if (!run(schedule, t, most)) return false;
    if (schedule.parts.size() + schedule.past.size() > schedule.full) forget(schedule);
  }
  touched_ = 0;
  if (queue_.size() > queue_full_) drop_requests();
  return true;
}

template <typename Integer>
auto VirtualSchedules<Integer>::first_part(OneSchedule& schedule, std::uint32_t place) ->
    typename std::vector<Part>::iterator {
  return std::lower_bound(schedule.parts.begin(), schedule.parts.end(), place,
                          [](const Part& part, std::uint32_t at) { return part.place < at; });
}

template <typename Integer>
void VirtualSchedules<Integer>::learn() {
  if (learned_.empty()) return;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & touched_) != 0) rewind(schedule, learn(schedule));
  }
  learned_.clear();
}

// A part that it has ends.
template <typename Integer>
void VirtualSchedules<Integer>::end_in(OnePosition& position, const End& end) {
  if (end.at >= position.at) return insert_coming(position, end);
  position.free += end.amount;
  position.value.change(end.at, -end.amount);
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
      end_in(schedule, end);
      for (auto point = schedule.points.rbegin(); point != schedule.points.rend() && point->at > end.start; ++point)
        end_in(*point, end);
      if (end.at >= schedule.at) continue;
      if (end.at >= schedule.logged)
        schedule.past.insert(std::upper_bound(schedule.past.begin(), schedule.past.end(), end.at, later), end);
      for (std::size_t mark = schedule.marked.size(); mark-- > 0 && marks_[mark] > end.at;)
        schedule.marked[mark].change(end.at, -end.amount);
      wrong = std::min(wrong, first_wait(schedule, end.at));
    }
  }
  return wrong;
}

template <typename Integer>
void VirtualSchedules<Integer>::insert_coming(OnePosition& position, const End& end) {
  position.coming.push_back(end);
  std::push_heap(position.coming.begin(), position.coming.end(), std::greater<>());
}

// It may be a part of one.
template <typename Integer>
void VirtualSchedules<Integer>::drop_coming(OnePosition& position, End end) {
  std::vector<End>& coming = position.coming;
  for (End& alike : coming) {
    if (alike.at != end.at || alike.start != end.start) continue;
    const std::int64_t amount = std::min(alike.amount, end.amount);
    alike.amount -= amount;
    end.amount -= amount;
  }
  std::erase_if(coming, [](const End& left) { return left.amount == 0; });
  std::make_heap(coming.begin(), coming.end(), std::greater<>());
}

// The last point that is not later. In a forged checkpoint there may be none; then it is the first one, or the end.
constexpr auto point_before = [](auto& points, std::int64_t at) {
  const auto later = std::upper_bound(points.begin(), points.end(), at,
                                      [](std::int64_t t, const auto& point) { return t < point.at; });
  return later == points.begin() ? later : std::prev(later);
};

// The first instant from `from` on at which a request that was made waits, or an earlier one; k_never: none does.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::first_wait(const OneSchedule& schedule, std::int64_t from) const {
  if (schedule.last_delayed > from) {
    if (from < schedule.logged) {
      for (auto point = point_before(schedule.points, from);
           point != schedule.points.end() && point->at < schedule.logged; ++point) {
        if (point->first_wait != k_never) return std::max(from, point->first_wait);
      }
    }
    const auto later = [](std::int64_t at, const Part& part) { return at < part.start; };
    for (auto part = std::upper_bound(schedule.parts.begin(), schedule.parts.end(), from, later);
         part != schedule.parts.end(); ++part) {
      const std::int64_t release = queue_[part->place].release;
      if (part->start > release) return std::max(from, release);
    }
  }
  if (schedule.head == queue_.size()) return k_never;
  const Known& head = queue_[schedule.head];
  return (head.owner & schedule.members) != 0 && head.release < schedule.at ? std::max(from, head.release) : k_never;
}

// The position of before, by the lists. REQUIRES: `to` is not before they begin.
template <typename Integer>
void VirtualSchedules<Integer>::walk_back(OnePosition& position, const OneSchedule& schedule, std::int64_t to) const {
  std::vector<End>& coming = position.coming;
  for (auto end = schedule.past.rbegin(); end != schedule.past.rend() && end->at >= to; ++end) {
    position.value.change(end->at, end->amount);
    position.free -= end->amount;
    if (end->start < to) coming.push_back(*end);
  }
  for (auto part = schedule.parts.rbegin(); part != schedule.parts.rend() && part->start >= to; ++part) {
    position.value.change(part->start, -part->amount);
    position.free += part->amount;
    if (part->place != position.head) {
      position.head = part->place;
      position.begun = queue_[part->place].amount;
    }
    position.begun -= part->amount;
    --position.made;
  }
  std::erase_if(coming, [to](const End& end) { return end.start >= to; });
  std::make_heap(coming.begin(), coming.end(), std::greater<>());
  for (; position.changes > 0 && changes_[position.changes - 1].at >= to; --position.changes) {
    const CapacityChange& change = changes_[position.changes - 1];
    if ((change.owner & schedule.members) != 0) position.free -= change.by;
  }
  position.at = to;
}

// Takes back everything from `to` on; where it has to go on from a point, what came after that, too.
template <typename Integer>
void VirtualSchedules<Integer>::rewind(OneSchedule& schedule, std::int64_t to) {
  if (to >= schedule.at) return;
  const std::int64_t made = schedule.made;
  if (to < schedule.logged && !schedule.points.empty()) {
    const auto point = point_before(schedule.points, to);
    static_cast<OnePosition&>(schedule) = static_cast<const OnePosition&>(*point);
    to = schedule.logged = point->at;
    schedule.next_point = schedule.made + 2 * logged_parts_;
  } else {
    to = std::max(to, schedule.logged);
    walk_back(schedule, schedule, to);
  }
  while (!schedule.past.empty() && schedule.past.back().at >= to) schedule.past.pop_back();
  while (!schedule.parts.empty() && schedule.parts.back().start >= to) schedule.parts.pop_back();
  while (!schedule.points.empty() && schedule.points.back().at > to) schedule.points.pop_back();
  while (!schedule.marked.empty() && marks_[schedule.marked.size() - 1] > to) schedule.marked.pop_back();
  effort_.undone += static_cast<std::uint64_t>(std::max<std::int64_t>(made - schedule.made, 0));
  schedule.last_delayed = std::min(schedule.last_delayed, to);
  schedule.next = to;
}

template <typename Integer>
void VirtualSchedules<Integer>::note_marks(OneSchedule& schedule, std::int64_t until) const {
  while (lacks_mark(schedule, until)) schedule.marked.push_back(schedule.value);
}

template <typename Integer>
void VirtualSchedules<Integer>::seek_head(OnePosition& position, Coalition members) const {
  while (position.head < queue_.size() &&
         ((queue_[position.head].owner & members) == 0 || queue_[position.head].amount == position.begun)) {
    ++position.head;
    position.begun = 0;
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::pass_changes_of_others(OnePosition& position, Coalition members) const {
  while (position.changes < changes_.size() && (changes_[position.changes].owner & members) == 0) ++position.changes;
}

// Makes what happens before `until`. False: so many parts were made before it got there.
template <typename Integer>
bool VirtualSchedules<Integer>::run(OneSchedule& schedule, std::int64_t until, std::uint64_t most) {
  std::vector<End>& coming = schedule.coming;
  while (true) {
    seek_head(schedule);
    pass_changes_of_others(schedule, schedule.members);
    std::int64_t next = coming.empty() ? k_never : coming.front().at;
    if (schedule.changes < changes_.size()) next = std::min(next, changes_[schedule.changes].at);
    if (schedule.free > 0 && schedule.head < queue_.size())
      next = std::min(next, std::max(queue_[schedule.head].release, schedule.at));
    schedule.next = next;
    note_marks(schedule, std::min(next, until));
    schedule.at = std::min(next, until);
    if (next >= until) return true;
    if (effort_.parts >= most) return false;
    std::int64_t more = 0;  // runs from now on than before
    while (!coming.empty() && coming.front().at == next) {
      std::pop_heap(coming.begin(), coming.end(), std::greater<>());
      more -= coming.back().amount;
      schedule.past.push_back(coming.back());
      coming.pop_back();
    }
    schedule.free -= more;
    for (; schedule.changes < changes_.size() && changes_[schedule.changes].at == next; ++schedule.changes) {
      const CapacityChange& change = changes_[schedule.changes];
      if ((change.owner & schedule.members) != 0) schedule.free += change.by;
    }
    more += start_waiting(schedule);
    if (more != 0) schedule.value.change(next, more);
    schedule.at = next + 1;
    if (schedule.made >= schedule.next_point && !is_whole(schedule)) note_point(schedule);
  }
}

// Starts what can start; returns how much that is.
template <typename Integer>
std::int64_t VirtualSchedules<Integer>::start_waiting(OneSchedule& schedule) {
  const std::int64_t free = schedule.free;
  const std::int64_t at = schedule.at;
  End alike;  // those that end at once are one
  for (seek_head(schedule); schedule.free > 0 && schedule.head < queue_.size(); seek_head(schedule)) {
    const Known& head = queue_[schedule.head];
    if (head.release > at) break;
    if (head.release < at) schedule.last_delayed = at;
    const std::int64_t amount = std::min(schedule.free, head.amount - schedule.begun);
    schedule.parts.push_back({schedule.head, at, amount});
    if (head.duration != k_unknown) {
      if (alike.amount > 0 && alike.at != at + head.duration) insert_coming(schedule, std::exchange(alike, {}));
      alike = {at + head.duration, at, alike.amount + amount};
    }
    schedule.begun += amount;
    schedule.free -= amount;
    ++schedule.made;
    ++effort_.parts;
  }
  if (alike.amount > 0) insert_coming(schedule, alike);
  return free - schedule.free;
}

template <typename Integer>
void VirtualSchedules<Integer>::settle(std::int64_t until, std::int64_t outcomes_until) {
  settled_ = std::max(settled_, until);
  outcomes_settled_ = std::max({outcomes_settled_, settled_, outcomes_until});
}

}  // namespace shapley::hindsight

#include "hindsight/virtual_schedules_memory.hpp"

namespace shapley::hindsight {

template class VirtualSchedules<std::int64_t>;
template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
