// What changes from one configuration to another, in sentences for people. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "config/configuration.hpp"

namespace shapley::config {

// A name that is no organization's any more: its row is a part of another's by a correction of the books.
struct FormerName {
  std::string today;    // whose part it is
  bool merged = false;  // else renamed
  std::string date;
};
using FormerNames = std::map<std::string, FormerName>;

// One line for each change, in this order: keys of the file; organizations that come, go or change; rules that come, go
// or change hands; nodes that change owner at `now` or later. Empty: nothing that matters differs.
[[nodiscard]] std::vector<std::string> differences(const Configuration& before, const Configuration& after, Instant now,
                                                   const FormerNames& former = {});

}  // namespace shapley::config
