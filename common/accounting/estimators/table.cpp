#include "accounting/estimators/table.hpp"

#include "accounting/estimators/direct_contr.hpp"
#include "accounting/estimators/hindsight.hpp"
#include "accounting/estimators/shapley_rate.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

namespace {

constexpr EstimatorRow k_estimators[] = {
    {"direct_contr", "direct", "the work done on its own nodes", make_direct_contr},
    {"shapley_rate", "rate", "what its nodes were worth to the others at that moment", make_shapley_rate},
    {"hindsight", "hindsight", "what every coalition would have produced alone, corrected as durations become known",
     make_hindsight, "shapley_rate", hindsight::k_most_players},
};

static_assert(std::size(k_estimators) <= k_max_estimators, "raise k_max_estimators in table.hpp");

}  // namespace

std::span<const EstimatorRow> estimators() {
  return k_estimators;
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

EstimatorId acting(EstimatorId wanted, const EstimatorSet& able) {
  if (able.contains(wanted)) return wanted;
  return parse_estimator(estimators()[wanted.value].stand_in).value_or(wanted);
}

std::string figure_name(std::string_view figure, EstimatorId estimator) {
  return std::string(figure) + '_' + std::string(estimators()[estimator.value].member);
}

}  // namespace shapley::accounting
