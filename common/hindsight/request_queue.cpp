#include "hindsight/request_queue.hpp"

#include <algorithm>

namespace shapley::hindsight {

RequestQueue::RequestQueue(std::vector<std::uint32_t> ranks, std::vector<Form> forms) : ranks_(std::move(ranks)) {
  for (const Form& form : forms) (void)form_of(form);
}

FormId RequestQueue::form_of(const Form& form) {
  const auto [known, is_new] = form_ids_.try_emplace(form, static_cast<FormId>(forms_.size()));
  if (is_new) {
    forms_.push_back(form);
    last_.push_back(k_no_request);
  }
  return known->second;
}

void RequestQueue::add_kind_behind(Kind kind, Kind added) {
  form_ids_.clear();
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    forms_[i].add_behind(kind, added);
    form_ids_.emplace(forms_[i], static_cast<FormId>(i));
  }
}

bool RequestQueue::before(const Known& a, const Known& b) const {
  if (a.release != b.release) return a.release < b.release;
  if (a.owner != b.owner) {
    const std::uint32_t rank_a = rank_of(a);
    const std::uint32_t rank_b = rank_of(b);
    if (rank_a != rank_b) return rank_a < rank_b;
  }
  if (a.order.group != b.order.group) return a.order.group < b.order.group;
  if (a.form != b.form) return forms_[a.form] < forms_[b.form];
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
  link(place);
}

// Links a request with those of its form in front of it and behind it.
void RequestQueue::link(std::uint32_t place) {
  Known& known = queue_[place];
  const auto is_alike = [&](const Known& other) { return other.form == known.form; };
  Request& last = last_[known.form];
  known.next = k_no_request;
  if (last == k_no_request || place_of(last) < place) {
    if (last != k_no_request) queue_[place_of(last)].next = known.name;
    last = known.name;
    return;
  }
  const auto at = queue_.begin() + static_cast<std::ptrdiff_t>(place);
  known.next = std::find_if(at + 1, queue_.end(), is_alike)->name;
  const auto in_front = std::find_if(std::make_reverse_iterator(at), queue_.rend(), is_alike);
  if (in_front != queue_.rend()) in_front->next = known.name;
}

void RequestQueue::link_all() {
  last_.assign(forms_.size(), k_no_request);
  for (std::uint32_t place = 0; place < queue_.size(); ++place) link(place);
}

// Numbers the forms in the order of the first requests that have them. Returns for each old one its new number.
std::vector<FormId> RequestQueue::drop_forms() {
  std::vector<FormId> moved(forms_.size());
  const std::vector<Form> before = std::exchange(forms_, {});
  form_ids_.clear();
  last_.clear();
  for (Known& known : queue_) {
    const FormId form = form_of(before[known.form]);
    moved[known.form] = form;
    known.form = form & k_form_bits;
  }
  return moved;
}

std::size_t RequestQueue::bytes() const {
  constexpr std::size_t k_of_form = 2 * sizeof(Form) + 8 * sizeof(void*);
  return queue_.capacity() * sizeof(Known) + place_.capacity() * sizeof(std::uint32_t) + forms_.size() * k_of_form;
}

void RequestQueue::move_withdrawn_before(std::uint32_t place, const Order& order) {
  const Known& known = queue_[place];
  for (; place > 0; --place) {
    Known& front = queue_[place - 1];
    const bool is_like = front.owner == known.owner && front.release == known.release && front.form == known.form;
    if (!is_like || front.amount != 0 || front.order <= order) return;
    front.order = order;
  }
}

bool RequestQueue::is_ordered() const {
  return std::is_sorted(queue_.begin(), queue_.end(), [this](const Known& a, const Known& b) { return before(a, b); });
}

RequestQueue::Moved RequestQueue::drop(const std::vector<bool>& keep) {
  Moved moved{.places = std::vector<std::uint32_t>(queue_.size() + 1), .forms = {}};
  std::uint32_t kept = 0;
  for (std::uint32_t place = 0; place < keep.size(); ++place) {
    moved.places[place] = kept;
    Known& known = queue_[place];
    place_[known.name - first_name_] = keep[place] ? kept : k_dropped;
    if (keep[place]) queue_[kept++] = known;
  }
  moved.places[keep.size()] = kept;
  queue_.resize(kept);
  const auto first = std::find_if(place_.begin(), place_.end(), [](std::uint32_t place) { return place != k_dropped; });
  first_name_ += static_cast<Request>(first - place_.begin());
  place_.erase(place_.begin(), first);
  moved.forms = drop_forms();
  link_all();
  return moved;
}

void RequestQueue::rename() {
  first_name_ = 0;
  place_.clear();
  for (Known& known : queue_) {
    known.name = static_cast<Request>(place_.size());
    place_.push_back(known.name);
  }
  link_all();
}

}  // namespace shapley::hindsight
