#include "ctl/output/forecast.hpp"

#include <utility>

#include <fmt/format.h>

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
  std::string text = fmt::format("Ranks at {}:", report.at.utc());
  for (const ledger::ForecastRow& row : forecast.organizations)
    text += (text.back() == ':' ? " " : ", ") + printable(row.name);
  text += "\n\n";
  if (forecast.turns.empty()) {
    text += fmt::format("No pair of them turns{}.\n", until_text(forecast.limit));
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
    text += fmt::format("\nAll other pairs keep their order{}.\n", until_text(forecast.limit));
  }
  text +=
      "This is exact as long as no job starts or ends, none begins or stops waiting, and no node changes; each of "
      "these makes another forecast.\n";
  const std::string counting = counting_text(report.ranking);
  if (!counting.empty()) {
    text +=
        fmt::format("It takes that mean residual run time to stay: {}; it is measured once a day at most.\n", counting);
  }
  const auto ranked_by = accounting::parse_estimator(report.ranked_by);
  if (ranked_by && accounting::estimators()[ranked_by->value].of_coalitions) {
    text += fmt::format("By {} so does a job that starts or ends in what a coalition would have run alone.\n",
                        report.ranked_by);
  }
  return text;
}

}  // namespace shapley::ctl
