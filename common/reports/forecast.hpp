// When the order of each pair of organizations changes, if nothing starts or ends: a part of the report of status
// (status.hpp), which has the figures of that instant. docs/reference/shapleyctl.md lists every member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// Up to when the order of ranks is known if nothing starts or ends.
struct OutlookLimit {
  Dated until = {};
  bool by_date = false;       // then a period ends or a node changes hands
  bool by_statement = false;  // then a statement of another cluster is too old
};
constexpr auto description_of(std::type_identity<OutlookLimit>) {
  return describe(member("until", &OutlookLimit::until), member("by_date", &OutlookLimit::by_date),
                  supplement("by_statement", &OutlookLimit::by_statement));
}

struct ForecastRow {
  std::string name = {};
  double rate = 0;  // core-hours per hour that it gives more than it gets
};
constexpr auto description_of(std::type_identity<ForecastRow>) {
  return describe(member("name", &ForecastRow::name), member("rate", &ForecastRow::rate));
}

// `first` overtakes `then`.
struct ForecastTurn {
  std::string first = {};
  std::string then = {};
  std::int64_t in_s = 0;
  Dated at = {};
};
constexpr auto description_of(std::type_identity<ForecastTurn>) {
  return describe(member("first", &ForecastTurn::first), member("then", &ForecastTurn::then),
                  member("in_s", &ForecastTurn::in_s), member("at", &ForecastTurn::at));
}

struct ForecastReport {
  OutlookLimit limit = {};
  std::vector<ForecastRow> organizations = {};  // in the order of their ranks
  std::size_t pairs = 0;
  std::vector<ForecastTurn> turns = {};  // by time
};
constexpr auto description_of(std::type_identity<ForecastReport>) {
  return describe(flattened(&ForecastReport::limit), member("organizations", &ForecastReport::organizations),
                  member("pairs", &ForecastReport::pairs), member("turns", &ForecastReport::turns));
}

}  // namespace shapley::ledger
