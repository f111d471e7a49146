// The figures of a month's statement and of a history (reports/statement.hpp) from the stretches of time
// (stretches.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/stretches.hpp"
#include "ledger/reports/worth_report.hpp"
#include "reports/statement.hpp"

namespace shapley::ledger {

struct IntervalAsked {
  Instant since = {};
  Instant until = {};  // > since
  // More was asked for than is known, so that what happened at `until` itself is of that time.
  bool with_until = false;
  accounting::EstimatorId estimator;   // of phi and of what was given
  std::vector<std::string> only = {};  // names of organizations; empty: all of them
  // For a statement: the figures of closed periods by what was known then, instead of at the end of each.
  std::optional<Instant> as_of = std::nullopt;
};

// What every organization got and gave, what it lent to each other one, and which users of which accounts got it.
// REQUIRES: as for_each_stretch, and books that reach to `as_of`. Errc::invalid_argument names an organization of
// `only` that the books do not know, or, with `as_of`, an end of the time at which no period begins: for other instants
// later knowledge is not kept.
[[nodiscard]] Expected<AccountReport> statement_report(PastBooks& books, const IntervalAsked& asked);

[[nodiscard]] std::optional<Interval> parse_interval(std::string_view name);
// "10s, minute, 10min, hour, 6h, day or month"
[[nodiscard]] std::string interval_names();
// The shortest interval of which [0, span) has at most `most`; days if none is long enough.
[[nodiscard]] Interval shortest_interval(Duration span, std::int64_t most);

// The instants in (since, until) at which an interval of that kind (UTC) begins.
[[nodiscard]] std::vector<Instant> begins_between(Interval interval, Instant since, Instant until);

// A row for each interval and organization, from the interval in which the books begin: the books at its end, and what
// happened in it; `with_utilization`: what nodes were used for, too. Errors as above, and if more than 2,000 intervals
// shorter than an hour are requested.
[[nodiscard]] Expected<HistoryReport> history_report(PastBooks& books, const IntervalAsked& asked, Interval by,
                                                     bool with_utilization = false);

}  // namespace shapley::ledger
