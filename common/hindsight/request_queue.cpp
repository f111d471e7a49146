#include "hindsight/request_queue.hpp"

#include <algorithm>

namespace shapley::hindsight {

bool RequestQueue::before(const Known& a, const Known& b) const {
  if (a.release != b.release) return a.release < b.release;
  if (a.owner != b.owner) {
    const std::uint32_t rank_a = rank_of(a);
    const std::uint32_t rank_b = rank_of(b);
    if (rank_a != rank_b) return rank_a < rank_b;
  }
  return a.order < b.order;
}

std::uint32_t RequestQueue::insert(Known known) {
  const auto position = std::upper_bound(queue_.begin(), queue_.end(), known,
                                         [this](const Known& a, const Known& b) { return before(a, b); });
  const auto place = static_cast<std::uint32_t>(position - queue_.begin());
  insert_at(place, known);
  return place;
}

void RequestQueue::insert_at(std::uint32_t place, Known known) {
  known.name = static_cast<Request>(first_name_ + place_.size());
  for (std::size_t i = place; i < queue_.size(); ++i) ++place_[queue_[i].name - first_name_];
  queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(place), known);
  place_.push_back(place);
}

void RequestQueue::move_withdrawn_before(std::uint32_t place, const Order& order) {
  const Known& known = queue_[place];
  for (; place > 0; --place) {
    Known& front = queue_[place - 1];
    const bool is_like = front.owner == known.owner && front.release == known.release;
    if (!is_like || front.amount != 0 || front.order <= order) return;
    front.order = order;
  }
}

bool RequestQueue::is_ordered() const {
  return std::is_sorted(queue_.begin(), queue_.end(), [this](const Known& a, const Known& b) { return before(a, b); });
}

std::vector<std::uint32_t> RequestQueue::drop(const std::vector<bool>& keep) {
  std::vector<std::uint32_t> moved(queue_.size() + 1);
  std::uint32_t kept = 0;
  for (std::uint32_t place = 0; place < keep.size(); ++place) {
    moved[place] = kept;
    Known& known = queue_[place];
    place_[known.name - first_name_] = keep[place] ? kept : k_dropped;
    if (keep[place]) queue_[kept++] = known;
  }
  moved[keep.size()] = kept;
  queue_.resize(kept);
  const auto first = std::find_if(place_.begin(), place_.end(), [](std::uint32_t place) { return place != k_dropped; });
  first_name_ += static_cast<Request>(first - place_.begin());
  place_.erase(place_.begin(), first);
  return moved;
}

void RequestQueue::rename() {
  first_name_ = 0;
  place_.clear();
  for (Known& known : queue_) {
    known.name = static_cast<Request>(place_.size());
    place_.push_back(known.name);
  }
}

}  // namespace shapley::hindsight
