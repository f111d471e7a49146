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
std::size_t Schedule<Unsigned>::first_candidate(const RequestQueue& queue, std::uint32_t place) const {
  const auto by_place = [](const Part& part, std::uint32_t sought) { return part.place() < sought; };
  const auto by_start = [](const Part& part, std::int64_t release) { return part.start() < release; };
  const auto first = queue.is_fcfs() ? std::lower_bound(parts.begin(), parts.end(), place, by_place)
                                     : std::lower_bound(parts.begin(), parts.end(), queue[place].release, by_start);
  return static_cast<std::size_t>(first - parts.begin());
}

template <typename Unsigned>
std::int64_t Schedule<Unsigned>::first_start(const RequestQueue& queue, std::uint32_t place) const {
  std::int64_t start = k_never;
  if (!this->has_begun(queue, place)) return start;
  for_parts_of(queue, place, [&](const Part& part) {
    start = part.start();
    return false;
  });
  return start;
}

template <typename Unsigned>
std::int64_t Schedule<Unsigned>::learn(const Facts& facts, std::span<const Request> ended) {
  const auto later = [](std::int64_t instant, const End& other) { return instant < other.at(); };
  std::int64_t wrong = k_never;
  this->seek_head(facts.queue, members);
  this->seek_waiting(facts.queue, members);
  for (const Request request : ended) {
    const std::uint32_t place = facts.queue.place_of(request);
    const Known& known = facts.queue[place];
    if ((known.owner & members) == 0 || !this->has_begun(facts.queue, place)) continue;
    for_parts_of(facts.queue, place, [&](const Part& part) {
      const End end{part.start() + known.duration, part.start(), part.amount(), part.kind()};
      this->end_part(end);
      for (auto point = points.rbegin(); point != points.rend() && point->at > end.start(); ++point)
        point->end_part(end);
      if (end.at() >= this->at) return true;
      if (end.at() >= logged) past.insert(std::upper_bound(past.begin(), past.end(), end.at(), later), end);
      for (std::size_t mark = marked.size(); mark-- > 0 && facts.marks[mark] > end.at();)
        marked[mark].change(end.at(), -end.amount());
      wrong = std::min(wrong, first_wait(facts, end.at(), end.kind()));
      return true;
    });
  }
  return wrong;
}

template <typename Unsigned>
void Schedule<Unsigned>::change_end(const RequestQueue& queue, std::uint32_t place, std::int64_t before,
                                    std::int64_t after) {
  if (!this->has_begun(queue, place)) return;
  for_parts_of(queue, place, [&](const Part& part) {
    const auto end_after = [&](std::int64_t duration) {
      return End{part.start() + duration, part.start(), part.amount(), part.kind()};
    };
    for_each_position([&](OnePosition& position) {
      if (part.start() >= position.at) return;
      position.drop_coming(end_after(before));
      if (after != k_unknown) EndsToCome::push(position.coming, end_after(after));
    });
    return true;
  });
}

// Every request behind `place` moved one further.
template <typename Unsigned>
void Schedule<Unsigned>::shift_places(const RequestQueue& queue, std::uint32_t place) {
  // What comes behind is not released earlier.
  for (auto part = parts.rbegin(); part != parts.rend() && part->start() >= queue[place].release; ++part) {
    if (part->place() >= place) {
      part->set_place(part->place() + 1);
    } else if (queue.is_fcfs()) {
      return;
    }
  }
}

// None of those that moved has started if the owner is a member.
template <typename Unsigned>
void Schedule<Unsigned>::make_room(const RequestQueue& queue, std::uint32_t place) {
  shift_places(queue, place);
  const bool is_member = (members & queue[place].owner) != 0;
  for_each_position([&](OnePosition& position) { position.make_room(place, is_member); });
}

template <typename Unsigned>
void Schedule<Unsigned>::split(const RequestQueue& queue, std::uint32_t place, std::int64_t amount) {
  const bool is_member = (members & queue[place].owner) != 0;
  shift_places(queue, place);
  for_each_position([&](OnePosition& position) { position.split(place, amount, is_member); });
  if (is_member && this->has_begun(queue, place)) give_to_first(queue, place, amount);
}

// The first `amount` of what the request behind `place` has started now belongs to the request at `place`.
template <typename Unsigned>
void Schedule<Unsigned>::give_to_first(const RequestQueue& queue, std::uint32_t place, std::int64_t amount) {
  for (std::size_t i = first_candidate(queue, place + 1); i < parts.size() && amount > 0; ++i) {
    const Part part = parts[i];
    if (part.place() != place + 1) continue;
    const std::int64_t rest = part.amount() - amount;
    if (rest > 0) {
      parts[i] = {place, part.start(), amount, part.kind()};
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, {place + 1, part.start(), rest, part.kind()});
      return;
    }
    parts[i].set_place(place);
    amount = -rest;
  }
}

// The first release of the requests of which a part counts(part, known, form) that started during [from, until).
template <typename Unsigned>
template <typename Counts>
std::int64_t Schedule<Unsigned>::first_release(const RequestQueue& queue, std::int64_t from, std::int64_t until,
                                               Counts&& counts) const {
  const auto earlier = [](const Part& part, std::int64_t instant) { return part.start() < instant; };
  std::int64_t first = k_never;
  for (auto part = std::lower_bound(parts.begin(), parts.end(), from, earlier); part != parts.end(); ++part) {
    const bool is_found = first != k_never && queue.is_fcfs();
    if (part->start() >= until || is_found) break;
    const Known& known = queue[part->place()];
    if (counts(*part, known, queue.forms()[known.form])) first = std::min(first, known.release);
  }
  return first;
}

// The first release of the requests that wait now and could use the kind.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::first_that_waits(const Facts& facts, Kind kind) const {
  const RequestQueue& queue = facts.queue;
  std::int64_t first = k_never;
  for (const Waiting& of : this->waiting) {
    const Form& form = queue.forms()[of.form];
    if (form.width <= widest[kind] && form.may_use(kind)) first = std::min(first, queue[of.place].release);
  }
  if (this->head < queue.size() && queue[this->head].release < this->at)
    first = std::min(first, queue[this->head].release);
  return first;
}

// An instant at or before the first one from `from` on at which a request waits for the kind, or starts in another one
// for want of it; k_never if no request does.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::first_wait(const Facts& facts, std::int64_t from, Kind kind) const {
  std::int64_t first = first_that_waits(facts, kind);
  if (last_delayed >= from) {
    if (from < logged) {
      for (auto point = point_before(points, from); point != points.end() && point->at < logged; ++point)
        first = std::min(first, point->first_wait);
    }
    if (first > from) {
      // What waited until `from` and started then would have started then, too.
      const auto counts = [=](const Part& part, const Known& known, const Form& form) {
        const bool has_waited = part.start() > std::max(known.release, from);
        return (has_waited || part.kind() != form.kinds.front()) && form.may_use(kind);
      };
      first = std::min(first, first_release(facts.queue, from, k_never, counts));
    }
  }
  return first == k_never ? k_never : std::max(from, first);
}

// --- back and forth ---

// Moves the position back to `to` by the lists. REQUIRES: `to` is not before the lists begin.
template <typename Unsigned>
void Schedule<Unsigned>::walk_back(OnePosition& position, const Facts& facts, std::int64_t to) const {
  for (auto end = past.rbegin(); end != past.rend() && end->at() >= to; ++end) {
    position.value.change(end->at(), end->amount());
    position.pools[end->kind()].free -= end->amount();
    if (end->start() < to) EndsToCome::push(position.coming, *end);
  }
  bool end_comes = false;  // an end to come may belong to a part that is taken back
  for (auto part = parts.rbegin(); part != parts.rend() && part->start() >= to; ++part) {
    position.take_back(facts.queue, *part);
    end_comes = end_comes || facts.queue[part->place()].duration != k_unknown;
  }
  position.take_back_releases(facts.queue, to);
  if (end_comes) {
    std::erase_if(position.coming, [to](const End& end) { return end.start() >= to; });
    EndsToCome::make(position.coming);
  }
  for (; position.changes > 0 && facts.changes[position.changes - 1].at >= to; --position.changes) {
    const CapacityChange& change = facts.changes[position.changes - 1];
    if ((change.owner & members) != 0) position.pools[change.kind].change_size(-change.by, facts.processor);
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
  const RequestQueue& queue = facts.queue;
  this->seek_waiting(queue, members);
  // What waits starts at instants at which something becomes free: so does what an end that became known made room for.
  bool may_start = this->first_fitting(queue) < this->waiting.size();
  while (true) {
    this->seek_head(queue, members);
    this->pass_changes_of_others(facts.changes, members);
    next = this->coming.empty() ? k_never : this->coming.front().at();
    if (this->changes < facts.changes.size()) next = std::min(next, facts.changes[this->changes].at);
    if (this->head < queue.size() && this->has_free())
      next = std::min(next, std::max(queue[this->head].release, this->at));
    if (may_start) next = this->at;
    note_marks(facts, std::min(next, until));
    this->at = std::min(next, until);
    if (next >= until) return true;
    if (effort.parts >= most) return false;
    may_start = false;
    std::int64_t more = -end_parts();  // by how much the running amount grows
    change_pools(facts);
    more += start_waiting(facts, effort);
    if (more != 0) this->value.change(next, more);
    this->at = next + 1;
    if (this->made >= next_point_ && !is_whole) note_point(facts);
  }
}

// Ends what ends at `at`; returns its amount.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::end_parts() {
  std::vector<End>& ends = this->coming;
  std::int64_t amount = 0;
  while (!ends.empty() && ends.front().at() == this->at) {
    const End& end = ends.front();
    amount += end.amount();
    this->pools[end.kind()].free += end.amount();
    past.push_back(end);
    EndsToCome::pop(ends);
  }
  return amount;
}

template <typename Unsigned>
void Schedule<Unsigned>::change_pools(const Facts& facts) {
  for (; this->changes < facts.changes.size() && facts.changes[this->changes].at == this->at; ++this->changes) {
    const CapacityChange& change = facts.changes[this->changes];
    if ((change.owner & members) == 0) continue;
    Pool& pool = this->pools[change.kind];
    pool.change_size(change.by, facts.processor);
    widest[change.kind] = std::max(widest[change.kind], pool.size);
  }
}

// Starts what can start; returns the amount started. First those that wait, then those that are released now.
template <typename Unsigned>
std::int64_t Schedule<Unsigned>::start_waiting(const Facts& facts, Effort& effort) {
  const RequestQueue& queue = facts.queue;
  // Parts that end at the same instant in one kind share one end.
  End shared{0, 0, 0};
  const auto note_end = [&](const End& end) {
    if (shared.is_like(end) && end.amount() <= k_most_of_a_part - shared.amount()) {
      shared = {end.at(), end.start(), shared.amount() + end.amount(), end.kind()};
      return;
    }
    if (shared.amount() > 0) EndsToCome::push(this->coming, shared);
    shared = end;
  };
  std::int64_t started = 0;
  while (true) {
    const std::size_t first = this->first_fitting(queue);
    if (first == this->waiting.size()) break;
    const std::int64_t amount = start(facts, this->waiting[first], effort, note_end);
    started += amount;
    this->begin_waiting(first, amount, queue, members);
  }
  for (; this->has_free(); this->seek_head(queue, members)) {
    if (this->head == queue.size() || queue[this->head].release > this->at) break;
    Waiting of{queue[this->head].form, this->head, 0};
    ++this->head;
    if (this->does_wait(of.form)) continue;  // the one in front of it does not fit, so nor does it
    of.begun = start(facts, of, effort, note_end);
    started += of.begun;
    if (of.begun < queue[of.place].amount) this->waiting.push_back(of);
  }
  note_end({0, 0, 0});
  return started;
}

// Starts at `at` what fits of a request; returns its amount.
template <typename Unsigned>
template <typename NoteEnd>
std::int64_t Schedule<Unsigned>::start(const Facts& facts, const Waiting& of, Effort& effort, NoteEnd&& note_end) {
  const Known& known = facts.queue[of.place];
  const Form& form = facts.queue.forms()[of.form];
  const std::int64_t now = this->at;
  std::int64_t left = known.amount - of.begun;
  for (const Kind kind : form.kinds) {
    const std::int64_t room = this->pools[kind].room_for(form);
    if (room < std::max<std::int64_t>(form.width, 1)) continue;
    std::int64_t amount = std::min(room, left);
    if (form.width > 0) amount = known.is_charged_apart != 0 ? left : std::min(room - room % form.width, left);
    if (known.release < now || kind != form.kinds.front()) last_delayed = now;
    this->pools[kind].free -= amount;
    left -= amount;
    while (amount > 0) {
      const std::int64_t part = std::min(amount, k_most_of_a_part);
      parts.push_back({of.place, now, part, kind});
      if (known.duration != k_unknown) note_end(End{now + known.duration, now, part, kind});
      amount -= part;
      ++this->made;
      ++effort.parts;
    }
    if (left == 0) break;
  }
  return known.amount - of.begun - left;
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
  const auto counts = [](const Part& part, const Known& known, const Form& form) {
    return part.start() > known.release || part.kind() != form.kinds.front();
  };
  points.back().first_wait = std::min(points.back().first_wait, first_release(facts.queue, begin, instant, counts));
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
  // What was forgotten stays so, also where a checkpoint says less than what it was forgotten by.
  return std::max(earliest, reached);
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
  const auto of_position = [](const OnePosition& position) {
    return room_of(position.coming) + room_of(position.pools) + room_of(position.waiting);
  };
  std::size_t bytes = of_position(*this) + room_of(marked) + room_of(parts) + room_of(past) + room_of(points);
  for (const auto& point : points) bytes += of_position(point);
  return bytes + room_of(widest);
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
  this->normalize(facts.queue, members);
  first.normalize(facts.queue, members);
  points = {std::move(first)};
  logged = time;
  forget_lists_before(facts, time);
}

template <typename Unsigned>
bool Schedule<Unsigned>::is_sound(const Facts& facts, std::int64_t time) const {
  SHAPLEY_REQUIRE(points.size() == 1);
  const Point<Unsigned>& first = points.front();
  if (!OnePosition::is_sound(facts, members) || !first.is_sound(facts, members)) return false;
  if (first.at != reached || first.at > this->at || this->head < first.head) return false;
  if (marked.size() > facts.marks.size()) return false;
  std::int64_t start = std::numeric_limits<std::int64_t>::min();
  for (const Part& part : parts) {
    if (part.place() >= facts.queue.size() || !this->has_begun(facts.queue, part.place())) return false;
    const Known& known = facts.queue[part.place()];
    if (part.start() < std::max(start, known.release) || part.start() >= time || part.amount() <= 0) return false;
    if ((known.owner & members) == 0 || part.kind() >= facts.kinds) return false;
    start = part.start();
  }
  const auto by_place = [](const Part& a, const Part& b) { return a.place() < b.place(); };
  return !facts.queue.is_fcfs() || std::is_sorted(parts.begin(), parts.end(), by_place);
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
    for (Pool& pool : position.pools) pool.change_size(0, facts.processor);
  });
  note_widest(facts);
  if (!is_whole) return;
  Effort effort;
  rewind(facts, reached, effort);
  points.clear();
  run(facts, time, std::numeric_limits<std::uint64_t>::max(), effort);
}

template <typename Unsigned>
void Schedule<Unsigned>::note_widest(const Facts& facts) {
  std::vector<Pool> pools = points.front().pools;
  widest.resize(pools.size());
  for (std::size_t kind = 0; kind < pools.size(); ++kind) widest[kind] = pools[kind].size;
  for (std::size_t i = points.front().changes; i < this->changes; ++i) {
    const CapacityChange& change = facts.changes[i];
    if ((change.owner & members) == 0) continue;
    pools[change.kind].size += change.by;
    widest[change.kind] = std::max(widest[change.kind], pools[change.kind].size);
  }
}

template class Schedule<std::uint64_t>;
template class Schedule<UInt128>;

}  // namespace shapley::hindsight
