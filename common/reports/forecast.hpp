// When the order of each pair of organizations changes, if nothing starts or ends: a part of the report of status
// (status.hpp), which has the figures of that instant. docs/reference/shapleyctl/status.md lists every member.
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
SHAPLEY_DESCRIBE(OutlookLimit, until, by_date, (supplement, by_statement));

struct ForecastRow {
  std::string name = {};
  double rate = 0;  // processors that it gives more than it gets
};
SHAPLEY_DESCRIBE(ForecastRow, name, rate);

// `first` overtakes `then`.
struct ForecastTurn {
  std::string first = {};
  std::string then = {};
  std::int64_t in_s = 0;
  Dated at = {};
};
SHAPLEY_DESCRIBE(ForecastTurn, first, then, in_s, at);

struct ForecastReport {
  OutlookLimit limit = {};
  std::vector<ForecastRow> organizations = {};  // in the order of their ranks
  std::size_t pairs = 0;
  std::vector<ForecastTurn> turns = {};  // by time
};
SHAPLEY_DESCRIBE(ForecastReport, (flattened, limit), organizations, pairs, turns);

}  // namespace shapley::ledger
