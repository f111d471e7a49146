#include "accounting/state/ranking.hpp"

#include <algorithm>
#include <span>

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

Utility key_of(const Standing& row, EstimatorId estimator, const game::KeyTerms& terms) {
  return game::key(row.balance(estimator), row.given(estimator) - row.got,
                   MicroProcessors{row.rate(estimator).value - row.used.value}, terms);
}

std::vector<Rank> rank(const std::vector<Standing>& rows, const std::vector<OrgId>& order,
                       const std::vector<std::string>& names, const RankingDeclared& rule, const game::KeyTerms& terms,
                       EstimatorId estimator) {
  std::vector<game::ServingRow<Utility>> serving;
  serving.reserve(order.size());
  for (const OrgId id : order) {
    const Standing& row = rows[id.value];
    serving.push_back({.key = key_of(row, estimator, terms),
                       .owned = row.owned.value,
                       .used = row.used.value,
                       .has_startable = row.waiting.value > 0,
                       .guarantee = guarantee_of(rule, names[id.value])});
  }
  // Whole processors of each key, and of the least of them.
  const Int128 processor = Int128{game::start_factor(terms)} * k_micro;
  const auto processors_of = [&](Utility key) { return floor_of_quotient(key.value, processor); };
  Int128 least = 0;
  for (std::size_t i = 0; i < serving.size(); ++i) {
    const Int128 own = processors_of(serving[i].key);
    least = i == 0 ? own : std::min(least, own);
  }
  const auto lacking = [](const game::ServingRow<Utility>& row) {
    const Int128 lacks = static_cast<Int128>(row.guarantee.millionths) * row.owned -
                         static_cast<Int128>(row.used) * game::k_whole_guarantee;
    return static_cast<std::int64_t>(-floor_of_quotient(-lacks, Int128{k_micro} * game::k_whole_guarantee));
  };
  std::vector<Rank> ranks;
  ranks.reserve(order.size());
  for (const std::size_t i : game::serving_order(std::span<const game::ServingRow<Utility>>(serving))) {
    const auto lead = std::min<Int128>(processors_of(serving[i].key) - least, k_longest_lead);
    ranks.push_back({order[i], serving[i].key, serving[i].guarantee, serving[i].below_guarantee(),
                     static_cast<std::int64_t>(lead), lacking(serving[i])});
  }
  return ranks;
}

}  // namespace shapley::accounting
