// An independent witness for State: the books computed second by second and node by node from the bare list of events,
// with none of State's ideas: no sums in closed form, no breakpoints, no cursor, no order. Slow and plain on purpose.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting::naive {

struct Row {
  Int128 psi = 0, got = 0;
  std::map<std::string, Credit, std::less<>> credits;        // by estimator, estimators()
  std::int64_t charged = 0, waiting = 0;                     // by the rule of charge
  std::int64_t owned = 0, used = 0, lent = 0, borrowed = 0;  // in processors
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

// What a coalition, named by its members, would have produced alone in the period.
struct Alone {
  Int128 utility = 0, work = 0;  // what is not known to have ended never ends
  Int128 utility_if_ended = 0;   // what runs ends now, and what waits is withdrawn
};
using Members = std::set<std::string>;

// Of every coalition of those who had asked, run or offered anything before the period's end.
[[nodiscard]] std::map<Members, Alone> coalitions(const std::vector<Event>& events, const Span& span);

}  // namespace shapley::accounting::naive
