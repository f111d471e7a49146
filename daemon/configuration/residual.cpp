#include "daemon/configuration/residual.hpp"

#include <algorithm>

#include "daemon/configuration/horizon_check.hpp"
#include "game/serving_order.hpp"

namespace shapley::daemon {

namespace {

constexpr Duration k_minute{60};
constexpr Duration k_day{std::int64_t{24} * 3600};

bool has_moved(std::int64_t from_s, std::int64_t to_s) {
  constexpr std::int64_t k_parts = 5;
  return std::max(from_s - to_s, to_s - from_s) * k_parts > from_s;
}

}  // namespace

std::optional<MeasuredResidual> measured_residual(std::span<const ledger::Run> runs) {
  const std::int64_t ended = std::ranges::count_if(runs, [](const ledger::Run& run) { return run.ended; });
  if (ended < k_fewest_measured_runs) return std::nullopt;
  const auto mean = mean_residual_run_time(runs);
  if (!mean) return std::nullopt;
  return MeasuredResidual{std::clamp(*mean, k_shortest_residual, game::k_longest_horizon), ended};
}

std::optional<accounting::ResidualMeasured> residual_statement(Instant now, const accounting::ResidualMeasured* last,
                                                               const MeasuredResidual& measured) {
  if (last != nullptr && !has_moved(last->seconds, measured.residual.value)) return std::nullopt;
  const Instant at = last == nullptr ? now : std::max(now, last->at + Duration{1});
  return accounting::ResidualMeasured{at, measured.residual.value, measured.runs};
}

bool ResidualWatch::is_due(Instant now, const accounting::ResidualMeasured* last) const {
  if (last == nullptr) return !last_look_ || now >= *last_look_ + k_minute;
  return now >= std::max(last->at, last_look_.value_or(last->at)) + k_day;
}

}  // namespace shapley::daemon
