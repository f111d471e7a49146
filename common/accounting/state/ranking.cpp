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
  return {.at = k_beginning_of_time, .contribution = std::string(name_of(k_default_estimator)), .exceptions = {}};
}

game::KeyTerms key_terms(const RankingDeclared& rule, Duration residual) {
  game::ServingRule serving{.horizon = {rule.horizon}, .running = {static_cast<std::int32_t>(rule.running_weight)}};
  // Each organization has a pace of its own, by its guarantee.
  if (rule.rule == KeyRule::braking) serving.pace = game::pace_under({});
  return game::key_terms(serving, residual);
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

namespace {

// doubled_turn: 2 U; without meaning if the rule does not brake.
game::FallingKey falling_key(const KeyFigures& is, const game::KeyTerms& terms, std::int64_t doubled_turn) {
  const Utility ahead = game::key(is.balance, is.given_less_got, is.rate_less_used, terms);
  if (!terms.brakes) return {.balance = ahead.value, .factor = game::start_factor(terms)};
  return game::braking_key_of(
      ahead.value, game::frozen_ahead<Int128>(is.given_less_got.value, is.rate_less_used.value, terms.horizon),
      doubled_turn, terms.horizon);
}

std::int64_t doubled_turn_of(const RankRow& row) {
  return game::twice_turn(row.pooled.value, game::pace_under({static_cast<std::int32_t>(row.guarantee)}));
}

}  // namespace

game::FallingKey falling_key(const RankRow& row, const game::KeyTerms& terms) {
  return falling_key(row.figures, terms, doubled_turn_of(row));
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
  std::vector<game::FallingKey> falling;
  std::vector<game::ServingRow<Utility>> serving;
  falling.reserve(rows.size());
  serving.reserve(rows.size());
  for (const RankRow& row : rows) {
    falling.push_back(falling_key(row, terms));
    serving.push_back(serving_row(row, {game::key_after(falling.back(), 0)}));
  }
  // The least key; what goes last has no part in that.
  std::optional<Int128> least;
  for (const game::ServingRow<Utility>& row : serving) {
    if (!row.last) least = std::min(least.value_or(row.key.value), row.key.value);
  }
  const Int128 processor = Int128{game::start_factor(terms)} * k_micro;
  const auto processors_of = [&](Int128 key) { return floor_of_quotient(key, processor); };
  const auto lead = [&](std::size_t i) {
    const game::ServingRow<Utility>& row = serving[i];
    if (row.last) return -k_longest_lead;
    if (!terms.brakes)
      return static_cast<std::int64_t>(
          std::min<Int128>(processors_of(row.key.value) - processors_of(*least), k_longest_lead));
    const std::int64_t startable = game::startable_until(falling[i], *least) / k_micro;
    return startable < game::k_most_started ? startable : k_longest_lead;
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
                     serving[i].last, lead(i), lacking(serving[i]), returning(i), falling[i]});
  }
  return ranks;
}

namespace {

// The key of one organization as a function of time, if nothing starts or ends.
class KeyOverTime {
 public:
  KeyOverTime(const RankRow& row, const game::KeyTerms& terms)
      : figures_(row.figures), terms_(terms), doubled_turn_(doubled_turn_of(row)) {}
  [[nodiscard]] Int128 at(std::int64_t d) const { return game::key_after(falling_at(d), 0); }
  [[nodiscard]] bool owes_work(std::int64_t d) const { return falling_at(d).work < 0; }

 private:
  [[nodiscard]] game::FallingKey falling_at(std::int64_t d) const {
    return falling_key(figures_after(figures_, Duration{d}), terms_, doubled_turn_);
  }
  KeyFigures figures_;
  game::KeyTerms terms_;
  std::int64_t doubled_turn_ = 1;
};

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

// The difference of two keys as a function of time.
class KeyDifference {
 public:
  KeyDifference(const RankRow& a, const RankRow& b, const game::KeyTerms& terms)
      : a_(a, terms), b_(b, terms), brakes_(terms.brakes) {}

  [[nodiscard]] Int128 at(std::int64_t d) const { return a_.at(d) - b_.at(d); }

  // The last instants of stretches of [0, last] in which it is monotone, ascending; the last one is `last`.
  [[nodiscard]] std::vector<std::int64_t> stretches(std::int64_t last) const {
    std::vector<std::int64_t> parts;
    for (const KeyOverTime* key : {&a_, &b_}) {
      const auto has_turned = [&](std::int64_t d) { return key->owes_work(d) != key->owes_work(0); };
      if (!brakes_) continue;
      if (const auto turned = first_of_stretch(0, last, has_turned)) parts.insert(parts.end(), {*turned - 1, *turned});
    }
    parts.push_back(last);
    std::ranges::sort(parts);
    std::vector<std::int64_t> ends;
    std::int64_t first = 0;
    for (const std::int64_t end : parts) {
      if (const auto vertex = vertex_in(first, end)) ends.push_back(*vertex);
      ends.push_back(end);
      first = end;
    }
    return ends;
  }

 private:
  // Where it is greatest or least within a part in which it is a quadratic; nullopt: at one of the ends.
  [[nodiscard]] std::optional<std::int64_t> vertex_in(std::int64_t first, std::int64_t last) const {
    if (last - first < 2) return std::nullopt;
    const auto rises = [&](std::int64_t d) { return at(d + 1) > at(d); };
    const bool begins = rises(first);
    return first_of_stretch(first, last - 1, [&](std::int64_t d) { return rises(d) != begins; });
  }

  KeyOverTime a_;
  KeyOverTime b_;
  bool brakes_ = false;
};

bool is_within(const Outlook& outlook, Duration after) {
  return after >= Duration{0} && outlook.at + after <= outlook.at + k_longest_forecast;
}

}  // namespace

Outlook outlook(const State& state, EstimatorId estimator) {
  std::vector<RankRow> rows = state.rank_rows(estimator);
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
  return {KeyOverTime(outlook.rows[row], outlook.terms).at(after.value)};
}

bool goes_first(const Outlook& outlook, std::size_t a, std::size_t b, Duration after) {
  SHAPLEY_REQUIRE(is_within(outlook, after) && a != b && std::max(a, b) < outlook.rows.size());
  const RankRow& first = outlook.rows[a];
  const RankRow& second = outlook.rows[b];
  return goes_first(first, second, a < b, KeyDifference(first, second, outlook.terms).at(after.value));
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
  const KeyDifference difference(first, second, outlook.terms);
  const auto a_is_first = [&](std::int64_t d) { return goes_first(first, second, a < b, difference.at(d)); };
  const std::int64_t last = (outlook.until - outlook.at).value - 1;
  std::vector<Instant> found;
  if (last < 1) return found;
  bool now = a_is_first(0);
  std::int64_t d = 1;
  for (const std::int64_t end : difference.stretches(last)) {
    const auto turn = first_of_stretch(d, end, [&](std::int64_t at) { return a_is_first(at) != now; });
    if (turn) {
      found.push_back(outlook.at + Duration{*turn});
      now = !now;
    }
    d = end + 1;
  }
  return found;
}

}  // namespace shapley::accounting
