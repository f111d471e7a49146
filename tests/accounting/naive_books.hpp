// An independent witness for State: the books computed second by second and node by node from the bare list of events,
// with none of State's ideas: no sums in closed form, no breakpoints, no cursor, no order. Slow and plain on purpose.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting::naive {

struct Row {
  Int128 psi = 0, got = 0;
  std::map<std::string, Credit, std::less<>> credits;  // by estimator, estimators()
  std::int64_t owned = 0, used = 0, waiting = 0, lent = 0, borrowed = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

// The estimators that have a witness here.
[[nodiscard]] std::span<const std::string_view> estimators();

// Seconds from `first` on, when everything began: a period [begin, end), valued at its end; the second whose levels are
// wanted; and the present, until which everything is known.
struct Span {
  Instant first;
  Instant begin;
  Instant end;
  Instant levels_at;
  Instant now;
};

// By organization's name.
[[nodiscard]] std::map<std::string, Row> books(const std::vector<Event>& events, const Span& span);

}  // namespace shapley::accounting::naive
