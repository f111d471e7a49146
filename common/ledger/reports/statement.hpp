// What a month's statement and a history tell, as JSON: from the stretches of time (stretches.hpp).
//
// Two amounts, which must not be mixed up. The *difference* is a sum, work given - work got since the period began, so
// that in every period
//     difference at the end = difference at the begin + given - got         [processor-seconds, exact]
// The *standing* is what `shapleyctl status` shows: the difference on average over the period so far (report.hpp). Both
// start again from zero where a period begins. docs/reference/shapleyctl.md lists every member.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accounting/estimators/table.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/stretches.hpp"

namespace shapley::ledger {

struct IntervalAsked {
  Instant since;
  Instant until;                       // > since
  accounting::EstimatorId estimator;   // of phi and of what was given
  std::vector<std::string> only = {};  // names of organizations; empty: all of them
  // Of a statement: the figures of closed periods by what was known then, instead of at the end of each.
  std::optional<Instant> as_of = std::nullopt;
};

// What everybody got and gave, who lent to whom, and which users of which accounts got it. REQUIRES: as
// for_each_stretch, and books that reach to `as_of`. Errc::invalid_argument names an organization of `only` that the
// books do not know, or, with `as_of`, an end of the time at which no period begins: what is known later of other
// instants is kept nowhere.
[[nodiscard]] Expected<nlohmann::json> statement_report(PastBooks& books, const IntervalAsked& asked);

enum class Interval { ten_seconds, minute, ten_minutes, hour, six_hours, day, month };
inline constexpr std::array k_intervals{Interval::ten_seconds, Interval::minute, Interval::ten_minutes, Interval::hour,
                                        Interval::six_hours,   Interval::day,    Interval::month};
[[nodiscard]] std::string_view name_of(Interval interval);
[[nodiscard]] std::optional<Interval> parse_interval(std::string_view name);
// "10s, minute, 10min, hour, 6h, day or month"
[[nodiscard]] std::string interval_names();
// The shortest interval of which [0, span) has at most `most`; days where none is long enough.
[[nodiscard]] Interval shortest_interval(Duration span, std::int64_t most);

// The instants in (since, until) at which an interval of that kind (UTC) begins.
[[nodiscard]] std::vector<Instant> begins_between(Interval interval, Instant since, Instant until);

// A row for each interval and organization, from the one in which the books begin: the books at its end, and what
// happened in it. Errors as above, and where more than 2,000 intervals shorter than an hour are asked for.
[[nodiscard]] Expected<nlohmann::json> history_report(PastBooks& books, const IntervalAsked& asked, Interval by);

}  // namespace shapley::ledger
