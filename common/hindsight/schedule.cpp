#include "hindsight/schedule.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/contract.hpp"

namespace shapley::hindsight {

namespace {

// The last point that is not later. A forged checkpoint may have none; the result is then the first point or the end.
constexpr auto point_before = [](auto& points, std::int64_t at) {
  const auto later = std::upper_bound(points.begin(), points.end(), at,
                                      [](std::int64_t t, const auto& point) { return t < point.at; });
  return later == points.begin() ? later : std::prev(later);
};

// Vectors grow by doubling, and after most entries are forgotten they would keep memory for many times what is left.
// This leaves room for half as many entries again.
constexpr auto keep_little_room = [](auto& entries) {
  const std::size_t enough = entries.size() + entries.size() / 2 + 32;
  if (entries.capacity() <= enough + enough / 4) return;
  std::remove_reference_t<decltype(entries)> fewer;
  fewer.reserve(enough);
  fewer.assign(entries.begin(), entries.end());
  entries = std::move(fewer);
};

template <typename Entry>
std::size_t room_of(const std::vector<Entry>& entries) {
  return entries.capacity() * sizeof(Entry);
}

}  // namespace

// --- facts ---

template <typename Unsigned>
typename std::vector<Part>::iterator Schedule<Unsigned>::first_part(std::uint32_t place) {
  return std::lower_bound(parts.begin(), parts.end(), place,
                          [](const Part& part, std::uint32_t sought) { return part.place() < sought; });
}

template <typename Unsigned>
std::int64_t Schedule<Unsigned>::first_start(std::uint32_t place) {
  const auto part = first_part(place);
  return part == parts.end() || part->place() != place ? k_never : part->start();
}

template <typename Unsigned>
std::int64_t Schedule<Unsigned>::learn(const Facts& facts, std::span<const Request> ended) {
  const auto later = [](std::int64_t instant, const End& other) { return instant < other.at(); };
  std::int64_t wrong = k_never;
  for (const Request request : ended) {
    const std::uint32_t place = facts.queue.place_of(request);
    const Known& known = facts.queue[place];
    if ((known.owner & members) == 0 || place > this->head) continue;
    for (auto part = first_part(place); part != parts.end() && part->place() == place; ++part) {
      const End end{part->start() + known.duration, part->start(), part->amount()};
      this->end_part(end);
      for (auto point = points.rbegin(); point != points.rend() && point->at > end.start(); ++point)
        point->end_part(end);
      if (end.at() >= this->at) continue;
      if (end.at() >= logged) past.insert(std::upper_bound(past.begin(), past.end(), end.at(), later), end);
      for (std::size_t mark = marked.size(); mark-- > 0 && facts.marks[mark] > end.at();)
        marked[mark].change(end.at(), -end.amount());
      wrong = std::min(wrong, first_wait(facts, end.at()));
    }
  }
  return wrong;
}

template <typename Unsigned>
void Schedule<Unsigned>::change_end(std::uint32_t place, std::int64_t before, std::int64_t after) {
  for (auto part = first_part(place); part != parts.end() && part->place() == place; ++part) {
    for_each_position([&](OnePosition& position) {
      if (part->start() >= position.at) return;
      position.drop_coming({part->start() + before, part->start(), part->amount()});
      if (after != k_unknown) EndsToCome::push(position.coming, {part->start() + after, part->start(), part->amount()});
    });
  }
}

// Every request from `place` on moved one further. None of them has started if the owner is a member.
template <typename Unsigned>
void Schedule<Unsigned>::make_room(std::uint32_t place, Coalition owner) {
  for (auto part = parts.rbegin(); part != parts.rend() && part->place() >= place; ++part)
    part->set_place(part->place() + 1);
  for_each_position([&](OnePosition& position) { position.make_room(place, (members & owner) != 0); });
}

template <typename Unsigned>
void Schedule<Unsigned>::split(std::uint32_t place, std::int64_t amount, Coalition owner) {
  const bool is_member = (members & owner) != 0;
  for (auto part = parts.rbegin(); part != parts.rend() && part->place() >= place; ++part)
    part->set_place(part->place() + 1);
  for_each_position([&](OnePosition& position) { position.split(place, amount, is_member); });
  if (is_member) give_to_first(place, amount);
}

// The first `amount` of what the request behind `place` has started now belongs to the request at `place`.
template <typename Unsigned>
void Schedule<Unsigned>::give_to_first(std::uint32_t place, std::int64_t amount) {
  for (auto part = first_part(place + 1); part != parts.end() && part->place() == place + 1 && amount > 0; ++part) {
    const std::int64_t rest = part->amount() - amount;
    if (rest > 0) {
      *part = {place, part->start(), amount};
      parts.insert(part + 1, {place + 1, part->start(), rest});
      return;
    }
    part->set_place(place);
    amount = -rest;
  }
}

// An instant at or before the first one from `from` on at which a request waits; k_never: no request waits.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::first_wait(const Facts& facts, std::int64_t from) const {
  const RequestQueue& queue = facts.queue;
  if (last_delayed > from) {
    if (from < logged) {
      for (auto point = point_before(points, from); point != points.end() && point->at < logged; ++point) {
        if (point->first_wait != k_never) return std::max(from, point->first_wait);
      }
    }
    const auto later = [](std::int64_t instant, const Part& part) { return instant < part.start(); };
    for (auto part = std::upper_bound(parts.begin(), parts.end(), from, later); part != parts.end(); ++part) {
      const std::int64_t release = queue[part->place()].release;
      if (part->start() > release) return std::max(from, release);
    }
  }
  if (this->head == queue.size()) return k_never;
  const Known& first = queue[this->head];
  return (first.owner & members) != 0 && first.release < this->at ? std::max(from, first.release) : k_never;
}

// --- back and forth ---

// Moves the position back to `to` by the lists. REQUIRES: `to` is not before the lists begin.
template <typename Unsigned>
void Schedule<Unsigned>::walk_back(OnePosition& position, const Facts& facts, std::int64_t to) const {
  for (auto end = past.rbegin(); end != past.rend() && end->at() >= to; ++end) {
    position.value.change(end->at(), end->amount());
    position.free -= end->amount();
    if (end->start() < to) EndsToCome::push(position.coming, *end);
  }
  bool end_comes = false;  // an end to come may belong to a part that is taken back
  for (auto part = parts.rbegin(); part != parts.rend() && part->start() >= to; ++part) {
    const Known& known = facts.queue[part->place()];
    position.value.change(part->start(), -part->amount());
    position.free += part->amount();
    if (part->place() != position.head) {
      position.head = part->place();
      position.begun = known.amount;
    }
    position.begun -= part->amount();
    --position.made;
    end_comes = end_comes || known.duration != k_unknown;
  }
  if (end_comes) {
    std::erase_if(position.coming, [to](const End& end) { return end.start() >= to; });
    EndsToCome::make(position.coming);
  }
  for (; position.changes > 0 && facts.changes[position.changes - 1].at >= to; --position.changes) {
    const CapacityChange& change = facts.changes[position.changes - 1];
    if ((change.owner & members) != 0) position.free -= change.by;
  }
  position.at = to;
}

template <typename Unsigned>
void Schedule<Unsigned>::rewind(const Facts& facts, std::int64_t to, Effort& effort) {
  if (to >= this->at) return;
  const std::int64_t made_before = this->made;
  if (to < logged && !points.empty()) {
    const auto point = point_before(points, to);
    static_cast<OnePosition&>(*this) = static_cast<const OnePosition&>(*point);
    to = logged = point->at;
    next_point_ = this->made + 2 * facts.logged_parts;
  } else {
    to = std::max(to, logged);
    walk_back(*this, facts, to);
  }
  while (!past.empty() && past.back().at() >= to) past.pop_back();
  while (!parts.empty() && parts.back().start() >= to) parts.pop_back();
  while (!points.empty() && points.back().at > to) points.pop_back();
  while (!marked.empty() && facts.marks[marked.size() - 1] > to) marked.pop_back();
  effort.undone += static_cast<std::uint64_t>(std::max<std::int64_t>(made_before - this->made, 0));
  last_delayed = std::min(last_delayed, to);
  next = to;
}

template <typename Unsigned>
void Schedule<Unsigned>::note_marks(const Facts& facts, std::int64_t until) {
  while (lacks_mark(facts, until)) marked.push_back(this->value);
}

template <typename Unsigned>
bool Schedule<Unsigned>::run(const Facts& facts, std::int64_t until, std::uint64_t most, Effort& effort) {
  std::vector<End>& ends = this->coming;
  while (true) {
    this->seek_head(facts.queue, members);
    this->pass_changes_of_others(facts.changes, members);
    next = ends.empty() ? k_never : ends.front().at();
    if (this->changes < facts.changes.size()) next = std::min(next, facts.changes[this->changes].at);
    if (this->free > 0 && this->head < facts.queue.size())
      next = std::min(next, std::max(facts.queue[this->head].release, this->at));
    note_marks(facts, std::min(next, until));
    this->at = std::min(next, until);
    if (next >= until) return true;
    if (effort.parts >= most) return false;
    std::int64_t more = 0;  // by how much the running amount grows
    while (!ends.empty() && ends.front().at() == next) {
      more -= ends.front().amount();
      past.push_back(ends.front());
      EndsToCome::pop(ends);
    }
    this->free -= more;
    for (; this->changes < facts.changes.size() && facts.changes[this->changes].at == next; ++this->changes) {
      const CapacityChange& change = facts.changes[this->changes];
      if ((change.owner & members) != 0) this->free += change.by;
    }
    more += start_waiting(facts, effort);
    if (more != 0) this->value.change(next, more);
    this->at = next + 1;
    if (this->made >= next_point_ && !is_whole) note_point(facts);
  }
}

// Starts what can start; returns the amount started.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::start_waiting(const Facts& facts, Effort& effort) {
  const RequestQueue& queue = facts.queue;
  const std::int64_t free_before = this->free;
  const std::int64_t now = this->at;
  // Parts that end at the same instant share one end.
  std::int64_t end = k_never;
  std::int64_t ending = 0;
  const auto note_end = [&](std::int64_t end_of_it, std::int64_t amount) {
    if (ending > 0 && (end_of_it != end || amount > k_most_of_a_part - ending)) {
      EndsToCome::push(this->coming, {end, now, ending});
      ending = 0;
    }
    end = end_of_it;
    ending += amount;
  };
  for (; this->free > 0 && this->head < queue.size(); this->seek_head(queue, members)) {
    const Known& first = queue[this->head];
    if (first.release > now) break;
    if (first.release < now) last_delayed = now;
    const std::int64_t amount = std::min({this->free, first.amount - this->begun, k_most_of_a_part});
    parts.push_back({this->head, now, amount});
    if (first.duration != k_unknown) note_end(now + first.duration, amount);
    this->begun += amount;
    this->free -= amount;
    ++this->made;
    ++effort.parts;
  }
  note_end(k_never, 0);
  return free_before - this->free;
}

// --- memory ---

// Adds a point from which the lists begin, so many parts back: added facts often reach that far.
template <typename Unsigned>
void Schedule<Unsigned>::note_point(const Facts& facts) {
  // If more is settled than when it forgot last, forgetting may make the point unnecessary.
  if (settled_ < facts.settled) forget(facts, reached_by(facts));
  next_point_ = this->made + facts.logged_parts;
  const auto logged_parts = static_cast<std::size_t>(facts.logged_parts);
  const std::int64_t begin = std::max(logged, reached);
  if (parts.size() <= logged_parts || parts[parts.size() - logged_parts].start() <= begin) return;
  const std::int64_t instant = parts[parts.size() - logged_parts].start();
  const auto add_point = [&](std::int64_t of) {
    points.push_back({position()});
    walk_back(points.back(), facts, of);
  };
  if (points.empty()) add_point(begin);
  const auto waited = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
    return part.start() >= begin && part.start() > facts.queue[part.place()].release;
  });
  if (waited != parts.end() && waited->start() < instant)
    points.back().first_wait = std::min(points.back().first_wait, facts.queue[waited->place()].release);
  add_point(instant);
  thin_points();
  logged = instant;
  forget_lists_before(facts, instant);
  const std::size_t entries = std::max(this->coming.size(), parts.size() / 2);
  next_point_ = this->made + std::max(facts.logged_parts, static_cast<std::int64_t>(entries));
}

// The farther back, the fewer: of a point and the next one no more than twice as much is made as since then.
template <typename Unsigned>
void Schedule<Unsigned>::thin_points() {
  for (std::size_t i = 1; i + 1 < points.size();) {
    if (points[i + 1].made - points[i - 1].made > this->made - points[i + 1].made) {
      ++i;
      continue;
    }
    points[i - 1].first_wait = std::min(points[i - 1].first_wait, points[i].first_wait);
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

template <typename Unsigned>
std::int64_t Schedule<Unsigned>::reached_by(const Facts& facts) const {
  const std::vector<std::int64_t>& certain = facts.certain();
  std::int64_t earliest = std::min(facts.settled, this->at);
  for (const Part& part : parts) earliest = std::min(earliest, part.start() + certain[part.place()]);
  return earliest;
}

template <typename Unsigned>
void Schedule<Unsigned>::forget(const Facts& facts, std::int64_t reached_by_facts) {
  reached = reached_by_facts;
  settled_ = facts.settled;
  forget_lists_before(facts, std::max(reached, logged));
  if (logged <= reached) {
    points.clear();
  } else {
    points.erase(points.begin(), point_before(points, reached));
  }
  full_ = parts.capacity() + past.capacity();
}

template <typename Unsigned>
void Schedule<Unsigned>::forget_lists_before(const Facts& facts, std::int64_t instant) {
  const std::vector<std::int64_t>& certain = facts.certain();
  std::erase_if(parts,
                [&](const Part& part) { return part.start() < instant && certain[part.place()] == Facts::k_always; });
  const auto earlier = [](const End& end, std::int64_t limit) { return end.at() < limit; };
  past.erase(past.begin(), std::lower_bound(past.begin(), past.end(), instant, earlier));
  keep_little_room(parts);
  keep_little_room(past);
}

template <typename Unsigned>
Position<Unsigned>& Schedule<Unsigned>::first_position() {
  if (logged > reached) return points.front();
  return *this;
}

template <typename Unsigned>
std::size_t Schedule<Unsigned>::bytes() const {
  std::size_t bytes = room_of(this->coming) + room_of(marked) + room_of(parts) + room_of(past) + room_of(points);
  for (const auto& point : points) bytes += room_of(point.coming);
  return bytes;
}

// --- images ---

// REQUIRES: the instant is not before `reached`.
template <typename Unsigned>
Position<Unsigned> Schedule<Unsigned>::position_at(const Facts& facts, std::int64_t instant) const {
  if (instant >= logged) {
    OnePosition before = position();
    walk_back(before, facts, instant);
    return before;
  }
  Schedule again = *this;
  Effort effort;
  again.rewind(facts, instant, effort);
  again.run(facts, instant, std::numeric_limits<std::uint64_t>::max(), effort);
  return again.position();
}

template <typename Unsigned>
void Schedule<Unsigned>::reduce_to_image(const Facts& facts, std::int64_t time) {
  Point<Unsigned> first{position_at(facts, reached)};
  this->seek_head(facts.queue, members);
  first.seek_head(facts.queue, members);
  this->normalize();
  first.normalize();
  points = {std::move(first)};
  logged = time;
  forget_lists_before(facts, time);
}

template <typename Unsigned>
bool Schedule<Unsigned>::is_sound(const Facts& facts, std::int64_t time) const {
  SHAPLEY_REQUIRE(points.size() == 1);
  const Point<Unsigned>& first = points.front();
  if (!OnePosition::is_sound(facts.queue) || !first.is_sound(facts.queue)) return false;
  if (first.at != reached || first.at > this->at || this->head < first.head) return false;
  if (marked.size() > facts.marks.size()) return false;
  std::uint32_t place = 0;
  std::int64_t start = std::numeric_limits<std::int64_t>::min();
  for (const Part& part : parts) {
    if (part.place() < place || part.place() >= facts.queue.size() || part.place() > this->head) return false;
    if (part.start() < start || part.start() >= time || part.amount() <= 0) return false;
    if ((facts.queue[part.place()].owner & members) == 0) return false;
    place = part.place();
    start = part.start();
  }
  return true;
}

template <typename Unsigned>
void Schedule<Unsigned>::begin_again(const Facts& facts, std::int64_t time) {
  next = std::numeric_limits<std::int64_t>::min();
  logged = last_delayed = time;
  points.front().first_wait = std::numeric_limits<std::int64_t>::min();
  for_each_position([&](OnePosition& position) {
    const auto later = std::partition_point(facts.changes.begin(), facts.changes.end(),
                                            [&](const CapacityChange& change) { return change.at < position.at; });
    position.changes = static_cast<std::size_t>(later - facts.changes.begin());
    EndsToCome::make(position.coming);
  });
  if (!is_whole) return;
  Effort effort;
  rewind(facts, reached, effort);
  points.clear();
  run(facts, time, std::numeric_limits<std::uint64_t>::max(), effort);
}

template class Schedule<std::uint64_t>;
template class Schedule<UInt128>;

}  // namespace shapley::hindsight
