#include "accounting/ownership/ownership.hpp"

#include <iterator>

#include "base/contract.hpp"

namespace shapley::accounting {

namespace {

const Owners& commons_only() {
  static const Owners owners{{k_commons_id, k_whole_node}};
  return owners;
}

}  // namespace

Ownership::Ownership() : timeline_{{k_beginning_of_time, commons_only()}} {}

void Ownership::state(Place place, std::vector<Span> spans, Instant now) {
  SHAPLEY_REQUIRE(!statements_.contains(place));
  statements_.emplace(place, std::move(spans));
  timeline_.assign(1, {k_beginning_of_time, commons_only()});
  for (auto it = statements_.begin(); it != statements_.end(); ++it) {
    const Instant effective = it->first.first;
    const auto next = std::next(it);
    const Instant until = next == statements_.end() ? k_end_of_time : next->first.first;
    if (until == effective) continue;  // a later revision replaces it
    const Owners* at_effective = &commons_only();
    for (const Span& span : it->second) {
      if (span.from <= effective) at_effective = &span.owners;
    }
    extend(effective, *at_effective);
    for (const Span& span : it->second) {
      if (span.from > effective && span.from < until) extend(span.from, span.owners);
    }
  }
  in_force_ = 1;
  hand_over(now);
}

void Ownership::extend(Instant from, const Owners& owners) {
  // A statement that repeats what holds already must not split anything.
  if (timeline_.back().owners != owners) timeline_.push_back({from, owners});
}

std::optional<Instant> Ownership::next_hand_over() const {
  if (in_force_ == timeline_.size()) return std::nullopt;
  return timeline_[in_force_].from;
}

void Ownership::hand_over(Instant t) {
  while (in_force_ < timeline_.size() && timeline_[in_force_].from <= t) ++in_force_;
}

}  // namespace shapley::accounting
