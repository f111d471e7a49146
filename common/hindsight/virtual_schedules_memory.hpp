// What VirtualSchedules forgets, and what it is saved as. Part of virtual_schedules.cpp, which alone includes it.
#pragma once

#include <algorithm>
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
  return known.duration != k_unknown && known.really_began < settled_ && known.really_began + known.duration < settled_;
}

// What can still be told concerns the instant settled_ or later. It changes a part that has started, and what follows,
// from when on? A request whose run has not begun may be withdrawn: from the part's start. One that runs at settled_
// has a duration of what it has run for at least, whatever is known of its end. One whose run ended before settled_ is
// final.
template <typename Integer>
void VirtualSchedules<Integer>::note_certain() {
  certain_.resize(queue_.size());
  for (std::uint32_t place = 0; place < certain_.size(); ++place) {
    const Known& known = queue_[place];
    certain_[place] = is_final(known) ? k_always : known.really_began < settled_ ? settled_ - known.really_began : 0;
  }
}

// REQUIRES: note_certain() since the queue, and what is settled, changed last.
template <typename Integer>
void VirtualSchedules<Integer>::forget(OneSchedule& schedule) {
  std::int64_t reached = settled_;
  for (const Part& part : schedule.parts) reached = std::min(reached, part.start + certain_[part.place]);
  if (&schedule == &schedules_.back()) add_done_at_cuts(at_final_cuts_, reached);
  std::erase_if(schedule.parts,
                [&](const Part& part) { return part.start < reached && certain_[part.place] == k_always; });
  const auto earlier = [](const End& end, std::int64_t at) { return end.at < at; };
  schedule.past.erase(schedule.past.begin(),
                      std::lower_bound(schedule.past.begin(), schedule.past.end(), reached, earlier));
  schedule.reached = reached;
  keep_little_room(schedule.parts);
  keep_little_room(schedule.past);
  schedule.full = schedule.parts.capacity() + schedule.past.capacity();
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

// Those that are final or withdrawn, and that every schedule is past and has forgotten the parts of.
template <typename Integer>
void VirtualSchedules<Integer>::drop_requests() {
  std::vector<bool> keep(queue_.size());
  for (std::uint32_t place = 0; place < keep.size(); ++place)
    keep[place] = queue_[place].amount != 0 && !is_final(queue_[place]);
  note_certain();
  for (OneSchedule& schedule : schedules_) {
    seek_head(schedule);
    forget(schedule);
    for (const Part& part : schedule.parts) keep[part.place] = true;
    for (std::uint32_t place = schedule.head; place < keep.size(); ++place) {
      if ((queue_[place].owner & schedule.members) != 0) keep[place] = true;
    }
  }
  // Withdrawn requests that are still to come are nobody's.
  for (const Request request : learned_) keep[queue_.place_of(request)] = true;
  const std::vector<std::uint32_t> moved = queue_.drop(keep);
  for (OneSchedule& schedule : schedules_) {
    schedule.head = moved[schedule.head];
    for (Part& part : schedule.parts) part.place = moved[part.place];
  }
  drop_changes();
  queue_full_ = 2 * queue_.size() + 16;
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_settled() {
  flush();
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
    pass_changes_of_others(schedule);
    gone = std::min(gone, schedule.changes);
  }
  const std::int64_t first_kept = reached();
  while (gone > 0 && changes_[gone - 1].at >= first_kept) --gone;
  for (OneSchedule& schedule : schedules_) schedule.changes -= gone;
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
  flush();
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
      note_marks(schedules[slot], time_);
    }
    schedules[slot].members = members;
  }
  schedules_ = std::move(schedules);
  from_.assign(schedules_.size(), k_never);
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
  few.from_.assign(slots.size(), k_never);
  return few;
}

template <typename Integer>
auto VirtualSchedules<Integer>::image() const -> Renamed {
  VirtualSchedules settled = *this;
  settled.forget_settled();
  Renamed renamed;
  for (const Known& known : settled.queue_.all()) {
    renamed.names.emplace_back(known.name, static_cast<Request>(renamed.names.size()));
  }
  std::sort(renamed.names.begin(), renamed.names.end());
  settled.queue_.rename();
  for (OneSchedule& schedule : settled.schedules_) {
    schedule.last_delayed = std::numeric_limits<std::int64_t>::min();
    for (const Part& part : schedule.parts) {
      if (part.start > settled.queue_[part.place].release)
        schedule.last_delayed = std::max(schedule.last_delayed, part.start);
    }
    std::sort(schedule.coming.begin(), schedule.coming.end());
    std::sort(schedule.past.begin(), schedule.past.end());
    // Whoever is not a member is passed when the schedule goes on.
    while (schedule.head > 0 && schedule.begun == 0 &&
           (settled.queue_[schedule.head - 1].owner & schedule.members) == 0)
      --schedule.head;
  }
  renamed.image = {settled.time_,          settled.settled_,     settled.marks_,   settled.cuts_,
                   settled.at_final_cuts_, settled.queue_.all(), settled.changes_, std::move(settled.schedules_)};
  return renamed;
}

// No index may be out of range, and no order other than the one that searches rely on.
template <typename Integer>
bool VirtualSchedules<Integer>::is_sound(const OneSchedule& schedule) const {
  if (schedule.head > queue_.size() || schedule.begun < 0 || schedule.marked.size() > marks_.size()) return false;
  if (schedule.head == queue_.size() ? schedule.begun != 0 : schedule.begun > queue_[schedule.head].amount)
    return false;
  std::uint32_t place = 0;
  std::int64_t start = std::numeric_limits<std::int64_t>::min();
  for (const Part& part : schedule.parts) {
    if (part.place < place || part.place >= queue_.size() || part.place > schedule.head) return false;
    if (part.start < start || part.start >= time_ || part.amount <= 0) return false;
    if ((queue_[part.place].owner & schedule.members) == 0) return false;
    place = part.place;
    start = part.start;
  }
  const auto fits = [this](const End& end, bool is_past) {
    return end.amount > 0 && end.start < end.at && end.start < time_ && (end.at < time_) == is_past;
  };
  return std::is_sorted(schedule.past.begin(), schedule.past.end()) &&
         std::all_of(schedule.past.begin(), schedule.past.end(), [&](const End& end) { return fits(end, true); }) &&
         std::all_of(schedule.coming.begin(), schedule.coming.end(), [&](const End& end) { return fits(end, false); });
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
  settled_ = image.settled;
  marks_ = std::move(image.marks);
  cuts_ = std::move(image.cuts);
  at_final_cuts_ = std::move(image.at_final_cuts);
  changes_ = std::move(image.changes);
  const auto reached = std::partition_point(changes_.begin(), changes_.end(),
                                            [this](const CapacityChange& change) { return change.at < time_; });
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    if (image.schedules[slot].members != schedules_[slot].members || !is_sound(image.schedules[slot])) return false;
    schedules_[slot] = std::move(image.schedules[slot]);
    schedules_[slot].changes = static_cast<std::size_t>(reached - changes_.begin());
    schedules_[slot].next = std::numeric_limits<std::int64_t>::min();
    seek_head(schedules_[slot]);
    EndsToCome::make(schedules_[slot].coming);
  }
  learned_.clear();
  touched_ = 0;
  return true;
}

}  // namespace shapley::hindsight
