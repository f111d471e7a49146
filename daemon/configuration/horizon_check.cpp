#include "daemon/configuration/horizon_check.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/int128.hpp"
#include "game/serving_order.hpp"

namespace shapley::daemon {

std::optional<Duration> mean_residual_run_time(std::span<const ledger::Run> runs) {
  Int128 squares = 0;
  Int128 work = 0;
  for (const ledger::Run& run : runs) {
    if (!run.ended) continue;
    const Int128 length = run.length.value;
    squares += length * length * run.processors.value;
    work += length * run.processors.value;
  }
  if (work <= 0) return std::nullopt;
  return Duration{static_cast<std::int64_t>(squares / (2 * work))};
}

std::optional<std::string> horizon_warning(Duration horizon, std::span<const ledger::Run> runs) {
  const auto residual = mean_residual_run_time(runs);
  if (!residual || horizon >= *residual) return std::nullopt;
  constexpr double k_hour_s = 3600;
  return fmt::format(
      "configuration: horizon: {} is shorter than the time for which a processor in use stays in use, on average "
      "{:.2f} "
      "hours over the last {}; organizations may take turns with the whole cluster: write a longer one, such as "
      "30d",
      game::format_horizon(horizon), static_cast<double>(residual->value) / k_hour_s, counted(runs.size(), "run"));
}

}  // namespace shapley::daemon
