#include "accounting/state/ranking.hpp"

#include <algorithm>
#include <span>

namespace shapley::accounting {

RankingDeclared published_rule() {
  return {k_beginning_of_time, std::string(name_of(k_default_estimator)), 0, 0, {}};
}

Duration horizon_of(const RankingDeclared& rule) {
  return Duration{rule.horizon};
}

game::Guarantee guarantee_of(const RankingDeclared& rule, std::string_view organization) {
  const auto own = std::lower_bound(
      rule.exceptions.begin(), rule.exceptions.end(), organization,
      [](const GuaranteedPart& part, std::string_view name) { return std::string_view(part.organization) < name; });
  const bool has_own = own != rule.exceptions.end() && own->organization == organization;
  return {static_cast<std::int32_t>(has_own ? own->parts_per_million : rule.guarantee)};
}

Utility key_of(const Standing& row, EstimatorId estimator, Duration horizon) {
  return game::key(row.balance(estimator), row.given(estimator) - row.got, horizon);
}

std::vector<Rank> rank(const std::vector<Standing>& rows, const std::vector<OrgId>& order,
                       const std::vector<std::string>& names, const RankingDeclared& rule, EstimatorId estimator) {
  std::vector<game::ServingRow<Utility>> serving;
  serving.reserve(order.size());
  for (const OrgId id : order) {
    const Standing& row = rows[id.value];
    serving.push_back({.key = key_of(row, estimator, horizon_of(rule)),
                       .owned = row.owned.value,
                       .used = row.used.value,
                       .has_startable = row.waiting.value > 0,
                       .guarantee = guarantee_of(rule, names[id.value])});
  }
  std::vector<Rank> ranks;
  ranks.reserve(order.size());
  for (const std::size_t i : game::serving_order(std::span<const game::ServingRow<Utility>>(serving))) {
    ranks.push_back({order[i], serving[i].key, serving[i].guarantee, serving[i].below_guarantee()});
  }
  return ranks;
}

}  // namespace shapley::accounting
