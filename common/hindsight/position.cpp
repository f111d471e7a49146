#include "hindsight/position.hpp"

#include <algorithm>

namespace shapley::hindsight {

const std::vector<std::int64_t>& Facts::certain() const {
  if (!certain_.empty()) return certain_;
  for (const Known& known : queue.all()) {
    const bool has_run = known.really_began < outcomes_settled;
    certain_.push_back(is_final(known) ? k_always : has_run ? outcomes_settled - known.really_began : 0);
  }
  return certain_;
}

std::size_t Facts::bytes() const {
  return queue.bytes() + changes.capacity() * sizeof(CapacityChange) +
         (marks.capacity() + certain_.capacity()) * sizeof(std::int64_t);
}

template <typename Unsigned>
void Position<Unsigned>::end_part(const End& end) {
  if (end.at() >= at) return EndsToCome::push(coming, end);
  pools[end.kind()].free += end.amount();
  value.change(end.at(), -end.amount());
}

template <typename Unsigned>
void Position<Unsigned>::drop_coming(const End& end) {
  std::int64_t left = end.amount();
  for (End& alike : coming) {
    if (!alike.is_like(end)) continue;
    const std::int64_t amount = std::min(alike.amount(), left);
    alike = {end.at(), end.start(), alike.amount() - amount, end.kind()};
    left -= amount;
  }
  std::erase_if(coming, [](const End& other) { return other.amount() == 0; });
  EndsToCome::make(coming);
}

template <typename Unsigned>
bool Position<Unsigned>::seek(Waiting& of, const RequestQueue& queue, Coalition members) const {
  while (of.place < head) {
    const Known& known = queue[of.place];
    if ((known.owner & members) != 0 && known.amount != of.begun) return true;
    of = {of.form, queue.next_alike(of.place), 0};
  }
  return false;
}

template <typename Unsigned>
void Position<Unsigned>::seek_waiting(const RequestQueue& queue, Coalition members) {
  std::erase_if(waiting, [&](Waiting& of) { return !seek(of, queue, members); });
}

template <typename Unsigned>
void Position<Unsigned>::gather(const RequestQueue& queue, Coalition members) {
  for (seek_head(queue, members); head < queue.size() && queue[head].release < at; seek_head(queue, members)) {
    if (!does_wait(queue[head].form)) waiting.push_back({queue[head].form, head, 0});
    ++head;
  }
}

template <typename Unsigned>
bool Position<Unsigned>::has_begun(const RequestQueue& queue, std::uint32_t place) const {
  if (place >= head) return false;
  const FormId form = queue[place].form;
  return std::ranges::none_of(waiting, [&](const Waiting& of) {
    return of.form == form && (place > of.place || (place == of.place && of.begun == 0));
  });
}

template <typename Unsigned>
std::size_t Position<Unsigned>::first_fitting(const RequestQueue& queue) const {
  std::size_t first = waiting.size();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const bool is_earlier = first == waiting.size() || waiting[i].place < waiting[first].place;
    if (is_earlier && fits(queue.forms()[waiting[i].form])) first = i;
  }
  return first;
}

template <typename Unsigned>
void Position<Unsigned>::begin_waiting(std::size_t index, std::int64_t amount, const RequestQueue& queue,
                                       Coalition members) {
  waiting[index].begun += amount;
  if (seek(waiting[index], queue, members)) return;
  waiting[index] = waiting.back();
  waiting.pop_back();
}

template <typename Unsigned>
void Position<Unsigned>::take_back(const RequestQueue& queue, const Part& part) {
  const Known& known = queue[part.place()];
  value.change(part.start(), -part.amount());
  pools[part.kind()].free += part.amount();
  --made;
  auto of = std::ranges::find(waiting, known.form, &Waiting::form);
  if (of == waiting.end()) of = waiting.insert(of, {known.form, part.place(), known.amount});
  if (of->place != part.place()) *of = {known.form, part.place(), known.amount};
  of->begun -= part.amount();
}

template <typename Unsigned>
void Position<Unsigned>::take_back_releases(const RequestQueue& queue, std::int64_t to) {
  if (head > 0 && queue[head - 1].release >= to) {
    const auto first = queue.all().begin();
    const auto released = std::partition_point(first, first + static_cast<std::ptrdiff_t>(head),
                                               [to](const Known& known) { return known.release < to; });
    head = static_cast<std::uint32_t>(released - first);
  }
  std::erase_if(waiting, [this](const Waiting& of) { return of.place >= head; });
}

template <typename Unsigned>
void Position<Unsigned>::make_room(std::uint32_t place, bool is_member) {
  for (Waiting& of : waiting) of.place += of.place >= place ? 1 : 0;
  if (is_member) {
    head = std::min(head, place);
  } else if (head >= place) {
    ++head;
  }
}

template <typename Unsigned>
void Position<Unsigned>::split(std::uint32_t place, std::int64_t amount, bool is_member) {
  if (head > place || (head == place && !is_member)) ++head;
  for (Waiting& of : waiting) {
    if (of.place > place) {
      ++of.place;
    } else if (of.place == place && of.begun >= amount) {
      ++of.place;
      of.begun -= amount;
    }
  }
}

template <typename Unsigned>
void Position<Unsigned>::move(const RequestQueue::Moved& moved) {
  head = moved.places[head];
  for (Waiting& of : waiting) of = {moved.forms[of.form], moved.places[of.place], of.begun};
}

template <typename Unsigned>
void Position<Unsigned>::normalize(const RequestQueue& queue, Coalition members) {
  seek_waiting(queue, members);
  gather(queue, members);
  std::ranges::sort(waiting, {}, &Waiting::place);
  std::sort(coming.begin(), coming.end());
  std::size_t kept = 0;
  for (const End& end : coming) {
    End* const last = kept > 0 ? &coming[kept - 1] : nullptr;
    if (last != nullptr && last->is_like(end) && end.amount() <= k_most_of_a_part - last->amount()) {
      *last = {end.at(), end.start(), last->amount() + end.amount(), end.kind()};
    } else {
      coming[kept++] = end;
    }
  }
  coming.erase(coming.begin() + static_cast<std::ptrdiff_t>(kept), coming.end());
  made = 0;
}

template <typename Unsigned>
bool Position<Unsigned>::is_sound(const Facts& facts, Coalition members) const {
  const RequestQueue& queue = facts.queue;
  if (head > queue.size() || pools.size() != facts.kinds) return false;
  std::vector<bool> does_wait(queue.forms().size());
  for (const Waiting& of : waiting) {
    if (of.place >= head || of.form != queue[of.place].form || does_wait[of.form]) return false;
    if ((queue[of.place].owner & members) == 0 || of.begun < 0 || of.begun > queue[of.place].amount) return false;
    does_wait[of.form] = true;
  }
  return std::ranges::all_of(coming, [&](const End& end) {
    return end.amount() > 0 && end.start() < at && end.at() >= at && end.kind() < facts.kinds;
  });
}

template struct Position<std::uint64_t>;
template struct Position<UInt128>;

}  // namespace shapley::hindsight
