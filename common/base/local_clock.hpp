// What the clocks of the process's time zone (TZ) show, as instants. Depends on TZ and the time zone data base alone.
#pragma once

#include <ctime>
#include <optional>

#include "base/types.hpp"

namespace shapley {

// The instants at which clocks show these fields (the year to the second; the others are not looked at), read as
// standard time and as summer time. Where clocks go back both are there and differ, elsewhere one is there or both are
// the same; none where clocks skip the hour, for dates that there are not, and before 1970.
struct LocalInstants {
  std::optional<Instant> standard;
  std::optional<Instant> summer;
};
[[nodiscard]] LocalInstants instants_of_local(const std::tm& fields);

}  // namespace shapley
