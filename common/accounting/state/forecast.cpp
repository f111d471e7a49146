#include "accounting/state/forecast.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "accounting/ownership/ownership.hpp"

namespace shapley::accounting {

namespace {

// Twice a difference of keys: square * d^2 + slope * d + constant. Its values stay below 2^127: processors below 2^43
// millionths, times below 2^33 seconds squared.
struct Quadratic {
  Int128 square = 0;
  Int128 slope = 0;
  Int128 constant = 0;
  [[nodiscard]] Int128 at(std::int64_t d) const { return (square * d + slope) * d + constant; }
};

Quadratic twice_key(const Course& course, const game::KeyTerms& terms) {
  const Duration horizon = terms.horizon;
  const Int128 rate = course.rate_less_used.value;
  const Int128 work = course.given_less_got.value;
  return {.square = rate,
          .slope = 2 * work + rate + 2 * rate * horizon.value,
          .constant = 2 * (course.balance.value + work * horizon.value + rate * terms.running_factor)};
}

Quadratic operator-(const Quadratic& a, const Quadratic& b) {
  return {a.square - b.square, a.slope - b.slope, a.constant - b.constant};
}

bool goes_first(const Course& a, const Course& b, bool a_wins_ties, Int128 key_difference) {
  if (a.below_guarantee != b.below_guarantee) return a.below_guarantee;
  return key_difference == 0 ? a_wins_ties : key_difference > 0;
}

// The first d in [first, last] for which `holds`, which is monotone there: once it holds it goes on, or the other way
// round.
template <typename Predicate>
std::optional<std::int64_t> first_of_stretch(std::int64_t first, std::int64_t last, const Predicate& holds) {
  if (first > last) return std::nullopt;
  if (holds(first)) return first;
  if (!holds(last)) return std::nullopt;
  while (last - first > 1) {
    const std::int64_t middle = first + (last - first) / 2;
    (holds(middle) ? last : first) = middle;
  }
  return last;
}

// The first d in [first, last] for which the quadratic's `holds`.
template <typename Predicate>
std::optional<std::int64_t> first_of(const Quadratic& q, std::int64_t first, std::int64_t last,
                                     const Predicate& holds) {
  std::int64_t vertex = last;
  if (q.square != 0) {
    const Int128 exact = floor_of_quotient(-q.slope, 2 * q.square);
    vertex = static_cast<std::int64_t>(std::clamp<Int128>(exact, first - 1, last));
  }
  if (const auto found = first_of_stretch(first, vertex, holds)) return found;
  return first_of_stretch(vertex + 1, last, holds);
}

}  // namespace

Outlook outlook(State& state, Instant t, EstimatorId estimator) {
  const std::vector<Standing> rows = state.standings(t, {estimator});
  const RankingDeclared rule = state.ranking_rule();
  const Instant at = state.now();
  const Instant dated = state.next_dated_change();
  const Instant longest = at + k_longest_forecast;
  Outlook outlook{.at = at,
                  .until = std::min(dated, longest),
                  .by_date = dated < longest,
                  .terms = state.key_terms(),
                  .courses = {}};
  for (const OrgId id : state.configured_order()) {
    if (id == k_commons_id) continue;  // it runs nothing
    const Standing& row = rows[id.value];
    const game::Guarantee guarantee = guarantee_of(rule, state.organizations()[id.value]);
    outlook.courses.push_back(
        {.organization = id,
         .balance = row.balance(estimator),
         .given_less_got = row.given(estimator) - row.got,
         .rate_less_used = MicroProcessors{row.rate(estimator).value - row.used.value},
         .below_guarantee = row.waiting.value > 0 && game::is_below(row.used.value, row.owned.value, guarantee)});
  }
  return outlook;
}

Utility key_after(const Outlook& outlook, std::size_t course, Duration after) {
  return {twice_key(outlook.courses[course], outlook.terms).at(after.value) / 2};
}

bool goes_first(const Outlook& outlook, std::size_t a, std::size_t b, Duration after) {
  const Course& first = outlook.courses[a];
  const Course& second = outlook.courses[b];
  const Quadratic difference = twice_key(first, outlook.terms) - twice_key(second, outlook.terms);
  return goes_first(first, second, a < b, difference.at(after.value));
}

std::vector<std::size_t> order_after(const Outlook& outlook, Duration after) {
  std::vector<std::size_t> order(outlook.courses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return a != b && goes_first(outlook, a, b, after); });
  return order;
}

std::vector<Instant> turns(const Outlook& outlook, std::size_t a, std::size_t b) {
  const Course& first = outlook.courses[a];
  const Course& second = outlook.courses[b];
  const Quadratic difference = twice_key(first, outlook.terms) - twice_key(second, outlook.terms);
  const auto a_is_first = [&](std::int64_t d) { return goes_first(first, second, a < b, difference.at(d)); };
  const std::int64_t last = (outlook.until - outlook.at).value - 1;
  std::vector<Instant> found;
  bool now = a_is_first(0);
  for (std::int64_t d = 1; d <= last;) {
    const auto turn = first_of(difference, d, last, [&](std::int64_t at) { return a_is_first(at) != now; });
    if (!turn) break;
    found.push_back(outlook.at + Duration{*turn});
    now = !now;
    d = *turn + 1;
  }
  return found;
}

}  // namespace shapley::accounting
