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
  free += end.amount();
  value.change(end.at(), -end.amount());
}

template <typename Unsigned>
void Position<Unsigned>::drop_coming(const End& end) {
  std::int64_t left = end.amount();
  for (End& alike : coming) {
    if (alike.at() != end.at() || alike.start() != end.start()) continue;
    const std::int64_t amount = std::min(alike.amount(), left);
    alike = {end.at(), end.start(), alike.amount() - amount};
    left -= amount;
  }
  std::erase_if(coming, [](const End& other) { return other.amount() == 0; });
  EndsToCome::make(coming);
}

template <typename Unsigned>
void Position<Unsigned>::make_room(std::uint32_t place, bool is_member) {
  if (is_member) {
    head = std::min(head, place);
  } else if (head >= place) {
    ++head;
  }
}

template <typename Unsigned>
void Position<Unsigned>::split(std::uint32_t place, std::int64_t amount, bool is_member) {
  if (head > place || (head == place && !is_member)) {
    ++head;
  } else if (head == place && begun >= amount) {
    ++head;
    begun -= amount;
  }
}

template <typename Unsigned>
void Position<Unsigned>::normalize() {
  std::sort(coming.begin(), coming.end());
  std::size_t kept = 0;
  for (const End& end : coming) {
    End* const last = kept > 0 ? &coming[kept - 1] : nullptr;
    if (last != nullptr && last->at() == end.at() && last->start() == end.start() &&
        end.amount() <= k_most_of_a_part - last->amount()) {
      *last = {end.at(), end.start(), last->amount() + end.amount()};
    } else {
      coming[kept++] = end;
    }
  }
  coming.erase(coming.begin() + static_cast<std::ptrdiff_t>(kept), coming.end());
  made = 0;
}

template <typename Unsigned>
bool Position<Unsigned>::is_sound(const RequestQueue& queue) const {
  if (head > queue.size() || begun < 0) return false;
  if (head == queue.size() ? begun != 0 : begun > queue[head].amount) return false;
  return std::all_of(coming.begin(), coming.end(),
                     [&](const End& end) { return end.amount() > 0 && end.start() < at && end.at() >= at; });
}

template struct Position<std::uint64_t>;
template struct Position<UInt128>;

}  // namespace shapley::hindsight
