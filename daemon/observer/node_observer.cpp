// What a node offers, against the books.
#include <algorithm>
#include <utility>

#include "daemon/observer/observer.hpp"

namespace shapley::daemon {

namespace {

// `now` is what the node offers, is worth and has at its `at`.
Observation observe_capacity(const accounting::State& books, accounting::CapacityChanged now,
                             std::optional<Instant> last_change) {
  Observation out;
  const accounting::CapacityChanged* known = books.last_capacity(now.node);
  // A node that is worth nothing and was never heard of needs no event. One that drains may have runs.
  if (known == nullptr && now.processors.value == 0 && now.whole.value == 0) return out;
  if (known != nullptr) {
    accounting::CapacityChanged as_known = now;
    as_known.at = known->at;
    as_known.ordinal = known->ordinal;
    if (as_known == *known) return out;
    last_change = std::max(last_change.value_or(known->at), known->at);
  }
  if (last_change && *last_change > now.at) return out;
  if (last_change == now.at) {
    out.unsettled = true;
    return out;
  }
  out.events.emplace_back(std::move(now));
  return out;
}

}  // namespace

Observation observe_node(const accounting::State& books, const protocol::NodeRecord& record, Instant observed_at,
                         std::optional<Instant> last_change, const ReadingRules& rules) {
  accounting::CapacityChanged now = rules.charging.capacity_of(record);
  now.at = observed_at;
  return observe_capacity(books, std::move(now), last_change);
}

Observation observe_gone_node(const accounting::State& books, const std::string& node, Instant observed_at,
                              std::optional<Instant> last_change) {
  accounting::CapacityChanged now{.node = node, .at = observed_at};
  if (const accounting::CapacityChanged* known = books.last_capacity(node)) now = *known;
  now.at = observed_at;
  now.ordinal = 0;
  now.processors = {};
  return observe_capacity(books, std::move(now), last_change);
}

}  // namespace shapley::daemon
