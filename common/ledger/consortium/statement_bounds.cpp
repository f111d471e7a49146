#include "ledger/consortium/statement_bounds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "accounting/estimators/table.hpp"
#include "accounting/events/event.hpp"
#include "accounting/state/consortium.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"

namespace shapley::ledger {

namespace {

using accounting::ClusterFigures;
using accounting::OrganizationElsewhere;

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

// Whichever hours the other cluster counts: its statement does not say that.
std::string hours(Int128 work) {
  constexpr Int128 k_hour = Int128{3600} * k_micro;
  return grouped(magnitude(work) / k_hour) + " processor-hours";
}

Int128 whole_processors(Int128 millionths) {
  return (millionths + k_micro - 1) / k_micro;
}

Int128 processors_of(const ClusterFigures& figures) {
  Int128 owned = 0;
  for (const OrganizationElsewhere& row : figures.organizations) owned += std::max<Int128>(0, row.owned.value);
  return std::max<Int128>(figures.whole.value, owned);
}

std::string impossible(const OrganizationElsewhere& row, Int128 processors, Int128 seconds) {
  const std::string& name = row.organization;
  if (name == accounting::k_guests || name == accounting::k_commons) {
    return fmt::format("it has figures of {}, which is no organization of the consortium", name);
  }
  for (const auto& [held, word] : {std::pair{row.owned, "owns"}, {row.used, "uses"}, {row.waiting, "asks for"}}) {
    if (held.value < 0) return fmt::format("{} {} less than nothing there", name, word);
  }
  const std::string of = fmt::format("of {} processors whose books count for {}", grouped(whole_processors(processors)),
                                     short_duration(static_cast<std::int64_t>(seconds - k_facts_late.value)));
  const Int128 given = row.settled_given.value;
  const Int128 got = row.settled_got.value;
  const Int128 most = k_most_processors_left * processors * seconds;
  const Int128 work = row.figures.given_less_got.value - (given - got);
  if (magnitude(work) > most) {
    return name + (work > 0 ? " is owed " : " owes ") + hours(work) + ", which no cluster " + of + " has done";
  }
  const Int128 settled = magnitude(given) + magnitude(got);
  if (magnitude(row.figures.balance.value) > (most / 2 + settled) * (seconds + 1))
    return fmt::format("{}'s standing is more than any cluster's {}", name, of);
  if (magnitude(row.figures.rate_less_used.value) > 2 * std::max<Int128>(processors, row.used.value))
    return fmt::format("{} gives or gets more in a second than there is {}", name, of);
  return {};
}

}  // namespace

std::string impossible(const ClusterFigures& figures) {
  const Int128 processors = processors_of(figures);
  const Int128 seconds = (figures.time - figures.period_begin + k_facts_late).value;
  for (const OrganizationElsewhere& row : figures.organizations) {
    if (std::string fault = impossible(row, processors, seconds); !fault.empty()) return fault;
  }
  return {};
}

std::string jump(const ClusterFigures& next, const ClusterFigures& last) {
  const bool is_comparable = next.ledger == last.ledger && next.period_begin == last.period_begin &&
                             next.contribution == last.contribution && next.time >= last.time;
  const auto estimator = accounting::parse_estimator(next.contribution);
  // What coalitions would have got may change at once by as much as the past has been.
  const bool may_jump =
      estimator && accounting::estimators_with(&accounting::EstimatorRow::of_coalitions).contains(*estimator);
  if (!is_comparable || may_jump) return {};
  const Duration between = next.time - last.time;
  const Int128 seconds = (between + k_facts_late).value;
  const Int128 most = std::max(processors_of(next), processors_of(last)) * seconds;
  const OrganizationElsewhere none{};
  std::string largest;
  Int128 largest_work = -1;
  for (const OrganizationElsewhere& row : next.organizations) {
    const auto found = std::ranges::find(last.organizations, row.organization, &OrganizationElsewhere::organization);
    const OrganizationElsewhere& before = found == last.organizations.end() ? none : *found;
    accounting::KeyFigures carried = before.figures;
    carried.rate_less_used = {};
    carried = accounting::figures_after(carried, between);
    const Int128 work = row.figures.given_less_got.value - carried.given_less_got.value;
    const Int128 standing = row.figures.balance.value - carried.balance.value;
    const bool by_work = magnitude(work) > most;
    if ((!by_work && magnitude(standing) <= most * (seconds + 1)) || magnitude(work) <= largest_work) continue;
    largest_work = magnitude(work);
    const Int128 settled =
        row.settled_given.value - row.settled_got.value - before.settled_given.value + before.settled_got.value;
    const std::string time = short_duration(between.value);
    largest = by_work ? row.organization + (work < 0 ? " got " : " gave ") + hours(work) + " more in " + time +
                            " by its statements, more than the cluster can do" +
                            (settled == 0 ? "" : fmt::format("; {} of that by agreed amounts", hours(settled)))
                      : fmt::format(
                            "{}: in {} its standing by its statements moved by more than what it gave and got explains",
                            row.organization, time);
  }
  return largest;
}

}  // namespace shapley::ledger
