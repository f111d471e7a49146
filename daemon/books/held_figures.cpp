#include "daemon/books/held_figures.hpp"

#include <nlohmann/json.hpp>

#include "ledger/reports/report.hpp"

namespace shapley::daemon {

namespace {

// Names of organizations may hold any bytes.
std::string text_of(const nlohmann::json& report) {
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

HeldFigures hold_figures(accounting::State& state, Instant now, const accounting::EstimatorSet& able) {
  HeldFigures held{.at = now, .status = {}, .no_start = text_of(ledger::no_start_report(state))};
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    held.status.push_back(text_of(ledger::status_report(state, now, estimator, able)));
  }
  return held;
}

}  // namespace shapley::daemon
