#include "accounting/state/ranking.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "accounting/ownership/ownership.hpp"
#include "accounting/state/consortium.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

RankingDeclared published_rule() {
  return {k_beginning_of_time, std::string(name_of(k_default_estimator)), 0, 0, {}, 0};
}

Duration horizon_of(const RankingDeclared& rule) {
  return Duration{rule.horizon};
}

game::KeyTerms key_terms(const RankingDeclared& rule, Duration residual) {
  return game::key_terms({horizon_of(rule), {}, game::RunningWeight{static_cast<std::int32_t>(rule.running_weight)}},
                         residual);
}

game::Guarantee guarantee_of(const RankingDeclared& rule, std::string_view organization) {
  const auto own = std::lower_bound(
      rule.exceptions.begin(), rule.exceptions.end(), organization,
      [](const GuaranteedPart& part, std::string_view name) { return std::string_view(part.organization) < name; });
  const bool has_own = own != rule.exceptions.end() && own->organization == organization;
  return {static_cast<std::int32_t>(has_own ? own->parts_per_million : rule.guarantee)};
}

KeyFigures figures_of(const Standing& standing, EstimatorId estimator) {
  return {standing.balance(estimator), standing.given(estimator) - standing.got,
          standing.rate(estimator) - standing.charged};
}

Utility key_of(const KeyFigures& figures, const game::KeyTerms& terms) {
  return game::key(figures.balance, figures.given_less_got, figures.rate_less_used, terms);
}

namespace {

game::ServingRow<Utility> serving_row(const RankRow& row, Utility key) {
  return {.key = key,
          .owned = row.owned.value,
          .used = row.used.value,
          .has_startable = row.waiting.value > 0,
          .guarantee = {static_cast<std::int32_t>(row.guarantee)},
          .last = row.last};
}

}  // namespace

bool RankRow::below_guarantee() const {
  return serving_row(*this, {}).below_guarantee();
}

std::vector<Rank> rank(std::span<const RankRow> rows, const game::KeyTerms& terms,
                       std::span<const ProcessorMillionths> besides) {
  SHAPLEY_REQUIRE(besides.empty() || besides.size() == rows.size());
  std::vector<game::ServingRow<Utility>> serving;
  serving.reserve(rows.size());
  for (const RankRow& row : rows) serving.push_back(serving_row(row, key_of(row.figures, terms)));
  // Whole processors of each key, and of the least of them; what goes last has no part in that.
  const Int128 processor = Int128{game::start_factor(terms)} * k_micro;
  const auto processors_of = [&](Utility key) { return floor_of_quotient(key.value, processor); };
  std::optional<Int128> least;
  for (const game::ServingRow<Utility>& row : serving) {
    if (!row.last) least = std::min(least.value_or(processors_of(row.key)), processors_of(row.key));
  }
  const auto lead = [&](const game::ServingRow<Utility>& row) {
    if (row.last) return -k_longest_lead;
    return static_cast<std::int64_t>(std::min<Int128>(processors_of(row.key) - *least, k_longest_lead));
  };
  const auto lacking = [](const game::ServingRow<Utility>& row, ProcessorMillionths more = {}) {
    const Int128 lacks = static_cast<Int128>(row.guarantee.millionths) * (row.owned + more.value) -
                         static_cast<Int128>(row.used) * game::k_whole_guarantee;
    return static_cast<std::int64_t>(-floor_of_quotient(-lacks, Int128{k_micro} * game::k_whole_guarantee));
  };
  const auto returning = [&](std::size_t i) {
    if (besides.empty()) return std::int64_t{0};
    return std::max<std::int64_t>(0, lacking(serving[i], besides[i]) - lacking(serving[i]));
  };
  std::vector<Rank> ranks;
  ranks.reserve(rows.size());
  for (const std::size_t i : game::serving_order(std::span<const game::ServingRow<Utility>>(serving))) {
    ranks.push_back({rows[i].organization, serving[i].key, serving[i].guarantee, serving[i].below_guarantee(),
                     serving[i].last, lead(serving[i]), lacking(serving[i]), returning(i)});
  }
  return ranks;
}

namespace {

// Twice a difference of keys: square * d^2 + slope * d + constant. Its values stay below 2^127: processors below 2^43
// millionths, times below 2^33 seconds squared.
struct Quadratic {
  Int128 square = 0;
  Int128 slope = 0;
  Int128 constant = 0;
  [[nodiscard]] Int128 at(std::int64_t d) const { return (square * d + slope) * d + constant; }
};

Quadratic twice_key(const KeyFigures& figures, const game::KeyTerms& terms) {
  const Int128 rate = figures.rate_less_used.value;
  const Int128 work = figures.given_less_got.value;
  return {.square = rate,
          .slope = 2 * work + rate + 2 * rate * terms.horizon.value,
          .constant = 2 * key_of(figures, terms).value};
}

Quadratic operator-(const Quadratic& a, const Quadratic& b) {
  return {a.square - b.square, a.slope - b.slope, a.constant - b.constant};
}

bool goes_first(const RankRow& a, const RankRow& b, bool a_wins_ties, Int128 key_difference) {
  if (a.last != b.last) return b.last;
  const bool a_is_below = a.below_guarantee();
  if (a_is_below != b.below_guarantee()) return a_is_below;
  return key_difference == 0 ? a_wins_ties : key_difference > 0;
}

// The first d in [first, last] for which `holds` is true; it is monotone there: it changes at most once.
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

// The first d in [first, last] for which `holds` is true of the quadratic's value.
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

bool is_within(const Outlook& outlook, Duration after) {
  return after >= Duration{0} && outlook.at + after <= outlook.at + k_longest_forecast;
}

}  // namespace

Outlook outlook(State& state, Instant t, EstimatorId estimator) {
  std::vector<RankRow> rows = state.rank_rows(t, estimator);
  const Instant at = state.now();
  const Instant dated = state.next_dated_change();
  const Instant longest = at + k_longest_forecast;
  Instant stale = k_end_of_time;  // when the figures of another cluster stop changing
  for (const ClusterShare& share : state.shares_elsewhere()) {
    if (share.stale_at > at) stale = std::min(stale, share.stale_at);
  }
  return {.at = at,
          .until = std::min({dated, longest, stale}),
          .by_date = dated < std::min(longest, stale),
          .terms = state.key_terms(),
          .rows = std::move(rows)};
}

Utility key_after(const Outlook& outlook, std::size_t row, Duration after) {
  SHAPLEY_REQUIRE(is_within(outlook, after) && row < outlook.rows.size());
  return {twice_key(outlook.rows[row].figures, outlook.terms).at(after.value) / 2};
}

bool goes_first(const Outlook& outlook, std::size_t a, std::size_t b, Duration after) {
  SHAPLEY_REQUIRE(is_within(outlook, after) && a != b && std::max(a, b) < outlook.rows.size());
  const RankRow& first = outlook.rows[a];
  const RankRow& second = outlook.rows[b];
  const Quadratic difference = twice_key(first.figures, outlook.terms) - twice_key(second.figures, outlook.terms);
  return goes_first(first, second, a < b, difference.at(after.value));
}

std::vector<std::size_t> order_after(const Outlook& outlook, Duration after) {
  std::vector<std::size_t> order(outlook.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return a != b && goes_first(outlook, a, b, after); });
  return order;
}

std::vector<Instant> turns(const Outlook& outlook, std::size_t a, std::size_t b) {
  SHAPLEY_REQUIRE(std::max(a, b) < outlook.rows.size());
  const RankRow& first = outlook.rows[a];
  const RankRow& second = outlook.rows[b];
  const Quadratic difference = twice_key(first.figures, outlook.terms) - twice_key(second.figures, outlook.terms);
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
