#include "accounting/estimators/table.hpp"

#include <algorithm>
#include <iterator>

#include "accounting/estimators/direct_contr.hpp"
#include "accounting/estimators/hindsight.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

namespace {

constexpr EstimatorRow k_estimators[] = {
    {.name = "direct_contr",
     .member = "direct",
     .meaning = "the work done on its own nodes",
     .make = make_direct_contr,
     .by_owner = true},
    {.name = "hindsight",
     .member = "hindsight",
     .meaning = "what every coalition would have produced alone, corrected as durations become known",
     .make = make_hindsight,
     .stand_in = "direct_contr",
     .most_organizations = hindsight::k_most_players,
     .of_coalitions = true,
     .has_key = true},
};

static_assert(std::size(k_estimators) <= k_max_estimators, "raise k_max_estimators in table.hpp");

constexpr FormerEstimator k_former_estimators[] = {
    {.name = "shapley_rate",
     .why = "there is no such estimator any more: hindsight is nearer to the exact Shapley value, with GPU nodes, too"},
};

}  // namespace

std::span<const EstimatorRow> estimators() {
  return k_estimators;
}

std::span<const FormerEstimator> former_estimators() {
  return k_former_estimators;
}

bool is_former_estimator(std::string_view name) {
  return std::ranges::find(k_former_estimators, name, &FormerEstimator::name) != std::end(k_former_estimators);
}

std::span<const EstimatorId> estimator_ids() {
  static constexpr auto k_ids = [] {
    std::array<EstimatorId, std::size(k_estimators)> ids;
    for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = EstimatorId{i};
    return ids;
  }();
  return k_ids;
}

std::string_view name_of(EstimatorId estimator) {
  return estimators()[estimator.value].name;
}

std::optional<EstimatorId> parse_estimator(std::string_view name) {
  for (const EstimatorId estimator : estimator_ids()) {
    if (name_of(estimator) == name) return estimator;
  }
  return std::nullopt;
}

std::vector<std::string_view> estimator_names() {
  std::vector<std::string_view> names;
  for (const EstimatorRow& row : estimators()) names.push_back(row.name);
  return names;
}

EstimatorSet estimators_with(bool EstimatorRow::*trait) {
  EstimatorSet with;
  for (const EstimatorId estimator : estimator_ids()) {
    if (estimators()[estimator.value].*trait) with.insert(estimator);
  }
  return with;
}

EstimatorId acting(EstimatorId wanted, const EstimatorSet& able) {
  if (able.contains(wanted)) return wanted;
  return parse_estimator(estimators()[wanted.value].stand_in).value_or(wanted);
}

std::string figure_name(std::string_view figure, EstimatorId estimator) {
  return std::string(figure) + '_' + std::string(estimators()[estimator.value].member);
}

}  // namespace shapley::accounting
