// Names that are no organization's any more.
#pragma once

#include <map>
#include <string>

#include "base/types.hpp"

namespace shapley::accounting {

// By an adjustment what was booked under the name is a part of another row.
struct FormerName {
  std::string today;    // whose part it is
  bool merged = false;  // else renamed
  Instant at;           // of the adjustment
  friend bool operator==(const FormerName&, const FormerName&) = default;
};
using FormerNames = std::map<std::string, FormerName>;

}  // namespace shapley::accounting
