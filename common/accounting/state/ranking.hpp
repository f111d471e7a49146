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

// One organization's place: the first is served first.
struct Rank {
  OrgId organization;
  Utility key;                   // phi - psi at t + horizon if nothing more runs; by this it is ordered
  game::Guarantee guarantee;     // of the processors that it owns
  bool below_guarantee = false;  // startable, and on fewer: goes before all that are not
  friend bool operator==(const Rank&, const Rank&) = default;
};

// The rule of ledgers that name none: the published one, by direct_contr.
[[nodiscard]] RankingDeclared published_rule();

[[nodiscard]] Duration horizon_of(const RankingDeclared& rule);
[[nodiscard]] game::Guarantee guarantee_of(const RankingDeclared& rule, std::string_view organization);

// phi - psi at t + horizon of a row at t, if nothing more runs.
[[nodiscard]] Utility key_of(const Standing& row, EstimatorId estimator, Duration horizon);

// `rows` by OrgId; `order`: those that have a rank, in the order that breaks ties; `names` by OrgId.
[[nodiscard]] std::vector<Rank> rank(const std::vector<Standing>& rows, const std::vector<OrgId>& order,
                                     const std::vector<std::string>& names, const RankingDeclared& rule,
                                     EstimatorId estimator);

}  // namespace shapley::accounting
