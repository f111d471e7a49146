#include "ctl/output/forecast.hpp"

#include <utility>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/rank_answers.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

Expected<void> check_forecast(const ledger::StatusReport& report) {
  if (report.forecast) return {};
  return fail(Errc::protocol,
              "shapleyd answers without the forecast that it was asked for: it is of another version than this "
              "shapleyctl (shapleyctl status says which)");
}

std::string render_forecast(const ledger::StatusReport& report) {
  SHAPLEY_REQUIRE(report.forecast);
  const ledger::ForecastReport& forecast = *report.forecast;
  std::string text = "Ranks at " + report.at.utc() + ":";
  for (const ledger::ForecastRow& row : forecast.organizations)
    text += (text.back() == ':' ? " " : ", ") + printable(row.name);
  text += "\n\n";
  if (forecast.turns.empty()) {
    text += "No pair of them turns" + until_text(forecast.limit) + ".\n";
  } else {
    nlohmann::json rows = nlohmann::json::array();
    for (const ledger::ForecastTurn& turn : forecast.turns) {
      rows.push_back(
          {{"at", turn.at.utc()}, {"in", short_duration(turn.in_s)}, {"first", turn.first}, {"then", turn.then}});
    }
    using tables::left;
    constexpr tables::Field k_fields[] = {
        left({"at", "At"}), {"in", "In"}, left({"first", "Passes"}), left({"then", "Whom"})};
    text += tables::people_text({.columns = columns_of(k_fields), .rows = std::move(rows)});
    text += "\nAll other pairs keep their order" + until_text(forecast.limit) + ".\n";
  }
  text +=
      "This is exact as long as no job starts or ends, none begins or stops waiting, and no node changes; each of "
      "these makes another forecast.\n";
  const std::string counting = counting_text(report.ranking);
  if (!counting.empty()) {
    text += "It takes that mean residual run time to stay: " + counting + "; it is measured once a day at most.\n";
  }
  const auto ranked_by = accounting::parse_estimator(report.ranked_by);
  if (ranked_by && accounting::estimators()[ranked_by->value].of_coalitions) {
    text += "By " + report.ranked_by + " so does a job that starts or ends in what a coalition would have run alone.\n";
  }
  return text;
}

}  // namespace shapley::ctl
