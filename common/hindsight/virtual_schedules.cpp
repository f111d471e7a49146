#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace shapley::hindsight {

namespace {

constexpr auto first_start = [](auto& schedule, const RequestQueue& queue, std::uint32_t place) {
  return schedule.first_start(queue, place);
};

}  // namespace

template <typename Integer>
VirtualSchedules<Integer>::VirtualSchedules(std::size_t organizations, std::span<const Coalition> coalitions,
                                            Options options)
    : schedules_(coalitions.size()) {
  facts_.processor = options.processor;
  facts_.logged_parts = options.logged_parts;
  const Coalition grand = game::grand_coalition(organizations);
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    schedules_[slot].members = coalitions[slot] & grand;
    schedules_[slot].last_delayed = time_;
  }
  if (!schedules_.empty()) schedules_.back().is_whole = true;
}

// --- facts ---

template <typename Integer>
void VirtualSchedules<Integer>::make_kinds(std::span<const Kind> kinds) {
  SHAPLEY_REQUIRE(!kinds.empty());
  const std::size_t needed = std::size_t{*std::ranges::max_element(kinds)} + 1;
  SHAPLEY_REQUIRE(needed <= k_most_kinds);
  if (needed <= facts_.kinds) return;
  facts_.kinds = needed;
  for (OneSchedule& schedule : schedules_) {
    schedule.for_each_position([needed](auto& position) { position.pools.resize(needed); });
    schedule.widest.resize(needed);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::change_capacity(std::size_t organization, std::int64_t at, std::int64_t by, Kind kind) {
  make_kinds(std::span(&kind, 1));
  const Coalition owner = Coalition{1} << organization;
  const auto later = [](std::int64_t t, const CapacityChange& change) { return t < change.at; };
  learn();
  const auto position = std::upper_bound(facts_.changes.begin(), facts_.changes.end(), at, later);
  const auto index = static_cast<std::size_t>(position - facts_.changes.begin());
  for (OneSchedule& schedule : schedules_) {
    const bool is_member = (schedule.members & owner) != 0;
    if (is_member) schedule.rewind(facts_, at, effort_);
    schedule.for_each_position([&](auto& before) {
      // Changes between the two places are of other organizations.
      if (is_member) before.changes = std::min(before.changes, index);
      if (!is_member && before.changes > index) ++before.changes;
    });
  }
  facts_.changes.insert(position, {at, by, owner, kind});
  touched_ |= owner;
}

template <typename Integer>
void VirtualSchedules<Integer>::split_kind(Kind kind, Kind added) {
  make_kinds(std::array{kind, added});
  facts_.queue.add_kind_behind(kind, added);
}

template <typename Integer>
Request VirtualSchedules<Integer>::add(std::size_t organization, std::int64_t release, std::int64_t amount, Order order,
                                       const Form& form) {
  SHAPLEY_REQUIRE(amount > 0 && form.is_multiple(amount));
  make_kinds(form.kinds);
  Known request;
  request.release = release;
  request.amount = amount;
  request.order = order;
  request.owner = Coalition{1} << organization;
  request.form = facts_.queue.form_of(form) & k_form_bits;
  if (release < time_) {
    learn();
    for (OneSchedule& schedule : schedules_) {
      if ((schedule.members & request.owner) != 0) schedule.rewind(facts_, release, effort_);
    }
  }
  const std::uint32_t place = facts_.queue.insert(request);
  if (place + 1 != facts_.queue.size()) {
    for (OneSchedule& schedule : schedules_) schedule.make_room(facts_.queue, place);
  }
  touched_ |= request.owner;
  return facts_.queue[place].name;
}

template <typename Integer>
Request VirtualSchedules<Integer>::split(Request pending, std::int64_t amount, Order order) {
  RequestQueue& queue = facts_.queue;
  const std::uint32_t place = queue.place_of(pending);
  SHAPLEY_REQUIRE(0 < amount && amount <= queue[place].amount && queue[place].duration == k_unknown);
  SHAPLEY_REQUIRE(queue.form_at(place).is_multiple(amount));
  queue.move_withdrawn_before(place, order);
  if (queue[place].amount == amount) {
    queue[place].order = order;
    return pending;
  }
  Known first = queue[place];
  first.amount = amount;
  first.order = order;
  queue[place].amount -= amount;
  queue.insert_at(place, first);
  for (OneSchedule& schedule : schedules_) schedule.split(queue, place, amount);
  return queue[place].name;
}

// If a request that has started entirely grows, its last part is made again: the new amount would have started there or
// later. If it shrinks, everything is made again from the first part that exceeds the amount.
template <typename Integer>
void VirtualSchedules<Integer>::amend(Request pending, std::int64_t amount) {
  const std::uint32_t of = facts_.queue.place_of(pending);
  const std::int64_t before = facts_.queue[of].amount;
  SHAPLEY_REQUIRE(amount > 0 && facts_.queue.form_at(of).is_multiple(amount));
  if (amount == before) return;
  const auto from_when = [&](OneSchedule& schedule, const RequestQueue& queue, std::uint32_t place) {
    if (!schedule.has_begun(queue, place)) return k_never;
    std::int64_t begun = 0;
    std::int64_t last = k_never;
    schedule.for_parts_of(queue, place, [&](const Part& part) {
      begun += part.amount();
      last = part.start();
      return begun <= amount;
    });
    return begun > amount || (amount > before && begun == before) ? last : k_never;
  };
  take_back(pending, from_when).amount = amount;
}

template <typename Integer>
void VirtualSchedules<Integer>::charge(Request request, std::int64_t amount) {
  const std::uint32_t place = facts_.queue.place_of(request);
  const Known& now = facts_.queue[place];
  const std::int64_t width = facts_.queue.form_at(place).width;
  SHAPLEY_REQUIRE(amount > 0 && width > 0 && (now.amount == width || now.is_charged_apart != 0));
  if (now.amount == amount) return;
  Known& known = take_back(request, first_start);
  known.amount = amount;
  known.is_charged_apart = amount == width ? 0 : 1;
}

template <typename Integer>
void VirtualSchedules<Integer>::started(Request request, std::int64_t at) {
  facts_.queue[facts_.queue.place_of(request)].really_began = at;
}

template <typename Integer>
void VirtualSchedules<Integer>::ended(Request request, std::int64_t duration) {
  Known& known = facts_.queue[facts_.queue.place_of(request)];
  if (known.duration == duration) return;
  if (known.duration != k_unknown) {
    change_end(request, duration);
    return;
  }
  known.duration = duration;
  // No schedule has started it before its release; later starts will use the duration.
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

// Every schedule that depends on the request goes back to from_when(); k_never: it does not depend on it.
template <typename Integer>
template <typename FromWhen>
Known& VirtualSchedules<Integer>::take_back(Request request, FromWhen&& from_when) {
  learn();
  const std::uint32_t place = facts_.queue.place_of(request);
  const Coalition owner = facts_.queue[place].owner;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & owner) != 0) schedule.rewind(facts_, from_when(schedule, facts_.queue, place), effort_);
  }
  touched_ |= owner;
  return facts_.queue[place];
}

// Changes an end that was known to another one, or to unknown. What happened before either end stays.
template <typename Integer>
void VirtualSchedules<Integer>::change_end(Request request, std::int64_t duration) {
  const std::uint32_t place = facts_.queue.place_of(request);
  const std::int64_t before = facts_.queue[place].duration;
  if (before == k_unknown) return;
  const std::int64_t least = duration == k_unknown ? before : std::min(before, duration);
  const auto first_end = [least](OneSchedule& schedule, const RequestQueue& queue, std::uint32_t of) {
    const std::int64_t start = schedule.first_start(queue, of);
    return start == k_never ? k_never : start + least;
  };
  Known& known = take_back(request, first_end);
  known.duration = duration;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & known.owner) != 0) schedule.change_end(facts_.queue, place, before, duration);
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::learn() {
  if (learned_.empty()) return;
  for (OneSchedule& schedule : schedules_) {
    if ((schedule.members & touched_) != 0) schedule.rewind(facts_, schedule.learn(facts_, learned_), effort_);
  }
  learned_.clear();
}

// --- making them ---

template <typename Integer>
bool VirtualSchedules<Integer>::advance(std::int64_t t, std::uint64_t effort) {
  const std::uint64_t most =
      effort_.parts + std::min(effort, std::numeric_limits<std::uint64_t>::max() - effort_.parts);
  SHAPLEY_REQUIRE(t >= time_);
  const std::int64_t before = std::exchange(time_, t);
  bool are_made = true;
  facts_.forget_certain();
  for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
    OneSchedule& schedule = schedules_[slot];
    if (slot + 1 < schedules_.size()) EndsToCome::fetch(schedules_[slot + 1].coming);
    const bool is_touched = (schedule.members & touched_) != 0;
    if (is_touched && !learned_.empty()) schedule.rewind(facts_, schedule.learn(facts_, learned_), effort_);
    if (!are_made) continue;
    if (!is_touched && schedule.at == before && schedule.next >= t) {
      schedule.note_marks(facts_, t);
      schedule.at = t;
      continue;
    }
    are_made = schedule.run(facts_, t, most, effort_);
    if (are_made && schedule.is_full()) forget(schedule);
  }
  learned_.clear();
  if (!are_made) return false;
  touched_ = 0;
  if (facts_.queue.size() > queue_full_) drop_requests();
  return true;
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
      schedules[slot].pools.resize(facts_.kinds);
      schedules[slot].widest.resize(facts_.kinds);
      schedules[slot].at = time_;
      schedules[slot].note_marks(facts_, time_);
    }
    schedules[slot].members = members;
    schedules[slot].is_whole = slot + 1 == schedules.size();
  }
  schedules_ = std::move(schedules);
}

template <typename Integer>
bool VirtualSchedules<Integer>::is_provisional(std::size_t slot, std::int64_t at) const {
  SHAPLEY_REQUIRE(at <= time_);
  return std::ranges::any_of(schedules_[slot].parts, [&](const Part& part) {
    const Known& known = facts_.queue[part.place()];
    if (known.duration != k_unknown) return false;
    return part.start() + (known.really_began < time_ ? time_ - known.really_began : 0) < at;
  });
}

template <typename Integer>
auto VirtualSchedules<Integer>::only(std::span<const std::size_t> slots) const -> VirtualSchedules {
  VirtualSchedules few(1, {});
  few.facts_ = facts_;
  few.queue_full_ = queue_full_;
  for (const std::size_t slot : slots) few.schedules_.push_back(schedules_[slot]);
  few.learned_ = learned_;
  few.touched_ = touched_;
  few.time_ = time_;
  return few;
}

// --- cuts ---

// Appends the values from the first missing cut to the last cut before `until`, walking backwards from the time
// reached.
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
    for (; part != all.parts.rend() && part->start() >= at; ++part) value.change(part->start(), -part->amount());
    for (; past != all.past.rend() && past->at() >= at; ++past) value.change(past->at(), past->amount());
    const Int128 work = static_cast<Integer>(value.work_at(at));
    done[cut] = {work, work * at - static_cast<Integer>(value.utility_at(at))};
  }
}

template <typename Integer>
void VirtualSchedules<Integer>::set_cuts(std::size_t kept, std::span<const std::int64_t> later) {
  SHAPLEY_REQUIRE(final_cuts() <= kept && kept <= cuts_.size() && std::ranges::is_sorted(later));
  SHAPLEY_REQUIRE(later.empty() || later.front() >= facts_.settled);
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
  SHAPLEY_REQUIRE(count <= final_cuts());
  cuts_.erase(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(count));
  at_final_cuts_.erase(at_final_cuts_.begin(), at_final_cuts_.begin() + static_cast<std::ptrdiff_t>(count));
}

// --- memory ---

template <typename Integer>
void VirtualSchedules<Integer>::settle(std::int64_t until, std::int64_t outcomes_until) {
  SHAPLEY_REQUIRE(until <= time_);
  facts_.settled = std::max(facts_.settled, until);
  facts_.outcomes_settled = std::max({facts_.outcomes_settled, facts_.settled, outcomes_until});
}

template <typename Integer>
void VirtualSchedules<Integer>::forget(OneSchedule& schedule) {
  const std::int64_t reached = schedule.reached_by(facts_);
  if (schedule.is_whole) add_done_at_cuts(at_final_cuts_, reached);
  schedule.forget(facts_, reached);
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_settled() {
  advance(time_);
  drop_requests();
}

template <typename Integer>
void VirtualSchedules<Integer>::drop_requests() {
  for (OneSchedule& schedule : schedules_) forget(schedule);
  drop_unneeded();
  queue_full_ = 2 * facts_.queue.size() + 16;
}

// By place: whether some schedule has not passed the request, or has parts of it that it has not forgotten.
template <typename Integer>
std::vector<bool> VirtualSchedules<Integer>::needed() {
  const RequestQueue& queue = facts_.queue;
  const std::size_t forms = queue.forms().size();
  constexpr std::size_t k_owners = std::numeric_limits<Coalition>::digits;
  std::vector<bool> keep(queue.size());
  // By organization, and by organization and form: the first place from which some schedule goes on.
  const auto end = static_cast<std::uint32_t>(keep.size());
  std::vector<std::uint32_t> first(k_owners, end);
  std::vector<std::uint32_t> first_that_waits(k_owners * forms, end);
  const auto lower = [](std::uint32_t& of, std::uint32_t place) { of = std::min(of, place); };
  for (OneSchedule& schedule : schedules_) {
    for (const Part& part : schedule.parts) keep[part.place()] = true;
    schedule.for_each_position([&](auto& position) { position.seek_waiting(queue, schedule.members); });
    auto& position = schedule.first_position();
    position.seek_head(queue, schedule.members);
    for (Coalition members = schedule.members; members != 0; members &= members - 1) {
      const auto owner = static_cast<std::size_t>(std::countr_zero(members));
      lower(first[owner], position.head);
      for (const Waiting& of : position.waiting) lower(first_that_waits[owner * forms + of.form], of.place);
    }
  }
  for (std::uint32_t place = 0; place < keep.size(); ++place) {
    const Known& known = queue[place];
    const auto owner = static_cast<std::size_t>(std::countr_zero(known.owner));
    const bool is_ahead = place >= std::min(first[owner], first_that_waits[owner * forms + known.form]);
    if (known.amount != 0 && (is_ahead || !facts_.is_final(known))) keep[place] = true;
  }
  return keep;
}

// Drops requests that are withdrawn, and final ones that every schedule has passed and whose parts all have forgotten.
template <typename Integer>
void VirtualSchedules<Integer>::drop_unneeded() {
  std::vector<bool> keep = needed();
  for (const Request request : learned_) keep[facts_.queue.place_of(request)] = true;
  const RequestQueue::Moved moved = facts_.queue.drop(keep);
  facts_.forget_certain();
  for (OneSchedule& schedule : schedules_) {
    schedule.for_each_position([&](auto& position) { position.move(moved); });
    for (Part& part : schedule.parts) part.set_place(moved.places[part.place()]);
  }
  drop_changes();
}

template <typename Integer>
std::int64_t VirtualSchedules<Integer>::reached() const {
  std::int64_t reached = facts_.settled;
  for (const OneSchedule& schedule : schedules_) reached = std::min(reached, schedule.reached);
  return reached;
}

// Drops changes of capacity that no schedule goes back to.
template <typename Integer>
void VirtualSchedules<Integer>::drop_changes() {
  std::vector<CapacityChange>& changes = facts_.changes;
  std::size_t gone = changes.size();
  for (OneSchedule& schedule : schedules_) {
    auto& first = schedule.first_position();
    first.pass_changes_of_others(changes, schedule.members);
    gone = std::min(gone, first.changes);
  }
  const std::int64_t first_kept = reached();
  while (gone > 0 && changes[gone - 1].at >= first_kept) --gone;
  // Changes that a schedule has not passed are of other organizations.
  for (OneSchedule& schedule : schedules_) {
    schedule.for_each_position([gone](auto& position) { position.changes -= std::min(position.changes, gone); });
  }
  changes.erase(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(gone));
}

template <typename Integer>
void VirtualSchedules<Integer>::forget_marks_before(std::int64_t at) {
  std::vector<std::int64_t>& marks = facts_.marks;
  const auto gone = std::lower_bound(marks.begin(), marks.end(), at) - marks.begin();
  marks.erase(marks.begin(), marks.begin() + gone);
  for (OneSchedule& schedule : schedules_) {
    const auto of_it = std::min(gone, static_cast<std::ptrdiff_t>(schedule.marked.size()));
    schedule.marked.erase(schedule.marked.begin(), schedule.marked.begin() + of_it);
  }
}

template <typename Integer>
std::size_t VirtualSchedules<Integer>::bytes() const {
  const auto of = [](const auto& entries) { return entries.capacity() * sizeof(entries[0]); };
  std::size_t bytes = facts_.bytes() + of(schedules_) + of(cuts_) + of(at_final_cuts_) + of(learned_);
  for (const OneSchedule& schedule : schedules_) bytes += schedule.bytes();
  return bytes;
}

// --- images ---

template <typename Integer>
auto VirtualSchedules<Integer>::image() const -> Renamed {
  VirtualSchedules settled = *this;
  settled.forget_settled();
  for (OneSchedule& schedule : settled.schedules_) schedule.reduce_to_image(settled.facts_, settled.time_);
  settled.drop_unneeded();
  RequestQueue& queue = settled.facts_.queue;
  Renamed renamed;
  for (const Known& known : queue.all()) {
    renamed.names.emplace_back(known.name, static_cast<Request>(renamed.names.size()));
  }
  std::sort(renamed.names.begin(), renamed.names.end());
  queue.rename();
  renamed.image = {.time = settled.time_,
                   .settled = settled.facts_.settled,
                   .marks = settled.facts_.marks,
                   .cuts = settled.cuts_,
                   .at_final_cuts = settled.at_final_cuts_,
                   .forms = queue.forms(),
                   .requests = queue.all(),
                   .changes = settled.facts_.changes,
                   .schedules = std::move(settled.schedules_)};
  return renamed;
}

// Both: whether every index is in range, and every order is the one that searches rely on.
template <typename Integer>
bool VirtualSchedules<Integer>::restore_facts(Image& image) {
  if (image.forms.empty()) image.forms.emplace_back();
  const auto is_sound = [](const Form& form) {
    return form.width >= 0 && !form.kinds.empty() && std::ranges::max(form.kinds) < k_most_kinds;
  };
  if (!std::ranges::all_of(image.forms, is_sound)) return false;
  facts_.queue = RequestQueue(facts_.queue.ranks(), image.forms);
  if (facts_.queue.forms().size() != image.forms.size()) return false;
  for (const Form& form : image.forms) make_kinds(form.kinds);
  for (const OneSchedule& schedule : image.schedules) {
    if (schedule.pools.empty() || schedule.pools.size() > k_most_kinds) return false;
    const auto last = static_cast<Kind>(schedule.pools.size() - 1);
    make_kinds(std::span(&last, 1));
  }
  for (const Known& known : image.requests) {
    if (known.form >= image.forms.size()) return false;
    const Form& form = image.forms[known.form];
    if (known.amount < 0 || (known.is_charged_apart != 0 ? form.width == 0 : !form.is_multiple(known.amount)))
      return false;
    facts_.queue.insert_at(static_cast<std::uint32_t>(facts_.queue.size()), known);
  }
  for (const CapacityChange& change : image.changes) {
    if (change.kind >= k_most_kinds) return false;
    make_kinds(std::span(&change.kind, 1));
  }
  const auto earlier = [](const CapacityChange& a, const CapacityChange& b) { return a.at < b.at; };
  facts_.changes = std::move(image.changes);
  facts_.forget_certain();
  return facts_.queue.is_ordered() && std::is_sorted(facts_.changes.begin(), facts_.changes.end(), earlier);
}

template <typename Integer>
bool VirtualSchedules<Integer>::restore(Image image) {
  if (image.schedules.size() != schedules_.size() || image.settled > image.time) return false;
  if (!std::is_sorted(image.marks.begin(), image.marks.end())) return false;
  if (!std::is_sorted(image.cuts.begin(), image.cuts.end()) || image.at_final_cuts.size() > image.cuts.size())
    return false;
  if (!restore_facts(image)) return false;
  time_ = image.time;
  facts_.settled = facts_.outcomes_settled = image.settled;
  facts_.marks = std::move(image.marks);
  facts_.forget_certain();
  cuts_ = std::move(image.cuts);
  at_final_cuts_ = std::move(image.at_final_cuts);
  for (OneSchedule& schedule : schedules_) {
    const Coalition members = schedule.members;
    schedule = std::move(image.schedules[static_cast<std::size_t>(&schedule - schedules_.data())]);
    schedule.at = time_;
    schedule.is_whole = &schedule == &schedules_.back();
    if (schedule.members != members || schedule.points.size() != 1 || !schedule.is_sound(facts_, time_)) return false;
    schedule.begin_again(facts_, time_);
  }
  learned_.clear();
  touched_ = 0;
  return true;
}

template class VirtualSchedules<std::int64_t>;
template class VirtualSchedules<Int128>;

}  // namespace shapley::hindsight
