#include "ledger/reports/forecast_report.hpp"

#include <algorithm>
#include <utility>

namespace shapley::ledger {

OutlookLimit limit_of(const accounting::Outlook& outlook) {
  const bool by_statement = !outlook.by_date && outlook.until < outlook.at + accounting::k_longest_forecast;
  return {outlook.until, outlook.by_date, by_statement};
}

ForecastReport forecast_report(const accounting::Outlook& outlook) {
  const auto name = [&](std::size_t row) { return outlook.rows[row].organization; };
  ForecastReport report{.limit = limit_of(outlook)};
  for (std::size_t a = 0; a < outlook.rows.size(); ++a) {
    for (std::size_t b = a + 1; b < outlook.rows.size(); ++b) {
      ++report.pairs;
      bool a_is_first = accounting::goes_first(outlook, a, b, Duration{0});
      for (const Instant turn : accounting::turns(outlook, a, b)) {
        a_is_first = !a_is_first;
        report.turns.push_back({name(a_is_first ? a : b), name(a_is_first ? b : a), (turn - outlook.at).value, turn});
      }
    }
  }
  std::ranges::stable_sort(report.turns, {}, [](const ForecastTurn& turn) { return turn.at.value; });
  for (const std::size_t index : accounting::order_after(outlook, Duration{0})) {
    const std::int64_t rate = outlook.rows[index].figures.rate_less_used.value;
    report.organizations.push_back({name(index), static_cast<double>(rate) / static_cast<double>(k_micro)});
  }
  return report;
}

}  // namespace shapley::ledger
