// What VirtualSchedules forgets, and what it is saved as. Part of virtual_schedules.cpp, which alone includes it.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hindsight/virtual_schedules.hpp"

namespace shapley::hindsight {

// They grow by doubling, and after most are forgotten there would be room for many times what is left. What is kept is
// room for half as much again.
constexpr auto keep_little_room = [](auto& entries) {
  const std::size_t enough = entries.size() + entries.size() / 2 + 32;
  if (entries.capacity() <= enough + enough / 4) return;
  std::remove_reference_t<decltype(entries)> fewer;
  fewer.reserve(enough);
  fewer.assign(entries.begin(), entries.end());
  entries = std::move(fewer);
};

template <typename Integer>
bool VirtualSchedules<Integer>::is_final(const Known& known) const {
  return known.duration != k_unknown && known.really_began < outcomes_settled_ &&
         known.really_began + known.duration < outcomes_settled_;
}

// What can still be told concerns the instant settled_ or later. It changes a part that has started, and what follows,
// from when on? A request whose run has not begun may be withdrawn: from the part's start. One that has begun has a
// duration of what it had run for by outcomes_settled_ at least. One whose run ended before outcomes_settled_ is final.
template <typename Integer>
void VirtualSchedules<Integer>::forget(OneSchedule& schedule) {
  std::int64_t reached = std::min(settled_, schedule.at);
  for (const Part& part : schedule.parts) {
    const Known& known = queue_[part.place];
    if (is_final(known)) continue;
    const bool has_run = known.really_began < outcomes_settled_;
    reached = std::min(reached, part.start + (has_run ? outcomes_settled_ - known.really_began : 0));
  }
  if (is_whole(schedule)) add_done_at_cuts(at_final_cuts_, reached);
  schedule.reached = reached;
  forget_lists_before(schedule, std::max(reached, schedule.logged));
  std::vector<Point<Unsigned>>& points = schedule.points;
  if (schedule.logged <= reached) {
    points.clear();
  } else {
    points.erase(points.begin(), point_before(points, reached));
  }
  schedule.full = schedule.parts.capacity() + schedule.past.capacity();
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_lists_before(OneSchedule& schedule, std::int64_t at) {
  std::erase_if(schedule.parts, [&](const Part& part) { return part.start < at && is_final(queue_[part.place]); });
  const auto earlier = [](const End& end, std::int64_t instant) { return end.at < instant; };
  schedule.past.erase(schedule.past.begin(), std::lower_bound(schedule.past.begin(), schedule.past.end(), at, earlier));
  keep_little_room(schedule.parts);
  keep_little_room(schedule.past);
}

// The lists begin at a new point from now on, so many parts back: facts that are told reach that far again and again.
template <typename Integer>
void VirtualSchedules<Integer>::note_point(OneSchedule& schedule) {
  std::vector<Point<Unsigned>>& points = schedule.points;
  const std::vector<Part>& parts = schedule.parts;
  schedule.next_point = schedule.made + logged_parts_;
  const auto logged_parts = static_cast<std::size_t>(logged_parts_);
  const std::int64_t begin = std::max(schedule.logged, schedule.reached);
  if (parts.size() <= logged_parts || parts[parts.size() - logged_parts].start <= begin) return;
  const std::int64_t at = parts[parts.size() - logged_parts].start;
  const auto add_point = [&](std::int64_t of) {
    points.push_back({schedule});
    walk_back(points.back(), schedule, of);
  };
  if (points.empty()) add_point(begin);
  const auto waited = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
    return part.start >= begin && part.start > queue_[part.place].release;
  });
  if (waited != parts.end() && waited->start < at)
    points.back().first_wait = std::min(points.back().first_wait, queue_[waited->place].release);
  add_point(at);
  thin_points(schedule);
  schedule.logged = at;
  forget_lists_before(schedule, at);
  const std::size_t entries = std::max(schedule.coming.size(), parts.size() / 2);
  schedule.next_point = schedule.made + std::max(logged_parts_, static_cast<std::int64_t>(entries));
}

// The farther back, the fewer: of a point and the next one no more than twice as much is made as since then.
template <typename Integer>
void VirtualSchedules<Integer>::thin_points(OneSchedule& schedule) {
  std::vector<Point<Unsigned>>& points = schedule.points;
  for (std::size_t i = 1; i + 1 < points.size();) {
    if (points[i + 1].made - points[i - 1].made > schedule.made - points[i + 1].made) {
      ++i;
      continue;
    }
    points[i - 1].first_wait = std::min(points[i - 1].first_wait, points[i].first_wait);
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Goes on from those that are there, to the last cut before `until`, backwards from the time reached.
template <typename Integer>
void VirtualSchedules<Integer>::add_done_at_cuts(std::vector<Done<Int128>>& done, std::int64_t until) const {
  const std::size_t first = done.size();
  const auto end = std::lower_bound(cuts_.begin() + static_cast<std::ptrdiff_t>(first), cuts_.end(), until);
  done.resize(static_cast<std::size_t>(end - cuts_.begin()));
  if (schedules_.empty() || done.size() == first) return;
  const OneSchedule& all = schedules_.back();
  Quadratic<Unsigned> value = all.value;
  auto part = all.parts.rbegin();
  auto past = all.past.rbegin();
  for (std::size_t cut = done.size(); cut-- > first;) {
    const std::int64_t at = cuts_[cut];
    for (; part != all.parts.rend() && part->start >= at; ++part) value.change(part->start, -part->amount);
    for (; past != all.past.rend() && past->at >= at; ++past) value.change(past->at, past->amount);
    const Int128 work = static_cast<Integer>(value.work_at(at));
    done[cut] = {work, work * at - static_cast<Integer>(value.utility_at(at))};
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::set_cuts(std::size_t kept, std::span<const std::int64_t> later) {
  cuts_.resize(kept);
  cuts_.insert(cuts_.end(), later.begin(), later.end());
}

template <typename Integer>
std::vector<Done<Int128>> VirtualSchedules<Integer>::done_at_cuts() const {
  std::vector<Done<Int128>> done = at_final_cuts_;
  add_done_at_cuts(done, time_ + 1);
  return done;
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_cuts(std::size_t count) {
  cuts_.erase(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(count));
  at_final_cuts_.erase(at_final_cuts_.begin(), at_final_cuts_.begin() + static_cast<std::ptrdiff_t>(count));
}

template <typename Integer>
void VirtualSchedules<Integer>::drop_requests() {
  for (OneSchedule& schedule : schedules_) forget(schedule);
  drop_unneeded();
  queue_full_ = 2 * queue_.size() + 16;
}

// How far the schedule is made where it begins again if it has to go back as far as it can; or as it is, if it has the
// lists for that.
template <typename Integer>
auto VirtualSchedules<Integer>::first_position(OneSchedule& schedule) const -> OnePosition& {
  if (schedule.logged > schedule.reached) return schedule.points.front();
  return schedule;
}

// Requests that are withdrawn; and those that are final, and that every schedule is past and has forgotten the parts
// of.
template <typename Integer>
void VirtualSchedules<Integer>::drop_unneeded() {
  std::vector<bool> keep(queue_.size());
  // By organization: from here on some schedule goes on.
  std::vector<std::uint32_t> first(std::numeric_limits<Coalition>::digits, static_cast<std::uint32_t>(keep.size()));
  for (OneSchedule& schedule : schedules_) {
    for (const Part& part : schedule.parts) keep[part.place] = true;
    OnePosition& position = first_position(schedule);
    seek_head(position, schedule.members);
    for (Coalition members = schedule.members; members != 0; members &= members - 1) {
      std::uint32_t& of_it = first[static_cast<std::size_t>(std::countr_zero(members))];
      of_it = std::min(of_it, position.head);
    }
  }
  for (std::uint32_t place = 0; place < keep.size(); ++place) {
    const Known& known = queue_[place];
    const bool is_ahead = place >= first[static_cast<std::size_t>(std::countr_zero(known.owner))];
    if (known.amount != 0 && (is_ahead || !is_final(known))) keep[place] = true;
  }
  for (const Request request : learned_) keep[queue_.place_of(request)] = true;
  const std::vector<std::uint32_t> moved = queue_.drop(keep);
  for (OneSchedule& schedule : schedules_) {
    for_each_position(schedule, [&](OnePosition& position) { position.head = moved[position.head]; });
    for (Part& part : schedule.parts) part.place = moved[part.place];
  }
  drop_changes();
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_settled() {
  advance(time_);
  drop_requests();
}

template <typename Integer>
std::int64_t VirtualSchedules<Integer>::reached() const {
  std::int64_t reached = settled_;
  for (const OneSchedule& schedule : schedules_) reached = std::min(reached, schedule.reached);
  return reached;
}

// Changes of capacity that no schedule goes back to.
template <typename Integer>
void VirtualSchedules<Integer>::drop_changes() {
  std::size_t gone = changes_.size();
  for (OneSchedule& schedule : schedules_) {
    OnePosition& first = first_position(schedule);
    pass_changes_of_others(first, schedule.members);
    gone = std::min(gone, first.changes);
  }
  const std::int64_t first_kept = reached();
  while (gone > 0 && changes_[gone - 1].at >= first_kept) --gone;
  // Those that one has not passed are of other organizations.
  for (OneSchedule& schedule : schedules_) {
    for_each_position(schedule,
                      [gone](OnePosition& position) { position.changes -= std::min(position.changes, gone); });
  }
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(gone));
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_marks_before(std::int64_t at) {
  const auto gone = std::lower_bound(marks_.begin(), marks_.end(), at) - marks_.begin();
  marks_.erase(marks_.begin(), marks_.begin() + gone);
  for (OneSchedule& schedule : schedules_) {
    const auto of_it = std::min(gone, static_cast<std::ptrdiff_t>(schedule.marked.size()));
    schedule.marked.erase(schedule.marked.begin(), schedule.marked.begin() + of_it);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::set_coalitions(std::size_t organizations, std::span<const Coalition> coalitions) {
  learn();
  Coalition before = 0;
  for (const OneSchedule& schedule : schedules_) before |= schedule.members;
  std::vector<OneSchedule> schedules(coalitions.size());
  for (std::size_t slot = 0; slot < schedules.size(); ++slot) {
    const Coalition members = coalitions[slot] & game::grand_coalition(organizations);
    const auto like = std::find_if(schedules_.begin(), schedules_.end(),
                                   [&](const OneSchedule& schedule) { return schedule.members == (members & before); });
    if (like != schedules_.end()) {
      schedules[slot] = *like;
    } else {
      schedules[slot].last_delayed = std::numeric_limits<std::int64_t>::min();
      schedules[slot].at = time_;
      note_marks(schedules[slot], time_);
    }
    schedules[slot].members = members;
  }
  schedules_ = std::move(schedules);
}

template <typename Integer>
bool VirtualSchedules<Integer>::is_provisional(std::size_t slot, std::int64_t at) const {
  return std::ranges::any_of(schedules_[slot].parts, [&](const Part& part) {
    const Known& known = queue_[part.place];
    if (known.duration != k_unknown) return false;
    return part.start + (known.really_began < time_ ? time_ - known.really_began : 0) < at;
  });
}

template <typename Integer>
auto VirtualSchedules<Integer>::only(std::span<const std::size_t> slots) const -> VirtualSchedules {
  VirtualSchedules few(1, {});
  few.queue_ = queue_;
  few.queue_full_ = queue_full_;
  few.changes_ = changes_;
  for (const std::size_t slot : slots) few.schedules_.push_back(schedules_[slot]);
  few.marks_ = marks_;
  few.learned_ = learned_;
  few.touched_ = touched_;
  few.time_ = time_;
  few.settled_ = settled_;
  few.outcomes_settled_ = outcomes_settled_;
  few.logged_parts_ = logged_parts_;
  return few;
}

// REQUIRES: not before `reached`.
template <typename Integer>
auto VirtualSchedules<Integer>::position_at(const OneSchedule& schedule, std::int64_t at) -> OnePosition {
  if (at >= schedule.logged) {
    OnePosition position = schedule;
    walk_back(position, schedule, at);
    return position;
  }
  OneSchedule again = schedule;
  rewind(again, at);
  run(again, at, std::numeric_limits<std::uint64_t>::max());
  return again;
}

// As it follows from the facts, however it was come by.
template <typename Integer>
void VirtualSchedules<Integer>::normalize(OnePosition& position) {
  std::vector<End>& coming = position.coming;
  std::sort(coming.begin(), coming.end());
  std::size_t kept = 0;
  for (const End& end : coming) {
    if (kept > 0 && coming[kept - 1].at == end.at && coming[kept - 1].start == end.start) {
      coming[kept - 1].amount += end.amount;
    } else {
      coming[kept++] = end;
    }
  }
  coming.resize(kept);
  position.made = 0;
}

template <typename Integer>
auto VirtualSchedules<Integer>::image() const -> Renamed {
  VirtualSchedules settled = *this;
  settled.forget_settled();
  for (OneSchedule& schedule : settled.schedules_) {
    Point<Unsigned> first{settled.position_at(schedule, schedule.reached)};
    settled.seek_head(schedule);
    settled.seek_head(first, schedule.members);
    normalize(schedule);
    normalize(first);
    schedule.points = {std::move(first)};
    schedule.logged = settled.time_;
    settled.forget_lists_before(schedule, schedule.logged);
  }
  settled.drop_unneeded();
  Renamed renamed;
  for (const Known& known : settled.queue_.all()) {
    renamed.names.emplace_back(known.name, static_cast<Request>(renamed.names.size()));
  }
  std::sort(renamed.names.begin(), renamed.names.end());
  settled.queue_.rename();
  renamed.image = {settled.time_,          settled.settled_,     settled.marks_,   settled.cuts_,
                   settled.at_final_cuts_, settled.queue_.all(), settled.changes_, std::move(settled.schedules_)};
  return renamed;
}

// No index may be out of range, and no order other than the one that searches rely on.
template <typename Integer>
bool VirtualSchedules<Integer>::is_position(const OnePosition& position) const {
  if (position.head > queue_.size() || position.begun < 0) return false;
  if (position.head == queue_.size() ? position.begun != 0 : position.begun > queue_[position.head].amount)
    return false;
  return std::all_of(position.coming.begin(), position.coming.end(), [&](const End& end) {
    return end.amount > 0 && end.start < position.at && end.at >= position.at;
  });
}

template <typename Integer>
bool VirtualSchedules<Integer>::is_sound(const OneSchedule& schedule) const {
  const Point<Unsigned>& first = schedule.points.front();
  if (!is_position(schedule) || !is_position(first) || first.at != schedule.reached || first.at > schedule.at)
    return false;
  if (schedule.head < first.head || schedule.marked.size() > marks_.size()) return false;
  std::uint32_t place = 0;
  std::int64_t start = std::numeric_limits<std::int64_t>::min();
  for (const Part& part : schedule.parts) {
    if (part.place < place || part.place >= queue_.size() || part.place > schedule.head) return false;
    if (part.start < start || part.start >= time_ || part.amount <= 0) return false;
    if ((queue_[part.place].owner & schedule.members) == 0) return false;
    place = part.place;
    start = part.start;
  }
  return true;
}

template <typename Integer>
bool VirtualSchedules<Integer>::restore(Image image) {
  if (image.schedules.size() != schedules_.size() || image.settled > image.time) return false;
  queue_ = RequestQueue(queue_.ranks());
  for (const Known& known : image.requests) queue_.insert_at(static_cast<std::uint32_t>(queue_.size()), known);
  const auto earlier = [](const CapacityChange& a, const CapacityChange& b) { return a.at < b.at; };
  if (!queue_.is_ordered() || !std::is_sorted(image.changes.begin(), image.changes.end(), earlier)) return false;
  if (!std::is_sorted(image.marks.begin(), image.marks.end())) return false;
  if (!std::is_sorted(image.cuts.begin(), image.cuts.end()) || image.at_final_cuts.size() > image.cuts.size())
    return false;
  time_ = image.time;
  settled_ = outcomes_settled_ = image.settled;
  marks_ = std::move(image.marks);
  cuts_ = std::move(image.cuts);
  at_final_cuts_ = std::move(image.at_final_cuts);
  changes_ = std::move(image.changes);
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    OneSchedule& schedule = schedules_[slot];
    const bool has_members = image.schedules[slot].members == schedule.members;
    schedule = std::move(image.schedules[slot]);
    schedule.at = time_;
    if (!has_members || schedule.points.size() != 1 || !is_sound(schedule)) return false;
    begin_again(schedule);
  }
  learned_.clear();
  touched_ = 0;
  return true;
}

// What an image has of it is completed.
template <typename Integer>
void VirtualSchedules<Integer>::begin_again(OneSchedule& schedule) {
  schedule.next = std::numeric_limits<std::int64_t>::min();
  schedule.logged = schedule.last_delayed = time_;
  schedule.points.front().first_wait = std::numeric_limits<std::int64_t>::min();
  for_each_position(schedule, [this](OnePosition& position) {
    const auto reached = std::partition_point(changes_.begin(), changes_.end(),
                                              [&](const CapacityChange& change) { return change.at < position.at; });
    position.changes = static_cast<std::size_t>(reached - changes_.begin());
    std::make_heap(position.coming.begin(), position.coming.end(), std::greater<>());
  });
  if (!is_whole(schedule)) return;
  rewind(schedule, schedule.reached);
  schedule.points.clear();
  run(schedule, time_, std::numeric_limits<std::uint64_t>::max());
}

template <typename Integer>
std::size_t VirtualSchedules<Integer>::bytes() const {
  const auto of = [](const auto& entries) { return entries.capacity() * sizeof(entries[0]); };
  std::size_t bytes =
      queue_.bytes() + of(changes_) + of(schedules_) + of(marks_) + of(cuts_) + of(at_final_cuts_) + of(learned_);
  for (const OneSchedule& schedule : schedules_) {
    bytes += of(schedule.coming) + of(schedule.marked) + of(schedule.parts) + of(schedule.past) + of(schedule.points);
    for (const auto& point : schedule.points) bytes += of(point.coming);
  }
  return bytes;
}

}  // namespace shapley::hindsight
