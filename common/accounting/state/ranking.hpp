// Ranks: who is served next, by the rule in force (events/event.hpp, RankingDeclared; game/serving_order.hpp).
//
// Pure functions of the books' rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"

namespace shapley::accounting {

// More than any cluster has.
inline constexpr std::int64_t k_longest_lead = std::int64_t{1} << 40U;

// One organization's place: the first is served first.
struct Rank {
  OrgId organization;
  Utility key;                   // game::key; by this it is ordered
  game::Guarantee guarantee;     // of the processors that it owns
  bool below_guarantee = false;  // startable, and on fewer: goes before all that are not
  // How many processors more than the organization that owes most it may start before the rule serves both alike,
  // rounded down; bounded by k_longest_lead. Its order is that of the keys.
  std::int64_t lead = 0;
  // Whole processors that it lacks to its guarantee, rounded up; negative: that it holds more.
  std::int64_t lacking = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};

// The rule of ledgers that name none: the published one, by direct_contr.
[[nodiscard]] RankingDeclared published_rule();

[[nodiscard]] Duration horizon_of(const RankingDeclared& rule);
[[nodiscard]] game::KeyTerms key_terms(const RankingDeclared& rule, Duration residual);
[[nodiscard]] game::Guarantee guarantee_of(const RankingDeclared& rule, std::string_view organization);

[[nodiscard]] Utility key_of(const Standing& row, EstimatorId estimator, const game::KeyTerms& terms);

// `rows` by OrgId; `order`: those that have a rank, in the order that breaks ties; `names` by OrgId.
[[nodiscard]] std::vector<Rank> rank(const std::vector<Standing>& rows, const std::vector<OrgId>& order,
                                     const std::vector<std::string>& names, const RankingDeclared& rule,
                                     const game::KeyTerms& terms, EstimatorId estimator);

}  // namespace shapley::accounting
